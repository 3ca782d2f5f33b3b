"""How every command prints: text for people, or one JSON document and nothing else; progress on standard error."""

import contextlib
import json
import math
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
ForceFlag = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]

#: Work of less than a second needs no word, longer work a sign of life.
PATIENCE_S, REMIND_S, TELL_EVERY_S = 1.0, 30.0, 0.1

#: Work as short as this has no spinner either: loading rich, which draws it, would take a tenth of a plain drive.
BRIEF_S = 0.4


def show(text: str, document: Any, *, as_json: bool) -> None:
    """Print a result."""
    typer.echo(json.dumps(_plain(document), indent=1, ensure_ascii=False) if as_json else text)


def _plain(entry: Any) -> Any:
    """JSON has no NaN or infinity: they become null."""
    if isinstance(entry, dict):
        return {str(key): _plain(value) for key, value in entry.items()}
    if isinstance(entry, list | tuple):
        return [_plain(value) for value in entry]
    if isinstance(entry, float) and not math.isfinite(entry):
        return None
    return str(entry) if isinstance(entry, Path) else entry


class Stopped(Exception):
    """Ctrl-C while a command was at work: the message says at what, and what had been written."""


class Work:
    """What a command is doing right now: called with each new stage, told of each file that was written."""

    def __init__(self, what: str) -> None:
        self.what, self.stage = what, ""
        self.began_s = self.since_s = time.monotonic()
        self.written: list[Path] = []

    def __call__(self, stage: str) -> None:
        self.stage, self.since_s = stage, time.monotonic()

    def wrote(self, path: Path) -> None:
        self.written.append(path)

    def __str__(self) -> str:
        return f"{self.what}: {self.stage}" if self.stage else self.what

    def stopped(self) -> Stopped:
        done = f"written before: {', '.join(map(str, self.written))}" if self.written else "nothing was written"
        return Stopped(f"stopped after {time.monotonic() - self.began_s:.0f} s while {self}; {done}")


@contextlib.contextmanager
def working(what: str) -> Iterator[Work]:
    """Say on standard error what takes more than a second, stage by stage: a spinner on a terminal, lines elsewhere.

    Ctrl-C becomes `Stopped`, which tells what was being done.
    """
    work, done = Work(what), threading.Event()
    teller = threading.Thread(target=_tell, args=(work, done), daemon=True)
    teller.start()
    try:
        yield work
    except KeyboardInterrupt:
        raise work.stopped() from None
    finally:
        done.set()
        teller.join()


def _tell(work: Work, done: threading.Event) -> None:
    """A spinner where standard error is a terminal, lines elsewhere."""
    if not sys.stderr.isatty():
        _tell_in_lines(work, done)
    elif not done.wait(BRIEF_S):
        from rich.console import Console

        console = Console(stderr=True)
        if console.is_terminal:
            _spin(work, done, console)
        else:
            _tell_in_lines(work, done)


def _spin(work: Work, done: threading.Event, console: "Console") -> None:
    """Stage and seconds in a line that turns until the end."""
    with console.status("") as status:
        while not done.wait(TELL_EVERY_S):
            text = f"{work}, {time.monotonic() - work.began_s:.0f} s"
            status.update(text.replace("[", "\\["))  # rich reads [ as markup


def _tell_in_lines(work: Work, done: threading.Event) -> None:
    """A line for each stage that lasts, and one every half minute."""
    told, told_s = "", work.began_s
    while not done.wait(TELL_EVERY_S):
        now_s = time.monotonic()
        if (str(work) != told and now_s - work.since_s > PATIENCE_S) or now_s - told_s > REMIND_S:
            print(f"slipfit: {work} ({now_s - work.began_s:.0f} s so far)", file=sys.stderr, flush=True)
            told, told_s = str(work), now_s


def table(rows: Sequence[tuple[str, ...]], header: tuple[str, ...]) -> str:
    """Columns as wide as their longest entry; the last one runs on."""
    widths = [max(len(row[k]) for row in (header, *rows)) for k in range(len(header) - 1)]
    lines = ["  ".join((*(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=False)), row[-1])) for row in (header, *rows)]
    return "\n".join(lines)
