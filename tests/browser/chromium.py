"""A headless Chromium, asked through its own DevTools pipe: what a page became, what it said on its console, a picture of it.

Nothing here waits for a time: a page is asked when its load event came and its figures are drawn, and a probe waits until what it
claims holds. The browser's clock is the real one. (Under a virtual clock a busy machine draws nothing before the clock runs out.)
"""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

FLAGS = [
    "--headless=new",
    "--remote-debugging-pipe",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
]

#: Names are not resolved: no test depends on a network.
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND"

#: A browser that hangs is ended after this long (s); a busy machine needs many times what a free one does.
LONGEST_S = 600.0

#: What a probe may call: `until` a claim holds (or five minutes have passed: the test then says what is wrong), or so many
#: `pictures`.
ASKING = """(async () => {
  const wait = ms => new Promise(done => setTimeout(done, ms));
  const until = async claim => { for (const end = Date.now() + 300000; Date.now() < end && !claim();) await wait(20); };
  const pictures = async number => { for (let k = 0; k < number; k++) await new Promise(done => requestAnimationFrame(done)); };
  await until(() => document.documentElement.dataset.drawn !== undefined);
  PROBE
})()"""

INSTALL = "no Chromium: apt-get install -y --no-install-recommends chromium, or name one in SLIPFIT_CHROMIUM"

#: Where the DevTools pipe reads commands and writes answers.
COMMANDS_FD, ANSWERS_FD = 3, 4


class Visit(NamedTuple):
    answer: Any  # what the probe found
    console: list[str]


def find_chromium() -> str | None:
    return os.environ.get("SLIPFIT_CHROMIUM") or shutil.which("chromium")


def visit(page: Path, probe: str, *flags: str, width_px: int = 1200, height_px: int = 900) -> Visit:
    """What a probe, an async function's body run in the page once all figures are drawn, returns."""
    with _open(page, flags, width_px, height_px) as tab:
        answer = tab.ask("Runtime.evaluate", expression=ASKING.replace("PROBE", probe), awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"the probe failed: {answer['exceptionDetails']['exception'].get('description')}")
        return Visit(answer["result"].get("value"), tab.console)


def take_picture(page: Path, target: Path, width_px: int, height_px: int) -> None:
    """The page from its top, after two pictures of it were drawn."""
    with _open(page, (), width_px, height_px) as tab:
        twice = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
        tab.ask("Runtime.evaluate", expression=twice, awaitPromise=True)
        target.write_bytes(b64decode(tab.ask("Page.captureScreenshot", format="png")["data"]))


class Tab:
    """One page of a running browser: commands go in by one pipe, answers and events come out by another, each ended by a NUL."""

    def __init__(self, commands_fd: int, answers_fd: int) -> None:
        self.console: list[str] = []
        self._commands_fd, self._answers_fd = commands_fd, answers_fd
        self._unread, self._asked, self._events = b"", 0, set[str]()
        self._ends_at_s = time.monotonic() + LONGEST_S
        self._session: dict[str, str] = {}
        pages = [t for t in self.ask("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        number = pages[0]["targetId"] if pages else self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = {"sessionId": self.ask("Target.attachToTarget", targetId=number, flatten=True)["sessionId"]}
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._asked += 1
        message = {"id": self._asked, "method": method, "params": parameters, **self._session}
        os.write(self._commands_fd, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._asked:
            pass
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def wait_for(self, event: str) -> None:
        while event not in self._events:
            self._next()

    def _next(self) -> dict[str, Any]:
        """The next answer or event; events of the console are kept."""
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._answers_fd], [], [], max(self._ends_at_s - time.monotonic(), 0.0))
            if not ready:
                raise TimeoutError(f"the browser has not answered within {LONGEST_S:g} s")
            piece = os.read(self._answers_fd, 1 << 20)
            if not piece:
                raise ConnectionError("the browser ended before it answered")
            self._unread += piece
        line, _, self._unread = self._unread.partition(b"\0")
        message = json.loads(line)
        self._keep(message.get("method", ""), message.get("params", {}))
        return message

    def _keep(self, event: str, told: dict[str, Any]) -> None:
        self._events.add(event)
        if event == "Runtime.consoleAPICalled":
            self.console.append(" ".join(str(a.get("value", a.get("description"))) for a in told["args"]))
        elif event == "Runtime.exceptionThrown":
            details = told["exceptionDetails"]
            self.console.append(details.get("exception", {}).get("description") or details["text"])
        elif event == "Log.entryAdded":
            self.console.append(f"{told['entry']['text']} {told['entry'].get('url', '')}")


@contextmanager
def _open(page: Path, flags: tuple[str, ...], width_px: int, height_px: int) -> Iterator[Tab]:
    """A page of the given size in a browser of its own, which ends with the block."""
    program = find_chromium()
    if program is None:
        raise SystemExit(INSTALL)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, _pipes() as (theirs, ours):
        browser = subprocess.Popen(
            [program, *FLAGS, OFFLINE, f"--user-data-dir={profile}", *flags, "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(COMMANDS_FD, ANSWERS_FD),
            preexec_fn=lambda: (os.dup2(theirs[0], COMMANDS_FD), os.dup2(theirs[1], ANSWERS_FD)),
            start_new_session=True,
        )
        for fd in theirs:
            os.close(fd)
        try:
            tab = Tab(*ours)
            size = {"width": width_px, "height": height_px, "deviceScaleFactor": 1, "mobile": False}
            tab.ask("Emulation.setDeviceMetricsOverride", **size)
            tab.ask("Page.navigate", url=page.resolve().as_uri())
            tab.wait_for("Page.loadEventFired")
            yield tab
        finally:
            os.killpg(browser.pid, 9)
            browser.wait()


@contextmanager
def _pipes() -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """The browser's ends (to read commands, to write answers), which go over to it, and ours, which are closed in the end. A new
    descriptor is the lowest that is free: after four of them 3 and 4 exist, and the last one is not the first's new place."""
    read_commands, write_commands = os.pipe()
    read_answers, write_answers = os.pipe()
    try:
        yield (read_commands, write_answers), (write_commands, read_answers)
    finally:
        os.close(write_commands)
        os.close(read_answers)
