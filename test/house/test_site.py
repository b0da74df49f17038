"""The site made of the docs: every page in its menu, examples turn, no warning, no broken link."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import gripsim_ros

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / 'docs'


def test_every_page_is_in_the_menu_once():
    site = runpy.run_path(str(DOCS / 'conf.py'))
    listed = [page for _, pages in site['list_parts']((DOCS / 'README.md').read_text())
              for page in pages]
    written = {str(page.relative_to(DOCS).with_suffix('')) for page in DOCS.rglob('*.md')
               if 'generated' not in page.parts} - {'README'}
    assert len(listed) == len(set(listed))
    assert written == {page for page in listed if not page.startswith('generated/')}


def test_pictures_of_examples_lead_to_the_reports_that_are_there(tmp_path):
    site = runpy.run_path(str(DOCS / 'conf.py'))
    page = (DOCS / 'gallery.md').read_text()
    assert site['add_scenes'](page, tmp_path) == page
    named = set(re.findall(r'images/example_(\w+)\.png', page))
    for name in named:
        (tmp_path / f'{name}.html').write_text('')
    led = re.findall(r'example_(\w+)\.png\)\n\n<a [^>]*href="scenes/(\w+)\.html"',
                     site['add_scenes'](page, tmp_path))
    assert {picture for picture, _ in led} == named and all(a == b for a, b in led)


def test_versions_are_listed_the_newest_first(tmp_path):
    listing = runpy.run_path(str(ROOT / 'tools' / 'list_versions.py'))
    for name in ('0.2.0', 'latest', '0.10.0', 'v0.9.1'):
        (tmp_path / name).mkdir()
        (tmp_path / name / 'README.html').write_text('')
    (tmp_path / 'no_site').mkdir()
    names = listing['versions'](tmp_path)
    assert names == ['latest', '0.10.0', 'v0.9.1', '0.2.0']
    assert all(f'href="{name}/README.html"' in listing['render'](names) for name in names)


def checker():
    """Return what `make docs` looks for broken links with."""
    return runpy.run_path(str(ROOT / 'tools' / 'check_site.py'))['broken_links']


def test_a_link_to_nothing_is_found(tmp_path):
    broken_links = checker()
    (tmp_path / 'a.html').write_text('<p id="x"></p><a href="b.html#y"></a><a href="#x"></a>')
    (tmp_path / 'b.html').write_text('<p id="z"></p><img src="c.png"><a href="https://x.org/d">')
    assert sorted(broken_links(tmp_path)) == [
        ('a.html', 'b.html#y'), ('b.html', 'c.png')]


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path):
    for package in ('sphinx', 'myst_parser', 'furo'):
        pytest.importorskip(package, reason='the site is built by Sphinx: `make docs`')
    done = subprocess.run(
        [sys.executable, '-m', 'sphinx', '-q', '-W', '--keep-going', '-b', 'html', DOCS, tmp_path],
        capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    code = (tmp_path / 'generated' / 'library.html').read_text(encoding='utf-8')
    for public in gripsim_ros.__all__:
        assert f'<span class="pre">{public}</span>' in code
    assert not checker()(tmp_path)
    assert 'url=README.html' in (tmp_path / 'index.html').read_text()
    first = (tmp_path / 'README.html').read_text(encoding='utf-8')
    assert 'quick_start.md' not in re.sub(r'href="[^"]*"', '', first)    # pages have their titles
    assert 'id="gripsim_ros.ros.clients.plan.PlanGraspClient"' in (
        tmp_path / 'generated' / 'clients.html').read_text(encoding='utf-8')
