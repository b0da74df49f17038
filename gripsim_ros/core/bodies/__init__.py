"""Bodies: triangle meshes, their repair and mass properties, materials, objects."""

from . import shapes
from .mass import MassProperties, mass_properties
from .material import Material, load_material, load_materials, material_from_mapping
from .mesh import TriangleMesh
from .objects import GraspObject, canonical_frame

__all__ = [
    'GraspObject', 'MassProperties', 'Material', 'TriangleMesh', 'canonical_frame',
    'load_material', 'load_materials', 'mass_properties', 'material_from_mapping', 'shapes']
