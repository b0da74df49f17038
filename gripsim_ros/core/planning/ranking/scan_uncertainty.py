"""Scan uncertainty: the loss of score of grasps on surface that was assumed, not seen."""

from dataclasses import replace

import numpy as np

from ...bodies.scans.complete import SeenSurface
from ..options import PlannerOptions
from ..ranked_grasp import RankedGrasp, ScoreTerm

#: Largest expected error of a contact that counts as on seen surface [m].
NOTABLE_ERROR = 1e-4


def with_scan_uncertainty(grasp: RankedGrasp, seen: SeenSurface | None,
                          options: PlannerOptions) -> RankedGrasp:
    """
    Return a grasp of a completed body with the uncertainty of its contacts.

    Each contact gets the expected error of the surface there, the grasp a warning for each
    on unseen surface, and the score a term ``unseen`` that takes up to ``unseen_loss`` from
    it, in proportion to the largest error over ``unseen_length``.

    Parameters
    ----------
    grasp : RankedGrasp
    seen : SeenSurface or None
        None: the body is given, not completed; the grasp is returned as it is.
    options : PlannerOptions

    Returns
    -------
    RankedGrasp

    Notes
    -----
    Own choice. The expected error grows with the distance to the nearest seen point.
    """
    if seen is None or not grasp.contacts:
        return grasp
    errors = seen.uncertainty(np.array([contact.point for contact in grasp.contacts]))
    worst = float(errors.max())
    share = -min(1.0, worst / options.unseen_length)
    term = ScoreTerm('unseen', worst, 'm', options.unseen_loss, options.unseen_loss * share, share)
    warnings = tuple(
        f'{contact.link}: rests on surface that was not seen; it may be {1e3 * error:.1f} mm off'
        for contact, error in zip(grasp.contacts, errors) if error > NOTABLE_ERROR)
    return replace(
        grasp, score=grasp.score + term.contribution, terms=(*grasp.terms, term),
        warnings=grasp.warnings + warnings, contacts=tuple(
            replace(contact, surface_uncertainty=float(error))
            for contact, error in zip(grasp.contacts, errors)))
