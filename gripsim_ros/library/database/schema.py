"""
Tables of the grasp database, and opening one: SQLite by file, any other by SQLAlchemy's URL.

A database of another schema version is refused and never changed: sweep into a new one.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import (
    URL, Engine, Float, ForeignKey, Index, Integer, LargeBinary, String, Text, UniqueConstraint,
    create_engine, event, inspect, make_url, select)
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship

from ...core.errors import GripsimError

#: Version of the tables below; raised with every change of them.
SCHEMA_VERSION = 1
#: Seconds that a writer waits for another one of the same SQLite file.
BUSY_TIMEOUT = 60.0
#: How a file of SQLite begins.
SQLITE_MAGIC = b'SQLite format 3\0'
#: States of a job.
WAITING, RUNNING, DONE, FAILED = 'waiting', 'running', 'done', 'failed'


class DatabaseError(GripsimError):
    """A grasp database cannot be opened, read or written."""


class Base(DeclarativeBase):
    """The tables."""


class SchemaRow(Base):
    """One row: the version of the schema."""

    __tablename__ = 'gripsim_schema'
    version: Mapped[int] = mapped_column(Integer, primary_key=True)


class MeshRow(Base):
    """A surface in metres, as planned with: scaled and repaired; arrays are packed."""

    __tablename__ = 'meshes'
    hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    vertices: Mapped[bytes] = mapped_column(LargeBinary)
    faces: Mapped[bytes] = mapped_column(LargeBinary)


class HandRow(Base):
    """A hand that was planned with."""

    __tablename__ = 'hands'
    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    base_link: Mapped[str] = mapped_column(Text)
    joint_names: Mapped[str] = mapped_column(Text)


class PlanRow(Base):
    """What planning found for one key; see ``key.plan_key``."""

    __tablename__ = 'plans'
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    key: Mapped[str] = mapped_column(String(64), unique=True)
    object_id: Mapped[str] = mapped_column(String(64), index=True)
    mesh_hash: Mapped[str] = mapped_column(ForeignKey('meshes.hash'))
    hand_id: Mapped[str] = mapped_column(ForeignKey('hands.id'))
    material: Mapped[str] = mapped_column(Text)
    version: Mapped[str] = mapped_column(Text)
    settings: Mapped[str] = mapped_column(Text)
    summary: Mapped[str] = mapped_column(Text)
    grasps: Mapped[list[GraspRow]] = relationship(
        back_populates='plan', order_by='GraspRow.rank', cascade='all, delete-orphan')
    mesh: Mapped[MeshRow] = relationship()
    hand: Mapped[HandRow] = relationship()


class GraspRow(Base):
    """A grasp: numbers to select by, and all of it as JSON (``codec``)."""

    __tablename__ = 'grasps'
    __table_args__ = (UniqueConstraint('plan_id', 'rank'),)
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    plan_id: Mapped[int] = mapped_column(ForeignKey('plans.id'))
    rank: Mapped[int] = mapped_column(Integer)
    preshape: Mapped[str] = mapped_column(Text)
    score: Mapped[float | None] = mapped_column(Float(53))
    margin: Mapped[float | None] = mapped_column(Float(53))
    content: Mapped[str] = mapped_column(Text)
    plan: Mapped[PlanRow] = relationship(back_populates='grasps')


class JobRow(Base):
    """An object of a sweep with a material and a scale, and what became of it."""

    __tablename__ = 'jobs'
    __table_args__ = (Index('jobs_by_request', 'request', 'status'),)
    id: Mapped[int] = mapped_column(Integer, primary_key=True)
    key: Mapped[str] = mapped_column(String(64), unique=True)
    request: Mapped[str] = mapped_column(String(64))
    label: Mapped[str] = mapped_column(Text)
    scale: Mapped[float] = mapped_column(Float(53))
    material_name: Mapped[str] = mapped_column(Text)
    status: Mapped[str] = mapped_column(String(16), default=WAITING)
    reason: Mapped[str] = mapped_column(Text, default='')
    owner: Mapped[str] = mapped_column(Text, default='')
    lease: Mapped[float] = mapped_column(Float(53), default=0.0)
    plan_id: Mapped[int | None] = mapped_column(ForeignKey('plans.id'))
    plan: Mapped[PlanRow | None] = relationship()


def database_url(text: str) -> URL:
    """
    Return the URL of a database given by a URL or by the path of an SQLite file.

    Raises
    ------
    DatabaseError
        It is neither.
    """
    if not text.strip():
        raise DatabaseError('a database is needed: the path of a file, or a URL such as '
                            'postgresql://user@host/name')
    if '://' not in text:
        return URL.create('sqlite', database=str(Path(text).expanduser().absolute()))
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise DatabaseError(f'database {text!r}: {_line(error)}') from None
    return url.set(drivername='postgresql+psycopg') if url.drivername in (
        'postgresql', 'postgres') else url


def open_database(text: str, create: bool = False) -> Engine:
    """
    Return an engine for a grasp database; ``create`` makes its tables where there are none.

    Raises
    ------
    DatabaseError
        Its driver is not installed, it cannot be reached, is no grasp database or has
        another schema version.
    """
    url = database_url(text)
    name = url.render_as_string(hide_password=True)
    sqlite = url.get_backend_name() == 'sqlite'
    if sqlite:
        _check_file(url, create)
    try:
        engine = create_engine(url, connect_args={'timeout': BUSY_TIMEOUT} if sqlite else {})
    except (ArgumentError, NoSuchModuleError, ImportError) as error:
        raise DatabaseError(f'database {name}: its driver is not installed ({_line(error)}); '
                            'for PostgreSQL `pip install "psycopg[binary]"`') from None
    if sqlite:
        event.listen(engine, 'connect', _set_pragmas)
    try:
        _check_schema(engine, name, create)
    except SQLAlchemyError as error:
        engine.dispose()
        raise DatabaseError(f'database {name}: {_line(error)}') from None
    except DatabaseError:
        engine.dispose()
        raise
    return engine


def _check_file(url: URL, create: bool) -> None:
    if not url.database or url.database == ':memory:':
        raise DatabaseError('a grasp database in SQLite needs a file, got none')
    path = Path(url.database)
    if path.is_dir() or not (path.absolute().parent.is_dir() if create else path.is_file()):
        raise DatabaseError(f'database {path}: there is no such file' if not create else
                            f'database {path}: cannot be written there')
    if path.is_file() and _begin(path) not in (b'', SQLITE_MAGIC):
        raise DatabaseError(f'database {path}: file is not a database')


def _begin(path: Path) -> bytes:
    """Return the first bytes of a file; SQLite would write over a short one."""
    with path.open('rb') as file:
        return file.read(len(SQLITE_MAGIC))


def _set_pragmas(connection: object, _: object) -> None:
    """Let readers and a writer work side by side, and keep what was committed."""
    for pragma in ('journal_mode=WAL', 'synchronous=NORMAL', 'foreign_keys=ON'):
        connection.execute(f'PRAGMA {pragma}')  # type: ignore[attr-defined]


def _check_schema(engine: Engine, name: str, create: bool) -> None:
    tables = set(inspect(engine).get_table_names())
    if SchemaRow.__tablename__ not in tables:
        if not create:
            raise DatabaseError(f'database {name} is no grasp database: it has no table '
                                f'{SchemaRow.__tablename__}')
        try:
            Base.metadata.create_all(engine)
            with Session(engine) as session, session.begin():
                session.add(SchemaRow(version=SCHEMA_VERSION))
        except DBAPIError:      # another program has just made them
            Base.metadata.create_all(engine)
    with Session(engine) as session:
        versions = list(session.scalars(select(SchemaRow.version)))
    if versions != [SCHEMA_VERSION]:
        raise DatabaseError(f'database {name} has schema version {versions}, this program '
                            f'needs {SCHEMA_VERSION}: sweep into a new database')


def _line(error: BaseException) -> str:
    original = getattr(error, 'orig', None) or error
    return ' '.join(str(original).split())[:300] or type(original).__name__
