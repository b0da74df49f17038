"""Markers in a browser: a page with the scene, a list of grasps and a slider over the closing."""

import io
import threading
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib import import_module

import numpy as np
import trimesh
from visualization_msgs.msg import Marker, MarkerArray

from ...ros.markers import BOX_LAYERS
from .beside import NAMES, PlansBeside
from .marker_shapes import Shape, shapes_of
from .panel import FLOOR_CELL, FeltForces, explanation, grasp_html, request_html
from .picture import DRAWN_FLAT, HAND, MOMENT, largest_pressure
from .sources import Source, ViewError

#: The layer of oriented boxes and regions of potential interaction.
BOXES = 'Boxes and regions'
#: What each layer of the page shows: namespaces of markers.
LAYERS = {
    'Object': ('object', 'centre_of_mass'), 'Pressures': ('deformation',),
    'Contacts': ('contacts', 'depths', 'forces'),
    'Felt forces': ('planned_forces', 'felt_forces', 'force_texts'), 'Hand': ('hand',),
    'Arm': ('arm', 'arm_way'),
    'Ranked ghosts': ('ghosts', 'ranked_grasps', 'ranks'), 'Obstacles': ('obstacles',),
    'Names': (NAMES,), BOXES: BOX_LAYERS}
#: How much is seen of the hand, so that it hides no contact.
GLASS = 0.55
#: Layers that are shown only when asked for.
HIDDEN = ('Ranked ghosts', BOXES)
#: Layers that the camera looks at first, and from where, over their radius.
LOOKED_AT, EYE = ('Object', 'Pressures', 'Hand'), np.array([0.7, -1.6, 0.75])
#: Size of letters in the scene, over that of viser.
LABEL_SIZE = 0.8
#: Topics that show the same hand: what comes on one takes the place of the other.
INSTEAD = {'closing/markers': 'plan/markers', 'plan/markers': 'closing/markers'}
#: Steps of the slider over a closing.
SLIDER_STEP = 0.02
#: Steps of the slider over a whole motion, and seconds between two while it is played.
MOTION_STEP, PLAY_PERIOD = 0.02, 0.1
#: Said of plans beside each other.
EACH_ITS_OWN = 'each plan with its own colours of pressure'
#: Seconds between two looks at whether the list of grasps has changed.
LIST_PERIOD = 0.5


