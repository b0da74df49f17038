"""The way of a held object: where its centre of mass goes, and what presses on it there."""

from collections.abc import Sequence

import numpy as np

from ...core.bodies import TriangleMesh
from ...core.planning.ranked_grasp import ManipulationStep
from ...library.display import OBJECT_COLOUR
from .layers import FORCE_LENGTH, GREEN, LINE_WIDTH, MAGENTA, Layers

#: Layers of a way: the line, forces, the least ones, margins, the object where it ends.
WAY_LAYERS = 'way', 'way_forces', 'way_least_forces', 'way_margins', 'way_end'
#: Steps at most whose forces are shown, evenly spread with the last one; the first is the grasp.
MOST_STEPS = 4
#: Size of the letters of margins [m], and how much is seen of the object at the end.
TEXT, END_ALPHA = 0.008, 0.25


def add_way(layers: Layers, steps: Sequence[ManipulationStep], mesh: TriangleMesh) -> None:
    """
    Show the line of the centre of mass over all steps, forces and margins of some, and the end.

    Parameters
    ----------
    layers : Layers
    steps : sequence of ManipulationStep
        The grasp first; not empty.
    mesh : TriangleMesh
        Of the object.
    """
    layers.clear(*WAY_LAYERS)
    centres = np.array([step.centre_of_mass for step in steps])
    layers.lines('way', centres[:-1], centres[1:], MAGENTA, LINE_WIDTH)
    chosen = np.unique(np.linspace(0, len(steps) - 1, MOST_STEPS + 1).round().astype(int))[1:]
    for step in (steps[number] for number in chosen):
        layers.forces(step.points, step.forces, 'way_forces')
        layers.contacts('way_least_forces', step.points - FORCE_LENGTH * step.minimal_forces,
                        GREEN)
        layers.text('way_margins', step.centre_of_mass, f'margin {step.margin:.2f}', TEXT)
    layers.mesh('way_end', mesh.vertices, mesh.faces, (*OBJECT_COLOUR, END_ALPHA),
                steps[-1].T_object_moved)
