"""
Write the page that lists the sites of all versions: ``list_versions.py FOLDER``.

Each folder below FOLDER is the site of a version; the newest comes first, before all `latest`.
"""

from html import escape
from pathlib import Path
import re
import sys

LATEST, PAGE = 'latest', 'versions.html'


def versions(folder):
    """Return the names of the versions' folders, newest first."""
    names = [path.name for path in folder.iterdir() if (path / 'README.html').is_file()]
    return sorted(names, reverse=True, key=lambda name: (
        name == LATEST, [int(number) for number in re.findall(r'\d+', name)], name))


def render(names):
    """Return the page."""
    items = ''.join(f'<li><a href="{escape(name)}/README.html">{escape(name)}</a></li>'
                    for name in names)
    return ('<!doctype html><html lang="en"><meta charset="utf-8"><title>gripsim: versions</title>'
            f'<h1>gripsim: pages of each version</h1><ul>{items}</ul></html>\n')


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    root = Path(sys.argv[1])
    (root / PAGE).write_text(render(versions(root)), encoding='utf-8')
