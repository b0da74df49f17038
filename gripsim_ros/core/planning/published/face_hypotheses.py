"""Hypotheses as the grasp paper forms them: the hand before the middle of each face."""

from itertools import product

import numpy as np

from ...arrays import Array
from ...bodies import GraspObject, TriangleMesh
from ...hand import HandModel
from ...transforms import apply, inverse, transform
from ..hypotheses.generate import Hypothesis, decimated, grasp_axes
from ..options import PlannerOptions


def face_hypotheses(grasp_object: GraspObject, hand: HandModel, options: PlannerOptions,
                    count: int, seed: int = 0) -> tuple[list[Hypothesis], int]:
    """
    Return hypotheses at the faces of the decimated object, in an order drawn from the seed.

    Parameters
    ----------
    grasp_object : GraspObject
    hand : HandModel
    options : PlannerOptions
        Its ``face_count``, ``roll_count`` and ``palm_gaps``.
    count : int
        Largest number of hypotheses.
    seed : int

    Returns
    -------
    hypotheses : list of Hypothesis
    proposed : int
        How many there are in all.

    Notes
    -----
    Source: seed 001: normals of the faces of a decimated mesh at their centroids, the hand at
    given distances along them, its fingers towards the object. Choices where it is silent: the
    middle of the palm's front lies on the normal; the hand stands at ``roll_count`` angles about
    it, from the object's canonical axes, with every preshape; where fewer are to be judged than
    there are, they are drawn.
    """
    T_object_canonical = grasp_object.canonical_frame
    mesh = TriangleMesh(apply(inverse(T_object_canonical), grasp_object.mesh.vertices),
                        grasp_object.mesh.faces)
    faces = decimated(mesh, options.face_count)
    rolls = 2.0 * np.pi * np.arange(options.roll_count) / options.roll_count
    every = list(product(range(len(faces.faces)), rolls, options.palm_gaps,
                         range(len(hand.preshapes))))
    chosen = [every[i] for i in np.random.default_rng(seed).permutation(len(every))[:count]]
    centroids = faces.vertices[faces.faces].mean(axis=1)
    return [Hypothesis(number, T_object_canonical @ _before(
                hand, centroids[face], faces.face_normals[face], roll, gap), preshape, 0.0)
            for number, (face, roll, gap, preshape) in enumerate(chosen)], len(every)


def _before(hand: HandModel, centroid: Array, normal: Array, roll: float, gap: float) -> Array:
    """Return the pose of a palm whose front's middle stands at a gap before a point."""
    axes = grasp_axes(normal[None], np.array([roll]))[0]
    palm = hand.links[hand.palm_index].mesh.vertices @ hand.palm_axes
    low, high = palm.min(axis=0), palm.max(axis=0)
    front = np.array([*0.5 * (low + high)[:2], high[2]])
    return transform(axes @ hand.palm_axes.T, centroid + gap * normal - axes @ front)
