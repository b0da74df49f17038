"""The examples: what is grasped, of what, where it stands, and what is to be learned from it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
import yaml
from numpy.typing import NDArray

from ...core.bodies import TriangleMesh, shapes
from . import bodies

#: Where the camera of the soft toy stands [m].
CAMERA = (0.45, -0.15, 0.3)
#: Weight pulls down alone: what is lifted is not turned over.
DOWN: Mapping[str, Any] = {'gravity_directions': [[0, 0, -1]]}


@dataclass(frozen=True)
class Scene:
    """
    One example.

    ``make`` returns the body, or the points of it that a camera sees, z upwards; ``material`` and
    ``task`` are what the YAML files of ``--material`` and ``--task`` hold; ``options`` are further
    words of the command line; ``teaches`` is what to look at in the answer.
    """

    name: str
    title: str
    teaches: str
    make: Callable[[], TriangleMesh | NDArray[np.float64]]
    material: Mapping[str, float]
    task: Mapping[str, Any] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    hypotheses: int = 100

    def write(self, folder: Path) -> list[str]:
        """Write mesh or points, material and task; return the words of ``gripsim`` that plan."""
        made = self.make()
        if isinstance(made, TriangleMesh):
            body = folder / f'{self.name}.stl'
            trimesh.Trimesh(made.vertices, made.faces, process=False).export(body)
        else:
            body = folder / f'{self.name}.npy'
            np.save(body, made)
        words = ['plan', str(body), '--hypotheses', str(self.hypotheses), *self.options]
        for option, content in (('material', self.material), ('task', self.task)):
            if content:
                file = folder / f'{self.name}.{option}.yaml'
                file.write_text(yaml.safe_dump(dict(content), sort_keys=False), encoding='utf-8')
                words += [f'--{option}', str(file)]
        return [*words, '--out', str(folder / f'{self.name}.json'),
                '--report', str(folder / f'{self.name}.html')]


def _table(top: float) -> dict[str, Any]:
    """Return a task on a table whose top is at z = ``top`` [m] of the object."""
    return {**DOWN, 'obstacles': [{'type': 'box', 'dimensions': [0.8, 0.8, 0.02]}],
            'obstacle_poses': [{'position': [0, 0, top - 0.01], 'orientation': [0, 0, 0, 1]}]}


SCENES = {scene.name: scene for scene in (
    Scene('tomato', 'A tomato on a table',
          'The table is an obstacle of the task: the hand comes from above or from the side, the '
          'tips touch, and no link comes below its top. See how far the pads press the tomato in, '
          'and that the forces end below what bruises it.',
          lambda: shapes.ellipsoid([0.035, 0.0355, 0.028]),
          {'youngs_modulus': 5.0e5, 'poisson_ratio': 0.45, 'density': 1000.0, 'friction': 0.6,
           'max_pressure': 1.5e5}, _table(-0.028)),
    Scene('paper_cup', 'A paper cup, not to be crushed',
          'A wall bends where a solid would not: all grasps are told as not quantitative, and the '
          'warnings say why. The order still helps: the gentlest come first.',
          bodies.paper_cup,
          {'youngs_modulus': 2.0e9, 'poisson_ratio': 0.3, 'density': 800.0, 'friction': 0.5,
           'max_pressure': 5.0e5}, DOWN),
    Scene('bread_roll', 'A bread roll',
          'Crumb is soft and light: a newton in all holds it, spread over large contacts. Compare '
          'with the same roll of wood: --material wood.',
          lambda: shapes.ellipsoid([0.045, 0.04, 0.028]),
          {'youngs_modulus': 1.0e5, 'poisson_ratio': 0.2, 'density': 250.0, 'friction': 0.6,
           'max_pressure': 2.0e4}, DOWN),
    Scene('full_bottle', 'A full bottle',
          'Heavy and smooth, so friction says how hard to press. The task adds a push of 1 N from '
          'each side, as of a hand that is carried: compare with one without it, or with less '
          'friction.',
          bodies.bottle,
          {'youngs_modulus': 5.0e6, 'poisson_ratio': 0.45, 'density': 1000.0, 'friction': 0.5},
          {**DOWN, 'external_wrenches': [{'force': force, 'torque': [0, 0, 0]} for force in (
              [1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0])]}),
    Scene('power_drill', 'A power drill, by its handle',
          'Contacts are allowed in a box about the handle alone, as one who uses a tool wants '
          'it; what was rejected tells how many hypotheses that cost. Without the box there are '
          'better grasps.',
          bodies.drill,
          {'youngs_modulus': 2.0e9, 'poisson_ratio': 0.35, 'density': 500.0, 'friction': 0.6},
          {**DOWN, 'contact_region': [{'type': 'box', 'dimensions': [0.1, 0.1, 0.17]}],
           'contact_region_poses': [{'position': [-0.025, 0, 0.085],
                                     'orientation': [0, 0, 0, 1]}]}, hypotheses=200),
    Scene('soft_toy', 'An unknown soft toy, from one camera',
          'The camera saw one side; the back is assumed to be its mirror image, which the answer '
          'tells. Grasps that touch what was seen alone are surer: compare the contacts.',
          lambda: bodies.seen_points(bodies.soft_toy(), CAMERA),
          {'youngs_modulus': 5.0e4, 'poisson_ratio': 0.3, 'density': 150.0, 'friction': 0.7},
          DOWN, ('--completion', 'mirror', '--viewpoint', *map(str, CAMERA))))}
