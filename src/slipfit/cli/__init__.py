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
app.command("demo")(demo.demo)
app.command("calibrate")(calibrate.calibrate)
app.command("compare")(compare.compare)
app.command("attribute")(attribute.attribute)
app.command("floors")(floors.floors)
app.command("plan")(plan.plan)
app.command("validate")(validate.validate)
app.command("simulate")(simulate.simulate)
app.command("study")(study.study)
app.command("estimate")(estimate.estimate)
app.command("inspect")(inspect.inspect)
app.command("export")(export.export)
app.command("verify")(verify.verify)
app.command("drive")(drive.drive)
app.command("odometry")(odometry.odometry)
app.command("umbmark")(odometry.umbmark)
app.command("circle")(odometry.circle)
app.add_typer(catalogue.robots, name="robots")
app.add_typer(catalogue.grounds, name="grounds")
app.add_typer(catalogue.scenarios, name="scenarios")
app.add_typer(terrain.app, name="terrain")
app.command("laws")(catalogue.laws)
app.command("twin")(twin.twin)
app.add_typer(friction.app, name="friction")
app.add_typer(tyre.app, name="tyre")
app.add_typer(soil.app, name="soil")
omni.app.command("limit")(omni_motion.limit)
omni.app.command("move")(omni_motion.move)
app.add_typer(omni.app, name="omni")
app.command("schema")(schema.schema)


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
