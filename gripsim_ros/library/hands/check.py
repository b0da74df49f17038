"""Whether a hand can serve, and what is odd about it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ...core.contact.stage import LinkShapes, self_clearance
from ...core.hand import HandModel, Preshape, forward_kinematics
from ...core.planning.hypotheses.hand_geometry import moving_fingers, pad_paths
from ...core.planning.hypotheses.hand_opening import largest_opening

#: Smallest gap between opposed fingers of a hand that can hold anything [m].
LEAST_OPENING = 0.003
#: Efforts beyond which they are placeholders [N m, N].
MOST_EFFORTS = (100.0, 1000.0)
#: Largest cosine between the normals of pads that face each other at all [-].
FACING = -0.3
#: Triangles of a link beyond which planning takes notably longer.
MANY_FACES = 50_000


@dataclass(frozen=True)
class Findings:
    """What keeps a hand from serving, and what is odd: a line each."""

    faults: tuple[str, ...]
    oddities: tuple[str, ...]


def check_hand(hand: HandModel) -> Findings:
    """Return the findings about a hand that could be loaded."""
    faults, oddities = list[str](), list(hand.notes)
    serving = [preshape for preshape in hand.preshapes if len(moving_fingers(hand, preshape)) > 1]
    oddities += [f'preshape {preshape.name}: fewer than two fingers close'
                 for preshape in hand.preshapes if preshape not in serving]
    if len(hand.fingers) < 2:
        faults.append(f'fingers: two or more are needed, got {len(hand.fingers)}')
    elif not serving:
        faults.append('preshapes: two fingers must close in one of them, open and closed differ '
                      'for one finger at most')
    else:
        faults += _openings(hand, serving, oddities)
    for name, effort, slides in zip(hand.joint_names, hand.joint_efforts, hand.prismatic):
        unit = 'N' if slides else 'N m'
        if not effort > 0.0:
            faults.append(f'joint {name}: an effort above 0 is needed, got {effort:g} {unit}; '
                          'set joint_efforts')
        elif effort > MOST_EFFORTS[bool(slides)]:
            oddities.append(f'joint {name}: an effort of {effort:g} {unit} seems a placeholder; '
                            'set joint_efforts')
    tips = {finger.links[-1] for finger in hand.fingers}
    oddities += [f'link {hand.link_names[i]}: no pad, its surface counts as rigid'
                 for i in sorted(tips) if hand.links[i].pad is None]
    oddities += [f'link {link.name}: {len(link.mesh.faces)} triangles; planning takes longer with '
                 f'more than {MANY_FACES}' for link in hand.links
                 if len(link.mesh.faces) > MANY_FACES]
    return Findings(tuple(faults), tuple(oddities))


def _openings(hand: HandModel, preshapes: list[Preshape], oddities: list[str]) -> list[str]:
    """Return faults of the open hand in all preshapes; add those of some to the oddities."""
    shapes, free = LinkShapes.of_hand(hand), list[str]()
    opposed = False
    for preshape in preshapes:
        T = forward_kinematics(hand, preshape.open[None])[0]
        if self_clearance(shapes, T) <= 0.0:
            pair = _first_overlap(hand, shapes, T)
            oddities.append(f'preshape {preshape.name}: the open hand collides with itself '
                            f'({pair}); list pairs that cannot meet under adjacent')
        else:
            free.append(preshape.name)
        _, normals = pad_paths(hand, preshape)
        best = min((float((a * b).sum(axis=1).min()) for a, b in combinations(normals, 2)),
                   default=1.0)
        opposed |= best < FACING
        if best >= FACING:
            oddities.append(f'preshape {preshape.name}: no two pads face each other as it closes')
    faults = []
    if not free:
        faults.append('preshapes: the open hand collides with itself in all of them')
    if not opposed:
        faults.append('surfaces: no two pads face each other in any preshape; check outward')
    opening = largest_opening(hand)
    if opposed and opening < LEAST_OPENING:
        oddities.append(f'preshapes: between opposed fingers of the open hand there are '
                        f'{1e3 * opening:.1f} mm across the approach')
    return faults


def _first_overlap(hand: HandModel, shapes: LinkShapes, T_palm_link: np.ndarray) -> str:
    from ...core.contact.distance.mesh_distance import mesh_distance
    from ...core.transforms import inverse
    for i, j in shapes.pairs:
        if mesh_distance(shapes.bodies[i], shapes.bodies[j],
                         inverse(T_palm_link[i]) @ T_palm_link[j]) <= 0.0:
            return f'{hand.link_names[i]} and {hand.link_names[j]}'
    return 'links'
