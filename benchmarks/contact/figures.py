"""Figures of the contact suite."""

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use('Agg')
from matplotlib import pyplot as plt  # noqa: E402
from matplotlib.ticker import NullFormatter  # noqa: E402

DPI = 110


def draw_growth(series: dict[str, dict[str, Any]], path: Path) -> None:
    """Draw time over size, one panel a series."""
    figure, panels = plt.subplots(1, len(series), figsize=(13, 4.2), sharey=True)
    for panel, (label, row) in zip(panels, series.items()):
        for name, values in row['seconds'].items():
            sizes = np.maximum(row['sizes'], 1)
            panel.loglog(sizes, 1e3 * np.array(values), 'o-', markersize=4,
                         linewidth=2.4 if name == 'gripsim' else 1.2, label=name)
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.set_xlabel(label)
        panel.grid(True, which='both', alpha=0.25)
    panels[0].set_ylabel('one query, both ways [ms]')
    panels[-1].legend(fontsize=8)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=DPI)
    plt.close(figure)


def draw_speed(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw the time of each peer over ours, one dot a case."""
    names = [name for name in rows[0]['seconds'] if name != 'gripsim']
    figure, panel = plt.subplots(figsize=(9, 4.2))
    for place, name in enumerate(names):
        ratios = np.array([row['seconds'][name] / row['seconds']['gripsim'] for row in rows])
        spread = place + np.linspace(-0.25, 0.25, len(ratios))
        panel.semilogx(np.sort(ratios), spread, '.', color='tab:blue', alpha=0.6)
        panel.plot(np.exp(np.log(ratios).mean()), place, 'kD', markersize=6)
    panel.axvline(1.0, color='k', linewidth=0.8)
    panel.set_yticks(range(len(names)), names)
    panel.set_xlabel('time / time of gripsim, same process (diamond: geometric mean)')
    panel.grid(True, axis='x', which='both', alpha=0.25)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=DPI)
    plt.close(figure)
