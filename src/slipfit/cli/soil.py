"""slipfit soil: soils of the library, and soils from plates, shear tests, single wheels or a cone index."""

import math
import re
from collections.abc import Callable
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand

from slipfit.cli.output import ForceFlag, JsonFlag, Work, show, table, working

if TYPE_CHECKING:
    from slipfit.calibration.soil import SoilFit
    from slipfit.library import Ground
    from slipfit.report.soil_figure import SoilData

    Found = tuple[SoilFit, SoilData | None]  # what a test tells, and its rows

app = typer.Typer(invoke_without_command=True)

DataArgument = Annotated[Path, typer.Argument(help="Table of the tests (.csv, .csv.gz).")]
SoilOption = Annotated[
    str | None, typer.Option("--soil", help="Soil to take the constants from that these tests do not tell: name, or .yaml.")
]
OutOption = Annotated[Path | None, typer.Option("--out", "-o", help="Write the soil as a ground (.yaml).")]
SaveOption = Annotated[Path | None, typer.Option("--save", help="Write the whole result (.json).")]
PlotOption = Annotated[Path | None, typer.Option("--plot", help="Draw data and fit (.png, .svg or .pdf).")]
ReportOption = Annotated[Path | None, typer.Option("--report", help="Write a page with constants, figures and doubts (.html).")]


@app.callback()
def soils(context: typer.Context, json: JsonFlag = False) -> None:
    """Soils: the library's, and from plate, shear, wheel and cone tests. Without a command, the list.

    Example: slipfit soil plates plates.csv --columns map.yaml --soil dry_sand -o my_sand.yaml
    """
    if not context.invoked_subcommand:
        list_soils(json=json)


@app.command("list")
def list_soils(json: JsonFlag = False) -> None:
    """List the soils of the library: moisture and constants, in the units that tables print.

    Example: slipfit soil list
    """
    from slipfit.library import find_ground, ground_names

    records = [ground for ground in map(find_ground, ground_names()) if ground.law == "soil"]
    rows = []
    for soil in records:
        v = soil.values()
        moisture = f"{soil.moisture_percent.value:g} %" if soil.moisture_percent else "–"
        kilo = [f"{1e-3 * v[name]:g}" for name in ("k_c", "k_phi", "cohesion_pa")]
        angle, way = f"{math.degrees(v['friction_angle_rad']):.3g}°", f"{1e3 * v['shear_modulus_m']:g} mm"
        rows.append(
            (
                soil.name,
                moisture,
                f"{v['n']:g}",
                kilo[0],
                kilo[1],
                f"{kilo[2]} kPa",
                angle,
                way,
                shorten(soil.about, 60, placeholder=" ..."),
            )
        )
    heads = ("soil", "moisture", "n", "k_c kN/m^(n+1)", "k_phi kN/m^(n+2)", "c", "phi", "K", "about")
    text = table(rows, heads) + "\n\nslipfit soil show NAME shows one with spreads and sources."
    show(text, {"soils": [soil.to_mapping() for soil in records]}, as_json=json)


@app.command("show")
def show_soil(
    name: Annotated[str, typer.Argument(help="Name in the library, or the path of a .yaml file.")],
    json: JsonFlag = False,
    yaml: Annotated[bool, typer.Option("--yaml", help="Print the file itself, as a start for your own.")] = False,
) -> None:
    """Show one soil: constants, spreads and sources.

    Example: slipfit soil show dry_sand
    """
    from slipfit.cli.catalogue import show_ground

    _soil(name)
    show_ground(name, json=json, yaml=yaml)


