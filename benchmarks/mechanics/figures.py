"""Figures of the mechanics benchmark, into docs/images."""

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parents[2] / 'docs' / 'images'


def growth_figure(rows):
    """Draw time against candidates."""
    import matplotlib
    matplotlib.use('Agg')
    from matplotlib import pyplot as plt
    figure, axes = plt.subplots(figsize=(8.0, 4.0), layout='constrained')
    for name in rows[0][2]:
        points = np.array([(count, times[name]) for count, _, times in rows if name in times])
        whole = name.startswith('whole')
        axes.loglog(*points.T, '-o' if whole else '--.', linewidth=2 if whole else 1,
                    label=name)
    axes.plot([100, 370], [0.5, 6.0], 'k^', label='wanted')
    counts = [count for count, _, _ in rows]
    axes.set_xticks(counts, [str(count) for count in counts])
    axes.minorticks_off()
    axes.set(xlabel='candidate nodes, three patches', ylabel='process time, one thread [ms]')
    axes.grid(alpha=0.3)
    figure.legend(fontsize=8, loc='outside right upper')
    return _saved(figure, 'mechanics_growth.png')


def rings_figure(mesh, surfaces):
    """Draw how far the surface moves outwards against the angle from a pad's axis."""
    import matplotlib
    matplotlib.use('Agg')
    from matplotlib import pyplot as plt
    figure, axes = plt.subplots(figsize=(6.4, 4.2), layout='constrained')
    normals = mesh.vertices / np.linalg.norm(mesh.vertices, axis=1)[:, None]
    angles = np.degrees(np.arccos(np.abs(normals[:, 0])))
    bins = np.linspace(0.0, 90.0, 46)
    which = np.digitize(angles, bins)
    for name, vertices in surfaces.items():
        moved = 1e3 * ((vertices - mesh.vertices) * normals).sum(axis=1)
        means = [(angles[which == k].mean(), moved[which == k].mean())
                 for k in range(len(bins)) if (which == k).any()]
        axes.plot(*np.transpose(means), linewidth=2.5 if name == 'smooth' else 1.2, label=name,
                  color='k' if name == 'smooth' else None)
    axes.axhline(0.0, color='0.7', linewidth=0.8)
    axes.set(xlabel='angle from the pads\' axis [deg]', ylabel='outward displacement [mm]',
             ylim=(-0.8, 1.2))
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, loc='lower right', title_fontsize=8,
                title='mode smooth, and seed by cut-off')
    return _saved(figure, 'mechanics_rings.png')


def _saved(figure, name):
    FOLDER.mkdir(parents=True, exist_ok=True)
    figure.savefig(FOLDER / name, dpi=110)
    print(f'wrote {FOLDER / name}')
    return FOLDER / name
