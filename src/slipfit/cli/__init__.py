"""The command line: one thin module per command. Heavy imports come after the flags, so that --help is instant."""

import sys

import typer

from slipfit.cli import (
    attribute,
    calibrate,
    catalogue,
    compare,
    demo,
    drive,
    estimate,
    export,
    floors,
    friction,
    inspect,
    odometry,
    omni,
    omni_motion,
    plan,
    schema,
    simulate,
    soil,
    study,
    terrain,
    tracks,
    twin,
    tyre,
    validate,
    verify,
)
from slipfit.cli.output import Stopped
from slipfit.errors import SlipfitError
from slipfit.signals import STOPPED

app = typer.Typer(
    name="slipfit",
    help="Turn a ground robot's drive log into a calibrated digital twin with slip, and tell where that robot can go.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

#: The panels of `slipfit --help`, in the order in which most users need them.
_TWIN, _SIMULATE, _LOGS, _CONTROLLERS, _TESTS, _LIBRARY = (
    "From a drive to a twin",
    "Simulate, and where a robot can go",
    "What a log tells",
    "Motor controllers and odometry",
    "Tests of contacts and single kinds of robot",
    "Library and files",
)
app.command("demo", rich_help_panel=_TWIN)(demo.demo)
app.command("plan", rich_help_panel=_TWIN)(plan.plan)
app.command("inspect", rich_help_panel=_TWIN)(inspect.inspect)
app.command("calibrate", rich_help_panel=_TWIN)(calibrate.calibrate)
app.command("validate", rich_help_panel=_TWIN)(validate.validate)
app.command("twin", rich_help_panel=_TWIN)(twin.twin)
app.command("export", rich_help_panel=_TWIN)(export.export)
app.command("verify", rich_help_panel=_TWIN)(verify.verify)
app.command("simulate", rich_help_panel=_SIMULATE)(simulate.simulate)
app.command("study", rich_help_panel=_SIMULATE)(study.study)
app.command("estimate", rich_help_panel=_LOGS)(estimate.estimate)
app.command("compare", rich_help_panel=_LOGS)(compare.compare)
app.command("attribute", rich_help_panel=_LOGS)(attribute.attribute)
app.command("floors", rich_help_panel=_LOGS)(floors.floors)
app.command("drive", rich_help_panel=_CONTROLLERS)(drive.drive)
app.command("odometry", rich_help_panel=_CONTROLLERS)(odometry.odometry)
app.command("umbmark", rich_help_panel=_CONTROLLERS)(odometry.umbmark)
app.command("circle", rich_help_panel=_CONTROLLERS)(odometry.circle)
app.add_typer(friction.app, name="friction", rich_help_panel=_TESTS)
app.add_typer(tyre.app, name="tyre", rich_help_panel=_TESTS)
app.add_typer(soil.app, name="soil", rich_help_panel=_TESTS)
omni.app.command("limit")(omni_motion.limit)
omni.app.command("move")(omni_motion.move)
app.add_typer(omni.app, name="omni", rich_help_panel=_TESTS)
app.command("tracks", rich_help_panel=_TESTS)(tracks.tracks)
app.add_typer(catalogue.robots, name="robots", rich_help_panel=_LIBRARY)
app.add_typer(catalogue.grounds, name="grounds", rich_help_panel=_LIBRARY)
app.add_typer(catalogue.scenarios, name="scenarios", rich_help_panel=_LIBRARY)
app.add_typer(terrain.app, name="terrain", rich_help_panel=_LIBRARY)
app.command("laws", rich_help_panel=_LIBRARY)(catalogue.laws)
app.command("schema", rich_help_panel=_LIBRARY)(schema.schema)


def _version(asked: bool) -> None:
    if asked:
        import slipfit

        typer.echo(f"slipfit {slipfit.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version and stop."),
) -> None:
    pass


def main() -> None:
    """Run a command. A mistake in what it was given is one line on standard error and exit code 2; a bug keeps its traceback."""
    try:
        app(prog_name="slipfit")
    except SlipfitError as error:
        print("slipfit:", *str(error).splitlines(), file=sys.stderr)
        sys.exit(2)
    except Stopped as stop:
        print("slipfit:", stop, file=sys.stderr)
        sys.exit(STOPPED)
    except SystemExit as stop:
        if stop.code == STOPPED:  # Ctrl-C before or after the work itself
            print("slipfit: stopped; no file is half written", file=sys.stderr)
        raise
