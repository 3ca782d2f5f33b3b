"""slipfit export: a twin as files for simulators and controllers, or put into a model of one's own."""

from pathlib import Path
from typing import Annotated

import typer

from slipfit.cli.output import ForceFlag, JsonFlag, show
from slipfit.errors import ParameterError

#: Names that robots' SDF and URDF files end in.
MODEL_ENDINGS = (".sdf", ".urdf", ".world", ".xml")


def export(
    twin: Annotated[Path | None, typer.Argument(help="Twin file.")] = None,
    to: Annotated[str | None, typer.Option(help="Target: gz, fortress, gazebo-classic, mjcf, ros2-control or roboteq.")] = None,
    ground: Annotated[str | None, typer.Option(help="Ground of the twin, where it has several.")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File to write; else ROBOT_TARGET and its ending.")] = None,
    into: Annotated[Path | None, typer.Option(help="Your own model (SDF or URDF) to put the slip into; all else stays.")] = None,
    in_place: Annotated[bool, typer.Option("--in-place", help="Write the patched model back to where it was.")] = False,
    wheels: Annotated[
        str | None,
        typer.Option(help="Your wheel links (--into) or joints (ros2-control), as front_left=LINK,...; else names tell."),
    ] = None,
    wheel_shape: Annotated[
        str | None, typer.Option(help="SDF: collisions of wheels, sphere or thin.", show_default="sphere")
    ] = None,
    world: Annotated[bool, typer.Option("--world", help="SDF: a world with ground and 1 ms steps around the model.")] = False,
    at_speed_mps: Annotated[float, typer.Option(help="MJCF: rim speed at which the file without updater is right.")] = 0.5,
    check: Annotated[
        Path | None, typer.Option(help="Instead of writing: look over the WheelSlip block of this SDF file.")
    ] = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Write a twin for a simulator or controller, and say what the file does not tell as the twin does.

    With --into your own model gets the twin's friction and slip. --check looks an SDF file over, exit code 1 if it finds
    something.

    Example: slipfit export p3at.twin.yaml --to gz -o p3at.sdf
    """
    if check is not None:
        _check(check, json)
        return
    if twin is None or to is None:
        missing = "the twin" if twin is None else "--to"
        raise ParameterError(f"{missing} is missing; expected slipfit export TWIN --to TARGET, or slipfit export --check FILE")
    from slipfit.export import Settings, find_target
    from slipfit.export.bodies import wheel_names
    from slipfit.export.wheels_of_model import parse_wheels
    from slipfit.twin import Twin

    target, record = find_target(to), Twin.load(twin)
    named = None if wheels is None else parse_wheels(wheels, wheel_names(record.robot))
    if into is not None:
        from slipfit.export import patch

        if target.patches is None:
            raise ParameterError(f"--into has no meaning for {to}; it patches SDF and URDF for gz, fortress and gazebo-classic")
        unused = "--world" if world else "--wheel-shape" if wheel_shape is not None else None
        if unused:
            raise ParameterError(
                f"{unused} has no meaning with --into, which leaves the rest of your model as it is; take it out"
            )
        place = _place(into, out, in_place)
        done = patch(record, into, target.patches, ground, named)
        done.save(place, force=force or in_place)
        show(f"{done.summary()}\nwrote {place}", {**done.to_document(), "written": [place]}, as_json=json)
        return
    if in_place:
        raise ParameterError("--in-place needs --into FILE; give it, or write to -o FILE")
    if world and target.patches is None:
        raise ParameterError(f"--world has no meaning for {to}; it goes with gz, fortress and gazebo-classic")
    if out is not None:
        from slipfit.library.files import check_target

        check_target(out, force=force, formats=target.endings)
    settings = Settings(wheel_shape or "sphere", world, at_speed_mps, named)  # type: ignore[arg-type]  # checked there
    text = target.write(record, ground, settings)
    written = text.save(out, force=force)
    lines = [text.summary(), *(f"wrote {path}" for path in written)]
    show("\n".join(lines), {**text.to_document(), "written": written}, as_json=json)


def _place(into: Path, out: Path | None, in_place: bool) -> Path:
    if (out is None) == (not in_place):
        raise ParameterError("--into needs either -o FILE for the patched model, or --in-place")
    if out is None:
        return into
    endings = tuple(dict.fromkeys((into.suffix, *MODEL_ENDINGS)))
    if out.suffix not in endings:
        raise ParameterError(
            f"{out}: a patched model cannot be '{out.suffix}'; expected a name that ends in {', '.join(endings)}"
        )
    return out


def _check(path: Path, as_json: bool) -> None:
    from slipfit.export import check_file

    found = check_file(path)
    show(found.summary(), found.to_document(), as_json=as_json)
    if not found.is_good:
        raise typer.Exit(1)
