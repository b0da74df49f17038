"""Look for links and pictures of the site that lead nowhere: ``check_site.py build/site``."""

from html import unescape
from pathlib import Path
import re
import sys
from urllib.parse import unquote

#: Listings of sources, whose links back know one page a module; reports, which have no links.
LEFT_OUT = {'_modules', 'scenes'}
LINK = re.compile(r'\b(?:href|src)="([^"]+)"')
ELSEWHERE = re.compile(r'[a-z]+:|//')


def broken_links(site):
    """Return (page, link) of each link within the site to what is not there."""
    texts = {page: page.read_text(encoding='utf-8') for page in site.rglob('*.html')
             if not LEFT_OUT & set(page.relative_to(site).parts)}
    anchors = {page.resolve(): set(re.findall(r'\bid="([^"]+)"', text))
               for page, text in texts.items()}
    lost = []
    for page, text in texts.items():
        for link in map(unquote, map(unescape, LINK.findall(text))):
            path, _, anchor = link.partition('#')
            target = ((page.parent / path.partition('?')[0]) if path else page).resolve()
            there = target.exists() and (not anchor or anchor in anchors.get(target, {anchor}))
            if not there and not ELSEWHERE.match(link):
                lost.append((str(page.relative_to(site)), link))
    return lost


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    found = broken_links(Path(sys.argv[1]))
    for name, link in found:
        print(f'gripsim: {name}: {link} leads nowhere')
    sys.exit(bool(found))
