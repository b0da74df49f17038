"""Fail where a JUnit file holds no test or a skipped one: `require_no_skips.py FILE`."""

import sys
import xml.etree.ElementTree as ElementTree


def main(path):
    """Return the exit code: 0 where every test of the file ran and passed."""
    cases = list(ElementTree.parse(path).getroot().iter('testcase'))
    bad = [case.get('name') for case in cases
           if any(case.find(tag) is not None for tag in ('skipped', 'failure', 'error'))]
    if not cases:
        print(f'{path}: no test ran', file=sys.stderr)
    for name in bad:
        print(f'{path}: {name} was skipped or failed', file=sys.stderr)
    return int(bool(bad) or not cases)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
