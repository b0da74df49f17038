"""
The site made of these pages, by Sphinx: `make docs`.

The pages read the same without it, so nothing of Sphinx stands in them: order and menu are taken
from the tables of README.md, whose links come in the order in which pages are read, and pages
about the code are written from its docstrings into `docs/generated/`.
"""

import re
from importlib import import_module
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
GENERATED = DOCS / 'generated'

project, author = 'gripsim', 'gripsim maintainers'
copyright = 'gripsim maintainers, Apache License 2.0'
release = re.search(r"__version__ = '(.*)'",
                    (ROOT / 'gripsim_ros' / '__init__.py').read_text()).group(1)
version = release

extensions = ['myst_parser', 'sphinx.ext.autodoc', 'sphinx.ext.napoleon', 'sphinx.ext.viewcode',
              'sphinx.ext.mathjax']
root_doc = 'README'
myst_heading_anchors = 4
myst_enable_extensions = ['dollarmath']

autodoc_typehints = 'none'
autodoc_member_order = 'bysource'
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = 'furo'
html_title = f'gripsim {release}'
html_theme_options = {'top_of_page_buttons': []}
html_copy_source = False

#: Pages that stand outside of docs and belong to the site.
OUTSIDE = ('CONTRIBUTING.md', 'CHANGELOG.md')
#: Rooms of the core whose public names have a page, in the order of the data.
ROOMS = ('bodies', 'hand', 'contact', 'mechanics', 'planning', 'arm')
#: A heading of README.md, and a link to a page.
PART = re.compile(r'^(?:\| (.+?) \| \|$|## (.+)$)', re.MULTILINE)
LINK = re.compile(r'\]\(([\w./]+?)(?:\.md|/)?\)')
#: A link to what is no page of the site: it is named alone.
SOURCES = re.compile(r'\[([^]]+)\]\((?:\.\./)*(?:examples/|package\.xml|LICENSE)[^)]*\)')


def list_parts(text):
    """Return the parts of README.md: a caption and its pages, each page once."""
    found, seen = [], {'README'}
    marks = [*PART.finditer(text)]
    for mark, following in zip(marks, [*marks[1:], None]):
        body = text[mark.end():following.start() if following else None]
        pages = []
        for page in LINK.findall(body):
            page = page.replace('../CONTRIBUTING', 'generated/CONTRIBUTING')
            if page not in seen and ((DOCS / f'{page}.md').is_file()):
                seen.add(page)
                pages.append(page)
        if pages:
            found.append(((mark.group(1) or mark.group(2)).capitalize(), pages))
    code = ['generated/library', *(f'generated/core_{room}' for room in ROOMS)]
    return [*found, ('Code', code), ('Versions', ['generated/CHANGELOG'])]


def write_generated(_app=None):
    """Write the pages about the code, and those from outside of this folder."""
    GENERATED.mkdir(exist_ok=True)
    for page in OUTSIDE:
        text = (ROOT / page).read_text(encoding='utf-8')
        (GENERATED / page).write_text(text.replace('](docs/', '](../'), encoding='utf-8')
    write_code_page('library', 'The front door', 'gripsim_ros')
    for room in ROOMS:
        write_code_page(f'core_{room}', f'gripsim_ros.core.{room}', f'gripsim_ros.core.{room}')


def write_code_page(name, title, module):
    """Write a page with the public names of a module, from their docstrings."""
    names = getattr(import_module(module), '__all__', ())
    parts = [f'{title}\n{"=" * len(title)}\n', f'.. module:: {module}\n']
    for public in names:
        value = getattr(import_module(module), public)
        kind = 'autoclass' if isinstance(value, type) else (
            'autofunction' if callable(value) else 'autodata')
        parts.append(f'.. {kind}:: {module}.{public}\n   :noindex:\n'
                     + ('   :members:\n' if kind == 'autoclass' else ''))
    (GENERATED / f'{name}.rst').write_text('\n'.join(parts), encoding='utf-8')


def add_menu(_app, page, source):
    """Add the menu to the first page, and lead links out of docs to where they are here."""
    if page == 'README':
        for caption, pages in list_parts(source[0]):
            lines = '\n'.join(f'/{one}' for one in pages)
            source[0] += (f'\n\n```{{toctree}}\n:caption: {caption}\n:hidden:\n'
                          f':maxdepth: 1\n\n{lines}\n```\n')
    for outside in OUTSIDE:
        source[0] = source[0].replace(f'](../{outside}', f'](/generated/{outside}')
    source[0] = SOURCES.sub(r'\1', source[0])


def setup(app):
    """Tell Sphinx what is done before it reads."""
    app.connect('builder-inited', write_generated)
    app.connect('source-read', add_menu)
