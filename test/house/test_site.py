"""The site made of the docs has every page in its menu, and is built without a warning."""

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
