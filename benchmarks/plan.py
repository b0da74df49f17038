"""How fast the planner is, warm, on two cores: first stable grasp, hypotheses a second."""

import os
from pathlib import Path

import numpy as np

from gripsim_ros.core.bodies import GraspObject, Material, load_mesh, shapes
from gripsim_ros.in_process import find_material, plan_grasps

#: A full tin: stiff, 349 g in 319 cm^3.
FULL_TIN = Material(youngs_modulus=2.0e9, poisson_ratio=0.3, density=1090.0, friction=0.5)
#: Scans by file name below the data folder, and the material each is planned with.
SCANS = {'YcbBanana.ply': 'soft_fruit', 'YcbMustardBottle.ply': 'pet_bottle',
         'YcbTomatoSoupCan.ply': FULL_TIN}
HYPOTHESES = 200


def objects() -> list[tuple[str, GraspObject]]:
    """Return the objects to plan for: scans where there are any, and a generated apple."""
    found = [('apple', GraspObject(shapes.apple(), find_material('firm_fruit')))]
    folder = Path(os.environ.get('GRIPSIM_DATA', '')) / 'ycb'
    for name, material in SCANS.items():
        if (folder / name).is_file():
            mesh = load_mesh(folder / name).mesh
            if isinstance(material, str):
                material = find_material(material)
            found.append((Path(name).stem, GraspObject(mesh, material)))
    return found


def main() -> None:
    """Print one row an object."""
    plan_grasps(objects()[0][1], hypotheses=8)
    print(f"{'object':18} {'triangles':>9} {'judged':>7} {'contact':>8} {'stable':>7} "
          f"{'first stable':>13} {'total':>8} {'in contact':>12}")
    for name, grasp_object in objects():
        result = plan_grasps(grasp_object, hypotheses=HYPOTHESES, budget=600.0, workers=0)
        first = np.nan if result.first_stable_time is None else result.first_stable_time
        stable = result.evaluated - sum(result.rejections.values())
        print(f'{name:18} {len(grasp_object.mesh.faces):9d} {result.evaluated:7d} '
              f'{result.in_contact:8d} {stable:7d} {first:11.2f} s {result.planning_time:6.1f} s '
              f'{result.in_contact / result.planning_time:8.1f} /s', flush=True)


if __name__ == '__main__':
    main()
