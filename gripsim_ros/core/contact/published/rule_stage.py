"""The contact stage by the papers' rules: vertices of the object inside links, along v_sum."""

from dataclasses import dataclass

import numpy as np

from ...arrays import Array, IntArray
from ...batches import ContactBatch, LinkStateBatch
from ...bodies import GraspObject
from ...hand import HandModel
from ...hand.published.link_directions import SEED, link_displacements
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


@dataclass(frozen=True, eq=False)
class _Region:
    """What the rule finds of one link: the object's vertices (k,), their depths, the deepest."""

    link: int
    vertices: IntArray
    depths: Array
    deepest: float


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
    rows = [[region for link in range(len(scene.links))
             if (region := _region(scene, link, batch.T_object_link[i, link], ways[i, link]))]
            for i in range(asked.count)]
    return _assemble(scene, batch, rows)


def _region(scene: RuleScene, link: int, T_object_link: Array, way: Array) -> _Region | None:
    """Return the contact region of a link that moves by ``way``, None where there is none."""
    length = float(np.sqrt(way @ way))
    if length < MOTIONLESS:
        return None
    found = rule_contacts(scene.body, scene.links[link], T_object_link, way, one_sided=True)
    deepest = max(found.a_in_b.depths.max(initial=0.0), found.b_in_a.depths.max(initial=0.0))
    if not deepest > 0.0:
        return None
    mesh, vertices = scene.body.mesh, found.a_in_b.vertices
    along = np.abs(mesh.vertex_normals[vertices] @ way) / length
    return _Region(link, vertices, along * found.a_in_b.depths, float(deepest))


def _assemble(scene: RuleScene, batch: LinkStateBatch, rows: list[list[_Region]]) -> ContactBatch:
    """Lay the regions that have vertices of the object end to end."""
    mesh, asked = scene.body.mesh, batch.configurations
    count, links = asked.count, len(scene.links)
    depth = np.zeros((count, links))
    for i, regions in enumerate(rows):
        for region in regions:
            depth[i, region.link] = region.deepest
    loaded = [[region for region in regions if len(region.vertices)] for regions in rows]
    patches = [region for regions in loaded for region in regions]
    vertices = np.concatenate([np.zeros(0, np.int64), *(p.vertices for p in patches)])
    none = np.zeros((0, 3))
    return ContactBatch(
        asked, np.zeros((count, links)), np.full(count, np.inf), np.full(count, np.inf), depth,
        _offsets([len(regions) for regions in loaded]),
        np.array([patch.link for patch in patches], np.int64),
        np.zeros(len(patches), np.int64), np.full(len(patches), np.inf),
        _offsets([len(patch.vertices) for patch in patches]), mesh.vertices[vertices],
        -mesh.vertex_normals[vertices], mesh.vertex_areas[vertices],
        np.concatenate([np.zeros(0), *(patch.depths for patch in patches)]),
        np.zeros(count + 1, np.int64), none, none)


def _offsets(counts: list[int]) -> IntArray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
