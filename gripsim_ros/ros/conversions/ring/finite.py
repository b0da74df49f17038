"""
Which numbers of the ring must be finite; ``core/batches.py`` declares them.

What is not finite where it should be comes from no stage that works: it is refused.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ....core.batches import ContactBatch, GraspStateBatch
from ....core.errors import ShapeError
from ....core.fields import may_be

#: Infinite where there is nothing to hit, nothing behind a patch, or nothing would do.
MAY_BE_INFINITE = may_be(ContactBatch, 'inf') | may_be(GraspStateBatch, 'inf')
#: NaN where it was not computed.
MAY_BE_NAN = may_be(GraspStateBatch, 'nan')
#: NaN in rows where no forces within the limits hold the object.
OF_CAPABLE_ROWS = may_be(GraspStateBatch, 'incapable')


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
