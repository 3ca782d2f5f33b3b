"""How every command prints: text for people, or one JSON document and nothing else; progress on standard error."""

import contextlib
import json
import math
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
ForceFlag = Annotated[bool, typer.Option("--force", help="Overwrite existing files.")]


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


@contextlib.contextmanager
def working(what: str) -> Iterator[None]:
    """Say on standard error what takes more than a second: a spinner on a terminal, one line elsewhere."""
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal:
        with console.status(what):
            yield
        return
    notice = threading.Timer(1.0, lambda: print(f"slipfit: {what}", file=sys.stderr, flush=True))
    notice.daemon = True
    notice.start()
    try:
        yield
    finally:
        notice.cancel()


def table(rows: Sequence[tuple[str, ...]], header: tuple[str, ...]) -> str:
    """Columns as wide as their longest entry; the last one runs on."""
    widths = [max(len(row[k]) for row in (header, *rows)) for k in range(len(header) - 1)]
    lines = ["  ".join((*(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=False)), row[-1])) for row in (header, *rows)]
    return "\n".join(lines)
