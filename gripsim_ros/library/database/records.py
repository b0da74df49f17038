"""What the database holds, as Python has it: plans, jobs, surfaces."""

import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.bodies import GraspObject, TriangleMesh
from ...core.planning.progress import Progress
from ...core.planning.ranked_grasp import NearestMiss, RankedGrasp

#: Effort of packing surfaces; more gains little.
ZLIB_LEVEL = 6


@dataclass(frozen=True, eq=False)
class Summary:
    """What a plan tells beside its grasps; counts, reasons, times [s]."""

    rejections: Mapping[str, int]
    evaluated: int
    total: int
    proposed: int
    in_contact: int
    planning_time: float
    first_stable_time: float | None
    repairs: tuple[str, ...]
    hint: str = ''
    nearest_miss: NearestMiss | None = None


@dataclass(frozen=True, eq=False)
class HandNames:
    """What is kept of a hand."""

    id: str
    name: str
    base_link: str
    joint_names: tuple[str, ...]
    files: tuple[()] = ()       # where its files stood is not kept


@dataclass(frozen=True, eq=False)
class StoredPlan:
    """
    A plan as the database keeps it: complete, under the key of what it depends on.

    It answers like a planner that has finished, so that it can stand in for one.
    ``settings`` is what entered the key beside object and hand, for people to read.
    """

    key: str
    grasp_object: GraspObject
    hand: HandNames
    version: str
    settings: str
    grasps: tuple[RankedGrasp, ...]
    summary: Summary

    finished = True

    def ask(self) -> None:
        """Return None: nothing is left to ask."""

    def look_ahead(self) -> bool:
        """Return False: nothing is left to find."""
        return False

    def stop(self) -> None:
        """Do nothing: it has ended."""

    def go_on(self) -> bool:
        """Return False: nothing follows."""
        return False

    def ranked(self, count: int = 0) -> list[RankedGrasp]:
        """Return the best ``count`` grasps (0: all), best first."""
        return list(self.grasps[:count or len(self.grasps)])

    @property
    def progress(self) -> Progress:
        """Return how far planning came: to its end."""
        return Progress(self.summary.evaluated, self.summary.total,
                        self.summary.evaluated - sum(self.summary.rejections.values()),
                        self.grasps[0] if self.grasps else None)

    @property
    def rejections(self) -> dict[str, int]:
        """Return how many hypotheses were rejected for each reason."""
        return dict(self.summary.rejections)

    @property
    def reach_levels(self) -> dict[str, int]:
        """Return by whom the object is moved, and by how many of the grasps kept so."""
        return dict(Counter(grasp.reach.level for grasp in self.grasps
                            if grasp.reach is not None))

    @property
    def nearest_miss(self) -> NearestMiss | None:
        """Return the rejected hypothesis that came nearest, None where there is a grasp."""
        return self.summary.nearest_miss

    @property
    def hint(self) -> str:
        """Return what was lacking where there is no grasp."""
        return self.summary.hint

    def statistics(self) -> dict[str, Any]:
        """Return the numbers that ``gripsim plan`` tells; times are those of planning."""
        names = ('evaluated', 'total', 'proposed', 'in_contact', 'planning_time',
                 'first_stable_time')
        return {**{name: getattr(self.summary, name) for name in names}, 'timed_out': False,
                'interrupted': False, 'repairs': self.summary.repairs}


@dataclass(frozen=True, eq=False)
class Failure:
    """Why an object could not be planned for, in one line."""

    reason: str


@dataclass(frozen=True, eq=False)
class JobRecord:
    """A finished job: the name, scale and material asked for, with its plan or failure."""

    label: str
    scale: float
    material_name: str
    status: str
    reason: str = ''
    plan: StoredPlan | None = None


@dataclass(frozen=True, eq=False)
class GraspFilter:
    """
    Which of the stored grasps are wanted.

    ``objects`` are patterns of the shell for the labels, ``materials`` names; none: all.
    ``top`` is the number of best grasps a plan, 0: all.
    """

    objects: tuple[str, ...] = ()
    materials: tuple[str, ...] = ()
    min_score: float = -np.inf
    min_margin: float = -np.inf
    top: int = 0

    def keeps(self, grasp: RankedGrasp) -> bool:
        """Return whether a grasp is wanted."""
        return (all(limit == -np.inf or value >= limit for value, limit in (
            (grasp.score, self.min_score), (grasp.margin, self.min_margin)))
            and not 0 < self.top < grasp.rank)


def pack_mesh(mesh: TriangleMesh) -> tuple[bytes, bytes]:
    """Return vertices (float64) and faces (int64), little-endian rows, by zlib."""
    return (zlib.compress(mesh.vertices.astype('<f8').tobytes(), ZLIB_LEVEL),
            zlib.compress(mesh.faces.astype('<i8').tobytes(), ZLIB_LEVEL))


def unpack_mesh(vertices: bytes, faces: bytes) -> TriangleMesh:
    """Return the surface that ``pack_mesh`` packed."""
    return TriangleMesh(np.frombuffer(zlib.decompress(vertices), '<f8').reshape(-1, 3),
                        np.frombuffer(zlib.decompress(faces), '<i8').reshape(-1, 3))
