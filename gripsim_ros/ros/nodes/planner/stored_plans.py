"""Answers of `grasp_planner` from a grasp database, where it holds the very plan."""

from dataclasses import replace

from ....core.errors import GripsimError
from ....library.database.records import StoredPlan
from ...conversions import Request
from ..base.node_base import config_mapping, one_line


class StoredPlans:
    """
    The database that the parameter `grasp_database` names, or none.

    Parameters
    ----------
    node : GraspPlannerNode
        With ``hand`` and ``options``.
    database : str
        URL, or path of an SQLite file; empty: none.

    Raises
    ------
    GripsimError
        The database cannot be opened.
    """

    def __init__(self, node, database: str) -> None:
        """Open the database; a bad one ends the node."""
        self._node, self._database, self.answered = node, None, 0
        if database:
            from ....library.database.extras import require_sqlalchemy
            require_sqlalchemy()
            from ....library.database.lookup import GraspDatabase
            self._database = GraspDatabase(database)
            self._mechanics = config_mapping('', 'mechanics')

    def find(self, request: Request, msg) -> StoredPlan | None:
        """
        Return the plan of exactly this request, else None.

        A database that fails is reported, and the plan is made as if it did not hold it.
        """
        if self._database is None:
            return None
        from ....library.database.key import PlanSettings
        node = self._node
        options = replace(node.options, elasticity=msg.elasticity or node.options.elasticity)
        settings = PlanSettings(request.task, options, self._mechanics,
                                int(msg.max_hypotheses), int(msg.max_grasps), int(msg.seed))
        try:
            plan = self._database.find(request.grasp_object, node.hand.id, settings)
        except GripsimError as error:
            node.report_error(f'grasp database: {one_line(error)}')
            return None
        self.answered += plan is not None
        return plan

    def close(self) -> None:
        """Close the connections."""
        if self._database is not None:
            self._database.close()
