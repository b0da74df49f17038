"""Curves of testing machines: columns and units by their usual names, bad ones in one line."""

import numpy as np
from numpy.testing import assert_allclose
import pytest

from gripsim_ros.library.squeezing.measured_curves import CurveError, read_curve

ROWS = [(0.0, 0.0), (0.5, 1.0), (1.0, 2.1), (1.5, 3.3)]


def write(folder, header, rows=ROWS, mark=','):
    """Write a table of a time and the rows and return its path."""
    path = folder / 'curve.csv'
    lines = [mark.join(str(x) for x in (k, *row)) for k, row in enumerate(rows)]
    path.write_text('\n'.join([*header, *lines]) + '\n', encoding='utf-8')
    return path


@pytest.mark.parametrize('header, mark, factor', [
    (['a test', 'Speed: 10;', 'Time (s),Compression (mm),Load (N)'], ',', (1e-3, 1.0)),
    (['Time [s];Displacement [cm];Force [kN]'], ';', (1e-2, 1e3)),
    (['time,way_m,force_N'], ',', (1.0, 1.0)),
    (['Time\tCompressive extension\tCompressive load', '(s)\t(mm)\t(N)'], '\t', (1e-3, 1.0))])
def test_columns_and_units_are_found_by_usual_names(tmp_path, header, mark, factor):
    curve = read_curve(write(tmp_path, header, [(w / 10, f) for w, f in ROWS], mark))
    assert_allclose(curve.ways, factor[0] * np.array([0.0, 0.05, 0.1, 0.15]), rtol=1e-12)
    assert_allclose(curve.forces, factor[1] * np.array([row[1] for row in ROWS]), rtol=1e-12)


def test_columns_and_unit_may_be_named(tmp_path):
    path = write(tmp_path, ['t,alpha,beta'])
    for columns in (('alpha', 'beta'), ('2', '3')):
        curve = read_curve(path, columns, 'mm')
        assert_allclose(curve.ways[-1], 1.5e-3)


def test_compression_counted_below_zero_and_unloading_are_understood(tmp_path):
    rows = [(-w, -f) for w, f in ROWS] + [(-0.5, -0.2)]
    curve = read_curve(write(tmp_path, ['t,way (mm),force (N)'], rows[:4]))
    assert_allclose(curve.ways, [0.0, 0.5e-3, 1e-3, 1.5e-3])
    assert curve.forces[-1] == 3.3
    loop = read_curve(write(tmp_path, ['t,way (mm),force (N)'], ROWS + [(0.5, 0.2)]))
    assert len(loop.ways) == 4


@pytest.mark.parametrize('header, rows, said', [
    (['t,way (mm),force (N)'], [], 'no lines of numbers'),
    (['t,way (mm),force (N)'], [(w, -f + 5) for w, f in ROWS], 'force does not rise'),
    (['t,way (mm),force (N)'], [(1.5 - w, f) for w, f in ROWS], 'rise'),
    (['t,way (mm),force (N)'], [(w, w) for w, _ in ROWS], 'same numbers'),
    (['t,way (mm),force (N)'], [*ROWS[:2], ('nan', 2.1), ROWS[3]], 'no number in line 3'),
    (['t,way (mm),force (N)'], [*ROWS[:2], (1.0, ''), ROWS[3]], 'no number in line 3'),
    (['t,way (m),force (N)'], [(1e3 * w, f) for w, f in ROWS], 'unit right'),
    (['t,way (furlong),force (N)'], ROWS, 'no unit of way'),
    (['t,way (mm),force (psi)'], ROWS, 'no unit of force'),
    (['t,alpha,beta'], ROWS, 'no column of way')])
def test_bad_curves_are_told_in_one_line(tmp_path, header, rows, said):
    with pytest.raises(CurveError, match=said) as error:
        read_curve(write(tmp_path, header, rows))
    assert '\n' not in str(error.value) and 'curve.csv' in str(error.value)


def test_a_straight_curve_is_no_doubled_column(tmp_path):
    rows = [(w, 3.0 * w) for w, _ in ROWS]
    curve = read_curve(write(tmp_path, ['t,way (mm),force (N)'], rows))
    assert_allclose(curve.forces, 3000.0 * curve.ways)


def test_empty_missing_and_doubled_are_told(tmp_path):
    empty = tmp_path / 'empty.csv'
    empty.write_text('')
    with pytest.raises(CurveError, match='is empty'):
        read_curve(empty)
    with pytest.raises(CurveError, match='cannot be read'):
        read_curve(tmp_path / 'none.csv')
    path = write(tmp_path, ['t,way (mm),force (N)'])
    with pytest.raises(CurveError, match='the same column'):
        read_curve(path, ('way', 'way'))
    with pytest.raises(CurveError, match="no column 'gamma'"):
        read_curve(path, ('gamma', 'force'))
    with pytest.raises(CurveError, match='unit of way must be one of'):
        read_curve(path, None, 'parsec')
