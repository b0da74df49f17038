"""
Which numbers of the ring must be finite; the docstrings of ``core/batches.py`` say why.

What is not finite where it should be comes from no stage that works: it is refused.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ....core.errors import ShapeError

#: Infinite where there is nothing to hit, nothing behind a patch, or nothing would do.
MAY_BE_INFINITE = frozenset({
    'obstacle_clearance', 'self_clearance', 'patch_thickness', 'needed_friction', 'needed_force'})
#: NaN where it was not computed.
MAY_BE_NAN = frozenset({
    'patch_strain_energies', 'patch_von_mises', 'patch_max_deformations',
    'patch_mean_deformations', 'max_deformation', 'mean_deformation', 'peak_von_mises',
    'needed_friction', 'needed_force', 'allowed_force', 'held_share', 'epsilon', 'wrench_volume'})
#: NaN in rows where no forces within the limits hold the object.
OF_CAPABLE_ROWS = frozenset({'centre_of_mass_object', 'residual'})


def check_finite(arrays: Mapping[str, NDArray]) -> None:
    """
    Check the numbers of a batch by the names of its fields.

    Raises
    ------
    ShapeError
        A number is NaN or infinite that must not be; the first such field is named.
    """
    for name, values in arrays.items():
        if name in OF_CAPABLE_ROWS:
            values = values[arrays['capable']]
        if values.dtype.kind == 'f' and not _are_allowed(name, values):
            raise ShapeError(f'field {name.lower()} must be finite, got NaN or infinity')


def _are_allowed(name: str, values: NDArray) -> bool:
    strange = values[~np.isfinite(values)]
    if not strange.size:
        return True
    is_nan = np.isnan(strange)
    return ((name in MAY_BE_NAN or not is_nan.any())
            and (name in MAY_BE_INFINITE or is_nan.all()) and not (strange == -np.inf).any())
