"""slipfit twin: show a twin, make one of a robot and a ground's file, or put a payload on it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slipfit.cli.output import ForceFlag, JsonFlag, show
from slipfit.errors import ParameterError

if TYPE_CHECKING:
    from slipfit.twin import Twin


def twin(
    path: Annotated[
        str, typer.Argument(metavar="TWIN", help="Twin file; or, with --ground, a robot of the library or its file.")
    ],
    ground: Annotated[
        str | None, typer.Option(help="Put a ground into it as its file has it, with its spreads: name in the library, or .yaml.")
    ] = None,
    payload_kg: Annotated[float | None, typer.Option(help="Put a payload on the robot (below zero: take it off), kg.")] = None,
    at: Annotated[
        str | None,
        typer.Option(help="Where: X,Y,Z in metres, x and y from the wheels' centre, z above ground; else the centre of mass."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the twin with its ground or payload.")] = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Show a twin: constants with intervals, what the drives told, and where it comes from.

    Example: slipfit twin p3at.twin.yaml --payload-kg 5 --at 0.05,0,0.3 -o loaded.twin.yaml

    Of a robot and a ground's file: slipfit twin packbot --ground my_sand.yaml -o packbot.twin.yaml
    """
    from slipfit.library.files import check_target
    from slipfit.twin import Twin

    if payload_kg is None and at is not None:
        raise ParameterError("--at needs a payload; give --payload-kg too")
    if payload_kg is None and ground is None and out is not None:
        raise ParameterError("--out needs a payload or a ground; give --payload-kg or --ground too")
    if out:
        check_target(out, force=force, formats=(".yaml", ".yml"))
    record = Twin.load(path) if ground is None else _with_ground(path, ground)
    if payload_kg is not None:
        record = record.with_payload(payload_kg, None if at is None else _place(at))
    if out:
        record.save(out, force=force)
    text = record.summary() + (f"\nwrote {out}" if out else "")
    show(text, record.to_document() | ({"written": [out]} if out else {}), as_json=json)


def _with_ground(name: str, ground: str) -> "Twin":
    """A twin of a robot with this ground, or a twin with it added."""
    from slipfit.library import find_ground
    from slipfit.twin import find_driver
    from slipfit.twin.uncalibrated import uncalibrated_twin

    driver, chosen = find_driver(name), find_ground(ground)
    made = uncalibrated_twin(driver.robot, chosen)
    if driver.twin is None:
        return made
    if chosen.name in driver.twin.grounds:
        raise ParameterError(f"{name} has a ground {chosen.name} already; give the file another name")
    return driver.twin.with_ground(chosen.name, made.grounds[chosen.name], logs=[], notes=made.provenance.notes)


def _place(text: str) -> tuple[float, float, float]:
    try:
        x, y, z = (float(part) for part in text.split(","))
    except ValueError:
        raise ParameterError(f"--at is '{text}'; expected three numbers in metres, as 0.05,0,0.3") from None
    return x, y, z
