"""A headless Chromium without a driver: what a page became, what it said on its console, and a picture of it."""

import html
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
    "--enable-logging=stderr",
    "--v=0",
]

#: Names are not resolved: no test depends on a network.
OFFLINE = "--host-resolver-rules=MAP * ~NOTFOUND"

#: The page's own time, which runs as fast as the work allows: a page has this long to draw, and a probe to ask.
BUDGET = "--virtual-time-budget=20000"

INSTALL = "no Chromium: apt-get install -y --no-install-recommends chromium, or name one in SLIPFIT_CHROMIUM"


class Visit(NamedTuple):
    answer: Any  # what the probe found
    console: list[str]


def find_chromium() -> str | None:
    return os.environ.get("SLIPFIT_CHROMIUM") or shutil.which("chromium")


def visit(page: Path, probe: str, *flags: str) -> Visit:
    """Open a copy of a page with a probe at its end: an async function's body, run when all figures are drawn, whose JSON
    answer is read back from the page."""
    asking = f"""<script>(async () => {{
      const root = document.documentElement, wait = ms => new Promise(done => setTimeout(done, ms));
      for (let k = 0; k < 200 && root.dataset.drawn === undefined; k++) await wait(50);
      root.dataset.answer = JSON.stringify(await (async () => {{ {probe} }})() ?? null);
    }})();</script>"""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "page.html"
        copy.write_text(page.read_text(encoding="utf-8") + asking, encoding="utf-8")
        out, err = _run(copy, "--dump-dom", *flags)
    found = re.search(r'<html[^>]* data-answer="([^"]*)"', out)
    console = [line for line in err.splitlines() if "CONSOLE" in line]
    return Visit(json.loads(html.unescape(found[1])) if found else None, console)


def take_picture(page: Path, target: Path, width_px: int, height_px: int) -> None:
    """The page from its top."""
    _run(page, f"--window-size={width_px},{height_px}", f"--screenshot={target.resolve()}")


def _run(page: Path, *flags: str) -> tuple[str, str]:
    program = find_chromium()
    if program is None:
        raise SystemExit(INSTALL)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [program, *FLAGS, OFFLINE, BUDGET, f"--user-data-dir={profile}", *flags, page.resolve().as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout, done.stderr
