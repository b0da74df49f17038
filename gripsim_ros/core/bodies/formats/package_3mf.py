"""3MF: the length of a package's unit."""

from pathlib import Path
import re
import zipfile

_MODEL = re.compile(rb'<(?:[\w.-]+:)?model\b[^>]*?\sunit\s*=\s*["\'](\w+)')
#: Bytes at the start of a model among which its own attributes are.
_HEAD = 65536
#: Units by the specification's names [m].
UNITS = {b'micron': 1e-6, b'millimeter': 1e-3, b'centimeter': 1e-2, b'inch': 0.0254,
         b'foot': 0.3048, b'meter': 1.0}


def unit_of_3mf(path: Path) -> float:
    """
    Return the unit of a 3MF file [m]; millimetres where it names none.

    Raises
    ------
    ValueError
        It has no model, or a unit that is not of the specification.

    Notes
    -----
    Source: 3MF Core Specification 1.3, section 3.4, "Model".
    """
    with zipfile.ZipFile(path) as archive:
        models = [name for name in archive.namelist() if '3d/3dmodel.model' in name.lower()]
        if not models:
            raise ValueError('there is no 3D/3dmodel.model in it')
        with archive.open(models[0]) as stream:
            found = _MODEL.search(stream.read(_HEAD))
    unit = found[1].lower() if found else b'millimeter'
    if unit not in UNITS:
        raise ValueError(f'unknown unit {unit.decode()!r}; allowed are '
                         f'{", ".join(name.decode() for name in UNITS)}')
    return UNITS[unit]
