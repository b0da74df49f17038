"""What came of an execution: contacts found against planned, joints, slip."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .actions import Phase, Status
from .machine import GraspExecution

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ExecutionReport:
    """
    The end of an execution.

    ``planned_forces`` and ``found_forces`` (c,) [N] are normal forces at ``contact_links``
    when closing ended: 0 is none, NaN is not known. ``joint_positions`` and
    ``joint_errors`` (measured minus planned) (J,) [rad] are of the same moment, NaN where
    closing did not end. ``slip`` [m] is NaN where nothing was lifted or carried, ``turn``
    [rad], of the object in the hand, where nothing was carried. ``phases`` are those that came,
    and when they began [s]. ``force_times`` (m,) [s], likewise, and ``finger_planned_forces`` and
    ``finger_felt_forces`` (m, n) [N] tell what ``finger_names`` were to press with and felt, from
    closing on; NaN is not known.
    """

    status: Status
    message: str
    contact_links: tuple[str, ...]
    planned_forces: Array
    found_forces: Array
    joint_positions: Array
    joint_errors: Array
    lifted: bool
    slip: float
    closing_time: float
    carried: bool
    turn: float
    phases: tuple[tuple[Phase, float], ...]
    finger_names: tuple[str, ...]
    force_times: Array
    finger_planned_forces: Array
    finger_felt_forces: Array


def report_of(execution: GraspExecution, touch_force: float) -> ExecutionReport:
    """Return the report of an execution; found contacts press with at least so much [N]."""
    plan, closed = execution.plan, execution.closed
    planned = {contact.link: contact.force for contact in plan.contacts}
    felt = {} if closed is None else closed.forces
    links = [*planned, *(link for link, force in felt.items()
                         if link not in planned and force >= touch_force)]
    start = execution.begun[0][1] if execution.begun else 0.0
    names = tuple(finger.name for finger in plan.fingers if finger.force > 0.0)
    shape = len(execution.felt), len(names)
    joints = np.full(len(plan.closed), np.nan) if closed is None else closed.joints
    return ExecutionReport(
        execution.status, execution.message, tuple(links),
        np.array([planned.get(link, 0.0) for link in links]),
        np.array([felt.get(link, np.nan) for link in links]), joints, joints - plan.closed,
        execution.lifted, execution.slip, execution.closing_time, execution.carried,
        execution.turn, tuple((phase, time - start) for phase, time in execution.begun),
        names, np.array([time - start for time, _, _ in execution.felt]),
        np.reshape([planned for _, planned, _ in execution.felt], shape),
        np.reshape([felt for _, _, felt in execution.felt], shape))
