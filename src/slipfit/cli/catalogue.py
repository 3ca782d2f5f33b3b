"""slipfit robots, grounds, scenarios, laws: what the library has, with sources."""

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from slipfit.cli.output import ForceFlag, JsonFlag, show, table
from slipfit.errors import ParameterError

robots = typer.Typer(invoke_without_command=True)
grounds = typer.Typer(invoke_without_command=True)
scenarios = typer.Typer(invoke_without_command=True)

NameArgument = Annotated[str, typer.Argument(help="Name in the library, or the path of a .yaml file.")]
YamlFlag = Annotated[bool, typer.Option("--yaml", help="Print the file itself, as a start for your own.")]


@robots.callback()
def list_robots(context: typer.Context, json: JsonFlag = False) -> None:
    """List all robots."""
    if context.invoked_subcommand:
        return
    from slipfit.library import find_robot, robot_names

    records = [find_robot(name) for name in robot_names()]
    rows = [(r.name, f"{r.mass_kg.value:g} kg", *r.size_words, r.about) for r in records]
    text = (
        table(rows, ("robot", "mass", "track", "wheelbase", "about")) + "\n\nslipfit robots show NAME shows one with its sources."
    )
    show(text, {"robots": [r.to_mapping() for r in records]}, as_json=json)


@robots.command("show")
def show_robot(name: NameArgument, json: JsonFlag = False, yaml: YamlFlag = False) -> None:
    """Show one robot: numbers, spreads and sources."""
    from slipfit.library import find_robot

    record = find_robot(name)
    _show_record(record, record.sources(), json=json, yaml=yaml)


@grounds.callback()
def list_grounds(context: typer.Context, json: JsonFlag = False) -> None:
    """List all grounds."""
    if context.invoked_subcommand:
        return
    from slipfit.library import find_ground, ground_names

    records = [find_ground(name) for name in ground_names()]
    rows = [(g.name, g.law, ", ".join(f"{n} {v:g}" for n, v in g.values().items()), g.about) for g in records]
    text = table(rows, ("ground", "law", "constants", "about")) + "\n\nslipfit grounds show NAME shows one with its sources."
    show(text, {"grounds": [g.to_mapping() for g in records]}, as_json=json)


@grounds.command("show")
def show_ground(name: NameArgument, json: JsonFlag = False, yaml: YamlFlag = False) -> None:
    """Show one ground: law, constants, spreads and sources."""
    from slipfit.library import find_ground

    record = find_ground(name)
    _show_record(record, {p.source for p in record.parameters.values()}, json=json, yaml=yaml)


@scenarios.callback()
def list_scenarios(context: typer.Context, json: JsonFlag = False) -> None:
    """List all scenarios.

    Example: slipfit simulate lynxmotion_4wd3 --scenario crater_rim --report crater.html
    """
    if context.invoked_subcommand:
        return
    from slipfit.simulation.scenario import find_scenario, scenario_names

    records = {name: find_scenario(name) for name in scenario_names()}
    rows = [(name, *_place(s), f"{s.duration_s:.3g} s", s.about) for name, s in records.items()]
    text = (
        table(rows, ("scenario", "surface", "shape", "at most", "about"))
        + "\n\nTracked robots take those with an obstacle or a turn in soil, robots on wheels the others."
        + "\nslipfit scenarios show NAME shows one as its file."
    )
    show(text, {"scenarios": [{"name": name} | s.to_mapping() for name, s in records.items()]}, as_json=json)


def _place(scenario: Any) -> tuple[str, str]:
    """Surface or soil and shape of its ground, in a word or two."""
    ground = scenario.ground
    soil = ground.soil if ground.soil is None or isinstance(ground.soil, str) else "soil"
    surface = soil or ground.surface or f"friction {ground.mu_static:g}"
    gravity = f", {ground.gravity_mps2:g} m/s²" if ground.gravity_mps2 else ""
    shape = f"{math.degrees(ground.slope_rad):.3g}°" if ground.slope_rad else "level"
    if ground.obstacle:
        shape = f"{ground.obstacle.kind} {1e3 * ground.obstacle.height_m:.4g} mm"
    return surface, f"{ground.terrain or shape}{gravity}"


@scenarios.command("show")
def show_scenario(name: NameArgument, json: JsonFlag = False, yaml: YamlFlag = False) -> None:
    """Show one scenario as its file, a start for your own."""
    from slipfit.simulation.scenario import find_scenario

    if yaml and json:
        raise ParameterError("--json and --yaml exclude each other; choose one")
    record = find_scenario(name)
    show(record.to_yaml().rstrip("\n"), {"name": name} | record.to_mapping(), as_json=json)


def _show_record(record: Any, sources: set[str], *, json: bool, yaml: bool) -> None:
    from slipfit.library import citation, references

    if yaml and json:
        raise ParameterError("--json and --yaml exclude each other; choose one")
    if yaml:
        typer.echo(record.to_yaml(), nl=False)
        return
    cited = {key: citation(key) for key in sorted(sources) if key in references()}
    notes = "\n".join(f"  {key}: {work}" for key, work in cited.items())
    text = record.summary() + (f"\nsources\n{notes}" if notes else "")
    show(text, record.to_mapping() | {"sources": cited}, as_json=json)


def laws(
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw the friction curves side by side, and all laws, into this picture (.png, .svg, .pdf)."),
    ] = None,
    json: JsonFlag = False,
    force: ForceFlag = False,
) -> None:
    """List the contact laws: formula, constants, range and paper; --plot draws them."""
    from slipfit.contact import LAWS
    from slipfit.library import citation

    if plot:
        from slipfit.library.files import check_target
        from slipfit.report.figures import FIGURE_FORMATS, save_figure

        check_target(plot, force=force, formats=FIGURE_FORMATS)
        from slipfit.report.tyre_figure import draw_law_comparison

        save_figure(draw_law_comparison(), plot, force=force)
    blocks, documents = [], []
    for law in LAWS.values():
        lines = [law.name, f"  {law.about}", f"  {law.formula}", f"  valid for {law.valid_for}"]
        for p in law.parameters:
            given = f"default {p.default:g}" if p.default is not None else f"default {p.same_as}" if p.same_as else "required"
            short = f" (short: {p.alias})" if p.alias else ""
            lines.append(f"    {p.name:<18}{p.about}{short}, {given}")
        lines += [f"  source {key}: {citation(key)}" for key in law.references]
        blocks.append("\n".join(lines))
        documents.append(
            {
                "name": law.name,
                "about": law.about,
                "formula": law.formula,
                "valid_for": law.valid_for,
                "holds_at_rest": law.holds_at_rest,
                "parameters": [
                    {
                        "name": p.name,
                        "about": p.about,
                        "lower": p.lower,
                        "upper": p.upper,
                        "default": p.default,
                        "short": p.alias,
                    }
                    for p in law.parameters
                ],
                "sources": {key: citation(key) for key in law.references},
            }
        )
    text = "\n\n".join(blocks) + (f"\n\npicture {plot}" if plot else "")
    show(text, {"laws": documents} | ({"picture": plot} if plot else {}), as_json=json)
