"""A page in headless Chromium, driven by its DevTools protocol: seen, clicked, photographed."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

from websockets.sync.client import connect

NAMES = ('chromium', 'chromium-browser', 'google-chrome', 'chrome')
#: WebGL without a graphics card, no sandbox where the user is root, nothing loaded unasked.
FLAGS = ('--headless=new', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
         '--no-sandbox', '--no-first-run', '--disable-background-networking',
         '--disable-component-update',
         '--disable-sync', '--disable-quic', '--disable-dev-shm-usage', '--hide-scrollbars',
         '--remote-debugging-port=0', '--remote-allow-origins=*')
#: How long the browser may take to start, and a page to answer or to become as wanted [s].
START_TIMEOUT, TIMEOUT = 120.0, 300.0
POLL_PERIOD = 0.1


class BrowserError(RuntimeError):
    """The browser did not start, or the page does not do what was asked."""


def find_chromium():
    """Return the path of a Chromium, from ``CHROMIUM`` or the search path, or None."""
    return os.environ.get('CHROMIUM') or next(filter(None, map(shutil.which, NAMES)), None)


class Page:
    """
    One page in a browser of its own; use it in a ``with`` statement.

    Parameters
    ----------
    url : str
    size : (int, int)
        Width and height [pixels of the page].
    scale : float
        Pixels of the picture for each of the page; below 1 there is less to draw.
    """

    def __init__(self, url, size=(1200, 760), scale=1.0):
        """Start the browser and open the page."""
        self._folder = tempfile.TemporaryDirectory(prefix='chromium_', ignore_cleanup_errors=True)
        self._process = subprocess.Popen(
            [find_chromium(), *FLAGS, f'--user-data-dir={self._folder.name}',
             f'--window-size={size[0]},{size[1]}', 'about:blank'],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._number, self.errors = 0, []
        try:
            self._socket = connect(self._address(), max_size=None, open_timeout=START_TIMEOUT)
            self.call('Page.enable')
            self.call('Runtime.enable')
            self.call('Emulation.setDeviceMetricsOverride', width=size[0], height=size[1],
                      deviceScaleFactor=scale, mobile=False)
            self.call('Page.navigate', url=url)
        except BaseException:
            self.close()
            raise

    def _address(self):
        """Return the address of the first page's debugger, once it is there."""
        end, port_file = time.monotonic() + START_TIMEOUT, Path(self._folder.name,
                                                                'DevToolsActivePort')
        while time.monotonic() < end and self._process.poll() is None:
            lines = port_file.read_text().split() if port_file.exists() else []
            if lines:
                with urllib.request.urlopen(f'http://127.0.0.1:{lines[0]}/json/list',
                                            timeout=START_TIMEOUT) as answer:
                    pages = [target for target in json.load(answer) if target['type'] == 'page']
                if pages:
                    return pages[0]['webSocketDebuggerUrl']
            time.sleep(POLL_PERIOD)
        raise BrowserError(f'{find_chromium()} did not start within {START_TIMEOUT:g} s')

    def __enter__(self):
        """Return the page."""
        return self

    def __exit__(self, *_):
        """End the browser."""
        self.close()

    def close(self):
        """End the browser."""
        if getattr(self, '_socket', None) is not None:
            self._socket.close()
        self._process.terminate()
        try:
            self._process.wait(10.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()

    def call(self, method, **parameters):
        """Return the result of a method of the protocol."""
        self._number += 1
        self._socket.send(json.dumps({'id': self._number, 'method': method,
                                      'params': parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=TIMEOUT))
            if message.get('method') == 'Runtime.exceptionThrown':
                details = message['params']['exceptionDetails']
                self.errors.append(details.get('exception', {}).get('description',
                                                                    details['text']))
            if message.get('id') == self._number:
                if 'error' in message:
                    raise BrowserError(f'{method}: {message["error"]["message"]}')
                return message['result']

    def evaluate(self, expression):
        """Return what an expression of JavaScript is in the page."""
        result = self.call('Runtime.evaluate', expression=expression, returnByValue=True,
                           awaitPromise=True)
        if 'exceptionDetails' in result:
            raise BrowserError(f'{expression}: {result["exceptionDetails"]["text"]}')
        return result['result'].get('value')

    def text(self):
        """Return what is written on the page."""
        return self.evaluate('document.body ? document.body.innerText : ""')

    def wait(self, condition, timeout=TIMEOUT):
        """Return what ``condition()`` returns as soon as it is true; BrowserError if never."""
        end = time.monotonic() + timeout
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > end:
                raise BrowserError(f'not so within {timeout:g} s')
            time.sleep(POLL_PERIOD)

    def place(self, element):
        """Return the middle of an element, an expression of JavaScript; None where it is not."""
        return self.evaluate(f'(() => {{ const e = {element}; if (!e) return null; '
                             'e.scrollIntoView({block: "center"}); '
                             'const r = e.getBoundingClientRect(); '
                             'return [r.x + r.width / 2, r.y + r.height / 2]; })()')

    def click(self, element):
        """Click the middle of an element, an expression of JavaScript, once it is there."""
        x, y = self.wait(lambda: self.place(element))
        self.press(x, y)

    def click_box(self, label):
        """Click the box or field that a label names."""
        self.click("document.getElementById([...document.querySelectorAll('label')]"
                   f".find(e => e.innerText === {json.dumps(label)})?.htmlFor ?? '')")

    def press(self, x, y):
        """Press and release the left button at a place of the page [pixels]."""
        for kind in ('mouseMoved', 'mousePressed', 'mouseReleased'):
            self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y,
                      button='none' if kind == 'mouseMoved' else 'left', clickCount=1)

    def screenshot(self):
        """Return the page as PNG."""
        return base64.b64decode(self.call('Page.captureScreenshot', format='png')['data'])
