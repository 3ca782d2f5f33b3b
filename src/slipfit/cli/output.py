"""How every command prints: text for people, or one JSON document and nothing else; progress on standard error."""

import contextlib
import json
import math
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
    """A spinner on standard error while something takes more than a moment; nothing where no one watches."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield


def table(rows: Sequence[tuple[str, ...]], header: tuple[str, ...]) -> str:
    """Columns as wide as their longest entry; the last one runs on."""
    widths = [max(len(row[k]) for row in (header, *rows)) for k in range(len(header) - 1)]
    lines = ["  ".join((*(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=False)), row[-1])) for row in (header, *rows)]
    return "\n".join(lines)
