"""
Write what a release says of itself: ``release_notes.py [--rst]``.

The notes of the newest version are printed as they stand in CHANGELOG.md; with --rst both packages
get the CHANGELOG.rst that bloom reads (not kept in the repository: CHANGELOG.md is edited).
"""

import argparse
from pathlib import Path
import re

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {'gripsim_ros': ROOT, 'gripsim_interfaces': ROOT / 'gripsim_interfaces'}
#: What bloom calls a version without a date.
UNRELEASED = 'Forthcoming'


def versions(text):
    """Return ``[(number, date or '', [entry, ...]), ...]`` of a changelog, newest first."""
    parts = re.split(r'^## \[?(\d+\.\d+\.\d+)\]? \(([^)]*)\)$', text, flags=re.MULTILINE)[1:]
    return [(number, '' if date == 'unreleased' else date,
             [' '.join(entry.split()) for entry in re.split(r'^- ', body, flags=re.MULTILINE)[1:]])
            for number, date, body in zip(parts[::3], parts[1::3], parts[2::3])]


def to_rst(package, listed):
    """Return the changelog of a package in the form that bloom reads."""
    lines = ['^' * 80, f'Changelog for package {package}', '^' * 80, '']
    for number, date, entries in listed:
        title = f'{number} ({date})' if date else UNRELEASED
        lines += [title, '-' * len(title), *(f'* {inline_to_rst(entry)}' for entry in entries), '']
    return '\n'.join(lines)


def inline_to_rst(text):
    """Return a line of Markdown as reStructuredText: code, and links as their words."""
    text = re.sub(r'\[([^\]]*)\]\([^)]*\)', r'\1', text)
    pieces = re.split(r'`([^`]*)`', text)
    words = [piece.replace('_', r'\_') for piece in pieces[::2]]
    code = [f'``{piece}``' for piece in pieces[1::2]]
    return ''.join(a + b for a, b in zip(words, [*code, '']))


def main():
    """Print the notes, or write the changelogs."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--rst', action='store_true', help='write CHANGELOG.rst of both packages')
    rst = parser.parse_args().rst
    listed = versions((ROOT / 'CHANGELOG.md').read_text(encoding='utf-8'))
    if not rst:
        print('\n'.join(f'- {entry}' for entry in listed[0][2]))
        return
    for package, folder in PACKAGES.items():
        path = folder / 'CHANGELOG.rst'
        path.write_text(to_rst(package, listed), encoding='utf-8')
        print(f'gripsim: {path}')


if __name__ == '__main__':
    main()
