"""
Compile numerical kernels into numba's cache, so that nobody waits for them later.

Usage: compile_kernels.py plan|stages|rest: all that planning takes; the half of them that planning
comes to last, so that a second core is of use; those of the other commands. All may run at once:
what another has compiled is loaded, what it compiles is waited for.
"""

import gc
import io
import os
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import trimesh
from kernel_turns import taking_turns
from lean_numba import compiling_leanly

from gripsim_ros.apps.cli.main import main as gripsim
from gripsim_ros.core.bodies import GraspObject, Material, shapes
from gripsim_ros.core.contact import ContactMesh, ContactScene, detect_contacts
from gripsim_ros.core.contact.vertices.batch import batch_vertex_contacts
from gripsim_ros.core.grasp_theory.contact_set import ContactSet
from gripsim_ros.core.hand import compute_link_states
from gripsim_ros.core.mechanics import (
    ElasticBody, indent_body, MechanicsOptions, SphereIndenter)
from gripsim_ros.core.mechanics.boundary_elements.disk_cache import ComplianceOptions
from gripsim_ros.core.mechanics.stability.stability import judge_stability
from gripsim_ros.library.drawing.raster import Camera, make_surface, render_layer
from gripsim_ros.library.hands.warm_up_scene import warm_up_configurations, warm_up_object
from gripsim_ros.library.in_process import link_shapes, warm_up
from gripsim_ros.library.resources import load_default_hand

RADIUS, EDGE_LENGTH, NODES = 0.02, 0.004, 300
#: Values that the first frame's stack asks room for: as much is left for the frames above.
ROOM = 2 ** 16
#: The second of two balls that meet lies so far along x [m].
APART = 0.035


def compile_stages(folder: Path) -> None:
    """Press a pad and a ball into a ball, judge a pinch, meet a ball as nodes do, draw it."""
    ball = shapes.sphere(RADIUS, EDGE_LENGTH)
    write(folder / 'ball.ply', ball.vertices, ball.faces)
    indent(folder / 'ball.ply', '--link', 'sdh_thumb_3_link')
    points = RADIUS * np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    some = np.ones(2)
    pinch = ContactSet(points, -points / RADIUS, -points / RADIUS, np.zeros((2, 3)), 1e-3 * some,
                       1e3 * some, 1e3 * some, 10.0 * some, np.zeros(2, bool))
    judge_stability(pinch, np.array([[0.0, 0.0, -0.1, 0.0, 0.0, 0.0]]), np.zeros(3), 0.5)
    body = ElasticBody(GraspObject(ball, Material(1e6, 0.3, 1000.0, 0.5)), MechanicsOptions(
        elasticity='body', compliance=ComplianceOptions(NODES)))
    indent_body(body, SphereIndenter(RADIUS), np.array([-1.0, 0, 0]), np.array([1.0, 0, 0]), 1e-3)
    hand = load_default_hand()
    scene = ContactScene(hand, warm_up_object(), link_shapes(hand))
    scene.prepare()
    for batch in warm_up_configurations(hand):
        detect_contacts(scene, compute_link_states(hand, batch))
    render_layer(make_surface(ball.vertices, ball.faces, np.ones(3)),
                 Camera(np.eye(4), 100.0, 64, 64))


def compile_rest(folder: Path) -> None:
    """Use every command and every model of a body that planning does not, on a small ball."""
    ball = shapes.sphere(RADIUS, EDGE_LENGTH)
    write(folder / 'a.ply', ball.vertices, ball.faces)
    write(folder / 'b.ply', ball.vertices + [APART, 0.0, 0.0], ball.faces)
    crossing = np.concatenate([ball.vertices, ball.vertices + [RADIUS, 0.0, 0.0]])
    faces = np.concatenate([ball.faces, ball.faces + len(ball.vertices)])
    write(folder / 'c.ply', crossing, faces)
    along = ('--direction', -1, 0, 0)
    run('contact', folder / 'a.ply', folder / 'b.ply', '--picture', folder / 'a.png')
    run('contact', folder / 'a.ply', folder / 'c.ply', *along)
    for backend in ('vp_tree', 'gjk_epa', 'common_plane', 'seed'):
        run('contact', folder / 'a.ply', folder / 'b.ply', *along, '--backend', backend)
    for tool in (('--sphere', 0.02), ('--cylinder', 0.005), ('--link', 'sdh_thumb_3_link')):
        indent(folder / 'a.ply', *tool)
    run('preshape', folder / 'a.ply', '--picture', folder / 'a.png')
    run('preshape', folder / 'a.ply', '--in-turn')
    mesh = ContactMesh(ball)
    moved = np.eye(4)
    moved[0, 3] = APART
    batch_vertex_contacts([mesh], mesh, moved[None, None], np.array([[[-1.0, 0.0, 0.0]]]))


def indent(mesh: Path, *tool) -> None:
    """Press a tool 1 mm into a mesh of foam along x."""
    run('indent', mesh, '--at', -1, 0, 0, '--along', 1, 0, 0, '--depth', 1e-3,
        '--material', 'foam', *tool)


def write(path: Path, vertices, faces) -> None:
    """Write a mesh."""
    trimesh.Trimesh(vertices, faces, process=False).export(path)


def run(*arguments) -> None:
    """Run a command; what it says is of no interest unless it fails."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
        code = gripsim([*map(str, arguments), '--json'])
    if code:
        raise SystemExit(f'gripsim {arguments[0]}: {said.getvalue().strip()}')


def main() -> int:
    """Compile what is asked for."""
    gc.disable()    # what numba makes mostly stays: looking for garbage took 6 % of the time
    with (tempfile.TemporaryDirectory() as folder, taking_turns(Path(sys.prefix)),
          compiling_leanly()):
        if sys.argv[1:] == ['plan']:
            warm_up()
        elif sys.argv[1:] == ['stages']:
            compile_stages(Path(folder))
        elif sys.argv[1:] == ['rest']:
            compile_rest(Path(folder))
        else:
            raise SystemExit(__doc__.strip())
    return 0


if __name__ == '__main__':
    # CPython keeps frames in pieces of 16 KiB, or as large as a frame needs. Where one ended amid
    # the compiler's calls, each mapped the next and gave it back: a tenth of the time.
    main.__code__ = main.__code__.replace(co_stacksize=ROOM)
    status = main()
    sys.stdout.flush()
    os._exit(status)    # what Python would tidy up first goes with the process anyway
