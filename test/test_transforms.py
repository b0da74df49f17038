"""Small algebra of vectors, against numpy's."""

import numpy as np
import pytest

from gripsim_ros.core.errors import ShapeError
from gripsim_ros.core.transforms import cross, from_pose, skew


@pytest.mark.parametrize('shapes', [((3,), (3,)), ((7, 3), (7, 3)), ((3,), (5, 3)),
                                    ((4, 1, 3), (4, 3, 3))])
def test_cross_products_are_numpys_to_the_last_bit(shapes):
    generator = np.random.default_rng(1)
    a, b = (generator.normal(size=shape) for shape in shapes)
    np.testing.assert_array_equal(cross(a, b), np.cross(a, b))


@pytest.mark.parametrize('shape', [(3,), (6, 3), (2, 4, 3)])
def test_skew_matrices_multiply_like_cross_products(shape):
    generator = np.random.default_rng(2)
    v, x = generator.normal(size=(2, *shape))
    np.testing.assert_allclose((skew(v) @ x[..., None])[..., 0], np.cross(v, x), rtol=1e-15,
                               atol=1e-15)


@pytest.mark.parametrize('position, quaternion, said', [
    (np.zeros(2), (0, 0, 0, 1), r'needs 3 and 4 numbers, got \(2,\) and \(4,\)'),
    (np.zeros(3), (0, 0, 1), r'needs 3 and 4 numbers, got \(3,\) and \(3,\)'),
    ((0, np.nan, 0), (0, 0, 0, 1), 'must be finite'),
    (np.zeros(3), (0, 0, np.inf, 1), 'must be finite'),
    (np.zeros(3), (0, 0, 0, 1.01), r'norm 1 \(x, y, z, w\), got 1.01')])
def test_what_is_no_pose_is_refused(position, quaternion, said):
    with pytest.raises(ShapeError, match=said):
        from_pose(position, quaternion)
