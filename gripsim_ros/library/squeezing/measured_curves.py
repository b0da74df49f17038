"""Measured curves of force over way from the files of testing machines."""

import csv
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...core.errors import GripsimError
from ...core.mechanics.finite_strain.calibration import MeasuredCurve

Array = NDArray[np.float64]


class CurveError(GripsimError):
    """A file of a measured curve cannot be used."""


#: Usual names of the two columns, most telling first; case and what is not a letter do not count.
WAY_NAMES = ('compression', 'compressive extension', 'compressive displacement', 'displacement',
             'way', 'extension', 'indentation', 'travel', 'crosshead', 'position', 'deformation',
             'stroke', 'deflection', 'weg', 'distance', 'depth')
FORCE_NAMES = ('load', 'force', 'compressive load', 'kraft', 'standard force')
#: Metres or newtons of a unit.
WAY_UNITS = {'m': 1.0, 'mm': 1e-3, 'cm': 1e-2, 'um': 1e-6, 'µm': 1e-6, 'μm': 1e-6, 'in': 0.0254}
FORCE_UNITS = {'n': 1.0, 'kn': 1e3, 'mn': 1e-3, 'gf': 9.80665e-3, 'kgf': 9.80665, 'lbf': 4.4482216}
#: Longest way that is believed [m]; more means a wrong unit.
LONGEST_WAY = 1.0
#: Largest file read [bytes].
LARGEST_FILE = 50_000_000
#: Share of the largest force by which force may fall before the curve is said to be falling.
FALL = 0.1
#: Lines of a header at most.
HEADER_LINES = 100


def read_curve(path: str | Path, columns: tuple[str, str] | None = None,
               unit_way: str | None = None) -> MeasuredCurve:
    """
    Return the curve in a CSV file.

    Parameters
    ----------
    path : str or Path
        Lines of a header, then numbers separated by commas, semicolons or tabs; the last line
        before the numbers that has as many cells names the columns, a line of units may follow.
    columns : (str, str), optional
        Names, or numbers from 1, of the columns of way and force; otherwise their usual names.
    unit_way : str, optional
        Unit of the way; otherwise that of the header.

    Returns
    -------
    MeasuredCurve
        Rising in way, from the first line on; forces and ways of compression above 0.

    Raises
    ------
    CurveError
        One line: the file is empty or no table, columns or units are not found, numbers are
        missing, the two columns are the same, or the force does not rise with the way.
    """
    path = Path(path)
    header, table = _read_table(path)
    way, force = _find_columns(path, header, table.shape[1], columns)
    if way == force:
        raise CurveError(f'{path}: way and force are the same column, {way + 1}')
    if np.array_equal(np.abs(table[:, way]), np.abs(table[:, force])):
        raise CurveError(f'{path}: way and force hold the same numbers')
    names = [' '.join(filter(None, (row[k] for row in header if k < len(row)))) for k in
             range(table.shape[1])]
    way_factor = _unit(path, 'way', names[way], WAY_UNITS, unit_way)
    force_factor = _unit(path, 'force', names[force], FORCE_UNITS, None)
    return MeasuredCurve(*_checked(path, way_factor * table[:, way],
                                   force_factor * table[:, force]), path.name)


