"""Warm starts of the contact solver: where load ended at the last step of a closing."""

import numpy as np

from ...arrays import Array, BoolArray, IntArray
from ...numerics.kernels import njit
from .contact_forces import FIRST_GUESS_DEPTH, ContactForces, PatchNodes, greatest_depths


#: Largest number of entries; then all are dropped.
MAX_ENTRIES = 4096
#: Range of the share: nearer to 0 or 1 the guess would be all of a patch's nodes, or none.
MIN_SHARE, MAX_SHARE = 0.02, 0.98


class WarmStarts:
    """
    Warm starts of closings: by link, the share of the greatest depth beyond which nodes bore load.

    The patches of two steps have nodes of their own, so that it is this share that can be
    taken over. Steps belong to one closing where the palm's pose is the same to the bit.

    Notes
    -----
    No bit of an answer hangs on the guess (``complementarity``), and so none on what was asked
    before, in which process, or on what is forgotten; only time does.
    """

    def __init__(self, max_entries: int = MAX_ENTRIES) -> None:
        self._max_entries = max_entries
        self._closings: dict[bytes, dict[int, float]] = {}

    def lookup(self, T_object_palm: Array, links: IntArray) -> Array:
        """
        Return the share to be guessed for each patch.

        Parameters
        ----------
        T_object_palm : (4, 4) float
            Of the closing.
        links : (p,) int
            Link of each patch.

        Returns
        -------
        (p,) float
            Above 0 and below 1; a paraboloid's where nothing is known.
        """
        known = self._closings.get(T_object_palm.tobytes(), {})
        return np.array([known.get(link, FIRST_GUESS_DEPTH) for link in links.tolist()])

    def store(self, T_object_palm: Array, nodes: PatchNodes, solution: ContactForces) -> None:
        """
        Store where load ended.

        Parameters
        ----------
        T_object_palm : (4, 4) float
            Of the closing.
        nodes : PatchNodes
        solution : ContactForces
            On these nodes.
        """
        if len(self._closings) >= self._max_entries:
            self._closings = {}
        shares = loaded_shares(nodes.depths[solution.rows], nodes.patches[solution.rows],
                               solution.forces > 0.0, nodes.patch_count)
        self._closings[T_object_palm.tobytes()] = dict(zip(nodes.links.tolist(), shares.tolist()))


@njit(cache=True)
def loaded_shares(depths: Array, patches: IntArray, loaded: BoolArray, count: int) -> Array:
    """
    Return the share of each patch's greatest depth that best parts loaded nodes from free.

    Parameters
    ----------
    depths : (n,) float
        [m].
    patches : (n,) int
        Patch of each node, below ``count``.
    loaded : (n,) bool
    count : int

    Returns
    -------
    (count,) float
        Half way between the shallowest loaded node and the deepest free one.
    """
    deepest = greatest_depths(depths, patches, count)
    least, most = np.ones(count), np.zeros(count)
    for i in range(len(depths)):
        patch = patches[i]
        if deepest[patch] > 0.0:
            share = depths[i] / deepest[patch]
            if loaded[i]:
                least[patch] = min(least[patch], share)
            else:
                most[patch] = max(most[patch], share)
    return np.minimum(np.maximum(0.5 * (least + most), MIN_SHARE), MAX_SHARE)
