"""slipfit twin: show a twin, or put a payload on it."""

from pathlib import Path
from typing import Annotated

import typer

from slipfit.cli.output import ForceFlag, JsonFlag, show
from slipfit.errors import ParameterError


def twin(
    path: Annotated[Path, typer.Argument(metavar="TWIN", help="Twin file.")],
    payload_kg: Annotated[float | None, typer.Option(help="Put a payload on the robot (below zero: take it off), kg.")] = None,
    at: Annotated[
        str | None,
        typer.Option(help="Where: X,Y,Z in metres, x and y from the wheels' centre, z above ground; else the centre of mass."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the twin with its payload.")] = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Show a twin: constants with intervals, what the drives told, and where it comes from.

    Example: slipfit twin p3at.twin.yaml --payload-kg 5 --at 0.05,0,0.3 -o loaded.twin.yaml
    """
    from slipfit.library.files import check_target
    from slipfit.twin import Twin

    record = Twin.load(path)
    if payload_kg is None and (at is not None or out is not None):
        flag = "--at" if at is not None else "--out"
        raise ParameterError(f"{flag} needs a payload; give --payload-kg too")
    if out:
        check_target(out, force=force, formats=(".yaml", ".yml"))
    if payload_kg is not None:
        record = record.with_payload(payload_kg, None if at is None else _place(at))
    if out:
        record.save(out, force=force)
    text = record.summary() + (f"\nwrote {out}" if out else "")
    show(text, record.to_document() | ({"written": [out]} if out else {}), as_json=json)


def _place(text: str) -> tuple[float, float, float]:
    try:
        x, y, z = (float(part) for part in text.split(","))
    except ValueError:
        raise ParameterError(f"--at is '{text}'; expected three numbers in metres, as 0.05,0,0.3") from None
    return x, y, z
