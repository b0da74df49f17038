"""
Calibrate on the first strain of measured squeezes, and predict another specimen's load.

``python -m benchmarks compression FOLDER [--picture F.png]``: the folder holds tables
``MIXTURE_A1.csv``, ``…_A2.csv``, ``…_A3.csv`` of silicone cylinders, 50 mm wide and 30 mm high,
between plates (abubakardawood/tissue-phantom-material-database, CC BY 4.0). Of each mixture the
first two runs give the modulus up to 5 % of strain; the third is predicted.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

from gripsim_ros import GraspObject, calibrate_material, squeeze_object
from gripsim_ros.core.bodies.shapes import cylinder
from gripsim_ros.library.squeezing.measured_curves import read_curve

RADIUS, HEIGHT = 0.025, 0.03
FIRST = 0.05
STRAINS, WANTED = np.array([0.1, 0.2, 0.3, 0.5]), (6, 6, 8, 10)
STEPS = 10


def predicted(material, mesh):
    """Return way [m] and force [N] of the squeeze by half."""
    curve = squeeze_object(GraspObject(mesh, material), STRAINS[-1] * HEIGHT, steps=STEPS).curve
    return (np.array([0.0] + [point.way for point in curve]),
            np.array([0.0] + [point.force for point in curve]))


def main():
    """Print the table; draw the curves where asked to."""
    parser = argparse.ArgumentParser(prog='benchmarks compression')
    parser.add_argument('folder', type=Path)
    parser.add_argument('--picture', type=Path)
    options = parser.parse_args()
    mixtures = sorted({path.name[:-len('_A1.csv')] for path in options.folder.glob('*_A1.csv')})
    if not mixtures:
        print(f'benchmarks: {options.folder} has no tables …_A1.csv', file=sys.stderr)
        return 2
    mesh = cylinder(RADIUS, HEIGHT)
    axis = (0.0, 0.0, 1.0)
    print('| mixture | modulus [kPa] | standard error | '
          + ' | '.join(f'{share:.0%}' for share in STRAINS) + ' |\n|'
          + '---|' * (3 + len(STRAINS)))
    rows, drawn = [], []
    for mixture in mixtures:
        runs = [options.folder / f'{mixture}_A{k}.csv' for k in (1, 2, 3)]
        found = calibrate_material(runs[:2], mesh, axis=axis, max_strain=FIRST)
        ways, forces = predicted(found.material, mesh)
        measured = read_curve(runs[2], None, None)
        at = np.interp(STRAINS * HEIGHT, measured.ways, measured.forces)
        at[STRAINS * HEIGHT > measured.ways.max()] = np.nan
        errors = np.interp(STRAINS * HEIGHT, ways, forces) / at - 1.0
        rows.append(errors)
        drawn.append((mixture, measured, ways, forces))
        print(f'| {mixture} | {1e-3 * found.material.youngs_modulus:.1f} | '
              f'{1e-3 * found.standard_error:.2g} | '
              + ' | '.join(f'{error:+.1%}' for error in errors) + ' |', flush=True)
    medians = np.nanmedian(np.abs(rows), axis=0)
    print('| median of sizes | | | ' + ' | '.join(f'{value:.1%}' for value in medians) + ' |')
    print('| wanted at most | | | ' + ' | '.join(f'{value} %' for value in WANTED) + ' |')
    if options.picture:
        draw(drawn, options.picture)
    return 0


def draw(drawn, path):
    """Draw measured and predicted loads of all mixtures."""
    import matplotlib
    matplotlib.use('Agg')
    from matplotlib import pyplot
    columns = 3
    figure, axes = pyplot.subplots(-(-len(drawn) // columns), columns, figsize=(11, 9),
                                   squeeze=False)
    for place, (mixture, measured, ways, forces) in zip(axes.ravel(), drawn):
        inside = measured.ways <= 1.05 * ways[-1]
        place.plot(100 * measured.ways[inside] / HEIGHT, measured.forces[inside], color='0.35',
                   label='measured, third run')
        place.plot(100 * ways / HEIGHT, forces, 'o-', color='#4a86d0', markersize=3,
                   label='predicted from 5 % of two runs')
        place.set_title(mixture)
    for place in axes[-1]:
        place.set_xlabel('strain [%]')
    for place in axes[:, 0]:
        place.set_ylabel('load [N]')
    axes[0, 0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=90)


if __name__ == '__main__':
    sys.exit(main())
