"""Figures of predicted against measured holding."""

from pathlib import Path

import numpy as np

from benchmarks.hold.shake import ACCELERATION, RAMP_END

LABELS = {'proposed': "planner's palms", 'random': 'random palms',
          'on the way': 'states on the way', 'blind': 'random palms, closed blindly'}


def draw(results: list[dict], folder: Path) -> None:
    """Write hold_confusion.png: predicted against measured pull, and the shares that held."""
    import matplotlib
    matplotlib.use('Agg')
    from matplotlib import pyplot
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10.0, 4.2), layout='constrained')
    for group, colour in (('on the way', '#aaaaaa'), ('random', '#c0603a'),
                          ('proposed', '#2a6f97')):
        records = [r for result in results for r in result[group]]
        left.plot([ACCELERATION * r['margin'] for r in records],
                  [r['fails_at'] for r in records], '.', color=colour, alpha=0.6,
                  label=LABELS[group])
    left.plot([0.0, RAMP_END], [0.0, RAMP_END], color='0.4', linewidth=0.8)
    left.axvline(ACCELERATION, color='0.7', linewidth=0.8)
    left.axhline(ACCELERATION, color='0.7', linewidth=0.8)
    left.set(xlabel='predicted: margin x 10 m/s²', ylabel='measured in physics [m/s²]',
             title='Pull over mass at which the object breaks loose')
    left.legend()
    factors = np.linspace(0.1, RAMP_END / ACCELERATION, 40)
    for group, colour in (('proposed', '#2a6f97'), ('random', '#c0603a'), ('blind', '#777777')):
        fails = np.array([r['fails_at'] for result in results for r in result[group]])
        right.plot(factors * ACCELERATION,
                   [np.mean(fails >= f * ACCELERATION) for f in factors], color=colour,
                   label=LABELS[group])
    right.set(xlabel='pull over mass [m/s²]', ylabel='share that holds', ylim=(0.0, 1.02),
              title='How strict the test is')
    right.legend()
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / 'hold_confusion.png', dpi=110)
