"""slipfit export: a twin as files for simulators and controllers, or put into a model of one's own."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from slipfit.cli.output import ForceFlag, JsonFlag, show
from slipfit.errors import ParameterError

#: Names that robots' SDF and URDF files end in.
MODEL_ENDINGS = (".sdf", ".urdf", ".world", ".xml")


def export(
    twin: Annotated[Path | None, typer.Argument(help="Twin file.")] = None,
    to: Annotated[
        str | None,
        typer.Option(help="Target: gz, fortress, gazebo-classic, mjcf, ros2-control, nav2-amcl, robot-localization or roboteq."),
    ] = None,
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
    world: Annotated[bool, typer.Option("--world", help="SDF: a world with ground and steps of 1 ms around the model.")] = False,
    at_speed_mps: Annotated[
        float | None, typer.Option(help="MJCF: rim speed at which the file without updater is right.", show_default="0.5")
    ] = None,
    step_s: Annotated[float | None, typer.Option(help="Step of the MJCF, or of the --world.", show_default="0.001")] = None,
    check: Annotated[
        Path | None, typer.Option(help="Instead of writing: look over the WheelSlip block of this SDF file.")
    ] = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Write a twin for a simulator or controller, and say what the file does not tell as the twin does.

    With --into your own model gets the twin's friction and slip. --check looks an SDF file over: exit code 1 where it finds any.

    Example: slipfit export p3at.twin.yaml --to gz -o p3at.sdf
    """
    if check is not None:
        if out is not None or into is not None or in_place:
            raise ParameterError(
                "--check writes nothing; expected slipfit export --check FILE, without -o, --into and --in-place"
            )
        _check(check, json)
        return
    if twin is None or to is None:
        missing = "the twin" if twin is None else "--to"
        raise ParameterError(f"{missing} is missing; expected slipfit export TWIN --to TARGET, or slipfit export --check FILE")
    from slipfit.exporters import Settings, find_target
    from slipfit.exporters.bodies import wheel_names
    from slipfit.exporters.wheels_of_model import parse_wheels
    from slipfit.twin import SkidSteerTwin

    target, record = find_target(to), SkidSteerTwin.load(twin)
    named = None if wheels is None else parse_wheels(wheels, wheel_names(record.robot))
    if into is not None:
        from slipfit.exporters import patch

        if target.patches is None:
            raise ParameterError(f"--into has no meaning for {to}; it patches SDF and URDF for gz, fortress and gazebo-classic")
        given = {"--world": world or None, "--wheel-shape": wheel_shape, "--at-speed-mps": at_speed_mps, "--step-s": step_s}
        unused = [flag for flag, value in given.items() if value is not None]
        if unused:
            raise ParameterError(
                f"{unused[0]} has no meaning with --into, which leaves the rest of your model as it is; take it out"
            )
        place = _place(into, out, in_place)
        done = patch(record, into, target.patches, ground, named)
        done.save(place, force=force or in_place)
        show(f"{done.summary()}\nwrote {place}", {**done.to_document(), "written": [place]}, as_json=json)
        return
    if in_place:
        raise ParameterError("--in-place needs --into FILE; give it, or write to -o FILE")
    is_sdf = target.patches is not None
    for flag, is_given, has_meaning, goes_with in (
        ("--world", world, is_sdf, "gz, fortress and gazebo-classic"),
        ("--wheel-shape", wheel_shape is not None, is_sdf, "gz, fortress and gazebo-classic"),
        ("--at-speed-mps", at_speed_mps is not None, to == "mjcf", "mjcf"),
        ("--step-s", step_s is not None, to == "mjcf" or world, "mjcf and --world"),
        ("--wheels", wheels is not None, to == "ros2-control", "--into and ros2-control"),
    ):
        if is_given and not has_meaning:
            raise ParameterError(f"{flag} has no meaning for {to} here; it goes with {goes_with}")
    if out is not None:
        from slipfit.library.files import check_target

        check_target(out, force=force, formats=target.endings)
    usual = Settings(world=world, wheels=named)
    chosen = {"wheel_shape": wheel_shape, "at_speed_mps": at_speed_mps, "step_s": step_s}
    settings = replace(usual, **{name: value for name, value in chosen.items() if value is not None})  # type: ignore[arg-type]
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
    from slipfit.exporters import check_file

    found = check_file(path)
    show(found.summary(), found.to_document(), as_json=as_json)
    if not found.is_good:
        raise typer.Exit(1)
