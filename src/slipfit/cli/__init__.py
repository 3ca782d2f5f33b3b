"""The command line: one thin module per command, loaded when it is called. Heavy imports come after the flags."""

import sys

import typer

from slipfit.cli.commands import CommandsOnDemand
from slipfit.cli.output import Stopped
from slipfit.errors import SlipfitError
from slipfit.signals import STOPPED

app = typer.Typer(
    name="slipfit",
    cls=CommandsOnDemand,
    help="Turn a ground robot's drive log into a calibrated digital twin with slip, and tell where that robot can go.",
    epilog="Exit codes: 0: done. 1: done, and the answer is no (a check failed, a goal was missed, a log cannot be calibrated). "
    "2: the command line or a file is at fault; one sentence on standard error states where and what to do.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
