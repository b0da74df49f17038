"""How much stiffer a grip feels whose pads stick: what bends is held as an arch is."""

from dataclasses import dataclass

import numpy as np

from ...core.arrays import Array
from ...core.mechanics.body import ElasticBody

#: Contacts press on nodes of the body's surface within their radii, or so far away at least, over
#: the nodes' spacing; beside the nearest on those whose normals make this cosine with the force.
SPREAD, FACING = 1.0, 0.5
#: Least part of the way of a grip that is the contacts' own [-].
LEAST_LOCAL = 0.05
#: Motions of a rigid body that move contacts by less than this, over the largest, are none [-].
NO_MOTION = 1e-6
#: Forces that balance and press with less than this of what pads press with are none of theirs.
LEAST_ALONG = 0.1
#: Shares of sticking that are tried, from none to all.
TRIES = 201


@dataclass(frozen=True, eq=False)
class GripContacts:
    """
    Contacts of a grip whose forces balance, ``k`` of them, frame object.

    Attributes
    ----------
    points : (k, 3) float
        [m].
    forces : (k, 3) float
        On the object where nothing sticks, along the normals, over half of their sum [-].
    motions : (k, 3) float
        Of the pads as the fingers close, in any unit.
    radii : (n, k) float
        Of circles as large as the contacts, at each force [m].
    """

    points: Array
    forces: Array
    motions: Array
    radii: Array


def sticking_shares(body: ElasticBody, contacts: GripContacts, compliances: Array
                    ) -> tuple[Array, Array]:
    """
    Return how much faster a grip's force grows with its way than where nothing sticks.

    Three pads on a body that bends keep its ends from sliding on them, and thrust arises between
    them; two, or three round a compact body, hardly feel it. What would pass the cones of friction
    slips: the thrust is then the largest share of that of sticking within them.

    Parameters
    ----------
    body : ElasticBody
        With its own compliance.
    contacts : GripContacts
    compliances : (n,) float
        Of the grip without friction: change of its way by its force [m/N], each > 0.

    Returns
    -------
    held, stuck : (n,) float
        Within the cones of friction, and where pads stick whatever it takes [-].

    Notes
    -----
    Source: least complementary energy over the forces that balance, f' C f / 2 - f' v. C is the
    body's between the contacts (``TangentialLoads``), and of each contact what is
    missing of the compliance without friction, along the normal, and by Mindlin (1949) that times
    (2 - nu) / (2 (1 - nu)) along the surface. Departs: moments of single contacts do not count.
    """
    count, forces = len(contacts.points), contacts.forces.ravel()
    balanced = balanced_forces(contacts.points)
    lengths = np.linalg.norm(contacts.forces, axis=1)
    normals = contacts.forces / lengths[:, None]
    ratio = body.material.poisson_ratio
    shear = (2.0 - ratio) / (2.0 * (1.0 - ratio))
    along = np.einsum('ki,kj->kij', normals, normals)
    local = along + shear * (np.eye(3) - along)
    motions, held, sticking = contacts.motions.ravel(), [], []
    for compliance, radii in zip(compliances, contacts.radii):
        far = _far_compliance(body, contacts.points, normals, radii)
        missing = max(compliance - forces @ far @ forces, LEAST_LOCAL * compliance)
        whole = far.copy()
        for k in range(count):
            whole[3 * k:3 * k + 3, 3 * k:3 * k + 3] += missing / (lengths @ lengths) * local[k]
        free = forces * (forces @ motions) / (forces @ whole @ forces)
        stuck = balanced @ np.linalg.solve(balanced.T @ whole @ balanced, balanced.T @ motions)
        within = _within_cones(free, stuck, normals, body.material.friction)
        held.append(within @ normals.ravel() / (free @ normals.ravel()))
        sticking.append(stuck @ normals.ravel() / (free @ normals.ravel()))
    return np.array(held), np.array(sticking)


def balanced_forces(points: Array) -> Array:
    """Return an orthonormal basis (3k, m) of the forces on points (k, 3) that balance."""
    arms = points - points.mean(axis=0)
    size = np.abs(arms).max()
    turns = np.cross(np.eye(3)[:, None], arms / size)           # (3, k, 3)
    moves = np.vstack([np.tile(np.eye(3), len(points)), turns.reshape(3, -1)])
    _, sizes, rows = np.linalg.svd(moves)
    return np.asarray(rows[int((sizes > NO_MOTION * sizes[0]).sum()):].T)


def work_directions(points: Array, pushes: Array) -> Array:
    """
    Return the forces of pads whose moments balance, too, over half the sum of the normal ones.

    Where pads do not press against each other along one line, friction holds the object: it
    would turn between them. The work of the fingers is that of these forces; by the normal ones
    alone an object that turns would count as pressed in.

    Parameters
    ----------
    points : (k, 3) float
        The middles of the contacts [m].
    pushes : (k, 3) float
        Normal forces on the object, which balance [-].

    Returns
    -------
    (k, 3) float
        Nearest to ``pushes`` in direction, with as much along them; ``pushes`` themselves where
        none that balance go along them.
    """
    basis = balanced_forces(points)
    nearest = (basis @ (basis.T @ pushes.ravel())).reshape(-1, 3)
    lengths = np.linalg.norm(pushes, axis=1)
    along = np.einsum('ki,ki->k', nearest, pushes / np.maximum(lengths, 1e-300)[:, None])
    if along.sum() < LEAST_ALONG * lengths.sum():
        return pushes
    return np.asarray(nearest * lengths.sum() / along.sum())


def _far_compliance(body: ElasticBody, points: Array, normals: Array, radii: Array) -> Array:
    """Return how contacts with radii (k,) [m] move by forces on them (3k, 3k) [m/N]."""
    compliance, tangential = body.compliance, body.tangential_loads
    away = np.linalg.norm(compliance.points[:, None] - points, axis=2)
    reach = np.maximum(radii, SPREAD * compliance.surface.spacing)
    faces = compliance.normals @ normals.T > FACING
    near = (away <= away.min(axis=0)) | faces & (away <= reach)
    nodes, owners = np.nonzero(near)
    places = compliance.points[nodes]
    material = body.material
    correction = compliance.correction(
        places, material.youngs_modulus / (1.0 - material.poisson_ratio ** 2))
    vertices, counts = compliance.interpolation(places), near.sum(axis=0)
    found = np.zeros((len(points), 3, len(points), 3))
    for k in range(len(points)):
        for axis in range(3):
            loads = np.zeros((len(nodes), 3))
            loads[owners == k, axis] = 1.0 / counts[k]
            moves = tangential.far_moves(vertices, tangential.sinking(correction, loads))
            for j in range(len(points)):
                found[j, :, k, axis] = moves[owners == j].mean(axis=0)
    matrix = found.reshape(3 * len(points), -1)
    return 0.5 * (matrix + matrix.T)


def _within_cones(free: Array, stuck: Array, normals: Array, friction: float) -> Array:
    """Return the forces (3k,) on the way from ``free`` to ``stuck`` at which the first slips."""
    shares = np.linspace(0.0, 1.0, TRIES)
    forces = (free + shares[:, None] * (stuck - free)).reshape(TRIES, -1, 3)
    pressing = np.einsum('ski,ki->sk', forces, normals)
    sliding = np.linalg.norm(forces - pressing[..., None] * normals, axis=2)
    holds = (sliding <= friction * pressing + 1e-9 * np.abs(free).max()).all(axis=1)
    last = TRIES - 1 if holds.all() else max(int(holds.argmin()) - 1, 0)
    return np.asarray(forces[last].ravel())
