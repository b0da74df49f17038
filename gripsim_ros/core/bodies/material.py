"""Materials of objects, and the library of materials in a YAML file."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ..errors import MaterialError

#: Name of the entry of a library that says which material is taken where none is named.
DEFAULT_KEY = 'default'
_REQUIRED = ('youngs_modulus', 'poisson_ratio', 'density', 'friction')
#: Limits that ``inf`` says are not there; files and messages say so by 0, null or silence.
LIMITS = ('max_pressure', 'max_force')
#: Numbers of a material that files of grasps, exports and the reference tell, in this order.
NUMBERS = (*_REQUIRED, *LIMITS, 'max_force_spread')
_OPTIONAL = (*LIMITS, 'max_force_spread', 'name', 'law', 'law_parameters', 'max_strain',
             'modulus_spread', 'source')
#: Laws of finite strain, with the number of coefficients of each beside the modulus.
LAWS = {'neo_hookean': 0, 'yeoh': 2, 'ogden': 1}
_LARGEST_FILE = 1_000_000
#: Standard deviations below the middle at which the 5th percentile of a normal spread lies.
FIFTH_PERCENTILE = 1.6448536269514722
#: Least number above 0.
_LEAST = math.nextafter(0.0, 1.0)

#: Parameters are above the first number and at most the second, which says the third; 0 in the
#: last two says that the number is not known.
_RANGES = {
    'youngs_modulus': (0.0, 1e12, 'above 0 up to 1e+12 Pa'),
    'poisson_ratio': (-1.0, math.nextafter(0.5, 0.0), 'above -1 and below 0.5'),
    'density': (0.0, 3e4, 'above 0 up to 30000 kg/m^3'),
    'friction': (0.0, 5.0, 'above 0 up to 5'),
    'max_pressure': (0.0, math.inf, 'above 0 Pa (or none)'),
    'max_strain': (-_LEAST, 1.0, '0 (not known) to 1'),
    'modulus_spread': (-_LEAST, 2.0, '0 (not known) to 2'),
    'max_force': (0.0, math.inf, 'above 0 N (or none)'),
    'max_force_spread': (-_LEAST, 2.0, '0 (not known) to 2')}


@dataclass(frozen=True)
class Material:
    """
    An isotropic, elastic, homogeneous material; contact takes it as linear, a squeeze by its law.

    Attributes
    ----------
    youngs_modulus : float
        Above 0 up to 1e12 [Pa].
    poisson_ratio : float
        Above -1 and below 0.5 [-].
    density : float
        Above 0 up to 3e4 [kg/m^3].
    friction : float
        Coulomb coefficient against the hand's pads, above 0 up to 5 [-].
    max_pressure : float
        Contact pressure at which damage begins, ``inf`` for no limit [Pa].
    name : str
        A label; it does not enter the identity of an object.
    law : str
        Law of finite strain: ``neo_hookean``, ``yeoh`` or ``ogden``; see ``StrainLaw``.
    law_parameters : tuple of float
        Of Yeoh's law c2 and c3, of Ogden's its exponent, none of the neo-Hookean [-].
    max_strain : float
        Shortening up to which the law was measured; 0: not known [-].
    modulus_spread : float
        Standard deviation of the modulus from piece to piece over the modulus; 0: not known [-].
    source : str
        Where the numbers come from.
    max_force : float
        Normal force of one link at which the median piece is damaged, ``inf`` for no limit [N]:
        whole fruit burst at forces that are published, whatever the pressure.
    max_force_spread : float
        Standard deviation of its natural logarithm from piece to piece; 0: not known [-].

    Raises
    ------
    MaterialError
        A parameter is no number or outside its range; the message gives both.
    """

    youngs_modulus: float
    poisson_ratio: float
    density: float
    friction: float
    max_pressure: float = math.inf
    name: str = ''
    law: str = 'neo_hookean'
    law_parameters: tuple[float, ...] = ()
    max_strain: float = 0.0
    modulus_spread: float = 0.0
    source: str = ''
    max_force: float = math.inf
    max_force_spread: float = 0.0

    def __post_init__(self) -> None:
        """Turn the parameters into checked floats."""
        for name, (low, high, allowed) in _RANGES.items():
            value = _number(name, getattr(self, name))
            if not low < value <= high:
                raise MaterialError(f'{name} must be {allowed}, got {value:g}')
            object.__setattr__(self, name, value)
        for name in ('name', 'source'):
            if not isinstance(getattr(self, name), str):
                raise MaterialError(f'{name} of a material must be text, '
                                    f'got {getattr(self, name)!r}')
        object.__setattr__(self, 'law_parameters', _checked_law(self.law, self.law_parameters))

    @property
    def numbers(self) -> tuple[float, float, float, float, float]:
        """Return the five parameters in the order of the attributes, SI."""
        return (self.youngs_modulus, self.poisson_ratio, self.density, self.friction,
                self.max_pressure)

    @property
    def identity(self) -> tuple[float, ...]:
        """Return the numbers that answers depend on; a material without force limit has five."""
        if math.isinf(self.max_force):
            return self.numbers
        return (*self.numbers, self.max_force, self.max_force_spread)

    @property
    def force_limit(self) -> float:
        """
        Return the normal force that one link may press with [N]: 19 of 20 pieces bear it.

        The 5th percentile of a lognormal spread about ``max_force``; ``inf`` where there is none.
        """
        return self.max_force * math.exp(-FIFTH_PERCENTILE * self.max_force_spread)

    @property
    def plane_strain_modulus(self) -> float:
        """Return E / (1 - nu^2) [Pa]: half-space stiffness under normal load."""
        return self.youngs_modulus / (1.0 - self.poisson_ratio ** 2)

    @property
    def shear_modulus(self) -> float:
        """Return E / (2 (1 + nu)) [Pa]."""
        return self.youngs_modulus / (2.0 * (1.0 + self.poisson_ratio))


def _checked_law(law: str, parameters: Any) -> tuple[float, ...]:
    """Return the coefficients of a law as floats, or raise ``MaterialError``."""
    if law not in LAWS:
        raise MaterialError(f'law must be one of {", ".join(LAWS)}, got {law!r}')
    if not isinstance(parameters, (list, tuple)) or len(parameters) != LAWS[law]:
        raise MaterialError(f'law_parameters of {law} must be a list of {LAWS[law]} numbers, '
                            f'got {parameters!r}')
    numbers = tuple(_number('law_parameters', value) for value in parameters)
    if not all(math.isfinite(number) for number in numbers) or law == 'ogden' and not numbers[0]:
        raise MaterialError(f'law_parameters must be finite, and not 0 for ogden, got {numbers}')
    return numbers


def _number(name: str, value: Any) -> float:
    """Return a float; texts such as ``1e6``, which YAML takes for text, are read too."""
    try:
        if isinstance(value, (bool, bytes)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise MaterialError(f'{name} must be a number, got {value!r}') from None


def material_from_mapping(values: Any, name: str = '') -> Material:
    """
    Return a material from a mapping with the attribute names as keys.

    Parameters
    ----------
    values : mapping
        ``youngs_modulus, poisson_ratio, density, friction`` and optionally
        ``max_pressure`` and ``max_force`` (0, null or absent: no limit), ``name`` and the
        others.
    name : str
        Name where the mapping has none.

    Raises
    ------
    MaterialError
        It is no mapping, a key is missing or unknown, or a value is not allowed.
    """
    title = f'material {name!r}' if name else 'a material'
    if not isinstance(values, Mapping):
        raise MaterialError(f'{title} must be a mapping of {", ".join(_REQUIRED)}, '
                            f'got {type(values).__name__}')
    unknown = [str(key) for key in values if key not in _REQUIRED + _OPTIONAL]
    missing = [key for key in _REQUIRED if key not in values]
    if unknown or missing:
        problems = [f'{label} {", ".join(keys)}' for label, keys in
                    (('lacks', missing), ('has unknown', unknown)) if keys]
        raise MaterialError(f'{title} {" and ".join(problems)}; allowed are '
                            f'{", ".join(_REQUIRED)} and optionally {", ".join(_OPTIONAL)}')
    parameters = {'name': name, **values}
    for limit in LIMITS:
        if parameters.get(limit) is None or _number(limit, parameters[limit]) == 0.0:
            parameters[limit] = math.inf
    try:
        return Material(**parameters)
    except MaterialError as error:
        raise MaterialError(f'{title}: {error}') from None


def read_yaml(path: str | Path) -> Any:
    """
    Return the content of a YAML file of at most 1 MB, read by the safe loader.

    Raises
    ------
    MaterialError
        The file cannot be read, is too large, or is no YAML; one line.
    """
    path = Path(path)
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise MaterialError(f'{path}: a material file holds at most 1 MB')
        return yaml.safe_load(path.read_text(encoding='utf-8'))
    except OSError as error:
        raise MaterialError(f'{path}: cannot be read ({error.strerror})') from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        mark = getattr(error, 'problem_mark', None)
        place = f' at line {mark.line + 1}' if mark else ''
        problem = getattr(error, 'problem', None) or type(error).__name__
        raise MaterialError(f'{path}: is not YAML{place} ({problem})') from None


def load_material(path: str | Path) -> Material:
    """
    Return the one material in a YAML file; see ``material_from_mapping``.

    Raises
    ------
    MaterialError
        The file cannot be read or its content is not allowed; names the file.
    """
    values = read_yaml(path)
    try:
        return material_from_mapping(values)
    except MaterialError as error:
        raise MaterialError(f'{path}: {error}') from None


def load_materials(path: str | Path) -> dict[str, Material]:
    """
    Return the materials of a library by name.

    Parameters
    ----------
    path : str or Path
        YAML with ``materials``, a mapping from names to materials, and ``default``,
        the name of the one taken where none is named.

    Returns
    -------
    dict of str to Material
        In the order of the file; the key ``default`` leads once more to the default.

    Raises
    ------
    MaterialError
        The file cannot be read or its content is not allowed; names file and material.
    """
    values = read_yaml(path)
    if not isinstance(values, Mapping) or set(values) != {DEFAULT_KEY, 'materials'} \
            or not isinstance(values['materials'], Mapping):
        raise MaterialError(f'{path}: must hold the keys default and materials alone')
    try:
        library = {str(name): material_from_mapping(entry, str(name))
                   for name, entry in values['materials'].items()}
    except MaterialError as error:
        raise MaterialError(f'{path}: {error}') from None
    default = str(values[DEFAULT_KEY])
    if default not in library or DEFAULT_KEY in library:
        raise MaterialError(f'{path}: default must be one of {", ".join(library)} '
                            f'and none be called default, got {default}')
    return {**library, DEFAULT_KEY: library[default]}
