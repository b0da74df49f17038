"""
Contacts found anew where the object's surface has gone along itself under them.

A compact body that is pressed beside its middle bends and twists, and its faces go along
themselves: then a link meets another place of a face than it met at rest.
"""

import numpy as np

from ..arrays import Array, BoolArray
from ..batches import OWN_COMPLIANCE, ConfigurationBatch
from ..bodies.mesh import sum_by_label
from ..contact import Patch, PatchOptions, sample_patch
from ..contact.stage import LinkShapes
from ..hand import HandModel, forward_kinematics
from .body import ContactProblem, ElasticBody, LoadedPatches, pad_layers, solve_contact
from .contact.contact_forces import nodes_of
from .edges import sideways


#: Way of the surface along itself from which on a contact is found anew, over its radius [-].
LEAST_SLIDE = 0.04
#: Times that contacts are found anew.
ROUNDS = 2


def follow_surface(body: ElasticBody, hand: HandModel, asked: ConfigurationBatch, i: int,
                   contact: ContactProblem, patches: LoadedPatches
                   ) -> tuple[ContactProblem, LoadedPatches]:
    """
    Return contacts where the surface has gone, and what they bear.

    Parameters
    ----------
    body : ElasticBody
    hand : HandModel
    asked : ConfigurationBatch
    i : int
        The configuration.
    contact : ContactProblem
        Found on the body at rest.
    patches : LoadedPatches
        Of these contacts.

    Returns
    -------
    ContactProblem, LoadedPatches
        Those given where half-spaces answer, which know no ways along the surface, where the
        ways are short, and where a link would lose its contact.

    Notes
    -----
    Each link is moved back by the mean way of the surface under it, so that places stay those of
    the body at rest. Own arrangement: docs/model/compliance.md, "Following the surface".
    """
    moved = np.zeros((len(hand.links), 3))
    for _ in range(ROUNDS):
        ways = _ways_under_links(body, contact, patches, len(hand.links))
        if ways is None:
            break
        gone = np.linalg.norm(ways - moved, axis=1) > LEAST_SLIDE * _radii(
            patches, len(hand.links))
        found = _found_anew(body, hand, asked, i, contact, ways, gone) if gone.any() else None
        if found is None:
            break
        answer = solve_contact(body, found, pad_layers(hand.links, found.nodes.links))
        if answer.solution.correction is None or (
                set(answer.links.tolist()) != set(patches.links.tolist())):
            break
        contact, patches = found, answer
        moved = np.where(gone[:, None], ways, moved)
    return contact, patches


def _ways_under_links(body: ElasticBody, contact: ContactProblem, patches: LoadedPatches,
                      count: int) -> Array | None:
    """Return how far the surface under each link goes along itself (L, 3) [m]; None unknown."""
    solution, results = patches.solution, patches.results
    if solution.correction is None:
        return None
    own = contact.nodes.patches[solution.rows] == results.rows[:, None]
    slides = sideways(body.compliance, solution.correction, solution.forces, own, results.normals)
    weights = results.magnitudes
    sums = sum_by_label(weights[:, None] * slides, patches.links, count)
    totals = np.bincount(patches.links, weights, minlength=count)
    return np.asarray(sums / np.where(totals > 0.0, totals, 1.0)[:, None])


def _radii(patches: LoadedPatches, count: int) -> Array:
    """Return the largest radius of each link's contacts (L,) [m]; inf where there is none."""
    radii = np.zeros(count)
    np.maximum.at(radii, patches.links, patches.results.radii)
    return np.where(radii > 0.0, radii, np.inf)


def _found_anew(body: ElasticBody, hand: HandModel, asked: ConfigurationBatch, i: int,
                contact: ContactProblem, ways: Array, gone: BoolArray) -> ContactProblem | None:
    """
    Return contacts of which those of links (L,) that are gone are found anew; None without one.

    These links are moved back by their ways (L, 3).
    """
    poses = asked.T_object_palm[i] @ forward_kinematics(hand, asked.joint_positions[i][None])[0]
    shapes, found = LinkShapes.of_hand(hand).bodies, list[tuple[int, Patch, Array]]()
    kept = _kept(contact)
    for link in sorted({one[0] for one in kept}):
        if not gone[link]:
            found += [one for one in kept if one[0] == link]
            continue
        inwards = sum(one[1].normals.sum(axis=0) for one in kept if one[0] == link)
        pose = poses[link].copy()
        pose[:3, 3] -= ways[link]
        touched = sample_patch(body.edges.surface, shapes[link], pose, _unit(inwards),
                               PatchOptions(), asked.elasticity == OWN_COMPLIANCE)
        if not touched:
            return None
        found += [(link, patch, ways[link]) for patch in touched]
    links, patches, moved = zip(*found)
    return ContactProblem(
        nodes_of(patches, links), np.array([patch.flags for patch in patches], np.int64),
        np.array([patch.thickness for patch in patches]), np.array(moved))


def _kept(contact: ContactProblem) -> list[tuple[int, Patch, Array]]:
    """Return link, patch and way that it was found by (3,) [m] of each contact."""
    nodes, kept = contact.nodes, list[tuple[int, Patch, Array]]()
    moved = np.zeros((len(nodes.links), 3)) if contact.moved is None else contact.moved
    for k, link in enumerate(nodes.links.tolist()):
        rows = nodes.patches == k
        kept.append((link, Patch(
            nodes.points[rows], nodes.normals[rows], nodes.areas[rows], nodes.depths[rows],
            float(contact.thickness[k]), int(contact.flags[k]), -1,
            np.zeros(3), nodes.spreads[rows]), moved[k]))
    return kept


def _unit(vector: Array) -> Array | None:
    """Return a vector (3,) of unit length; None of nought."""
    length = float(np.sqrt(vector @ vector))
    return vector / length if length > 0.0 else None