def _read_table(path: Path) -> tuple[list[list[str]], Array]:
    """Return the header's rows of cells that name columns, and the numbers (n, c)."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise CurveError(f'{path}: a curve holds at most {LARGEST_FILE // 1_000_000} MB')
        text = path.read_text(encoding='utf-8-sig')
    except OSError as error:
        raise CurveError(f'{path}: cannot be read ({error.strerror})') from None
    except UnicodeDecodeError:
        raise CurveError(f'{path}: is no text') from None
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise CurveError(f'{path}: is empty')
    mark = next((mark for mark in ('\t', ';', ',') if mark in lines[-1]), ',')
    decimal = ',' if mark in '\t;' and re.search(r'\d,\d', lines[-1]) else '.'
    rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=mark)]
    first = next((k for k, row in enumerate(rows) if _is_data(row, decimal)), None)
    if first is None or first > HEADER_LINES:
        raise CurveError(f'{path}: holds no lines of numbers in at least two columns')
    width = len(rows[first])
    numbers = []
    for k, row in enumerate(rows[first:], first):
        if len(row) < width:
            raise CurveError(f'{path}: {len(row)} instead of {width} columns in the line '
                             f'{lines[k][:60]!r}')
        numbers.append([_number(cell, decimal) for cell in row[:width]])
    names = [row for row in rows[max(0, first - 2):first] if len(row) >= max(2, width - 1)]
    return names, np.array(numbers)


def _is_data(row: list[str], decimal: str) -> bool:
    values = [_number(cell, decimal) for cell in row]
    return len(values) >= 2 and sum(np.isfinite(value) for value in values) >= 2 \
        and not any(re.search(r'[a-z]{2}', cell.lower().replace('nan', '')) for cell in row)


def _number(cell: str, decimal: str) -> float:
    try:
        return float(cell.replace(',', '.') if decimal == ',' else cell)
    except ValueError:
        return np.nan


def _find_columns(path: Path, header: list[list[str]], width: int,
                  columns: tuple[str, str] | None) -> tuple[int, int]:
    names = [[_plain(row[k]) if k < len(row) else '' for k in range(width)] for row in header]
    if columns is not None:
        return _named(path, names, width, columns[0]), _named(path, names, width, columns[1])
    found = []
    for what, usual in (('way', WAY_NAMES), ('force', FORCE_NAMES)):
        matches = [k for name in usual for row in names for k in range(width)
                   if re.search(rf'\b{name}\b', row[k])]
        if not matches:
            told = '; '.join(', '.join(row) for row in header) or 'no header'
            raise CurveError(f'{path}: no column of {what} among {told[:200]}; name them with '
                             '--columns WAY FORCE')
        found.append(matches[0])
    return found[0], found[1]


def _named(path: Path, names: list[list[str]], width: int, name: str) -> int:
    if name.isdigit() and 1 <= int(name) <= width:
        return int(name) - 1
    wanted = _plain(name)
    for test in (lambda cell: cell == wanted, lambda cell: wanted in cell):
        for row in names:
            for k, cell in enumerate(row):
                if wanted and cell and test(cell):
                    return k
    raise CurveError(f'{path}: no column {name!r} among '
                     f'{"; ".join(", ".join(row) for row in names) or "no header"}')


def _plain(name: str) -> str:
    """Return a column's name in small letters without its unit and signs."""
    return ' '.join(re.findall(r'[a-zäöü0-9]+', re.sub(r'[\[(].*?[\])]', '', name.lower())))


def _unit(path: Path, what: str, header: str, units: dict[str, float],
          given: str | None) -> float:
    if given is not None:
        if given.lower() not in units:
            raise CurveError(f'unit of {what} must be one of {", ".join(units)}, got {given!r}')
        return units[given.lower()]
    words = re.findall(r'[\[(]\s*([^\])]*?)\s*[\])]', header) + header.split()[-1:]
    words += re.findall(r'[_/]\s*([A-Za-zµμ]+)$', header)
    for word in words:
        if word.lower() in units:
            return units[word.lower()]
    if what == 'force' and not re.search(r'[\[(]', header):
        return 1.0
    told = f'--unit-{what}' if what == 'way' else 'newtons'
    raise CurveError(f'{path}: no unit of {what} in the header {header!r}; known are '
                     f'{", ".join(units)}: give {told}')


def _checked(path: Path, ways: Array, forces: Array) -> tuple[Array, Array]:
    if not (np.isfinite(ways).all() and np.isfinite(forces).all()):
        bad = int(np.flatnonzero(~(np.isfinite(ways) & np.isfinite(forces)))[0])
        raise CurveError(f'{path}: way or force is no number in line {bad + 1} of the curve')
    if len(ways) < 3:
        raise CurveError(f'{path}: a curve needs at least 3 points, got {len(ways)}')
    if abs(ways[-1]) == max(-ways.min(), ways.max()) and ways[-1] < 0.0:
        ways = -ways                    # some machines count compression downward
    if forces[np.abs(forces).argmax()] < 0.0:
        forces = -forces
    ways = ways - ways[0]
    if ways.max() > LONGEST_WAY:
        raise CurveError(f'{path}: the way reaches {ways.max():.3g} m, more than {LONGEST_WAY:g} '
                         'm: is its unit right (--unit-way)?')
    top = int(ways.argmax())
    ways, forces = ways[:top + 1], forces[:top + 1]     # unloading is not read
    if top < 2 or (np.diff(ways) < -1e-3 * ways[-1]).any():
        raise CurveError(f'{path}: the way does not rise from line to line')
    highest = np.maximum.accumulate(forces)
    if not forces[-1] > forces[0] or (highest - forces).max() > FALL * highest[-1]:
        raise CurveError(f'{path}: the force does not rise with the way; a curve of one loading '
                         'is needed, without rupture')
    return ways, forces
