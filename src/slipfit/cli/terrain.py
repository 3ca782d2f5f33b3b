"""slipfit terrain: height maps of the library or of your own, with slopes and roughness."""

from pathlib import Path
from typing import Annotated

import typer

from slipfit.cli.output import ForceFlag, JsonFlag, show, table, working

app = typer.Typer(invoke_without_command=True)


@app.callback()
def list_terrains(context: typer.Context, json: JsonFlag = False) -> None:
    """List the terrains of the library."""
    if context.invoked_subcommand:
        return
    from slipfit.library import find_terrain, terrain_names

    found = [find_terrain(name) for name in terrain_names()]
    rows = [(t.name, "{1:g} x {0:g} m".format(*(t.spacing_m * (n - 1) for n in t.heights_m.shape)), t.about) for t in found]
    text = table(rows, ("terrain", "size", "about")) + "\n\nslipfit terrain show NAME shows one with slopes and roughness."
    show(text, {"terrains": [t.to_document() for t in found] if json else []}, as_json=json)


@app.command("show")
def show_terrain(
    file: Annotated[str, typer.Argument(help="Name in the library, or the path of a .yaml file or a GeoTIFF.")],
    window: Annotated[
        float | None, typer.Option(help="Side of the window that roughness is judged over, metres.", min=1e-3, max=1e5)
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw maps of height, slope and roughness into this picture (.png, .svg or .pdf).")
    ] = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Show a terrain: size, spacing, heights, and statistics of slope and roughness.

    Example: slipfit terrain show crater_rim --plot crater.png
    """
    from slipfit.library import find_terrain
    from slipfit.library.files import check_target

    if plot:
        from slipfit.report.figures import FIGURE_FORMATS, save_figure
        from slipfit.report.terrain_figure import draw_terrain

        check_target(plot, force=force, formats=FIGURE_FORMATS)
    with working(f"reading {file}") as work:
        terrain = find_terrain(file)
        work("judging slopes and roughness")
        text = "" if json else terrain.summary(window)
        document = terrain.to_document(window) if json else {}
        if plot:
            work("drawing")
            save_figure(draw_terrain(terrain, window), plot, force=force)
    show(text + (f"\npicture {plot}" if plot else ""), document | ({"picture": str(plot)} if plot else {}), as_json=json)
