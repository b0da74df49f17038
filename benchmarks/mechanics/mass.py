"""Centre of mass: exact sums beside cells, in three readings of what a cell weighs."""

import numpy as np
import trimesh
from scipy.spatial.transform import Rotation

from gripsim_ros.core.mechanics.deformation.volume import volume_and_centre
from gripsim_ros.core.mechanics.published.voxel_mass import voxel_centre_of_mass

from .cases import interleaved

RADIUS, CUTS = 0.04, (6e-3, 3e-3)
CELLS = (8e-3, 4e-3, 2e-3, 1e-3)
READINGS = {'centre inside': None, 'vertex cells 1': 1.0, 'vertex cells 1/2': 0.5}
ROTATIONS = 12


def cut_ball(level=5):
    """Return a ball of 80 mm flattened by 6 mm above and 3 mm below."""
    ball = trimesh.creation.icosphere(level, RADIUS)
    vertices = np.array(ball.vertices)
    vertices[:, 2] = np.clip(vertices[:, 2], -RADIUS + CUTS[1], RADIUS - CUTS[0])
    return vertices, np.array(ball.faces)


def errors(cell, weight):
    """Return the largest error of the centre [m] and of the volume [-] over rotations."""
    vertices, faces = cut_ball()
    found = []
    for seed in range(ROTATIONS):
        rotation = Rotation.random(random_state=seed).as_matrix()
        turned = vertices @ rotation.T + np.random.default_rng(seed).uniform(0.0, cell, 3)
        volume, centre = volume_and_centre(turned, faces)
        cells, cells_volume = voxel_centre_of_mass(turned, faces, cell, weight)
        found.append((np.linalg.norm(cells - centre), abs(cells_volume / volume - 1.0)))
    return np.max(found, axis=0)


def accuracy():
    """Print and return the table of errors, and the time of both ways."""
    print(f'\nCentre of mass of a ball of 80 mm cut by 6 and 3 mm, {ROTATIONS} rotations: largest'
          '\nerror of the centre [mm] / of the volume [%]\n')
    print(f'{"cell [mm]":>9}' + ''.join(f'{name:>20}' for name in READINGS))
    rows = []
    for cell in CELLS:
        pairs = [errors(cell, weight) for weight in READINGS.values()]
        rows.append((cell, pairs))
        print(f'{1e3 * cell:9g}' + ''.join(f'{1e3 * c:12.3f} / {1e2 * v:5.2f}'
                                           for c, v in pairs))
    vertices, faces = cut_ball()
    exact, cells = interleaved([lambda: volume_and_centre(vertices, faces),
                                lambda: voxel_centre_of_mass(vertices, faces, 1e-3)])
    print(f'\n{len(faces)} triangles: exact {exact:.2f} ms, cells of 1 mm {cells:.2f} ms')
    return rows
