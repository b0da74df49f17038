"""Node parameters: descriptors and ranges here, default values in ``config/params.yaml``."""

import difflib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import yaml
from rcl_interfaces.msg import (
    FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult)
from rclpy.node import Node

from ....core.errors import GripsimError
from ....core.transforms import from_pose
from ....library.resources import share_directory


#: Parameters that rclpy itself takes.
ROS_PARAMETERS = ('use_sim_time', 'start_type_description_service', 'qos_overrides')


class ParameterError(GripsimError):
    """A node parameter is of the wrong kind or outside its range."""


@dataclass(frozen=True)
class NodeParameter:
    """A parameter: name, kind, what it is for, its range, and whether it may change later."""

    name: str
    kind: type
    description: str
    low: float | None = None
    high: float | None = None
    changes: bool = False

    def descriptor(self) -> ParameterDescriptor:
        """Return the descriptor; kinds are checked here, so that ``50`` may stand for 50.0."""
        msg = ParameterDescriptor(name=self.name, description=self.description,
                                  read_only=not self.changes, dynamic_typing=True)
        if self.kind is float and self.low is not None:
            msg.floating_point_range = [FloatingPointRange(
                from_value=float(self.low), to_value=float(self.high))]
        if self.kind is int and self.low is not None:
            msg.integer_range = [IntegerRange(
                from_value=int(self.low), to_value=int(self.high), step=1)]
        return msg

    def checked(self, value: Any) -> Any:
        """
        Return the value in its kind.

        Raises
        ------
        ParameterError
            The value is of another kind or outside the range.
        """
        if self.kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        right_kind = type(value) is self.kind
        inside = self.low is None or (right_kind and self.low <= value <= self.high)
        if not (right_kind and inside and (self.kind is not float or math.isfinite(value))):
            allowed = self.kind.__name__
            if self.low is not None:
                allowed += f' from {self.low} to {self.high}'
            raise ParameterError(f'parameter {self.name} must be {allowed}, got {value!r}')
        return value


@lru_cache(maxsize=1)
def _parameter_file() -> Mapping[str, Any]:
    path = share_directory() / 'config' / 'params.yaml'
    return yaml.safe_load(path.read_text(encoding='utf-8'))


def default_values(node_name: str) -> dict[str, Any]:
    """Return the defaults of a node from the sections of ``params.yaml`` that match it."""
    content = _parameter_file()
    values = dict(content['/**']['ros__parameters'])
    values.update(content.get(f'/**/{node_name}', {}).get('ros__parameters', {}))
    return values


def declare(node: Node, name: str, parameters: Sequence[NodeParameter]) -> dict[str, Any]:
    """
    Declare parameters and return their checked values.

    Raises
    ------
    ParameterError
        A value is of the wrong kind or outside its range.
    """
    defaults = default_values(name)
    values = {}
    for parameter in parameters:
        overrides = node._parameter_overrides
        given = overrides.get(parameter.name)
        value = given.value if given is not None else defaults[parameter.name]
        values[parameter.name] = parameter.checked(value)
        node.declare_parameter(parameter.name, values[parameter.name],
                               parameter.descriptor(), ignore_override=True)
    return values


def let_change(node: Node, parameters: Sequence[NodeParameter], values: dict[str, Any],
               take: Callable[[Mapping[str, Any]], None]) -> None:
    """
    Let those parameters change that may, all of a call or none.

    ``take`` gets all values with the new ones among them, and may refuse them with a
    ``GripsimError``, whose line is the reason that the caller is told; then nothing changes.
    """
    known = {parameter.name: parameter for parameter in parameters if parameter.changes}

    def change(given) -> SetParametersResult:
        try:
            new = {one.name: known[one.name].checked(one.value)
                   for one in given if one.name in known}
            if new:
                take({**values, **new})
        except GripsimError as error:
            return SetParametersResult(successful=False, reason=str(error))
        values.update(new)
        return SetParametersResult(successful=True)

    if known:
        node.add_on_set_parameters_callback(change)


def unknown_parameters(names: Iterable[str], declared: Sequence[NodeParameter]) -> list[str]:
    """Return a line for each name that was set and is none of a node's, with the nearest."""
    known = [parameter.name for parameter in declared]
    lines = []
    for name in names:
        if name not in known and name.split('.')[0] not in ROS_PARAMETERS:
            nearest = difflib.get_close_matches(name, known, 1)
            meant = f': did you mean {nearest[0]}?' if nearest else ''
            lines.append(f'there is no parameter {name!r}, it is ignored{meant}')
    return lines


def pose_value(name: str, text: str) -> np.ndarray:
    """
    Return the transform ``(4, 4)`` of a parameter 'x y z [m], quaternion x y z w'.

    Raises
    ------
    ParameterError
        It is not seven finite numbers.
    ShapeError
        The quaternion is not of norm 1.
    """
    try:
        numbers = np.array([float(word) for word in text.split()])
    except ValueError:
        numbers = np.zeros(0)
    if numbers.shape != (7,) or not np.isfinite(numbers).all():
        raise ParameterError(f'parameter {name} must be seven finite numbers, x y z and '
                             f'quaternion x y z w, got {text!r}')
    return from_pose(numbers[:3], numbers[3:])
