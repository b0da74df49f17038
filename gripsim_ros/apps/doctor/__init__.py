"""What may be wrong with an installation or a running suite, and what to do about it."""

from .examination import examine
from .finding import BAD, GOOD, NOTE, Finding

__all__ = ['BAD', 'Finding', 'GOOD', 'NOTE', 'examine']
