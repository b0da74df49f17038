"""
Disk cache of bodies' compliances by their content; one body's own, made when first needed.

Layout and limits: docs/model/compliance.md.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import fcntl
import hashlib
import os
from pathlib import Path
import shutil
import tempfile
from threading import Lock

import numpy as np

from ...bodies import TriangleMesh
from ...errors import MeshError
from ...options import option, Options
from .body_compliance import NODE_COUNT, BodyCompliance, prepare_compliance
from .node_count import REFERENCE_ERROR, wanted_nodes

#: Version of the numbers; part of a stored compliance's key.
VERSION = 10
#: Step, largest and least of the Poisson's ratios for which compliances are made: in units of
#: the modulus they hardly depend on it.
RATIO_STEP, MAX_RATIO, MIN_RATIO = 0.05, 0.49, -0.95
#: Least number of nodes, for a body of the simplest kind.
MIN_NODES = 100
#: Growth of the number of nodes where a surface of so few is not the body's.
MORE_NODES = 2

_FILES = ('points', 'elements', 'displacements', 'least_thickness', 'errors',
          'tangential')
_DIGEST = 'sha256'


@dataclass(frozen=True)
class ComplianceOptions(Options, section='compliance'):
    """
    Options of a body's own compliance and its disk cache.

    Attributes
    ----------
    node_count : int
        Nodes on the surface at most, of a shell 1.8 times as many; time grows with the
        third power, memory and disk space with the second.
    folder : str
        Where compliances are kept; empty: nowhere.
    max_size : float
        Of all that is kept there [bytes]; what was used longest ago goes first.
    tolerance : float
        Error of forces for which nodes are chosen, as many as the thickness asks for [-].

    Raises
    ------
    TaskError
        A value is outside its range.
    """

    node_count: int = option(NODE_COUNT, whole=True, least=MIN_NODES)
    folder: str = option('', text=True)
    max_size: float = option(1e9, least=0)
    tolerance: float = option(REFERENCE_ERROR, above=0, most=1)


class LazyCompliance:
    """
    A body's own compliance, prepared or loaded at first use.

    Parameters
    ----------
    mesh : TriangleMesh
    poisson_ratio : float
        The compliance is made for the nearest of few, ``nearest_ratio``.
    options : ComplianceOptions

    Notes
    -----
    Safe to use from several threads; ``warnings`` holds what a user should know of it.
    """

    def __init__(self, mesh: TriangleMesh, poisson_ratio: float,
                 options: ComplianceOptions) -> None:
        self._mesh, self._options = mesh, options
        self._ratio = nearest_ratio(poisson_ratio)
        self._lock = Lock()
        self._compliance: BodyCompliance | None = None
        self._refusal: MeshError | None = None
        self.warnings: tuple[str, ...] = ()

    def get(self) -> BodyCompliance:
        """
        Return the compliance; errors as ``prepare_compliance``.

        What cannot be kept is prepared all the same, and ``warnings`` says why.
        """
        with self._lock:
            if self._refusal is not None:
                raise self._refusal
            if self._compliance is None:
                try:
                    self._compliance = self._made()
                except (MeshError, np.linalg.LinAlgError) as error:
                    self._refusal = MeshError(str(error))
                    self.warnings = (f"the body's own compliance cannot be prepared ({error}): "
                                     'half-spaces answer',)
                    raise self._refusal from error
            return self._compliance

    def _made(self) -> BodyCompliance:
        """Return the compliance, with more nodes than are wanted where these are too few."""
        most = self._options.node_count
        count = wanted_nodes(self._mesh, self._options.tolerance, most)
        try:
            return self._with_nodes(count)
        except MeshError:
            if count == most:
                raise
            return self._with_nodes(min(MORE_NODES * count, most))

    def _with_nodes(self, count: int) -> BodyCompliance:
        wanted = (self._mesh, self._ratio, count)
        if not self._options.folder:
            return prepare_compliance(*wanted)
        try:
            found, self.warnings = load_compliance(
                Path(self._options.folder), *wanted, self._options.max_size)
            return found
        except OSError as error:
            self.warnings = (f'the compliance of the body cannot be kept: {error}',)
            return prepare_compliance(*wanted)


def nearest_ratio(poisson_ratio: float) -> float:
    """Return the Poisson's ratio for which a compliance is made."""
    return float(np.clip(round(poisson_ratio / RATIO_STEP) * RATIO_STEP, MIN_RATIO, MAX_RATIO))


