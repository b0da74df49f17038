"""
gripsim: plan grasps of deformable objects with a multi-finger hand.

>>> from gripsim_ros import load_object, plan_grasps
>>> result = plan_grasps(load_object('apple.stl', material='firm_fruit'))  # doctest: +SKIP
>>> print(result.grasps[0])                                                # doctest: +SKIP
Grasp 1: stable, score 0.92, 3 contacts, 4.5 N
"""

from importlib import import_module
from typing import Any

__version__ = '0.1.0'

# Where the public names are; nothing is loaded before one is asked for, so that a node's start
# and the version do not wait for all.
_PUBLIC = {
    'GraspObject': 'core.bodies', 'HandModel': 'core.hand', 'Material': 'core.bodies',
    'PlanResult': 'library.in_process', 'PublishedRules': 'core.planning',
    'RankedGrasp': 'core.planning', 'Task': 'core.planning',
    'calibrate_material': 'library.squeezing.plates', 'evaluate_grasps': 'library.in_process',
    'find_material': 'library.in_process',
    'load_object': 'library.in_process', 'plan_grasps': 'library.in_process',
    'plan_strongest': 'library.strongest',
    'squeeze_object': 'library.squeezing.plates',
    'squeeze_with_fingers': 'library.squeezing.fingers'}
__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    """Return a public name, loaded when it is first asked for (PEP 562)."""
    if name not in _PUBLIC:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}; '
                             f'public are {", ".join(__all__)}')
    value = getattr(import_module(f'.{_PUBLIC[name]}', __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the names of the module, those not loaded yet too."""
    return sorted({*globals(), *__all__})
