"""Materials: ranges, files, and the library that comes along."""

import math
from pathlib import Path

import numpy as np
import pytest

from gripsim_ros.core.bodies import Material, load_material, load_materials, material_from_mapping
from gripsim_ros.core.errors import MaterialError

LIBRARY = Path(__file__).resolve().parents[3] / 'config' / 'materials.yaml'
GOOD = {'youngs_modulus': 5e5, 'poisson_ratio': 0.4, 'density': 950.0, 'friction': 0.5}


@pytest.mark.parametrize(('name', 'value', 'message'), [
    ('youngs_modulus', 0.0, r'above 0 up to 1e\+12 Pa, got 0'),
    ('youngs_modulus', 1.1e12, r'up to 1e\+12 Pa, got 1\.1e\+12'),
    ('youngs_modulus', math.nan, 'got nan'),
    ('youngs_modulus', math.inf, 'got inf'),
    ('youngs_modulus', 'soft', "must be a number, got 'soft'"),
    ('youngs_modulus', True, 'must be a number, got True'),
    ('youngs_modulus', None, 'must be a number, got None'),
    ('youngs_modulus', [1.0, 2.0], 'must be a number'),
    ('poisson_ratio', 0.5, 'above -1 and below 0.5, got 0.5'),
    ('poisson_ratio', -1.0, 'above -1 and below 0.5, got -1'),
    ('density', 0.0, r'above 0 up to 30000 kg/m\^3, got 0'),
    ('density', 30001.0, r'got 30001'),
    ('friction', 0.0, 'above 0 up to 5, got 0'),
    ('friction', 5.1, 'above 0 up to 5, got 5.1'),
    ('max_pressure', -1.0, r'above 0 Pa \(or none\), got -1'),
    ('max_pressure', math.nan, 'got nan'),
    ('max_force', 0.0, r'above 0 N \(or none\), got 0'),
    ('max_force', math.nan, 'got nan'),
    ('max_force_spread', -0.1, r'0 \(not known\) to 2, got -0\.1'),
])
def test_a_value_outside_its_range_is_refused_with_both(name, value, message):
    with pytest.raises(MaterialError, match=f'{name} must be .*{message}' if
                       not message.startswith('must') else message) as caught:
        Material(**{**GOOD, name: value})
    assert '\n' not in str(caught.value)


@pytest.mark.parametrize(('name', 'value'), [
    ('youngs_modulus', 1e12), ('poisson_ratio', -0.99), ('poisson_ratio', 0.4999),
    ('density', 3e4), ('friction', 5.0), ('max_pressure', 1.0), ('max_pressure', math.inf)])
def test_the_ends_of_the_ranges_are_allowed(name, value):
    assert getattr(Material(**{**GOOD, name: value}), name) == value


def test_a_name_is_text():
    with pytest.raises(MaterialError, match='must be text, got 3'):
        Material(**GOOD, name=3)


def test_moduli_follow_from_the_two_constants():
    steel = Material(2.1e11, 0.3, 7850.0, 0.5)
    assert math.isclose(steel.shear_modulus, 2.1e11 / 2.6)
    assert math.isclose(steel.plane_strain_modulus, 2.1e11 / 0.91)


def test_a_material_file_holds_the_keys_of_a_request(tmp_path):
    path = tmp_path / 'peach.yaml'
    path.write_text('youngs_modulus: 5e5\npoisson_ratio: 0.4\ndensity: 950\nfriction: 0.5\n')
    material = load_material(path)
    assert material.numbers == (5e5, 0.4, 950.0, 0.5, math.inf)


@pytest.mark.parametrize('value', [None, 0, 0.0, '0'])
def test_no_limit_of_pressure_or_force_is_written_as_zero_or_nothing(value):
    assert material_from_mapping({**GOOD, 'max_pressure': value}).max_pressure == math.inf
    assert material_from_mapping({**GOOD, 'max_force': value}).force_limit == math.inf


