"""Run one benchmark, or all: ``python -m benchmarks [NAME [ARGUMENTS]]``."""

import importlib
import sys

#: Name -> module; in folders by subject.
BENCHMARKS = {
    'arm': 'planning.arm', 'card': 'planning.card', 'carried': 'hardware.carried',
    'compression': 'mechanics.compression',
    'closing_way': 'hold.closing_way',
    'contact': 'contact.compare', 'contact_picture': 'contact.picture',
    'dexgraspbench': 'dexgraspbench.run',
    'driver': 'hardware.driver', 'fault_figure': 'suite.fault_figure',
    'fem': 'finite_elements.pads', 'fem_body': 'finite_elements.body',
    'fem_centre': 'finite_elements.centre', 'fem_edges': 'finite_elements.edges',
    'fem_grip': 'finite_elements.grips_planned',
    'fem_over_edges': 'finite_elements.over_edges',
    'fem_pad_border': 'finite_elements.pad_border',
    'frogger': 'duel.frogger', 'fruit': 'hardware.fruit',
    'hands': 'planning.hands', 'hold': 'hold.shake',
    'holding': 'hardware.holding',
    'hold_blind': 'hold.blind',
    'hold_confusion': 'hold.confusion', 'hold_edges': 'hold.edges',
    'hold_published': 'hold.published',
    'hold_reliability': 'hold.reliability',
    'hold_suite': 'hold.suite', 'lift': 'hardware.lifting',
    'manipulation': 'planning.manipulation', 'mechanics': 'mechanics.all_models',
    'nnls': 'numerics.nnls', 'node_memory': 'suite.node_memory', 'palpate': 'hardware.palpate',
    'palpate_elements': 'hardware.palpate_elements',
    'plan': 'planning.plan',
    'planar_closure': 'planning.planar_closing', 'prepare': 'bodies.prepare',
    'published': 'planning.published',
    'quantitative': 'planning.quantitative',
    'repair': 'bodies.repair',
    'scans': 'planning.scans',
    'settling': 'mechanics.settling', 'simulated': 'hardware.simulated', 'soak': 'suite.soak',
    'soak_driver': 'hardware.driver_soak', 'socp': 'numerics.socp',
    'soft_bodies': 'finite_elements.soft_bodies', 'soft_contacts': 'hardware.soft_contacts',
    'soft_reliability': 'hardware.soft_reliability',
    'strained_grip': 'finite_elements.strained_grip',
    'strained_walls': 'finite_elements.strained_walls', 'sweep': 'planning.sweep',
    'touch': 'hardware.touch', 'touch_driver': 'hardware.touch_driver',
    'touch_stiffness': 'hardware.touch_stiffness',
    'trial': 'trials.run'}
#: What takes long, needs peers or arguments.
BY_NAME = ('card', 'carried', 'closing_way', 'hands', 'compression', 'contact',
           'dexgraspbench', 'fem', 'fem_body', 'fem_centre', 'fem_edges', 'fem_grip',
           'fem_over_edges', 'fem_pad_border', 'frogger', 'fruit',
           'hold',
           'hold_blind', 'hold_confusion', 'hold_edges',
           'hold_published', 'hold_reliability', 'hold_suite', 'lift', 'soak', 'socp',
           'node_memory', 'palpate', 'palpate_elements', 'planar_closure', 'published',
           'quantitative', 'scans',
           'simulated',
           'soak_driver', 'soft_bodies', 'soft_contacts',
           'soft_reliability', 'strained_grip', 'strained_walls',
           'fault_figure', 'touch', 'touch_driver', 'touch_stiffness',
           'trial')


def run(name, arguments):
    """Run one benchmark; return its exit code."""
    sys.argv = [f'benchmarks {name}', *arguments]
    try:
        return importlib.import_module(f'benchmarks.{BENCHMARKS[name]}').main() or 0
    except ModuleNotFoundError as error:
        print(f'benchmarks: {name} needs {error.name}: run `make bench-setup`', file=sys.stderr)
        return 1


def main(arguments):
    """Run what is named, or everything that runs by itself; return the exit code."""
    if not arguments:
        return max(run(name, []) for name in BENCHMARKS if name not in BY_NAME)
    if arguments[0] not in BENCHMARKS:
        print(f'benchmarks: there is no {arguments[0]!r}, but {", ".join(BENCHMARKS)}',
              file=sys.stderr)
        return 2
    return run(arguments[0], arguments[1:])


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
