"""Reading the grasp database: a plan by its key, all plans in order."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from ...core.bodies import GraspObject, Material
from ...core.errors import GripsimError
from ...core.planning.ranked_grasp import RankedGrasp
from . import codec
from .key import PlanSettings, plan_key
from .records import GraspFilter, HandNames, JobRecord, StoredPlan, Summary, unpack_mesh
from .schema import DONE, FAILED, DatabaseError, HandRow, JobRow, PlanRow, open_database


class GraspDatabase:
    """
    A database to be asked for plans; nothing is written.

    Parameters
    ----------
    text : str
        URL, or path of an SQLite file.

    Raises
    ------
    DatabaseError
        See ``schema.open_database``; also where a later question fails.
    """

    def __init__(self, text: str) -> None:
        self.engine = open_database(text)
        self.name = self.engine.url.render_as_string(hide_password=True)

    def find(self, grasp_object: GraspObject, hand_id: str, settings: PlanSettings
             ) -> StoredPlan | None:
        """
        Return the plan of exactly this object, hand, settings and program, else None.

        Notes
        -----
        What is read is held against what was asked for: a row that names another object or
        hand than its key is refused.
        """
        key = plan_key(grasp_object, hand_id, settings)
        try:
            with Session(self.engine) as session:
                row = session.scalar(select(PlanRow).where(PlanRow.key == key))
                if row is None:
                    return None
                if (row.object_id, row.hand_id) != (grasp_object.id, hand_id):
                    raise DatabaseError(f'plan {key} is not of the object and hand that its key '
                                        'names; it was changed by other means')
                return plan_from_row(row, grasp_object)
        except (SQLAlchemyError, GripsimError) as error:
            raise DatabaseError(f'database {self.name}: {" ".join(str(error).split())}') from None

    def jobs(self, wanted: GraspFilter | None = None) -> Iterator[JobRecord]:
        """
        Yield finished jobs ordered by label, material, scale and key; failed ones too.

        The grasps of each plan are those that ``wanted`` keeps, by rank.
        """
        wanted = wanted or GraspFilter()
        with Session(self.engine) as session:
            columns = (JobRow.label, JobRow.material_name, JobRow.scale, JobRow.key, JobRow.id)
            finished = session.execute(
                select(*columns).where(JobRow.status.in_((DONE, FAILED)))).all()
            for label, material, _, _, number in sorted(tuple(row) for row in finished):
                if (wanted.objects and not any(
                        fnmatchcase(label, pattern) for pattern in wanted.objects)) or (
                        wanted.materials and material not in wanted.materials):
                    continue
                yield _job_record(session.get_one(JobRow, number), wanted)
                session.expunge_all()

    def close(self) -> None:
        """Close the connections."""
        self.engine.dispose()


def _job_record(row: JobRow, wanted: GraspFilter) -> JobRecord:
    plan = None if row.plan is None else plan_from_row(row.plan, None, row.label, wanted)
    return JobRecord(row.label, row.scale, row.material_name, row.status, row.reason, plan)


def plan_from_row(row: PlanRow, grasp_object: GraspObject | None = None, label: str = '',
                  wanted: GraspFilter | None = None) -> StoredPlan:
    """
    Return a plan from its rows.

    Parameters
    ----------
    row : PlanRow
    grasp_object : GraspObject, optional
        The object asked for, where its content has the row's id; None: it is unpacked.
    label : str
        Of an object that is unpacked.
    wanted : GraspFilter, optional
        Which grasps; None: all.
    """
    if grasp_object is None or grasp_object.id != row.object_id:
        grasp_object = GraspObject(unpack_mesh(row.mesh.vertices, row.mesh.faces),
                                   codec.load(Material, row.material), label)
    grasps = (codec.load(RankedGrasp, grasp.content) for grasp in row.grasps)
    kept = tuple(grasp for grasp in grasps if wanted is None or wanted.keeps(grasp))
    return StoredPlan(row.key, grasp_object, _hand_names(row.hand), row.version, row.settings,
                      kept, codec.load(Summary, row.summary))


def _hand_names(row: HandRow) -> HandNames:
    return HandNames(row.id, row.name, row.base_link,
                     codec.load(tuple[str, ...], row.joint_names))
