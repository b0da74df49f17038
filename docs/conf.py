"""
The site made of these pages, by Sphinx: `make docs`.

The pages read the same without it, so nothing of Sphinx stands in them: order and menu are taken
from the tables of README.md, whose links come in the order in which pages are read, and pages
about the code are written from its docstrings into `docs/generated/`.
"""

import os
import re
import shutil
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
#: What calls the suite over ROS: title and modules of a page.
CLIENTS = ('Calling the suite, from the docstrings',
           tuple(f'gripsim_ros.ros.clients.{name}' for name in ('plan', 'execute', 'suite')))
#: Where tools/draw_gallery.py leaves pictures and reports of the examples.
SCENES = ROOT / 'build' / 'examples'
#: Set where the sites of all versions lie beside each other, with a list of them.
VERSIONS = 'GRIPSIM_VERSIONS_PAGE'
#: A heading of README.md, and a link to a page.
PART = re.compile(r'^(?:\| (.+?) \| \|$|## (.+)$)', re.MULTILINE)
LINK = re.compile(r'\]\(([\w./]+?)(?:\.md|/)?\)')
#: A link that is called as its file: on the site it has the title of its page.
NAMED_AS_FILE = re.compile(r'\[[\w./]+(?:\.md|/)\](\([\w./]+\.md)')
#: A picture of an example.
EXAMPLE = re.compile(r'^!\[.*?\]\(images/example_(\w+)\.png\)$', re.MULTILINE)
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
    code = ['generated/library', *(f'generated/core_{room}' for room in ROOMS),
            'generated/clients']
    return [*found, ('Code', code), ('Versions', ['generated/CHANGELOG'])]


def write_generated(_app=None):
    """Write the pages about the code, and those from outside of this folder."""
    GENERATED.mkdir(exist_ok=True)
    for page in OUTSIDE:
        text = (ROOT / page).read_text(encoding='utf-8')
        (GENERATED / page).write_text(text.replace('](docs/', '](../'), encoding='utf-8')
    told = set()
    write_code_page('library', 'The front door', ['gripsim_ros'], told)
    for room in ROOMS:
        write_code_page(f'core_{room}', f'gripsim_ros.core.{room}', [f'gripsim_ros.core.{room}'],
                        told)
    write_code_page('clients', *CLIENTS, told)


def public_names(module):
    """Return the public names of a module: those that it lists, or else those it defines."""
    return getattr(module, '__all__', None) or [
        name for name, value in vars(module).items() if not name.startswith('_')
        and getattr(value, '__module__', None) == module.__name__]


def write_code_page(name, title, modules, told):
    """
    Write a page with the public names of modules, from their docstrings.

    ``told`` are the identities of what pages before it hold: that is named, and told there.
    """
    parts, before = [f'{title}\n{"=" * len(title)}\n'], []
    for module in modules:
        parts.append(f'.. module:: {module}\n')
        for public in public_names(import_module(module)):
            value = getattr(import_module(module), public)
            kind = 'autoclass' if isinstance(value, type) else (
                'autofunction' if callable(value) else 'autodata')
            if kind != 'autodata' and id(value) in told:
                before.append(f':py:obj:`{public}`')
                continue
            told.add(id(value))
            parts.append(f'.. {kind}:: {module}.{public}\n'
                         + ('   :members:\n' if kind == 'autoclass' else ''))
    if before:
        parts.insert(1, f'Also here, told on other pages: {", ".join(before)}.\n')
    (GENERATED / f'{name}.rst').write_text('\n'.join(parts), encoding='utf-8')


def introduction():
    """Return what the package's own README says first, with its picture."""
    text = (ROOT / 'README.md').read_text(encoding='utf-8').partition('\n## ')[0]
    return text.replace('](docs/', '](')


def add_scenes(text, folder):
    """Return a page with a link below each picture of an example whose report is in a folder."""
    def with_link(found):
        if not (folder / f'{found[1]}.html').is_file():
            return found[0]
        return (f'{found[0]}\n\n<a class="scene" href="scenes/{found[1]}.html">Turn it, close the '
                'hand, read its numbers: the report, which opens offline</a>')
    return EXAMPLE.sub(with_link, text)


def add_files(app, error):
    """Add the examples' reports and newest pictures, and a way from the folder to the site."""
    if error is not None:
        return
    out = Path(app.outdir)
    (out / 'index.html').write_text(
        '<meta http-equiv="refresh" content="0; url=README.html">', encoding='utf-8')
    for report in sorted(SCENES.glob('*.html')):
        (out / 'scenes').mkdir(exist_ok=True)
        shutil.copy(report, out / 'scenes')
    for picture in sorted(SCENES.glob('example_*.png')):
        shutil.copy(picture, out / '_images')


def add_menu(_app, page, source):
    """Add introduction and menu to the first page, and lead links to where they are here."""
    if page == 'README':
        source[0] = introduction() + source[0].removeprefix('# Documentation\n')
        for caption, pages in list_parts(source[0]):
            lines = '\n'.join(f'/{one}' for one in pages)
            source[0] += (f'\n\n```{{toctree}}\n:caption: {caption}\n:hidden:\n'
                          f':maxdepth: 1\n\n{lines}\n```\n')
    for outside in OUTSIDE:
        source[0] = source[0].replace(f'](../{outside}', f'](/generated/{outside}')
    if page == 'gallery':
        source[0] = add_scenes(source[0], SCENES)
    if page == 'generated/CHANGELOG' and os.environ.get(VERSIONS):
        source[0] = source[0].replace('\n\n', '\n\n<a href="../../versions.html">Pages of other '
                                      'versions</a>\n\n', 1)
    source[0] = NAMED_AS_FILE.sub(r'[]\1', SOURCES.sub(r'\1', source[0]))


def setup(app):
    """Tell Sphinx what is done before it reads."""
    app.connect('builder-inited', write_generated)
    app.connect('source-read', add_menu)
    app.connect('build-finished', add_files)
