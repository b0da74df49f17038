"""Links and pictures of the docs are there, their code compiles, and no page is lost."""

import re
from functools import lru_cache
from pathlib import Path

from benchmarks.__main__ import BENCHMARKS
import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / 'docs'
PAGES = sorted([ROOT / 'README.md', ROOT / 'CONTRIBUTING.md', ROOT / 'CHANGELOG.md',
                *(page for page in DOCS.rglob('*.md')
                  if 'generated' not in page.parts)])
FENCE = re.compile(r'^ *```(\w*)\n(.*?)^ *```$', re.MULTILINE | re.DOTALL)
#: A block or piece of code, an indented one too.
CODE = re.compile(r'```\w*\n.*?```|`[^`\n]+`|^ {4}[^\n]*$', re.MULTILINE | re.DOTALL)
LINK = re.compile(r'\]\(([^)\s]+)\)')
#: Widest line of text [columns]; rows of tables, code and addresses may be wider.
WIDTH = 120


def name(page):
    return str(page.relative_to(ROOT))


def prose(page):
    """Return the text of a page without its blocks and pieces of code."""
    text = FENCE.sub('', page.read_text(encoding='utf-8'))
    return re.sub(r'`[^`\n]*`', '', text)


def anchors(page):
    """Return the anchors of a page's headings, as they are made on the web."""
    headings = re.findall(r'^#+ +(.*)$', page.read_text(encoding='utf-8'), re.MULTILINE)
    return {re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-') for heading in headings}


def blocks(language):
    return [pytest.param(page, text, id=f'{name(page)}-{number}') for page in PAGES
            for number, (kind, text) in enumerate(
                FENCE.findall(page.read_text(encoding='utf-8'))) if kind == language]


@pytest.mark.parametrize('page', PAGES, ids=name)
def test_links_and_pictures_lead_somewhere(page):
    lost = []
    for link in LINK.findall(prose(page)):
        if re.match(r'(https?|mailto):', link):
            continue
        path, _, anchor = link.partition('#')
        target = (page.parent / path) if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(link)
    assert not lost


@lru_cache(maxsize=None)
def sources(folder):
    """Map the dotted names of a folder's modules, below it, to their texts."""
    return {'.'.join(path.relative_to(ROOT / folder).with_suffix('').parts):
            path.read_text('utf-8') for path in (ROOT / folder).rglob('*.py')}


def imported(module):
    """Return a pattern of the imports of a benchmark's module."""
    folder, _, name = module.rpartition('.')
    return rf'from benchmarks\.{folder}(\.{name} import| import [^\n]*\b{name}\b)'


def makers(picture):
    """Return how the commands begin whose sources name a picture."""
    modules = sources('benchmarks')
    named = {module for module, text in modules.items() if picture in text}
    named |= {module for module, text in modules.items()
              if any(re.search(imported(part), text) for part in named)}
    return [*(f'python -m benchmarks {name} ' for name, module in BENCHMARKS.items()
              if module in named),
            *(f'python {folder}/{module}.py ' for folder in ('tools', 'examples')
              for module, text in sources(folder).items() if picture in text)]


@pytest.mark.parametrize('picture', sorted(p.name for p in (DOCS / 'images').iterdir()))
def test_a_picture_stands_on_a_page_with_the_command_that_makes_it(picture):
    pages = [page.read_text(encoding='utf-8') for page in PAGES]
    commands = [code for page in pages if f'images/{picture})' in page
                for code in CODE.findall(page)]
    assert any(f'docs/images/{picture}' in code or any(maker in f'{code} '.replace('`', ' ')
                                                       for maker in makers(picture))
               for code in commands), 'name the picture, and its command beside it'


@pytest.mark.parametrize('page, text', blocks('python'))
def test_python_in_the_docs_compiles(page, text):
    compile(text, name(page), 'exec')


@pytest.mark.parametrize('page, text', blocks('yaml'))
def test_yaml_in_the_docs_is_read(page, text):
    assert yaml.safe_load(text)


@pytest.mark.parametrize('page', [p for p in PAGES if p.name != 'CHANGELOG.md'], ids=name)
def test_lines_of_text_are_not_wide(page):
    text = FENCE.sub('', page.read_text(encoding='utf-8'))
    assert not [line for line in text.splitlines() if len(line) > WIDTH
                and not line.startswith('    ') and '|' not in line[:3] and '://' not in line]


def test_fences_are_closed():
    for page in PAGES:
        assert page.read_text(encoding='utf-8').count('```') % 2 == 0, name(page)


def test_the_index_names_every_page():
    linked = {(DOCS / link.partition('#')[0]).resolve() for link in LINK.findall(
        (DOCS / 'README.md').read_text(encoding='utf-8'))}
    missing = [name(page) for page in PAGES if DOCS in page.parents
               if page.resolve() not in linked and page != DOCS / 'README.md']
    assert not missing, 'name it in docs/README.md'


def test_examples_and_tools_that_the_docs_name_are_there():
    for page in PAGES:
        for path in re.findall(r'(?<![\w/])((?:examples|tools|config)/[\w/]+\.\w+)',
                               page.read_text(encoding='utf-8')):
            assert (ROOT / path).is_file(), f'{name(page)}: {path}'


def test_the_material_of_the_manual_is_one(tmp_path):
    from gripsim_ros.core.bodies import load_material
    ((_, text),) = [(page, text) for page, text in (block.values for block in blocks('yaml'))
                    if page.name == 'extending.md']
    (tmp_path / 'm.yaml').write_text(text)
    assert load_material(tmp_path / 'm.yaml').friction == 0.6
