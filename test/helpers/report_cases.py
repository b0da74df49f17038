"""What tests of reports share: evil names, and a reader of pages."""

from html.parser import HTMLParser

EVIL = '<script>alert("x")</script><img src=x onerror=alert(1)>'


class Page(HTMLParser):
    """Elements, their attributes and the text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.scripts, self.problems = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ('meta', 'link', 'img', 'input', 'br'):
            self.open.append(tag)
        if tag == 'script':
            self.scripts.append('')

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(tag)

    def handle_data(self, data):
        if self.open and self.open[-1] == 'script':
            self.scripts[-1] += data