def cache_key(mesh: TriangleMesh, poisson_ratio: float, node_count: int) -> str:
    """Return the key of a stored compliance: the hash of all that it depends on."""
    text = f'{VERSION} {mesh.content_hash} {float(poisson_ratio).hex()} {node_count}'
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def load_compliance(folder: Path, mesh: TriangleMesh, poisson_ratio: float,
                    node_count: int = NODE_COUNT, max_size: float = np.inf
                    ) -> tuple[BodyCompliance, tuple[str, ...]]:
    """
    Return a kept compliance, mapped from its files; prepare and keep it where there is none.

    Parameters
    ----------
    folder : Path
        Where compliances are kept; made if missing.
    mesh, poisson_ratio, node_count
        As in ``prepare_compliance``.
    max_size : float
        Of all compliances in the folder [bytes].

    Returns
    -------
    BodyCompliance
        Its arrays are read-only.
    tuple of str
        A warning where what was kept was damaged and has been made anew.

    Raises
    ------
    MaterialError, MeshError
        As in ``prepare_compliance``.
    OSError
        The folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / cache_key(mesh, poisson_ratio, node_count)
    warnings: tuple[str, ...] = ()
    with _locked(folder / f'{place.name}.lock'):
        found = _read(place)
        if found is None:
            if place.exists():
                warnings = (f'the kept compliance {place} was damaged and has been made anew',)
                shutil.rmtree(place)
            _store(place, prepare_compliance(mesh, poisson_ratio, node_count))
            found = _read(place)
            if found is None:
                raise OSError(f'{place} cannot be read back')
        os.utime(place)
    _evict(folder, place.name, max_size)
    return found, warnings


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock file, so that one process prepares and the others find what it has made."""
    with path.open('a') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _read(place: Path) -> BodyCompliance | None:
    """Return the stored compliance, or None where it is missing or damaged."""
    try:
        if (place / _DIGEST).read_text() != _digest(place):
            return None
        return BodyCompliance(*(np.load(place / f'{name}.npy', mmap_mode='r') for name in _FILES))
    except (OSError, ValueError):
        return None


def _digest(place: Path) -> str:
    digest = hashlib.sha256()
    for name in _FILES:
        digest.update((place / f'{name}.npy').read_bytes())
    return digest.hexdigest()


def _store(place: Path, compliance: BodyCompliance) -> None:
    """Write all files, then give the folder its name, so that it is whole or not there."""
    draft = Path(tempfile.mkdtemp(dir=place.parent))
    try:
        for name in _FILES:
            np.save(draft / f'{name}.npy', getattr(compliance, name))
        (draft / _DIGEST).write_text(_digest(draft))
        draft.rename(place)
    except OSError:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def _evict(folder: Path, newest: str, max_size: float) -> None:
    """Remove the least recently used until the rest is small enough; the newest stays."""
    kept = []
    for place in folder.iterdir():
        try:
            if place.is_dir() and (place / _DIGEST).is_file():
                size = sum(file.stat().st_size for file in place.iterdir())
                kept.append((place.name != newest, -place.stat().st_mtime, place, size))
        except OSError:     # another process was faster
            continue
    total = 0
    for _, _, place, size in sorted(kept):
        total += size
        if total > max_size and place.name != newest:
            shutil.rmtree(place, ignore_errors=True)
            (folder / f'{place.name}.lock').unlink(missing_ok=True)
