"""Which rules of the papers are kept as printed, and which are replaced by this project's."""

from dataclasses import dataclass

from ...options import Options, option


#: Number of contact regions with which a grasp counts as done: more than two.
LEAST_REGIONS = 3


@dataclass(frozen=True)
class PublishedRules(Options, section='published rules'):
    """
    The rules of the published method; the defaults are as printed.

    Attributes
    ----------
    hypotheses : str
        ``faces``: the hand stands before the middle of a face; ``prescreened``: ours.
    contacts : str
        ``vertices``: the printed rule of intersection; ``patches``: refined patches of the
        object's surface, along the exact motion.
    direction : str
        Of the printed rule: ``seed``: v_sum; ``jacobian_centroid``: as the link's middle moves.
    surface : str
        ``rings``: displacements ring by ring, at constant volume; ``smooth``: everywhere.
    centre : str
        Of mass: by ``cells``, or ``exact``.
    forces : str
        Computed by the ``pseudo_inverse``, or the least ``within_friction``.

    Raises
    ------
    TaskError
        A value is none of these words.
    """

    hypotheses: str = option('faces', among='faces, prescreened')
    contacts: str = option('vertices', among='vertices, patches')
    direction: str = option('seed', among='seed, jacobian_centroid')
    surface: str = option('rings', among='rings, smooth')
    centre: str = option('cells', among='cells, exact')
    forces: str = option('pseudo_inverse', among='pseudo_inverse, within_friction')
