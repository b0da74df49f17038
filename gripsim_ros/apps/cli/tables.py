"""Tables of ranked grasps and of rejections, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .output import print_table, say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...core.planning.ranked_grasp import RankedGrasp
    from ...library.grasp_file import PlanAnswer

GRASP_COLUMNS = ('rank', 'score', 'preshape', 'contacts', 'force [N]', 'peak [kPa]',
                 'pressed in [mm]', 'load margin', 'damage margin', 'sure [%]', 'note')


def print_answer(answer: PlanAnswer) -> None:
    """Print the ranked grasps and why others were rejected."""
    numbers, title = answer.statistics, f'Grasps of {answer.mesh_name}'
    if 'method' in numbers:
        title += ', by the published method'
    if answer.grasps:
        print_table(title, GRASP_COLUMNS, [grasp_row(grasp) for grasp in answer.grasps])
    else:
        print(f'{title}: none')
        for line in answer.explanation:
            print(line)
    if answer.rejected:
        print_table('Rejected hypotheses', ('reason', 'number'), [
            (reason, str(number)) for reason, number in
            sorted(answer.rejected.items(), key=lambda item: (-item[1], item[0]))])
    say(f'{numbers["evaluated"]} of {numbers["total"]} hypotheses judged in '
        f'{numbers["planning_time"]:.1f} s' + _parts(numbers.get('times', {})))
    for said in (numbers.get('message'), numbers.get('way_unknown')):
        if answer.grasps and said:
            say(said)


def _parts(times: Mapping[str, float]) -> str:
    """Return how long each part took, in the order in which they came."""
    if not times:
        return ''
    return f' ({", ".join(f"{part} {seconds:.2f}" for part, seconds in times.items())} s)'


def grasp_row(grasp: RankedGrasp) -> tuple[str, ...]:
    """Return one row of the table of grasps; force is the sum over the contacts."""
    import numpy as np

    from ...core.planning.ranked_grasp import CONES_LEFT
    force = sum(float(np.linalg.norm(contact.force)) for contact in grasp.contacts)
    peak = max((contact.peak_pressure for contact in grasp.contacts), default=0.0)
    sure = '-' if grasp.robustness is None else (
        f'{100 * grasp.robustness.holding:.0f} ± {100 * grasp.robustness.error:.0f}')
    notes = [] if grasp.reach is None else [f'reach: {grasp.reach.level}']
    notes += [] if grasp.arm_motion is None else [
        f'arm: {grasp.arm_motion.pregrasp_length:.2f} rad to the pre-grasp, '
        f'{grasp.arm_motion.length:.2f} in all']
    notes += ['own compliance'] if grasp.elasticity == 'body' else []
    notes += [CONES_LEFT] if any(
        warning.startswith(CONES_LEFT) for warning in grasp.warnings) else []
    notes += [] if grasp.quantitative else ['outside the range of the elastic model']
    return (str(grasp.rank), f'{grasp.score:.3f}', grasp.preshape, str(len(grasp.contacts)),
            f'{force:.2f}', f'{1e-3 * peak:.1f}', f'{1e3 * grasp.max_displacement:.2f}',
            f'{grasp.margin:.2f}', _factor(grasp.damage_margin), sure,
            '; '.join([*notes, *([grasp.reason] if grasp.reason else [])]))


def _factor(value: float) -> str:
    return f'{value:.1f}' if value < 1e3 else '-'
