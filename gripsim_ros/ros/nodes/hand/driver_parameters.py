"""Parameters of `sdh_driver`, and the options that they fill."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from ....hardware.driver.link.transport import parse_address
from ....hardware.driver.options import DriverOptions, LinkOptions, MotionOptions, TactileOptions
from ..base.parameters import NodeParameter, ParameterError

PARAMETERS = (
    NodeParameter('address', str, 'Joints: tcp://HOST:PORT, serial:///dev/NAME or can://NAME; '
                  'empty: the tactile sensors alone.'),
    NodeParameter('tactile_address', str, 'Tactile sensors, likewise; empty: there are none.'),
    NodeParameter('connect_timeout', float, 'For connecting [s].', 0.01, 60.0),
    NodeParameter('reply_timeout', float, 'For one answer [s].', 0.01, 60.0),
    NodeParameter('tries', int, 'Times that a request is sent while the hand rests.', 1, 20),
    NodeParameter('retry_first', float, 'First pause before connecting again [s].', 0.01, 60.0),
    NodeParameter('retry_longest', float, 'Longest such pause [s].', 0.01, 3600.0),
    NodeParameter('skip_echo', bool, '[I] A line equal to the request is its echo.'),
    NodeParameter('rate', float, 'Of joint_states, if the link bears it [Hz].', 1.0, 500.0),
    NodeParameter('follow', bool, 'Follow trajectories in time, by velocities.'),
    NodeParameter('follow_acceleration', float, 'The most then [rad/s^2].', 0.1, 100.0),
    NodeParameter('follow_tolerance', float, 'Of goals that name none [rad].', 0.001, 10.0),
    NodeParameter('velocity_timeout', float, 'For which ~/velocities act [s].', 0.05, 2.0),
    NodeParameter('acceleration', float, 'Of ramps from corner to corner [rad/s^2].', 0.1, 100.0),
    NodeParameter('max_velocity', float, 'Beside other limits [rad/s].', 0.01, 10.0),
    NodeParameter('self_clearance', float, 'Least distance between links [m].', 0.0, 0.002),
    NodeParameter('path_tolerance', float, 'Departure from the trajectory [rad].', 0.0, 0.2),
    NodeParameter('goal_tolerance', float, 'Of a joint at its target [rad].', 1e-4, 0.5),
    NodeParameter('limit_slack', float, 'Excess taken to the limit [rad].', 0.0, 0.05),
    NodeParameter('echo_tolerance', float, '[I] Rounding of echoed values [deg, A].', 0.0, 1.0),
    NodeParameter('rest_velocity', float, 'Below it a joint rests [rad/s].', 1e-4, 1.0),
    NodeParameter('late', float, 'Excess of time after which a motion is stopped [s].', 0.1, 60.0),
    NodeParameter('max_temperature', float, '[I] Stops the hand [deg C].', 0.0, 200.0),
    NodeParameter('cool_temperature', float, '[I] Lets it move again [deg C].', 0.0, 200.0),
    NodeParameter('default_current_limits', float,
                  '[I] Restored where the hand\'s own are not known [A].', 0.0, 1.0),
    NodeParameter('move_current', float, 'Of each motor [A]; 0: as found.', 0.0, 1.0),
    NodeParameter('hold_current', float, '[I] Likewise, at rest [A].', 0.0, 1.0),
    NodeParameter('grip_current', float, '[I] Likewise, in the hand\'s own grips [A].', 0.0, 1.0),
    NodeParameter('tactile_layout', str, '[I] File of the texels\' places; empty: the SDH\'s.'),
    NodeParameter('tactile_run_length', bool, '[I] Ask for run-length coded frames.'),
    NodeParameter('tactile_frame_rate', int, 'Asked for; above 0 as fast as can be.', 1, 1000),
    NodeParameter('tactile_silence', float, 'Without a frame they are lost [s].', 0.1, 60.0),
    NodeParameter('pressure_per_count', float, '[I] Nominal [Pa].', 0.0, 1e6),
    NodeParameter('tactile_calibrated', bool, 'Whether pressure_per_count was measured.'),
    NodeParameter('contact_threshold', int, 'Readings below are no contact.', 0, 4095))


def _filled(kind: type, values: Mapping[str, Any], **others):
    """Return a dataclass with the parameters of the same names."""
    names = {field.name for field in dataclasses.fields(kind)} - set(others)
    return kind(**{name: values[name] for name in names if name in values}, **others)


def driver_options(values: Mapping[str, Any]) -> DriverOptions:
    """
    Return the options of the joints.

    Raises
    ------
    ParameterError
        Values contradict each other.
    DriverError
        The address is none.
    """
    parse_address(values['address'])
    if values['cool_temperature'] >= values['max_temperature']:
        raise ParameterError('parameter cool_temperature must be below max_temperature, got '
                             f'{values["cool_temperature"]} and {values["max_temperature"]}')
    return DriverOptions(_filled(LinkOptions, values), _filled(MotionOptions, values))


def tactile_options(values: Mapping[str, Any]) -> TactileOptions:
    """Return the options of the tactile sensors; errors as ``driver_options``."""
    link = None
    if values['tactile_address']:
        parse_address(values['tactile_address'])
        link = _filled(LinkOptions, values, address=values['tactile_address'])
    return _filled(TactileOptions, values, link=link, run_length=values['tactile_run_length'],
                   frame_rate=values['tactile_frame_rate'], silence=values['tactile_silence'])
