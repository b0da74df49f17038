"""Bodies made from parameters: closed, normals outward, centred near the origin."""

from .mugs import mug
from .solids import (
    apple, apple_profile, banana, bone, bone_profile, box, capsule, cone, cylinder, egg, ellipsoid,
    plate, plate_profile, sphere, sphere_frequency, torus)

__all__ = ['apple', 'apple_profile', 'banana', 'bone', 'bone_profile', 'box', 'capsule', 'cone',
           'cylinder', 'egg', 'ellipsoid', 'mug', 'plate', 'plate_profile', 'sphere',
           'sphere_frequency', 'torus']
