"""
Memory and shared memory of a suite under faults: ``python -m benchmarks fault_figure FILE``.

FILE is what ``python -m benchmarks soak faults --out FILE`` kept; the figure is
``docs/images/faults.png``.
"""

import json
from pathlib import Path
import sys

IMAGE = Path(__file__).resolve().parents[2] / 'docs' / 'images' / 'faults.png'
COLOURS = {'forward_kinematics': 'tab:blue', 'contact_detection': 'tab:orange',
           'deformation': 'tab:green', 'grasp_planner': 'tab:red', 'arm_planner': 'tab:purple'}


def draw(record, path=IMAGE):
    """Draw what a run kept."""
    import matplotlib
    matplotlib.use('Agg')
    from matplotlib import pyplot
    figure, (memory, shared) = pyplot.subplots(
        2, 1, sharex=True, figsize=(9.0, 5.5), height_ratios=(2, 1), layout='constrained')
    samples = record['samples']
    for name, colour in COLOURS.items():
        pieces = {}
        for sample in samples:
            if sample['memory'].get(name):
                pieces.setdefault(sample['pids'][name], []).append(
                    (sample['time'] / 60.0, sample['memory'][name]))
        for number, piece in enumerate(pieces.values()):
            memory.plot(*zip(*piece), color=colour, linewidth=1.2,
                        label='' if number else name)
    kills = [(moment - record['begin']) / 60.0
             for moment, kind, *_ in record['faults'] if kind == 'kill']
    memory.plot(kills, [0.0] * len(kills), '|k', markersize=7, label='kill')
    memory.set_ylabel('memory of a process [MB]')
    memory.legend(ncols=3, fontsize='small', loc='lower right')
    shared.plot([s['time'] / 60.0 for s in samples], [s['shared'] for s in samples], 'k',
                linewidth=1.2)
    shared.set_ylim(bottom=0.0)
    shared.set_ylabel('shared memory [MB]')
    shared.set_xlabel('time [min]')
    figure.savefig(path, dpi=110)


def main():
    """Draw the file named on the command line."""
    draw(json.loads(Path(sys.argv[1]).read_text(encoding='utf-8')))


if __name__ == '__main__':
    main()
