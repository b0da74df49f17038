"""What a check found."""

from dataclasses import dataclass

#: How a check ended.
GOOD, NOTE, BAD = 'good', 'note', 'bad'


@dataclass(frozen=True)
class Finding:
    """One check: what was looked at, how it ended, what was found, what to do (or '')."""

    subject: str
    state: str
    found: str
    advice: str = ''