@pytest.mark.parametrize(('content', 'message'), [
    ('youngs_modulus: 5e5\nfriction: 0.5\n', 'lacks poisson_ratio, density; allowed are'),
    ('youngs_modulus: 5e5\npoisson_ratio: 0.4\ndensity: 950\nfriction: 0.5\nstiffness: 1\n',
     'has unknown stiffness'),
    ('- 1\n- 2\n', 'must be a mapping of .* got list'),
    ('', 'got NoneType'),
    ('a: [1\nb: 2', 'is not YAML at line 2'),
    ('!!python/object/apply:os.system ["true"]', 'is not YAML'),
    (b'\xff\xfe\x00\x00\xff', 'is not YAML'),
    ('youngs_modulus: -1\npoisson_ratio: 0.4\ndensity: 950\nfriction: 0.5\n',
     'youngs_modulus must be above 0'),
    ('1: 2\n', 'lacks .* and has unknown 1'),
])
def test_a_bad_material_file_is_refused_by_name_in_one_line(tmp_path, content, message):
    path = tmp_path / 'bad.yaml'
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(MaterialError, match=message) as caught:
        load_material(path)
    assert 'bad.yaml' in str(caught.value) and '\n' not in str(caught.value)


def test_a_missing_material_file_is_refused(tmp_path):
    with pytest.raises(MaterialError, match='none.yaml: cannot be read'):
        load_material(tmp_path / 'none.yaml')


def test_a_huge_material_file_is_refused(tmp_path):
    path = tmp_path / 'huge.yaml'
    path.write_text('#' * 1_000_001)
    with pytest.raises(MaterialError, match='at most 1 MB'):
        load_material(path)


def test_the_library_holds_what_people_grasp():
    library = load_materials(LIBRARY)
    assert {'foam', 'silicone', 'rubber', 'soft_fruit', 'ripe_fruit', 'firm_fruit', 'bread',
            'pet_bottle', 'wood', 'steel'} < set(library)
    assert library['default'] is library['foam']
    assert library['soft_fruit'].youngs_modulus == 5e5
    assert all(material.name == name for name, material in library.items()
               if name != 'default')


@pytest.mark.parametrize(('content', 'message'), [
    ('foam: {}\n', 'must hold the keys default and materials alone'),
    ('default: foam\nmaterials: []\n', 'must hold the keys'),
    ('default: foam\nmaterials: {}\n', 'default must be one of'),
    ('default: foam\nmaterials: {foam: {density: 1}}\n', "material 'foam' lacks"),
    (f'default: default\nmaterials: {{default: {GOOD}}}\n', 'none be called default'),
])
def test_a_bad_library_is_refused(tmp_path, content, message):
    path = tmp_path / 'library.yaml'
    path.write_text(content)
    with pytest.raises(MaterialError, match=message):
        load_materials(path)


@pytest.mark.parametrize('shore', [10, 20, 30, 40, 50, 60])
def test_silicones_by_shore_number_follow_gent(shore):
    """Gent 1958; the spread is that of five points of hardness."""
    def modulus(hardness):
        return 0.0981e6 * (56 + 7.62336 * hardness) / (0.137505 * (254 - 2.54 * hardness))
    silicone = load_materials(LIBRARY)[f'silicone_a{shore}']
    assert math.isclose(silicone.youngs_modulus, modulus(shore), rel_tol=0.05)
    spread = 0.5 * math.log(modulus(shore + 5) / modulus(shore - 5))
    assert math.isclose(silicone.modulus_spread, spread, abs_tol=0.01)


def test_what_was_measured_tells_its_range_spread_and_source():
    told = [material for material in load_materials(LIBRARY).values() if material.source]
    assert len(told) >= 10
    assert all(material.max_strain > 0.0 < material.modulus_spread for material in told)


def test_nineteen_of_twenty_pieces_bear_the_limit_of_force():
    fruit = Material(**GOOD, max_force=6.6, max_force_spread=0.44)
    drawn = 6.6 * np.exp(0.44 * np.random.default_rng(4).standard_normal(20_000))
    assert math.isclose((drawn < fruit.force_limit).mean(), 0.05, abs_tol=0.006)
    assert Material(**GOOD, max_force=6.6).force_limit == 6.6


@pytest.mark.parametrize(('name', 'measured'), [('kiwi', 1.46), ('banana', 3.43), ('mango', 6.95)])
def test_fruit_may_be_pressed_with_less_than_the_fifth_percentile_measured(name, measured):
    """Of 40, 77 and 70 whole fruit that two fingertips squeezed; source: config/materials.yaml."""
    assert 0.9 * measured < load_materials(LIBRARY)[name].force_limit <= measured
