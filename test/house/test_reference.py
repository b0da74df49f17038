"""The reference page says what the code says, and leaves nothing out."""

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip('gripsim_interfaces', reason='needs the built interfaces')

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tools'))

import generate_reference  # noqa: E402

PAGE = (ROOT / 'docs' / 'reference.md').read_text(encoding='utf-8')


def section(title):
    """Return the text below a heading of the third level."""
    return PAGE.split(f'\n### {title}\n', 1)[1].split('\n## ')[0].split('\n### ')[0]


def test_the_page_is_what_the_generator_writes():
    assert generate_reference.reference() == PAGE, \
        'run python tools/generate_reference.py and commit docs/reference.md'


@pytest.mark.parametrize('kind, package', [('msg', 'msg'), ('srv', 'srv'), ('action', 'action')])
def test_every_field_of_the_built_interfaces_is_listed(kind, package):
    module = pytest.importorskip(f'gripsim_interfaces.{package}')
    for path in (ROOT / 'gripsim_interfaces' / kind).glob(f'*.{kind}'):
        built, text = getattr(module, path.stem), section(f'{path.stem} ({kind})')
        parts = [getattr(built, part, built) for part in generate_reference.PARTS[kind] if part]
        for part in parts or [built]:
            for name in part.get_fields_and_field_types():
                assert f'| `{name}` |' in text, (path.stem, name)


def test_every_option_of_every_command_is_listed(capsys):
    from gripsim_ros.apps.cli.main import main
    titles = re.findall(r'^### gripsim (.+)$', PAGE, re.MULTILINE)
    assert {'plan', 'doctor', 'suite up'} <= set(titles)
    for verb in titles:
        assert main([*verb.split(), '--help']) == 0
        options = set(re.findall(r'(?<![\w-])--[a-z][a-z-]*', capsys.readouterr().out))
        listed = set(re.findall(r'--[a-z][a-z-]*', section(f'gripsim {verb}')))
        assert options - {'--help'} <= listed, verb


def test_comments_with_bars_stay_in_their_cells():
    for line in PAGE.splitlines():
        if line.startswith('|'):
            assert len(re.findall(r'(?<!\\)\|', line)) in (3, 4, 6, 9), line


def test_lines_that_are_not_understood_are_refused(tmp_path):
    path = tmp_path / 'options.yaml'
    path.write_text('a: 1  # one\nb:\n- 2\n')
    found = [names for names, _, _ in generate_reference.yaml_entries(path)]
    with pytest.raises(ValueError, match="not understood: .*'b'"):
        generate_reference.check_complete(path, found)
    with pytest.raises(ValueError, match='not understood: float64'):
        generate_reference.interface_part('Wrong.msg', 'float64 = 3')
