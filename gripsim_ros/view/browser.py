"""Markers in a browser: a page with the scene, a list of grasps and a slider over the closing."""

import io
import threading
from contextlib import redirect_stdout
from importlib import import_module

import numpy as np
import trimesh
from visualization_msgs.msg import Marker, MarkerArray

from .marker_shapes import Shape, shapes_of
from .sources import Source, ViewError

#: What each layer of the page shows: namespaces of markers.
LAYERS = {
    'Object': ('object', 'centre_of_mass'), 'Pressures': ('deformation', 'pressure_legend'),
    'Contacts': ('contacts', 'depths', 'forces'), 'Hand': ('hand', 'moment'),
    'Ranked ghosts': ('ghosts', 'ranked_grasps', 'ranks'), 'Obstacles': ('obstacles',)}
#: Topics that show the same hand: what comes on one takes the place of the other.
INSTEAD = {'closing/markers': 'plan/markers', 'plan/markers': 'closing/markers'}
#: Steps of the slider over a closing.
SLIDER_STEP = 0.02
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

    Raises
    ------
    ViewError
        viser is not installed, or no port is free.
    """

    def __init__(self, source: Source, port: int = 8080, host: str = '127.0.0.1') -> None:
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
        self._visible = {name: True for names in LAYERS.values() for name in names}
        self._lock = threading.Lock()
        self._listed: list[str] = []
        self._closed = threading.Event()
        self._build_panel()

    @property
    def url(self) -> str:
        """Return the address of the page."""
        return f'http://{self.host}:{self.port}'

    def open(self) -> None:
        """Let the source show what it has; ghosts are hidden until asked for."""
        self._source.open(self.show)
        self._list_grasps()
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
                    f'/{topic}/{label.name}', label.text, position=label.point))

    def names(self) -> list[str]:
        """Return the topics and namespaces that are shown, such as ``plan/markers/hand``."""
        with self._lock:
            return sorted(f'{topic}/{namespace}' for topic, namespace in self._nodes)

    def _keep(self, topic: str, name: str, node) -> None:
        namespace = name.partition('/')[0]
        node.visible = self._visible.get(namespace, True)
        self._nodes.setdefault((topic, namespace), []).append(node)

    def _add_mesh(self, name: str, shape: Shape):
        colours = (255.0 * np.clip(shape.colours, 0.0, 1.0) + 0.5).astype(np.uint8)
        if (colours == colours[0]).all():
            return self.server.scene.add_mesh_simple(
                name, shape.vertices, shape.faces, color=tuple(int(c) for c in colours[0]),
                opacity=None if shape.alpha >= 1.0 else shape.alpha, side='double')
        mesh = trimesh.Trimesh(shape.vertices, shape.faces, process=False,
                               vertex_colors=np.column_stack(
                                   [colours, np.full(len(colours), 255, np.uint8)]))
        return self.server.scene.add_mesh_trimesh(name, mesh)

    # -- the panel -------------------------------------------------------------------

    def _build_panel(self) -> None:
        gui = self.server.gui
        self._grasp = gui.add_dropdown('Grasp', ('none',))
        self._fraction = gui.add_slider('Closing', 0.0, 1.0, SLIDER_STEP, 1.0)
        self._grasp.on_update(lambda _: self._select())
        self._fraction.on_update(lambda _: self._select())
        for layer, names in LAYERS.items():
            box = gui.add_checkbox(layer, True)
            box.on_update(lambda event, names=names: self._show_layer(names, event.target.value))

    def _select(self) -> None:
        if self._grasp.value in self._listed:
            self._source.select(self._listed.index(self._grasp.value) + 1,
                                float(self._fraction.value))

    def _show_layer(self, names: tuple[str, ...], visible: bool) -> None:
        with self._lock:
            for name in names:
                self._visible[name] = visible
            for (_, namespace), nodes in self._nodes.items():
                for node in nodes if namespace in names else ():
                    node.visible = visible

    def _list_grasps(self) -> None:
        grasps = list(self._source.grasps)
        if grasps and grasps != self._listed:
            self._listed = grasps
            self._grasp.options = tuple(grasps)

    def _watch_list(self) -> None:
        while not self._closed.wait(LIST_PERIOD):
            self._list_grasps()


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
