"""What a grip feels like for any modulus: force over the way of the fingers, from their touch."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ...core.arrays import Array
from ...core.bodies import GraspObject
from ...core.errors import TaskError
from ...core.hand import HandModel, forward_kinematics
from ...core.mechanics.body import ElasticBody
from ..in_process import mechanics_options
from ..resources import load_default_hand
from .fingers import HandSqueeze
from .pressing_links import contacts_of, spots_of, way_of
from .sticking import GripContacts, sticking_shares
from .surface_doubt import mean_deviation, way_covariance

#: Moduli of the table [Pa]: beyond them a hand cannot tell.
MODULI = np.geomspace(2e3, 2e7, 9)
#: Ways of the table over the longest [-]: from some 0.02 mm, where joints still tell a way.
SHARES = np.geomspace(0.005, 1.0, 17)
#: Way over the longest at which pads' points and forces are taken for all ways: deep in a body
#: forces lean, and pads touch elsewhere; at the first touch forces hardly balance.
MIDDLE = 0.25
#: Ways over the longest at which the fingers hardly touch yet: where forces do not rise with the
#: way there, they are taken to rise as those of a round contact, by this power of it [-].
HARDLY_TOUCHING, ROUND = 0.02, 1.5
#: Joints are moved by this for the way's derivatives [rad].
JOINT_STEP = 1e-5
#: Step of the modulus' logarithm for derivatives.
SLOPE_STEP = 0.01
#: Standard error of a modulus over what friction bears of a grip so that the object does not turn
#: between pads that do not face each other [-]: by ten palpations of two such grips, of which
#: friction bore 0.22 and 0.24, and which were 20 % off where 11 % were told without it.
TURNING_DOUBT = 0.75
#: A sum of squares of ways below which squeezes tell nothing [m^2].
LEAST_SQUARE = 1e-20


@dataclass(frozen=True, eq=False)
class GripModel:
    """
    Force over way of one grip, by modulus.

    The way is conjugate to the forces: its change times the force is the work of the fingers. The
    forces and moments of a held object balance, friction included, so that no motion of the object
    as a whole, nor of the hand, changes it, and it does not matter which finger goes on how far.

    Attributes
    ----------
    hand : HandModel
    links : (k,) int
        Whose pads press.
    points_link : (k, 3) float
        The middles of the contacts, each in the frame of its link [m].
    directions : (k, 3) float
        The forces on the object in the frame of the palm, with the friction that keeps it from
        turning, over ``force`` of the grip; along the normals they add up to 2 [-].
    touching : (J,) float
        Where the fingers touch first, in the model [rad].
    width : float
        Of what is gripped: twice the mean distance of the pads from their middle [m].
    moduli : (m,) float
        Rising [Pa].
    ways : (m, n) float
        Beyond the first touch, rising [m].
    forces : (m, n) float
        Half the sum of the normal forces [N]; pads stick within their cones of friction, where
        the body's own compliance is known.
    pressures : (m, n) float
        Largest of the contact [Pa].
    quantitative : (m, n) bool
        The point is within the range of the model, and its forces balance.
    warnings : tuple of str
    sticking : (n,) float
        Slope of the force over the way where pads stick entirely, over that without friction;
        ones where it is not known [-].
    stick_over_slip : (n,) float
        Slope of the force where pads stick entirely, over that of ``forces``, where they slip
        as their friction lets them [-].
    balanced : (m, n) bool
        The forces of the point balance: the object came to rest between the fingers.
    covariances : (m, n, n) float
        Of the ways at which these forces are borne, by the surfaces' errors, over their variance
        [-].
    friction_share : float
        What friction bears so that the object does not turn between the pads, over the normal
        forces [-].
    """

    hand: HandModel
    links: tuple[int, ...]
    points_link: Array
    directions: Array
    touching: Array
    width: float
    moduli: Array
    ways: Array
    forces: Array
    pressures: Array
    quantitative: Array
    warnings: tuple[str, ...] = ()
    sticking: Array = field(default_factory=lambda: np.ones(len(SHARES)))
    stick_over_slip: Array = field(default_factory=lambda: np.ones(len(SHARES)))
    balanced: Array = field(
        default_factory=lambda: np.ones((len(MODULI), len(SHARES)), dtype=bool))
    covariances: Array = field(
        default_factory=lambda: np.zeros((len(MODULI), len(SHARES), len(SHARES))))
    friction_share: float = 0.0

    def way(self, joints: Array) -> Array:
        """Return the ways (s,) of joints (s, J) beyond those of the model's touch [m]."""
        return self._along(np.asarray(joints, float)) - self._along(self.touching[None])[0]

    def _along(self, joints: Array) -> Array:
        poses = forward_kinematics(self.hand, joints)[:, list(self.links)]
        points = np.einsum('skij,kj->ski', poses[:, :, :3, :3], self.points_link)
        return np.einsum('ki,ski->s', self.directions, points + poses[:, :, :3, 3])

    def way_resolution(self, joints: Array, joint_resolution: float) -> float:
        """Return the way's error [m] where each joint (J,) is known to a resolution [rad]."""
        moved = np.asarray(joints, float) + JOINT_STEP * np.vstack(
            [np.zeros(len(joints)), np.eye(len(joints))])
        ways = self._along(moved)
        rates = (ways[1:] - ways[0]) / JOINT_STEP
        return float(joint_resolution * np.linalg.norm(rates))

    def way_at(self, modulus: float | Array, forces: Array) -> Array:
        """Return the ways (s,), or (m, s) of moduli (m,) [Pa], that bear forces (s,) [N] [m]."""
        ways, (logs, _) = self._row(modulus)
        return np.exp(_interpolate(np.log(np.maximum(forces, 1e-12)), logs, ways))

    def force_at(self, modulus: float, ways: Array) -> Array:
        """Return the forces (s,) [N] at ways (s,) [m], both beyond the touch."""
        logs, (forces, _) = self._row(modulus)
        return np.exp(_interpolate(np.log(np.maximum(ways, 1e-12)), logs, forces))

    def pressure_at(self, modulus: float, forces: Array) -> Array:
        """Return the largest pressures (s,) of contact [Pa] under forces (s,) [N]."""
        _, (logs, pressures) = self._row(modulus)
        return np.exp(_interpolate(np.log(np.maximum(forces, 1e-12)), logs, pressures))

    def friction_doubt(self, modulus: float, force: float) -> float:
        """
        Return the standard error of a modulus [-] that was felt up to a force [N].

        Nobody knows how far pads stick: between not at all and entirely all is taken as likely.
        Nor is it known how friction that keeps an object from turning gives way.
        """
        _, last = self._place(modulus, force)
        sticking = np.ptp(np.append(self.sticking[:last + 1], 1.0)) / np.sqrt(12.0)
        return float(np.hypot(sticking, TURNING_DOUBT * self.friction_share))

    def surface_doubt(self, modulus: float, squeezes: Sequence[Array], surface_error: float
                      ) -> float:
        """
        Return the standard error of a modulus [-] by the shapes of what touches.

        Parameters
        ----------
        modulus : float
            That was felt [Pa].
        squeezes : sequence of (s,) float
            Forces at which each rested [N].
        surface_error : float
            Standard deviation of the true surfaces of object and links from those of the model
            [m]. Contacts that begin within it of the ways gone may have begun already, or not
            yet: the worst is told.
        """
        ways = [self.way_at(modulus, forces) for forces in squeezes]
        slopes = [(way - self.way_at(modulus * np.exp(SLOPE_STEP), forces)) / SLOPE_STEP
                  for way, forces in zip(ways, squeezes)]
        weights = np.concatenate([slope - slope.mean() for slope in slopes])
        row = int(np.abs(np.log(self.moduli / modulus)).argmin())
        worst = max(mean_deviation(weights, np.concatenate(ways) + shift, self.ways[row],
                                   self.covariances[row])
                    for shift in (-surface_error, 0.0, surface_error))
        return surface_error * worst / max(float(weights @ weights), LEAST_SQUARE)

    def most_sticking(self, modulus: float, force: float) -> float:
        """Return what pads that stick entirely would multiply a force [N] by, at most [-]."""
        _, last = self._place(modulus, force)
        return float(max(1.0, self.stick_over_slip[:last + 1].max()))

    def is_quantitative(self, modulus: float, forces: Array) -> bool:
        """
        Return whether the model is within its range where an object bears forces (s,) [N].

        At ways shorter than those of the least of them it need not be: at the first touch forces
        do not balance yet.
        """
        return self._holds(self.quantitative, modulus, forces)

    def is_balanced(self, modulus: float, forces: Array) -> bool:
        """Return whether the forces on an object balance where it bears (s,) [N]; as above."""
        return self._holds(self.balanced, modulus, forces)

    def _holds(self, table: Array, modulus: float, forces: Array) -> bool:
        row, first = self._place(modulus, float(np.min(forces)))
        _, last = self._place(modulus, float(np.max(forces)))
        return bool(table[row, max(first - 1, 0):last + 1].all())

    def _place(self, modulus: float, force: float) -> tuple[int, int]:
        """Return the nearest row of a modulus [Pa], and its first point with a force [N]."""
        row = int(np.abs(np.log(self.moduli / modulus)).argmin())
        return row, int(np.searchsorted(self.forces[row], force))

    def _row(self, modulus: float | Array) -> tuple[Array, tuple[Array, Array]]:
        """Return logarithms of ways, and of forces and pressures (n,), for a modulus or many."""
        logs = np.log(self.moduli)
        place = np.clip(np.log(modulus), *logs[[0, -1]])
        above = np.clip(np.searchsorted(logs, place), 1, len(logs) - 1)
        share = ((place - logs[above - 1]) / (logs[above] - logs[above - 1]))[..., None]
        ways, forces, pressures = (
            (1.0 - share) * np.log(table[above - 1]) + share * np.log(table[above])
            for table in (self.ways, self.forces, self.pressures))
        return ways, (forces, pressures)


