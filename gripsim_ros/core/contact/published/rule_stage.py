"""The contact stage by the papers' rules: vertices of the object inside links, along v_sum."""

import numpy as np

from ...arrays import Array
from ...batches import ContactBatch, LinkStateBatch
from ...bodies import GraspObject
from ...hand import HandModel
from ...hand.published.link_directions import SEED, link_displacements
from ..patches.patch import Patch
from ..stage import Row, assemble
from .intersection_rule import RuleMesh, rule_contacts


#: Displacement of a link in one step that counts as none [m].
MOTIONLESS = 1e-9


class RuleScene:
    """
    A hand and an object, their meshes prepared for the rule.

    Parameters
    ----------
    hand : HandModel
    grasp_object : GraspObject
    """

    def __init__(self, hand: HandModel, grasp_object: GraspObject) -> None:
        self.hand, self.body = hand, RuleMesh(grasp_object.mesh)
        known = {link.mesh.content_hash: RuleMesh(link.mesh) for link in hand.links}
        self.links = tuple(known[link.mesh.content_hash] for link in hand.links)

    def prepare(self) -> None:
        """Build now what the first question would build."""
        for mesh in {self.body, *self.links}:
            mesh.fans, mesh.box


def detect_rule_contacts(scene: RuleScene, batch: LinkStateBatch, direction: str = SEED
                         ) -> ContactBatch:
    """
    Find the contacts of every configuration of a batch as the papers print it.

    Parameters
    ----------
    scene : RuleScene
    batch : LinkStateBatch
        A link's direction of motion follows from the joints' displacements; where the whole hand
        arrives by ``sweep_object``, it is that of all links. What does not move meets nothing.
    direction : str
        ``SEED``: v_sum; ``JACOBIAN_CENTROID``: as the link's middle really moves.

    Returns
    -------
    ContactBatch
        One patch a link, its contact region: the object's own vertices inside the link, with
        the areas that they stand for. ``depth`` is the largest of either body's vertices in the
        other, along the motion. The rule knows no distances: clearances are 0, the bound that
        always holds, those to obstacles and between links are not looked at (``inf``).

    Notes
    -----
    Source: seed 000 for the rule, with one branch of the tree, and v_sum; seed 001 for the
    vertices that bear force. Choices where they are silent: depths along the motion become
    depths along the vertex's normal, ``d |v n|``; a link has one region; links without motion
    are skipped.
    """
    asked = batch.configurations
    ways = link_displacements(scene.hand, asked.joint_positions, asked.joint_displacements,
                              direction)
    ways = np.einsum('nij,nlj->nli', asked.T_object_palm[:, :3, :3], ways)
    swept = asked.sweep_object.any(axis=1)
    ways[swept] = asked.sweep_object[swept, None]
    rows = [_answer(scene, batch.T_object_link[i], ways[i]) for i in range(asked.count)]
    return assemble(asked, rows, len(scene.links))


def _answer(scene: RuleScene, T_object_link: Array, ways: Array) -> Row:
    """Answer for one configuration, whose links move by ``ways (L, 3)``."""
    mesh, count, none = scene.body.mesh, len(scene.links), np.zeros((0, 3))
    row = Row(np.zeros(count), np.inf, np.inf, np.zeros(count), [], [], none, none)
    for link, way in enumerate(ways):
        length = float(np.sqrt(way @ way))
        if length < MOTIONLESS:
            continue
        found = rule_contacts(scene.body, scene.links[link], T_object_link[link], way,
                              one_sided=True)
        inside = found.a_in_b
        row.depth[link] = max(inside.depths.max(initial=0.0),
                              found.b_in_a.depths.max(initial=0.0))
        if row.depth[link] > 0.0 and len(inside.vertices):
            normals = mesh.vertex_normals[inside.vertices]
            row.links.append(link)
            row.patches.append(Patch(
                mesh.vertices[inside.vertices], -normals, mesh.vertex_areas[inside.vertices],
                np.abs(normals @ way) / length * inside.depths, np.inf, 0, 0, way,
                np.ones(len(normals))))
    return row
