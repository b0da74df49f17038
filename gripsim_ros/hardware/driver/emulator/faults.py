"""Faults on request: what a bad cable, a busy controller or a hot motor does to the answers."""

import random
import threading
from dataclasses import dataclass, field

#: What each does to the answer to a request.
KINDS = {
    'garbage': 'bytes that are no answer, instead of it',
    'noise': 'bytes that are no answer, before it',
    'silence': 'no answer',
    'slow': 'the answer after a while',
    'half_line': 'the first half of it, without end of line',
    'wrong_numbers': 'too few numbers, or words instead of them',
    'error': 'an error code',
    'disconnect': 'the link is closed',
    'wrong_crc': 'tactile: a checksum that is off by a bit',
    'short_packet': 'tactile: a packet that breaks off',
}
JOINT_KINDS = ('garbage', 'noise', 'silence', 'slow', 'half_line', 'wrong_numbers', 'error',
               'disconnect')
TACTILE_KINDS = ('garbage', 'noise', 'silence', 'wrong_crc', 'short_packet', 'disconnect')
#: Bytes that noise is made of.
NOISE = b'\xff\x00\x80?#,.=\nE9POS\r\n'
#: Codes that `error` chooses from.
CODES = (5, 6, 13, 17, 23, 24, 28, 29, 35)


@dataclass
class Fault:
    """
    One kind of fault.

    ``probability`` per answer, ``count`` how often (None: for ever), ``only`` the request that
    it strikes ('': any), ``delay`` of slow answers [s], ``code`` of errors (0: any).
    """

    kind: str
    probability: float = 1.0
    count: int | None = None
    only: str = ''
    delay: float = 0.3
    code: int = 0


@dataclass
class Faults:
    """
    What is to go wrong; may be changed from any thread while the emulator runs.

    Attributes
    ----------
    struck : dict of str to int
        How often each kind has struck.
    """

    seed: int = 0
    struck: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Start without faults."""
        self._faults: list[Fault] = []
        self._lock = threading.Lock()
        self._random = random.Random(self.seed)

    def add(self, kind: str, **options) -> None:
        """
        Let something go wrong from now on.

        Raises
        ------
        ValueError
            There is no such kind, or the probability is none.
        """
        if kind not in KINDS:
            raise ValueError(f'a fault is one of {", ".join(KINDS)}, got {kind!r}')
        fault = Fault(kind, **options)
        if not 0.0 <= fault.probability <= 1.0:
            raise ValueError(f'a probability is from 0 to 1, got {fault.probability}')
        with self._lock:
            self._faults.append(fault)

    def clear(self) -> None:
        """Let nothing go wrong any more."""
        with self._lock:
            self._faults.clear()

    def draw(self, request: str, kinds) -> Fault | None:
        """Return what strikes the answer to a request."""
        with self._lock:
            for fault in self._faults:
                if (fault.kind not in kinds or (fault.only and fault.only != request)
                        or self._random.random() >= fault.probability):
                    continue
                if fault.count is not None:
                    fault.count -= 1
                    if fault.count <= 0:
                        self._faults.remove(fault)
                self.struck[fault.kind] = self.struck.get(fault.kind, 0) + 1
                return fault
        return None

    def noise(self) -> bytes:
        """Return some bytes that are no answer; perhaps with an end of line in them."""
        with self._lock:
            length = self._random.randint(1, 40)
            return bytes(self._random.choice(NOISE) for _ in range(length))

    def error_code(self, fault: Fault) -> int:
        """Return the code of an error."""
        with self._lock:
            return fault.code or self._random.choice(CODES)


def parse_fault(text: str) -> tuple[str, dict]:
    """
    Return kind and options of ``KIND[:PROBABILITY][@REQUEST]``.

    Raises
    ------
    ValueError
        It is none.
    """
    head, _, only = text.partition('@')
    kind, _, number = head.partition(':')
    probability = float(number) if number else 1.0
    if kind not in KINDS or not 0.0 <= probability <= 1.0:
        raise ValueError(f'a fault is KIND[:PROBABILITY][@REQUEST] with a kind of '
                         f'{", ".join(KINDS)} and a probability from 0 to 1, got {text!r}')
    return kind, {'probability': probability, 'only': only}