def _interpolate(place: Array, rising: Array, values: Array) -> Array:
    """Return values (…, n) at places (s,), along straight lines that go on beyond both ends."""
    count, x, y = rising.shape[-1], rising.ravel(), values.ravel()
    above = np.clip((rising[..., None, :] < place[:, None]).sum(axis=-1), 1, count - 1)
    above = above + np.arange(0, rising.size, count).reshape(*rising.shape[:-1], 1)
    slope = (y[above] - y[above - 1]) / (x[above] - x[above - 1])
    found: Array = y[above - 1] + slope * (place - x[above - 1])
    return found


def prepare_grip_model(grasp_object: GraspObject, T_object_palm: Array, joints: Array,
                       longest: float, *, most_strain: float = np.inf,
                       hand: HandModel | None = None, elasticity: str = 'half_space',
                       on_point: Callable[[int, int], bool | None] | None = None) -> GripModel:
    """
    Return what the fingers of a grasp will feel, for moduli from 2 kPa to 20 MPa.

    Parameters
    ----------
    grasp_object : GraspObject
        All of its material but the modulus counts.
    T_object_palm : (4, 4) float
    joints : (J,) float
        Of the grasp [rad].
    longest : float
        Way beyond the first touch, at most [m].
    most_strain : float
        The same over the width of what is gripped [-].
    hand : HandModel, optional
        None: the Schunk SDH.
    elasticity : str
        ``half_space`` or ``body``.
    on_point : callable, optional
        Called with the points done and those of the whole table; return False to end with
        ``TaskError``.

    Raises
    ------
    TaskError
        ``longest`` is out of range, fewer than two fingers touch, or the joints reach their
        limits before.

    Notes
    -----
    Where links are rigid, force and pressure are in proportion to the modulus, and one curve
    serves; with pads that give way there is one for each modulus.
    """
    if not 0.0 < longest < np.inf:
        raise TaskError(f'longest must be above 0 and finite, got {longest}')
    hand, joints = hand or load_default_hand(), np.asarray(joints, float)
    rigid = all(link.pad is None for link in hand.links)
    moduli = MODULI[[len(MODULI) // 2]] if rigid else MODULI
    tell = _Told(on_point, (len(moduli) + len(MODULI) * (elasticity == 'body')) * len(SHARES))
    mechanics, table, touching, grip, warnings = mechanics_options(elasticity), [], None, None, ()
    for modulus in moduli:
        thing = GraspObject(grasp_object.mesh, replace(
            grasp_object.material, youngs_modulus=float(modulus)), grasp_object.label)
        squeeze = HandSqueeze(thing, hand, T_object_palm, joints, mechanics, touching)
        touching, warnings = squeeze.touching, squeeze.warnings
        longest = min(longest, most_strain * squeeze.width)
        fractions = squeeze.fractions_of(longest * SHARES)
        if grip is None:
            middle = squeeze.held_at(squeeze.fractions_of(np.array([MIDDLE * longest]))[0])
            grip = way_of(hand, T_object_palm, middle.joint_positions, middle.state)
        points = []
        for fraction in fractions:
            tell()
            held = squeeze.held_at(fraction)
            points.append((held.joint_positions, 0.5 * held.state.normal_forces.sum(),
                           held.state.peak_pressures.max(),
                           held.balanced and held.state.quantitative,
                           contacts_of(squeeze, T_object_palm, held, fraction),
                           spots_of(hand, T_object_palm, held), held.balanced))
        table.append(points)
    model = _model(hand, grip, touching, squeeze.width, moduli, table, warnings)
    known = elasticity == 'body' and len(model.links) > 2 and squeeze.body.prepare()
    contacts = [[point[4] for point in row] for row in table]
    return _with_friction(model, squeeze.body, contacts, tell) if known else model


class _Told:
    """Tells how many points of a table are done; TaskError where it is to go no further."""

    def __init__(self, on_point: Callable[[int, int], bool | None] | None, total: int) -> None:
        self._on_point, self._total, self._done = on_point, total, 0

    def __call__(self) -> None:
        if self._on_point is not None and self._on_point(self._done, self._total) is False:
            raise TaskError('the preparation of the grip was stopped')
        self._done += 1


def _with_friction(model: GripModel, body: ElasticBody, table: list[list[GripContacts]],
                   tell: Callable[[], None]) -> GripModel:
    """
    Return the model of a grip whose pads stick as far as friction lets them.

    The contacts are those at each modulus (or one, which serves for all) and way.
    """
    forces, pressures, sticking, ratios = [], [], [], []
    for row, (modulus, ways, free, pressed) in enumerate(zip(
            model.moduli, model.ways, model.forces, model.pressures)):
        compliances = modulus / body.material.youngs_modulus / np.gradient(free, ways)
        shares = []
        for k, contacts in enumerate(table[row % len(table)]):
            tell()
            shares.append(sticking_shares(body, contacts, compliances[[k]]))
        held, stuck = np.concatenate(shares, axis=1)
        grown = held[0] * free[0] + np.append(0.0, np.cumsum(held[1:] * np.diff(free)))
        logs, places = np.log(free), np.log(grown)
        forces.append(grown)
        pressures.append(np.exp(_interpolate(places, logs, np.log(pressed))))
        sticking.append(stuck)
        ratios.append(stuck / held)
    return replace(model, forces=np.array(forces), pressures=np.array(pressures),
                   sticking=np.max(sticking, axis=0), stick_over_slip=np.max(ratios, axis=0))


def _model(hand, grip, touching: Array, width: float, moduli: Array, table: list,
           warnings: tuple[str, ...]) -> GripModel:
    """Return the model of a table of points by modulus."""
    ways = np.ones((len(table), len(SHARES)))
    *way, friction_share = grip
    bare = GripModel(hand, *way, touching, width, moduli, ways, ways, ways, ways, warnings)
    ways = np.array([bare.way(np.array([point[0] for point in row])) for row in table])
    forces, pressures = (np.array([[point[k] for point in row] for row in table]) for k in (1, 2))
    forces = np.array([_rising(*row) for row in zip(ways, forces)])
    pressures = np.array([_never_falling(row) for row in pressures])
    sound, balanced = (np.array([[point[k] for point in row] for row in table]) for k in (3, 6))
    doubts = np.array([way_covariance([point[5] for point in row]) for row in table])
    if len(moduli) == 1:
        ratios = MODULI[:, None] / moduli[0]
        ways, sound, balanced, doubts = (np.repeat(one, len(MODULI), axis=0)
                                         for one in (ways, sound, balanced, doubts))
        forces, pressures, moduli = ratios * forces, ratios * pressures, MODULI
    return GripModel(hand, *way, touching, width, moduli, ways, forces, pressures, sound,
                     warnings, balanced=balanced, covariances=doubts,
                     friction_share=friction_share)


def _never_falling(pressures: Array) -> Array:
    """Return pressures (n,) at rising ways, none above a later one: few nodes tell too much."""
    return np.minimum.accumulate(pressures[::-1])[::-1]


def _rising(ways: Array, forces: Array) -> Array:
    """Return forces (n,) [N] that rise with the ways (n,) [m]: TaskError where they do not."""
    falls = np.flatnonzero((np.diff(forces) <= 0.0) | (np.diff(ways) <= 0.0)) + 1
    first = int(falls.max(initial=0))
    if SHARES[first] > HARDLY_TOUCHING or (np.diff(ways) <= 0.0).any():
        raise TaskError('the force of this grip does not rise with the way of its fingers')
    shares = ways[:first] / ways[first]
    return np.concatenate([forces[first] * shares ** ROUND, forces[first:]])