@app.command("plates")
def plates(
    data: DataArgument,
    columns: Annotated[Path, typer.Option("--columns", help="What its columns mean (slipfit/plate_columns/1).")],
    soil: SoilOption = None,
    out: OutOption = None,
    save: SaveOption = None,
    plot: PlotOption = None,
    report: ReportOption = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Bekker's k_c, k_phi and n from plates of several diameters, in one fit.

    Example: slipfit soil plates plates.csv --columns map.yaml --soil dry_sand -o my_sand.yaml
    """

    def found(_: Work, __: "Ground | None") -> "Found":
        from slipfit.calibration.soil import fit_plates, read_plates

        measured = read_plates(data, columns)
        return fit_plates(measured), measured

    _calibrate("fitting plates", found, soil, Targets(out, save, plot, report, force), json=json)


@app.command("shear")
def shear(
    data: DataArgument,
    columns: Annotated[Path, typer.Option("--columns", help="What its columns mean (slipfit/shear_columns/1).")],
    soil: SoilOption = None,
    out: OutOption = None,
    save: SaveOption = None,
    plot: PlotOption = None,
    report: ReportOption = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Cohesion, friction angle and shear modulus from shear tests at several normal stresses.

    Example: slipfit soil shear shear.csv --columns map.yaml --soil my_sand.yaml -o my_sand_2.yaml
    """

    def found(_: Work, __: "Ground | None") -> "Found":
        from slipfit.calibration.soil import fit_shear, read_shear

        measured = read_shear(data, columns)
        return fit_shear(measured), measured

    _calibrate("fitting shear tests", found, soil, Targets(out, save, plot, report, force), json=json)


@app.command("wheel")
def wheel(
    data: DataArgument,
    columns: Annotated[Path, typer.Option("--columns", help="What its columns mean (slipfit/wheel_columns/1).")],
    soil: Annotated[str, typer.Option("--soil", help="Soil with Bekker's constants, as from plates: name, or .yaml.")],
    hold: Annotated[list[str] | None, typer.Option("--hold", help="Constant that stays the soil's; may be repeated.")] = None,
    seek: Annotated[
        list[str] | None,
        typer.Option("--seek", help="Constant to fit even though the soil has it from a test, or the wheel does not tell it."),
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option("--model", help="Slip-sinkage: lyasko, ding or none; may be repeated. All, unless told.")
    ] = None,
    out: OutOption = None,
    save: SaveOption = None,
    plot: PlotOption = None,
    report: ReportOption = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """Shear and slip-sinkage constants from single-wheel tests, with errors on repeats that were left out.

    Example: slipfit soil wheel wheel.csv --columns map.yaml --soil my_sand.yaml --report wheel.html -o my_sand_2.yaml
    """

    def found(work: Work, base: "Ground | None") -> "Found":
        from slipfit.calibration.soil import fit_wheel, read_wheel
        from slipfit.calibration.soil.wheel import MODELS

        assert base is not None  # --soil is required
        measured = read_wheel(data, columns)
        fit = fit_wheel(measured, base, hold=hold or (), seek=seek or (), models=model or tuple(MODELS), tell=work)
        return fit, measured

    _calibrate("fitting wheel tests", found, soil, Targets(out, save, plot, report, force), json=json)


class _NumbersMayBeNegative(TyperCommand):
    """A command without short options of digits: -400 is a number, whatever is to be said of it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        numbers = [word for word in args if re.fullmatch(r"-\d*\.?\d+(e[+-]?\d+)?", word)]
        return super().parse_args(ctx, [word for word in args if word not in numbers] + (["--", *numbers] if numbers else []))


@app.command("cone", cls=_NumbersMayBeNegative)
def cone(
    index_kpa: Annotated[float, typer.Argument(help="Cone index of the first 150 mm, kPa (psi times 6.895).")],
    kind: Annotated[str, typer.Option("--kind", help="Kind of soil: sand, loam, clay or snow.")],
    out: OutOption = None,
    save: SaveOption = None,
    report: ReportOption = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """A soil from a cone index, with the width that one number leaves.

    Example: slipfit soil cone 400 --kind clay -o clay.yaml
    """

    def found(_: Work, __: "Ground | None") -> "Found":
        from slipfit.calibration.soil import soil_from_cone

        return soil_from_cone(1e3 * index_kpa, kind, unit="kPa"), None

    _calibrate("looking up soils", found, None, Targets(out, save, None, report, force), json=json)


def _soil(name: str | None) -> "Ground | None":
    """A soil of the library or of a file."""
    if name is None:
        return None
    from slipfit.errors import ParameterError
    from slipfit.library import find_ground, ground_names

    if name not in ground_names() and not name.endswith((".yaml", ".yml")) and "/" not in name:
        raise ParameterError(
            f"there is no soil '{name}' in the library; {_soils_by_nearness(name)}; a file of yours ends in .yaml"
        )
    ground = find_ground(name)
    if ground.law != "soil":
        raise ParameterError(f"ground {ground.name} has the law {ground.law}; expected a soil (`slipfit soil list` shows them)")
    return ground


def _soils_by_nearness(name: str) -> str:
    from difflib import SequenceMatcher

    from slipfit.library import find_ground, ground_names

    soils = [one for one in ground_names() if find_ground(one).law == "soil"]
    near = sorted(soils, key=lambda one: -SequenceMatcher(None, name.lower(), one).ratio())
    return f"the nearest of {len(soils)} is '{near[0]}', the others are {', '.join(near[1:])}"


class Targets(NamedTuple):
    """Where a result goes."""

    out: Path | None
    save: Path | None
    plot: Path | None
    report: Path | None
    force: bool

    def check(self) -> None:
        """Stop before any work where a result could not be written."""
        from slipfit.cli.results import check_results
        from slipfit.library.files import check_target

        if self.out:
            check_target(self.out, force=self.force, formats=(".yaml", ".yml"))
        check_results(self.save, self.plot, force=self.force)
        if self.report:
            from slipfit.report.html import PAGE_FORMATS

            check_target(self.report, force=self.force, formats=PAGE_FORMATS)


def _calibrate(
    doing: str, find: "Callable[[Work, Ground | None], Found]", soil: str | None, targets: Targets, *, json: bool
) -> None:
    """One calibration from its flags to its lines: checked, found, written, shown."""
    targets.check()
    base = _soil(soil)
    with working(doing) as work:
        fit, data = find(work, base)
        _write(fit, data, base, work, targets)
    text = fit.summary() + "".join(f"\nwrote {path}" for path in work.written)
    show(text, fit.to_document() | ({"written": work.written} if work.written else {}), as_json=json)


def _write(fit: "SoilFit", data: "SoilData | None", base: "Ground | None", work: Work, targets: Targets) -> None:
    out, save, plot, report, force = targets
    ground = fit.ground(out.stem, base) if out else None
    if plot and data is not None:
        from slipfit.report.figures import save_figure
        from slipfit.report.soil_figure import draw_soil

        work("drawing")
        save_figure(draw_soil(fit, data), plot, force=force)
        work.wrote(plot)
    if report:
        from slipfit.report.soil_report import write_soil_report

        write_soil_report(fit, data, report, ground=ground, force=force)
        work.wrote(report)
    if out and ground:
        ground.save(out, force=force)
        work.wrote(out)
    if save:
        fit.save(save, force=force)
        work.wrote(save)
