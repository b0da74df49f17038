"""Options as frozen dataclasses whose fields declare their range; checked in one place."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
import math
import operator
from typing import Any, ClassVar, TypeVar

from .errors import TaskError

OptionsT = TypeVar('OptionsT', bound='Options')

#: What a bound asks of a value, and how a message says so.
_BOUNDS: dict[str, tuple[Callable[[Any, Any], bool], str]] = {
    'finite': (lambda value, _: math.isfinite(value), 'finite'),
    'whole': (lambda value, _: isinstance(value, int), 'a whole number'),
    'text': (lambda value, _: isinstance(value, str), 'text'),
    'among': (lambda value, names: value in names.split(', '), 'one of {}'),
    'above': (operator.gt, 'above {}'), 'least': (operator.ge, 'at least {}'),
    'below': (operator.lt, 'below {}'), 'most': (operator.le, 'at most {}')}


def option(default: Any = MISSING, besides: Any = None, **bounds: Any) -> Any:
    """
    Return a dataclass field that declares its default and its range.

    Parameters
    ----------
    default : number or str, optional
        Without one the field must be given.
    besides : optional
        A value outside the range that is taken too.
    bounds : optional
        ``finite``, ``whole``, ``text``: true; ``among``: names, with commas between them;
        ``above``, ``least``, ``below``, ``most``: numbers.
    """
    return field(default=default, metadata={'bounds': bounds, 'besides': besides})


@dataclass(frozen=True)
class Options:
    """
    Base of a section of options; fields without a range are taken as they are.

    Raises
    ------
    TaskError
        A value is outside its range, or of another kind; the message names section and field.
    """

    section: ClassVar[str]

    def __init_subclass__(cls, section: str) -> None:
        """Keep the section's name, for messages."""
        cls.section = section

    def __post_init__(self) -> None:
        """Check every field."""
        for item in fields(self):
            value, besides = getattr(self, item.name), item.metadata.get('besides')
            bounds = item.metadata.get('bounds', {})
            if (besides is None or value != besides) and not _fits(value, bounds):
                said = ' and '.join(_BOUNDS[name][1].format(bound) for name, bound
                                    in bounds.items())
                also = '' if besides is None else f'{besides} or '
                raise TaskError(f'{self.section}.{item.name} must be {also}{said}, got {value!r}')

    @classmethod
    def from_mapping(cls: type[OptionsT], values: Any) -> OptionsT:
        """
        Return options from a mapping of field names, as read from YAML.

        Parameters
        ----------
        values : mapping or None
            What is left out keeps its default; a section within is a mapping, too.

        Raises
        ------
        TaskError
            A name is unknown, or a value of another kind or outside its range.
        """
        if not isinstance(values, Mapping | None):
            raise TaskError(f'{cls.section} must be a mapping of options, got {values!r}')
        sections = {item.name: item.default_factory for item in fields(cls)}
        given = dict(values or {})
        for key, value in given.items():
            if key not in sections:
                raise TaskError(f'{cls.section}: unknown option {key!r}; known are '
                                f'{", ".join(sections)}')
            if isinstance(kind := sections[key], type) and issubclass(kind, Options):
                given[key] = kind.from_mapping(value)
        return cls(**given)


def _fits(value: Any, bounds: Mapping[str, Any]) -> bool:
    try:
        return not (bounds and isinstance(value, bool)) and all(
            _BOUNDS[name][0](value, bound) for name, bound in bounds.items())
    except TypeError:
        return False
