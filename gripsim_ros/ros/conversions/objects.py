"""Objects and materials <-> messages."""

from collections.abc import Mapping

import numpy as np
from gripsim_interfaces.msg import GraspObject as GraspObjectMsg
from gripsim_interfaces.msg import Material as MaterialMsg

from ...core.bodies import GraspObject, Material, TriangleMesh
from ...core.bodies.material import DEFAULT_KEY, LIMITS, NUMBERS
from ...core.errors import GripsimError, MaterialError, MeshError
from .arrays import fields_from_msg, fields_to_msg
from .geometry import check_size

#: Longest label of an object, and name of a material [characters].
LONGEST_LABEL = 256

_MESH_SHAPES = {'vertices': ('V', 3), 'faces': ('F', 3)}


def material_to_msg(material: Material) -> MaterialMsg:
    """Return the message of a material; no limit of pressure or force travels as 0."""
    numbers = {name: float(getattr(material, name)) for name in NUMBERS}
    return MaterialMsg(name=material.name, **{
        name: number if np.isfinite(number) else 0.0 for name, number in numbers.items()})


def material_from_msg(msg: MaterialMsg, library: Mapping[str, Material]) -> Material:
    """
    Return the material of a message: its numbers, or the library's by its name.

    Parameters
    ----------
    msg : Material
        ``youngs_modulus`` other than 0 says that the numbers count; without it and
        without a name the library's ``default`` is taken.
    library : mapping of str to Material
        Materials by name.

    Raises
    ------
    MaterialError
        The name is not in the library, nothing is given, or a number is out of range.
    """
    check_label('material.name', msg.name, MaterialError)
    if msg.youngs_modulus != 0.0:
        numbers = {name: getattr(msg, name) for name in NUMBERS}
        numbers |= {name: np.inf for name in LIMITS if numbers[name] == 0.0}
        return Material(name=msg.name, **numbers)
    name = msg.name or DEFAULT_KEY
    if name in library:
        return library[name]
    got = f'{msg.name!r}' if msg.name else 'neither a name nor youngs_modulus'
    raise MaterialError(f'material must be one of {", ".join(sorted(library))} '
                        f'or have youngs_modulus above 0 Pa, got {got}')


def check_label(name: str, text: str, error: type[GripsimError]) -> None:
    """Raise ``error`` where a text is too long to travel with everything that is said of it."""
    if len(text) > LONGEST_LABEL:
        raise error(f'{name} must have at most {LONGEST_LABEL} characters, got {len(text)}')


def grasp_object_to_msg(grasp_object: GraspObject, scale: float = 1.0) -> GraspObjectMsg:
    """Return the message of an object; ``scale`` is for information, already applied."""
    msg = GraspObjectMsg(object_id=grasp_object.id, label=grasp_object.label,
                         scale=float(scale), material=material_to_msg(grasp_object.material))
    fields_to_msg(grasp_object.mesh, msg, _MESH_SHAPES)
    return msg


def grasp_object_from_msg(msg: GraspObjectMsg) -> GraspObject:
    """
    Return the object of a message, held to its word about its content.

    Raises
    ------
    MeshError
        It is too large, its label too long, an index points past the vertices, or ``object_id`` is
        another content's.
    GripsimError
        The mesh or the material cannot be used.
    """
    check_label('label', msg.label, MeshError)
    check_size(len(msg.vertices) // 3, len(msg.faces) // 3)
    arrays = fields_from_msg(msg, _MESH_SHAPES, {})
    vertices, faces = arrays['vertices'], arrays['faces']
    if faces.size and faces.max() >= len(vertices):
        raise MeshError(f'faces must index the {len(vertices)} vertices, got {faces.max()}')
    material = material_from_msg(msg.material, {})
    grasp_object = GraspObject(TriangleMesh(vertices, faces), material, msg.label)
    if msg.object_id != grasp_object.id:
        raise MeshError(f'object_id must be the hash of the content, {grasp_object.id}, '
                        f'got {msg.object_id!r}')
    return grasp_object
