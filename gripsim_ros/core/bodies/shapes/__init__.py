"""Bodies made from parameters: closed, normals outward, centred near the origin."""

from .mugs import mug
from .solids import (
    apple, banana, bone, box, capsule, cone, cylinder, egg, ellipsoid, plate, sphere, torus)

__all__ = ['apple', 'banana', 'bone', 'box', 'capsule', 'cone', 'cylinder', 'egg', 'ellipsoid',
           'mug', 'plate', 'sphere', 'torus']
