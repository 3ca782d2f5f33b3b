"""slipfit tyre: friction curves from forces that a test rig measured."""

from pathlib import Path
from typing import Annotated

import typer

from slipfit.cli.output import ForceFlag, JsonFlag, show, table, working

app = typer.Typer(invoke_without_command=True)


@app.callback()
def list_curves(context: typer.Context, json: JsonFlag = False) -> None:
    """List the friction curves that `fit` chooses from.

    Example: slipfit tyre fit single_wheel.csv --columns map.yaml
    """
    if context.invoked_subcommand:
        return
    from slipfit.contact import CURVES, LAWS

    formulas = {name: LAWS[name].formula for name in CURVES}
    text = table(list(formulas.items()), ("law", "friction over slip")) + "\n\nslipfit tyre fit --help tells what a fit takes."
    show(text, {"laws": formulas}, as_json=json)


@app.command("fit")
def fit(
    data: Annotated[Path, typer.Argument(help="Table of forces against slip (.csv, .csv.gz).")],
    columns: Annotated[Path, typer.Option("--columns", help="What its columns mean (slipfit/tyre_columns/1).")],
    law: Annotated[list[str] | None, typer.Option("--law", help="Law to fit; may be repeated. All, unless told.")] = None,
    offset: Annotated[bool, typer.Option("--offset", help="Fit forces at zero slip too: rolling resistance, ply steer.")] = False,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw data, curve and errors (.png, .svg or .pdf).")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write a ground with the law (.yaml).")] = None,
    save: Annotated[Path | None, typer.Option("--save", help="Write the whole result (.json).")] = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Fit friction curves to measured forces and choose by what they predict of repeats that were left out.

    Example: slipfit tyre fit single_wheel.csv --columns map.yaml --plot fit.png -o sand.yaml
    """
    from slipfit.library.files import check_target

    if plot:
        check_target(plot, force=force, formats=(".png", ".svg", ".pdf"))
    if out:
        check_target(out, force=force, formats=(".yaml", ".yml"))
    if save:
        check_target(save, force=force, formats=(".json",))
    with working("fitting tyre forces") as work:
        from slipfit.calibration.tyre import fit_tyre, read_tyre_data
        from slipfit.contact import CURVES

        measured = read_tyre_data(data, columns)
        result = fit_tyre(measured, law or CURVES, with_offsets=offset, tell=work)
        ground = result.ground(out.stem) if out else None
        if plot:
            from slipfit.report.figures import save_figure
            from slipfit.report.tyre_figure import draw_tyre_fit

            work("drawing")
            save_figure(draw_tyre_fit(result, measured), plot, force=force)
            work.wrote(plot)
        if out and ground:
            ground.save(out, force=force)
            work.wrote(out)
        if save:
            result.save(save, force=force)
            work.wrote(save)
        written = work.written
    text = result.summary() + "".join(f"\nwrote {path}" for path in written)
    show(text, result.to_document() | ({"written": written} if written else {}), as_json=json)
