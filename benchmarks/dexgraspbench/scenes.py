"""Objects of a clone of DexGraspBench, and grasps in the form its own evaluation reads."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import trimesh

from benchmarks.hold.shake import SIX_AXES
from gripsim_ros.core.bodies import GraspObject, load_mesh, Material
from gripsim_ros.core.planning import Task
from gripsim_ros.core.transforms import from_pose

#: Where the clone has its objects, and the grasps of a Shadow hand that come along.
OBJECTS, GRASPS = Path('assets/example_object'), Path('output/example_shadow')
#: Scales that its grasps are published at: of an object in a ball of unit radius [m].
SCALES = (0.06, 0.08, 0.1, 0.12)
#: Mass [kg], friction [-], torsion [m], and the force on the object over its mass [m/s^2].
MASS, FRICTION, TORSION, ACCELERATION = 0.1, 0.6, 0.02, 10.0
#: Young's modulus [Pa] and Poisson's ratio: stiff, as its objects are rigid.
STIFFNESS, POISSON = 2e9, 0.3
#: From the frame in which it gives a Shadow hand's pose to that of the palm [m].
SHADOW_PALM = np.array([0.0, 0.0, 0.034])
#: What grasps are planned and judged for.
LOADS = Task(gravity_directions=np.array(SIX_AXES), gravity=ACCELERATION)


@dataclass(frozen=True)
class Scene:
    """An object of a clone at a scale [m]."""

    folder: Path
    scale: float

    @property
    def name(self) -> str:
        """Return the object's name without its hash."""
        return self.folder.name.rsplit('_', 1)[0]

    @property
    def place(self) -> Path:
        """Return where its own evaluation has the grasps of this object and scale."""
        return Path(self.folder.name) / f'scale{round(100 * self.scale):03d}_pose000'

    @cached_property
    def body(self) -> GraspObject:
        """Return the object as it is planned for: its simplified mesh, of the protocol's mass."""
        mesh = load_mesh(str(self.folder / 'mesh' / 'simplified.obj'), self.scale).mesh
        return GraspObject(mesh, Material(STIFFNESS, POISSON, MASS / mesh.volume, FRICTION),
                           self.name)

    @cached_property
    def pieces(self) -> list[trimesh.Trimesh]:
        """Return the convex pieces that are simulated."""
        files = sorted((self.folder / 'urdf' / 'meshes').glob('*.obj'))
        pieces = [trimesh.load(file, force='mesh', process=False) for file in files]
        return [piece.apply_scale(self.scale) for piece in pieces]

    @property
    def density(self) -> float:
        """Return the density of the pieces: mass over the volume that the clone tells [kg/m^3]."""
        told = json.loads((self.folder / 'info' / 'simplified.json').read_text(encoding='utf-8'))
        volume = told['mass'] / (told['density'] * told['scale']**3)
        return MASS / (volume * self.scale**3)


def scenes(clone: Path, scales=SCALES) -> list[Scene]:
    """Return the objects of a clone at some scales."""
    return [Scene(folder, scale) for folder in sorted((clone / OBJECTS).iterdir())
            for scale in scales]


def written(scene: Scene, clone: Path, stages, T_object_palm) -> dict:
    """
    Return a grasp as its evaluation reads it.

    Parameters
    ----------
    scene : Scene
    clone : Path
    stages : three of (Q,) float
        All joints of the model before, at and beyond the grasp [rad].
    T_object_palm : (4, 4) float
    """
    from scipy.spatial.transform import Rotation
    x, y, z, w = Rotation.from_matrix(T_object_palm[:3, :3]).as_quat()
    palm = [*T_object_palm[:3, 3], w, x, y, z]
    names = ('pregrasp_qpos', 'grasp_qpos', 'squeeze_qpos')
    return {'obj_path': str(scene.folder.relative_to(clone)), 'obj_scale': scene.scale,
            'obj_pose': np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]),
            **{name: np.concatenate([palm, stage]) for name, stage in zip(names, stages)}}


def read_shadow(entry: dict) -> tuple[np.ndarray, np.ndarray]:
    """Return palm in the object (4, 4) and joints (22,) [rad] of a published grasp."""
    T_world_hand, T_world_object = (
        from_pose(pose[:3], [*pose[4:7], pose[3]])
        for pose in (entry['grasp_qpos'], entry['obj_pose']))
    T_hand_palm = np.eye(4)
    T_hand_palm[:3, 3] = SHADOW_PALM
    return np.linalg.inv(T_world_object) @ T_world_hand @ T_hand_palm, entry['grasp_qpos'][7:]