class BrowserView:
    """
    Serves a source of markers as a web page.

    Parameters
    ----------
    source : Source
    port : int
        The next free one is taken where it is not.
    host : str
        Address that is listened at.
    boxes : bool
        Show oriented boxes and regions of potential interaction from the start.

    Raises
    ------
    ViewError
        viser is not installed, or no port is free.
    """

    def __init__(self, source: Source, port: int = 8080, host: str = '127.0.0.1',
                 boxes: bool = False) -> None:
        """Start the server; the page is there at once."""
        viser = require_viser()
        try:
            with quiet():
                self.server = viser.ViserServer(host=host, port=port, label='gripsim',
                                                verbose=False)
        except (OSError, RuntimeError) as error:
            raise ViewError(f'the view cannot be served at {host}:{port}: {error}') from error
        self.host, self.port = host, self.server.get_port()
        self._source = source
        self._nodes: dict[tuple[str, str], list] = {}
        self._hidden = [layer for layer in HIDDEN if not (boxes and layer == BOXES)]
        self._visible = {name: layer not in self._hidden for layer, names in LAYERS.items()
                         for name in names}
        self._looking = False
        self._lock = threading.Lock()
        self._listed: list[str] = []
        self._felt, self._told = FeltForces(), ('', '')
        self._closed, self._stopped = threading.Event(), threading.Event()
        self._stopped.set()         # nothing plays
        self._build_panel()

    @property
    def url(self) -> str:
        """Return the address of the page."""
        return f'http://{self.host}:{self.port}'

    def open(self) -> None:
        """Let the source show what it has; layers in ``HIDDEN`` are hidden until asked for."""
        for array in self._source.felt:
            self._felt.add(array)
        self._source.open(self.show)
        if self._source.felt:       # bars may be all that was recorded
            self._look_at(shapes_of(self._source.felt[-1])[0])
        self._list_grasps()
        self._tell()
        threading.Thread(target=self._watch_list, daemon=True).start()

    def close(self) -> None:
        """End source and server."""
        self._closed.set()
        self._source.close()
        with quiet():
            self.server.stop()

    def show(self, topic: str, array: MarkerArray) -> None:
        """Show what an array adds, instead of what its namespaces on this topic showed."""
        shapes, labels = shapes_of(array)
        self._explain(array)
        if self._felt.add(array):
            self._forces.content = self._felt.html()
        labels = [label for label in labels if _namespace(label.name) not in (*DRAWN_FLAT, MOMENT)]
        shapes = [shape for shape in shapes if _namespace(shape.name) not in DRAWN_FLAT]
        with self._lock, self.server.atomic():
            outdated = {(topic, marker.ns) for marker in array.markers
                        if marker.action == Marker.DELETEALL}
            outdated |= {key for key in self._nodes if key[0] == INSTEAD.get(topic)}
            for key in outdated:
                for node in self._nodes.pop(key, ()):
                    node.remove()
            for shape in shapes:
                self._keep(topic, shape.name, self._add_mesh(f'/{topic}/{shape.name}', shape))
            for label in labels:
                self._keep(topic, label.name, self.server.scene.add_label(
                    f'/{topic}/{label.name}', label.text, position=label.point,
                    font_screen_scale=LABEL_SIZE, anchor='center-left'))
        wanted = [name for layer in LOOKED_AT for name in LAYERS[layer]]
        self._look_at([shape for shape in shapes if _namespace(shape.name) in wanted])

    def names(self) -> list[str]:
        """Return the topics and namespaces that are shown, such as ``plan/markers/hand``."""
        with self._lock:
            return sorted(f'{topic}/{namespace}' for topic, namespace in self._nodes)

    def _keep(self, topic: str, name: str, node) -> None:
        namespace = _namespace(name)
        node.visible = self._visible.get(namespace, True)
        self._nodes.setdefault((topic, namespace), []).append(node)

    def _add_mesh(self, name: str, shape: Shape):
        colours = (255.0 * np.clip(shape.colours, 0.0, 1.0) + 0.5).astype(np.uint8)
        alpha = GLASS if _namespace(shape.name) == HAND else shape.alpha
        if (colours == colours[0]).all():
            return self.server.scene.add_mesh_simple(
                name, shape.vertices, shape.faces, color=tuple(int(c) for c in colours[0]),
                opacity=None if alpha >= 1.0 else alpha, side='double')
        mesh = trimesh.Trimesh(shape.vertices, shape.faces, process=False,
                               vertex_colors=np.column_stack(
                                   [colours, np.full(len(colours), 255, np.uint8)]))
        return self.server.scene.add_mesh_trimesh(name, mesh)

    def _look_at(self, shapes: Sequence[Shape]) -> None:
        """Let the camera see shapes as a whole, the first that come, and draw a floor."""
        if self._looking or not shapes:
            return
        self._looking = True
        points = (self._source.bounds if isinstance(self._source, PlansBeside) else
                  np.concatenate([shape.vertices for shape in shapes]))
        low, high = points.min(axis=0), points.max(axis=0)
        middle, radius = (low + high) / 2.0, float(np.linalg.norm(high - low)) / 2.0
        self.server.scene.add_grid('/floor', 1.0, 1.0, plane='xy', cell_size=FLOOR_CELL,
                                   section_size=2.0 * FLOOR_CELL,
                                   position=(middle[0], middle[1], low[2]))
        for camera in (self.server.initial_camera,
                       *(client.camera for client in self.server.get_clients().values())):
            camera.look_at, camera.position = middle, middle + radius * EYE
            camera.near = 0.01 * radius

    # -- the panel -------------------------------------------------------------------

    def _build_panel(self) -> None:
        gui = self.server.gui
        self.server.scene.configure_default_lights(cast_shadow=False)
        gui.configure_theme(control_width='medium', show_share_button=False)
        self._grasp = gui.add_dropdown('Grasp', ('none',))
        self._fraction = gui.add_slider('Closing', 0.0, 1.0, SLIDER_STEP, 1.0,
                                        marks=((0.0, 'open'), (1.0, 'grasp')))
        if not self._source.moments:
            self._grasp.disabled = self._fraction.disabled = True
        if self._source.motions:
            self._motion = gui.add_slider('Whole motion', 0.0, 1.0, MOTION_STEP, 0.0, marks=(
                (0.0, 'begin'), (1.0, 'end')))
            self._motion.on_update(lambda event: self._move(event.client is not None))
            gui.add_button('Play').on_click(lambda _: self._play())
        self._state = gui.add_html(explanation(EACH_ITS_OWN, 0.0) if isinstance(
            self._source, PlansBeside) else '')
        with gui.add_folder('Grasp'):
            self._score = gui.add_html('')
        with gui.add_folder('Request'):
            self._request = gui.add_html('')
        with gui.add_folder('Felt against planned force'):
            self._forces = gui.add_html(self._felt.html())
        self._grasp.on_update(lambda _: self._select())
        self._fraction.on_update(lambda event: self._select(event.client is not None))
        for layer, names in LAYERS.items():
            box = gui.add_checkbox(layer, layer not in self._hidden)
            box.on_update(lambda event, names=names: self._show_layer(names, event.target.value))

    def _select(self, by_hand: bool = False) -> None:
        if by_hand:
            self._stopped.set()
        if self._grasp.value in self._listed:
            self._source.select(self._listed.index(self._grasp.value) + 1,
                                float(self._fraction.value))
            self._tell()

    def _move(self, by_hand: bool) -> None:
        if by_hand:
            self._stopped.set()
        if self._grasp.value in self._listed:
            self._source.move(self._listed.index(self._grasp.value) + 1,
                              float(self._motion.value))

    def _play(self) -> None:
        """Play the whole motion; a second click, a slider moved by hand, or the end stops it."""
        if not self._stopped.is_set():
            self._stopped.set()
            return
        self._stopped = threading.Event()
        threading.Thread(target=self._go_on, args=(self._stopped,), daemon=True).start()

    def _go_on(self, stopped: threading.Event) -> None:
        for step in range(round(1.0 / MOTION_STEP) + 1):
            if stopped.is_set() or self._closed.is_set():
                return
            self._motion.value = min(1.0, step * MOTION_STEP)
            stopped.wait(PLAY_PERIOD)
        stopped.set()

    def _show_layer(self, names: tuple[str, ...], visible: bool) -> None:
        with self._lock:
            for name in names:
                self._visible[name] = visible
            for (_, namespace), nodes in self._nodes.items():
                for node in nodes if namespace in names else ():
                    node.visible = visible

    def _explain(self, array: MarkerArray) -> None:
        """Tell below the slider which moment is shown, and what colours and marks mean."""
        moments = [m.text for m in array.markers if m.ns == MOMENT and m.text]
        if any(m.ns in DRAWN_FLAT for m in array.markers):
            self._state.content = explanation(moments[0] if moments else 'best grasp',
                                              largest_pressure([array]))

    def _list_grasps(self) -> None:
        grasps = list(self._source.grasps)
        if grasps and grasps != self._listed:
            self._listed = grasps
            self._grasp.options = tuple(grasps)

    def _tell(self) -> None:
        """Tell what was asked, and the numbers of the chosen grasp, where they are new."""
        chosen = self._grasp.value in self._listed
        request, grasp = self._source.about(
            self._listed.index(self._grasp.value) + 1 if chosen else 1)
        told = request_html(request), grasp_html(grasp)
        if told != self._told:
            self._told = told
            self._request.content, self._score.content = told

    def _watch_list(self) -> None:
        while not self._closed.wait(LIST_PERIOD):
            self._list_grasps()
            self._tell()


def _namespace(name: str) -> str:
    return name.partition('/')[0]


def quiet() -> redirect_stdout:
    """Keep viser's banner from standard output, which belongs to results."""
    return redirect_stdout(io.StringIO())


def require_viser():
    """Return the module viser; ViewError where it is not installed."""
    try:
        return import_module('viser')
    except ImportError as error:
        raise ViewError('the view in a browser needs viser: install gripsim_ros[view], or '
                        f'`pip install viser` ({error})') from None
