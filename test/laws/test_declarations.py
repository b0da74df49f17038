"""A number of a contact is declared once; all that carries it goes by the declaration."""

import ast
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
import re
import types

import numpy as np
from numpy.typing import NDArray
import pytest

from gripsim_ros.core.batches import GraspStateBatch
from gripsim_ros.core.fields import declared, documented, meaning, shaped, takes_fields
from gripsim_ros.core.planning import ranked_grasp
from gripsim_ros.core.planning.closing import grasp_state
from gripsim_ros.core.planning.closing.grasp_state import GraspState
from gripsim_ros.core.planning.ranked_grasp import GraspContact
from gripsim_ros.core.planning.ranking import assemble

ROOT = Path(__file__).parents[2]
#: Where a number of a patch is declared and told.
DECLARED = {'gripsim_ros/core/batches.py'}
TOLD = {f'gripsim_interfaces/msg/{name}.msg' for name in ('GraspStates', 'ContactPatch', 'Grasp')}
RESULTANTS = 'gripsim_ros/core/mechanics/contact/patch_resultants.py'
METRICS = 'gripsim_ros/core/mechanics/deformation/metrics.py'
STAGE = 'gripsim_ros/core/mechanics/stage.py'
#: Where stability, and a hand that holds by feel, take numbers of patches as their input.
USES = {STAGE, 'gripsim_ros/core/grasp_theory/contact_set.py',
        'gripsim_ros/hardware/execution/hold_plan.py'}
CLASSES = {'GraspState': GraspState, 'GraspContact': GraspContact}


def carried(node):
    """Return the name that a node of the syntax hands on: declares, lists or passes; or None."""
    if isinstance(node, ast.AnnAssign):
        return getattr(node.target, 'id', None)
    if isinstance(node, ast.keyword):
        return node.arg
    return node.value if isinstance(node, ast.Constant) else None


@lru_cache(maxsize=None)
def texts():
    """Return the text of each file of the package and of each message."""
    messages = (ROOT / 'gripsim_interfaces' / 'msg').glob('*.msg')
    return {path: path.read_text(encoding='utf-8')
            for path in (*(ROOT / 'gripsim_ros').rglob('*.py'), *messages)}


@lru_cache(maxsize=None)
def tree_of(path):
    """Return the syntax of a file."""
    return ast.parse(texts()[path])


def names_of(path):
    """Return the names that a file carries."""
    if path.suffix == '.msg':
        return set(re.findall(r'\w+', texts()[path]))
    return {carried(node) for node in ast.walk(tree_of(path))}


def carriers(names):
    """Return the files in which one of the names is declared, listed or passed on."""
    return {path.relative_to(ROOT).as_posix() for path, text in texts().items()
            if any(name in text for name in names) and names_of(path).intersection(names)}


@pytest.mark.parametrize('computed, names', [
    (RESULTANTS, ('patch_friction_radii', 'friction_radii', 'friction_radius')),
    (RESULTANTS, ('patch_tangential_stiffness', 'tangential_stiffness')),
    (METRICS, ('patch_strain_energies', 'strain_energies')),
    (METRICS, ('patch_mean_deformations', 'mean_deformations')),
    (STAGE, ('wrench_volume',))])
def test_a_number_of_a_contact_is_written_where_it_is_computed_declared_and_told(computed, names):
    found = carriers(names)
    assert found & TOLD and found - TOLD - USES <= {computed} | DECLARED


@pytest.mark.parametrize('number', declared(GraspStateBatch), ids=lambda number: number.name)
def test_a_message_says_the_shape_and_unit_that_are_declared(number):
    text = (ROOT / 'gripsim_interfaces/msg/GraspStates.msg').read_text(encoding='utf-8')
    comment = re.search(rf'\] {number.name.lower()} *# (.*)', text)[1]
    sizes = ', '.join(str(size).replace('+', ' + ').replace('?', '')
                      for size in number.metadata['shape'])
    assert comment.startswith(f'({sizes})')
    for unit in re.findall(r'\[(.+?)\]', comment):
        assert unit == number.metadata['unit']


@pytest.mark.parametrize('number', fields(GraspContact), ids=lambda number: number.name)
def test_the_message_of_a_contact_says_the_unit_that_is_declared(number):
    text = (ROOT / 'gripsim_interfaces/msg/ContactPatch.msg').read_text(encoding='utf-8')
    comment = re.search(rf'^\S+ {number.name} *(?:# (.*))?$', text, re.M)[1] or ''
    unit = number.metadata.get('unit', '-')
    assert re.findall(r'\[(.+?)\]', comment) == ([] if unit == '-' else [unit])


