"""Messages of a suite in an MCAP file: as they were serialized, with schemas and times."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .extras import RecordingError, require_mcap
from .schemas import definition_of, type_name

#: Bytes held back until they are compressed and written.
CHUNK_SIZE = 1 << 20
#: Name of the metadata record in which a suite says what it is.
METADATA = 'gripsim'


@dataclass(frozen=True)
class Recorded:
    """A message of a recording: CDR bytes, and when they were received [ns since 1970]."""

    topic: str
    type_name: str
    data: bytes
    log_time: int


class RecordingWriter:
    """
    Writes messages to an MCAP file (profile ``ros2``, schemas ``ros2msg``, chunks in zstd).

    At most one chunk is held in memory. Use it in a ``with`` statement: a file that was
    not closed has no index, though MCAP's tools recover the chunks in it.

    Parameters
    ----------
    path : Path
        Overwritten if it exists.
    metadata : mapping of str to str, optional
        What wrote it: kept under ``METADATA``.

    Raises
    ------
    RecordingError
        The file cannot be written, or mcap is not installed.
    """

    def __init__(self, path: Path, metadata: Mapping[str, str] | None = None) -> None:
        """Open the file."""
        require_mcap()
        from mcap.writer import Writer
        try:
            self._file = Path(path).open('wb')
        except OSError as error:
            raise RecordingError(f'cannot write {path}: {error.strerror}') from error
        self.counts: Counter[str] = Counter()
        self._writer = Writer(self._file, chunk_size=CHUNK_SIZE)
        self._schemas: dict[str, int] = {}
        self._channels: dict[str, int] = {}
        self._writer.start(profile='ros2', library='gripsim')
        if metadata:
            self.tell(metadata)

    def __enter__(self) -> 'RecordingWriter':
        """Return the writer."""
        return self

    def __exit__(self, *_) -> None:
        """Finish the file."""
        self.close()

    def tell(self, metadata: Mapping[str, str]) -> None:
        """Say anew what wrote it: what is told last counts."""
        self._writer.add_metadata(METADATA, dict(metadata))

    def write(self, topic: str, kind: type, data: bytes, log_time: int,
              publish_time: int | None = None) -> None:
        """
        Write one message.

        Parameters
        ----------
        topic : str
        kind : type
            Class of the message; always the same on one topic.
        data : bytes
            The message in CDR, as ROS serializes it.
        log_time, publish_time : int
            When it came and when it was sent [ns since 1970]; sent when it came by default.
        """
        channel = self._channels.get(topic)
        if channel is None:
            channel = self._channels[topic] = self._writer.register_channel(
                topic, 'cdr', self._schema(kind), {'offered_qos_profiles': ''})
        self._writer.add_message(channel, log_time, data, publish_time or log_time,
                                 self.counts[topic])
        self.counts[topic] += 1

    def _schema(self, kind: type) -> int:
        name = type_name(kind)
        if name not in self._schemas:
            self._schemas[name] = self._writer.register_schema(
                name, 'ros2msg', definition_of(kind).encode())
        return self._schemas[name]

    def close(self) -> None:
        """Write what is held back and the index; a second time does nothing."""
        if not self._file.closed:
            try:
                self._writer.finish()
            finally:
                self._file.close()


def read_metadata(path: Path) -> dict[str, str]:
    """Return what a recording says of its writer at last; empty where it says nothing."""
    told: dict[str, str] = {}
    with _opened(path) as reader:
        for record in reader.iter_metadata():
            if record.name == METADATA:
                told = dict(record.metadata)
    return told


def read_messages(path: Path, names: Sequence[str] | None = None) -> Iterator[Recorded]:
    """
    Yield the messages of a recording in the order in which they came.

    Parameters
    ----------
    path : Path
    names : sequence of str, optional
        Topics wanted, without the suite's namespace; None: all.

    Raises
    ------
    RecordingError
        There is no such file, it is no MCAP file or it is damaged.
    """
    with _opened(path) as reader:
        summary = reader.get_summary()
        if summary is None:
            raise RecordingError(f'{path} was not finished: mend it with `mcap recover`')
        topics = [channel.topic for channel in summary.channels.values()
                  if names is None or any(f'/{channel.topic}'.endswith(f'/{name}')
                                          for name in names)]
        for schema, channel, message in reader.iter_messages(topics=topics) if topics else ():
            yield Recorded(channel.topic, schema.name if schema else '', message.data,
                           message.log_time)


class _opened:
    """A reader of an MCAP file; whatever is wrong with the file is a ``RecordingError``."""

    def __init__(self, path: Path) -> None:
        require_mcap()
        self._path = Path(path)

    def __enter__(self):
        from mcap.reader import make_reader
        try:
            self._file = self._path.open('rb')
        except OSError as error:
            raise RecordingError(f'cannot read {self._path}: {error.strerror}') from error
        try:
            return make_reader(self._file)
        except Exception as error:
            self._file.close()
            raise self._damaged(error) from error

    def __exit__(self, kind, error, _):
        self._file.close()
        if isinstance(error, Exception) and not isinstance(error, RecordingError):
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> RecordingError:
        text = ' '.join(str(error).split()) or type(error).__name__
        return RecordingError(f'{self._path} cannot be read as MCAP: {text}')
