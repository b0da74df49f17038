"""Collada (DAE, ZAE): what of a file is its surface, and the length of its unit."""

from pathlib import Path
import re
import zipfile

#: What says nothing of a surface. A part whose colour is missing, or a picture that cannot be
#: read, would be left out by the parser with all of its triangles.
_LOOKS = re.compile(
    rb'<(bind_material|unit|instance_(?:camera|light)'
    rb'|library_(?:animations|animation_clips|cameras|effects|images|lights|materials))\b'
    rb'[^>]*?(?:/>|>.*?</\1\s*>)', re.DOTALL)
_UNIT = re.compile(rb'<unit\b[^>]*?\bmeter\s*=\s*["\']\s*([0-9.,eE+-]+)')


def surface_of_dae(path: Path) -> tuple[bytes, float]:
    """
    Return a Collada file without what colours, lights and moves it, and its unit [m].

    Parameters
    ----------
    path : Path
        A DAE file, or an archive (ZAE) with one in it.

    Raises
    ------
    ValueError
        An archive has no DAE file, or the unit is no number above 0.

    Notes
    -----
    The axis that points up is not heeded, and neither is it by RViz and MoveIt.
    """
    content = path.read_bytes()
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist()
                     if name.lower().endswith('.dae') and 'MACOSX' not in name]
            if not names:
                raise ValueError('there is no DAE file in it')
            content = archive.read(names[0])
    if content[:2] in (b'\xff\xfe', b'\xfe\xff'):
        text = re.sub('encoding=["\'][^"\']*["\']', '', content.decode('utf-16'), count=1)
        content = text.encode('utf-8')
    found = _UNIT.search(content)
    unit = float(found[1].replace(b',', b'.')) if found else 1.0
    if not 0.0 < unit < float('inf'):
        raise ValueError(f'its unit is {unit} m')
    return _LOOKS.sub(b'', content), unit