def test_a_number_has_a_text_and_a_unit_in_its_docstrings():
    for batch in (GraspStateBatch, *CLASSES.values()):
        told = ' '.join(batch.__doc__.split())
        for number in declared(batch):
            assert number.metadata['text'], number.name
            assert f'{number.name} : ' in told and ' '.join(meaning(number).split()) in told


def annotated(function):
    """Yield the arguments of a function that are states or contacts, and their class."""
    for argument in (*function.args.args, *function.args.kwonlyargs):
        name = getattr(argument.annotation, 'id', None)
        if name in CLASSES:
            yield argument.arg, CLASSES[name]


def test_what_is_read_of_a_state_or_contact_is_there():
    known = {kind: {f.name for f in fields(kind)} | set(dir(kind)) for kind in CLASSES.values()}
    count = 0
    for path in (path for path, text in texts().items()
                 if path.suffix == '.py' and any(name in text for name in CLASSES)):
        for function in ast.walk(tree_of(path)):
            if not isinstance(function, ast.FunctionDef):
                continue
            kinds = dict(annotated(function))
            for node in ast.walk(function):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and (
                        node.value.id in kinds):
                    assert node.attr in known[kinds[node.value.id]], (path, node.lineno)
                    count += 1
    assert count > 100


# -- a number that nobody has heard of ---------------------------------------------------


@documented
@dataclass(frozen=True, eq=False)
class Batch(GraspStateBatch):
    """The batch with one more number of a patch."""

    patch_warmth: NDArray[np.float64] = shaped(
        'P', unit='K', contact='warmth', text='of the patch')


def test_a_number_declared_on_the_batch_is_in_states_contacts_files_and_messages(monkeypatch):
    conversions = pytest.importorskip('gripsim_ros.ros.conversions.requests.grasps')
    from gripsim_ros.library import grasp_file
    from gripsim_ros.ros.conversions.requests import ranked
    from gripsim_interfaces.msg import ContactPatch
    state_class = grown(GraspState, grasp_state._of_one, Batch)
    contact_class = grown(GraspContact, ranked_grasp._of_one_patch, Batch, 'contact')
    monkeypatch.setattr(grasp_state, 'GraspState', state_class)
    monkeypatch.setattr(grasp_state, '_FIELDS', grasp_state._sources(state_class))
    monkeypatch.setattr(ranked, 'GraspContact', contact_class)

    state = grasp_state.extract_state(filled(), 1)
    assert state.warmth.tolist() == [301.0]
    monkeypatch.setattr(assemble, 'GraspContact', contact_class)
    hand = types.SimpleNamespace(link_names=('palm',))
    contact, = assemble.grasp_contacts(state, hand)
    assert contact.warmth == 301.0 and grasp_file._contact(contact)['warmth'] == 301.0
    assert '[K]' in contact_class.__doc__

    class Message(types.SimpleNamespace):
        """A message with one more field."""

        @classmethod
        def get_fields_and_field_types(cls):
            return ContactPatch.get_fields_and_field_types() | {'warmth': 'double'}

    told = conversions.contact_to_msg(contact, np.eye(4), Message)
    assert told.warmth == 301.0
    assert ranked.contact_from_msg(told, np.eye(4)).warmth == 301.0


def grown(row, field_of, batch, wanted=''):
    """Return a class of rows that takes its fields from another batch, as the row does."""
    numbers = [field_of(number) for number in declared(batch)
               if number.name != 'patch_offsets' and (not wanted or number.metadata[wanted])]
    body = {'__doc__': 'A row.', '__annotations__': {}}
    for own in fields(row):
        if own.metadata.get('source') is None and own.name not in vars(GraspStateBatch):
            body['__annotations__'][own.name] = own.type
            body[own.name] = own.default
    if row is GraspContact:
        body['link'] = ''
    body['normal_forces'] = vars(row).get('normal_forces')
    return takes_fields(numbers)(type('Grown', (), body))


def filled():
    """Return two configurations, the second with one patch; every number of it is 301."""
    sizes = {'n': 2, 'n+1': 3, 'P': 1, 'L': 1, 'V': 4, 'n?': 2}
    kinds = {NDArray[np.int64]: np.int64, NDArray[np.bool_]: bool}
    arrays = {number.name: np.full([sizes.get(size, size) for size in number.metadata['shape']],
                                   301.0).astype(kinds.get(number.type, float))
              for number in declared(Batch)}
    return Batch(**arrays | {'patch_offsets': np.array([0, 0, 1]),
                             'patch_links': np.zeros(1, np.int64)})
