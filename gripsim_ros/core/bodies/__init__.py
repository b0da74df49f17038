"""Bodies: triangle meshes, their repair and mass properties, materials, objects."""

from . import shapes
from .decimate import convex_hull, decimate_hull, decimate_mesh
from .grasp_object import GraspObject, canonical_frame
from .loading import LoadedMesh, load_mesh, repair_mesh
from .mass import MassProperties, mass_properties
from .material import Material, load_material, load_materials, material_from_mapping
from .mesh import TriangleMesh
from .reading import mesh_formats, read_triangles

__all__ = [
    'GraspObject', 'LoadedMesh', 'MassProperties', 'Material', 'TriangleMesh',
    'canonical_frame', 'convex_hull', 'decimate_hull', 'decimate_mesh', 'load_material',
    'load_materials', 'load_mesh', 'mass_properties', 'material_from_mapping',
    'mesh_formats', 'read_triangles', 'repair_mesh', 'shapes']
