"""A world of one rigid-looking sphere, so that the planner can be tested without stages."""

import numpy as np

from gripsim_ros.core.batches import DETAIL_SURFACE, ConfigurationBatch, GraspStateBatch
from gripsim_ros.core.fields import shapes_of
from gripsim_ros.core.hand import HandModel, forward_kinematics
from gripsim_ros.core.transforms import apply

STIFFNESS = 2.0e5
SWEEP_STEPS = 12
#: Of the ball that it holds, where a test says nothing else [m].
RADIUS = 0.04


class SphereWorld:
    """
    Judge configurations against a sphere about the object's origin.

    Links press with ``STIFFNESS depth^1.5`` along the line to the centre; minimal forces
    share the load between them. Crude, but every answer depends on its configuration alone.
    """

    def __init__(self, hand: HandModel, radius: float, load: float, friction: float) -> None:
        self._hand, self._radius = hand, radius
        self._load, self._friction = load, friction
        self.questions = 0

    def evaluate(self, batch: ConfigurationBatch) -> GraspStateBatch:
        """Return the states of a batch."""
        self.questions += batch.count
        rows = [self._row(batch, i) for i in range(batch.count)]
        patches = [patch for row in rows for patch in row['patches']]
        stacked = {name: np.array([row[name] for row in rows]) for name in rows[0]
                   if name != 'patches'}
        columns = {
            name: np.array([p.get(name, np.nan) for p in patches]).reshape(len(patches), *shape)
            for name, shape in _PATCH_SHAPES.items()}
        offsets = np.concatenate([[0], np.cumsum([len(row['patches']) for row in rows])])
        count = batch.count
        surface = batch.detail == DETAIL_SURFACE
        return GraspStateBatch(
            **{name: np.full(count, np.nan) for name in _NUMBERS} | stacked | columns | {
                'patch_offsets': offsets.astype(np.int64),
                'centre_of_mass_object': np.zeros((count, 3)), 'volume_change': np.zeros(count),
                'strain_energy': np.zeros(count), 'max_displacement': np.full(count, 1e-4),
                'residual': np.zeros(count), 'shift_object': np.zeros((count, 6)),
                'quantitative': np.ones(count, bool), 'worst_case': np.zeros(count, np.int64),
                'vertices_object': np.zeros((count if surface else 0, 1, 3)),
                'vertex_pressures': np.zeros((count if surface else 0, 1))})

    def _row(self, batch: ConfigurationBatch, i: int) -> dict:
        T_palm_link = forward_kinematics(self._hand, batch.joint_positions[i:i + 1])[0]
        sweep = batch.sweep_object[i]
        shares = np.linspace(-1.0, 0.0, SWEEP_STEPS)[:, None] if sweep.any() else np.zeros((1, 1))
        gaps, nearest = [], []
        for link, T in zip(self._hand.links, T_palm_link):
            points = apply(batch.T_object_palm[i] @ T, link.mesh.vertices)
            squares = np.einsum('ij,ij->i', points, points)
            nearest.append(points[int(np.argmin(squares))])
            swept = squares + 2.0 * shares * (points @ sweep) + shares ** 2 * (sweep @ sweep)
            gaps.append(np.sqrt(max(swept.min(), 0.0)) - self._radius)
        gaps = np.array(gaps)
        patches = [self._patch(link, nearest[link], -gaps[link])
                   for link in np.flatnonzero(gaps < 0.0) if not sweep.any()]
        minimal = self._load / (self._friction * max(len(patches), 1))
        capable = _balanced(patches)
        for patch in patches:
            patch['minimal_forces_object'] = minimal * capable * patch['patch_normals_object']
            patch['minimal_envelope'] = minimal * capable
        forces = [np.linalg.norm(p['patch_forces_object']) for p in patches]
        margin = min(forces) / minimal if capable else 0.0
        stiffness = np.zeros((len(gaps), len(gaps)))
        for patch in patches:
            link = patch['patch_links']
            stiffness[link, link] = patch['patch_normal_stiffness']
        return {'clearance': np.maximum(gaps, 0.0), 'link_stiffness': stiffness,
                'obstacle_clearance': np.inf,
                'self_clearance': np.inf, 'depth': np.maximum(-gaps, 0.0), 'patches': patches,
                'capable': capable, 'holds': margin >= 1.0, 'margin': margin}

    def _patch(self, link: int, point: np.ndarray, depth: float) -> dict:
        normal = -point / np.linalg.norm(point)
        force = STIFFNESS * depth ** 1.5
        return {'patch_links': link, 'patch_flags': 0, 'patch_points_object': point,
                'patch_normals_object': normal, 'patch_forces_object': force * normal,
                'patch_torques_object': np.zeros(3), 'patch_areas': 1e-5,
                'patch_peak_pressures': 1e3, 'patch_friction_radii': 1e-3,
                'patch_normal_stiffness': 1.5 * force / depth,
                'patch_tangential_stiffness': force / depth,
                'minimal_forces_object': np.zeros(3), 'minimal_torques_object': np.zeros(3),
                'minimal_envelope': 0.0}


#: Numbers of patches and their shapes; those that no patch here has are NaN.
_PATCH_SHAPES = {name: shape[1:] for name, shape in shapes_of(GraspStateBatch).items()
                 if shape[0] == 'P'}
#: Numbers of configurations, NaN if not said.
_NUMBERS = [name for name, shape in shapes_of(GraspStateBatch).items() if shape == ('n',)]


def _balanced(patches: list[dict]) -> bool:
    """Tell whether two of the normals oppose each other by more than a right angle."""
    normals = np.array([p['patch_normals_object'] for p in patches])
    return len(patches) >= 2 and float((normals @ normals.T).min()) < -0.2
