"""
Run a command that says much, and tell every few seconds that it goes on.

Usage: with_progress.py WHAT COMMAND...; what the command says is shown only if it fails.
"""

import subprocess
import sys
import tempfile
import threading
import time

#: Time between two lines [s], and the last lines shown of what has failed.
EVERY, LAST_LINES = 15.0, 30


def main() -> int:
    """Run the command and return its exit code."""
    if len(sys.argv) < 3:
        raise SystemExit(__doc__.strip())
    what, command = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryFile('w+', errors='replace') as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)
        ended = threading.Event()
        threading.Thread(target=tell, args=(what, ended), daemon=True).start()
        try:
            code = process.wait()
        except KeyboardInterrupt:
            code = process.wait()    # it was told by the terminal as well
        ended.set()
        if code:
            said.seek(0)
            sys.stderr.writelines(said.readlines()[-LAST_LINES:])
    return code


def tell(what: str, ended: threading.Event) -> None:
    """Say at once what is done, and again and again how long it has taken."""
    begin = time.monotonic()
    print(f'gripsim: {what}', flush=True)
    while not ended.wait(EVERY):
        print(f'gripsim: {what}: {time.monotonic() - begin:.0f} s', flush=True)


if __name__ == '__main__':
    sys.exit(main())
