"""README, docs and examples do what they show, and name what is there: scripts, blocks, commands, links, keys."""

import inspect
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
from pydantic import BaseModel
from typer.main import get_command
from typer.testing import CliRunner

import slipfit
from patience import HANG_S
from slipfit.calibration.soil import PlateColumns, ShearColumns, WheelColumns
from slipfit.cli import app
from slipfit.contact import LAWS
from slipfit.errors import SlipfitError
from slipfit.library import Ground, Robot, TerrainFile, TrackedRobot, references
from slipfit.simulation import Scenario
from slipfit.study import StudyFile

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SCRIPTS = sorted((ROOT / "examples").glob("*.py"))
BLOCK = re.compile(r"(?ms)^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")


def page_name(page):
    return page.relative_to(ROOT).as_posix()


def blocks(page):
    """Kind and text of every fenced block. A YAML block whose first line is a comment with a file name is that file."""
    return [(found["info"].strip(), found["body"]) for found in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def run_python(text):
    exec(compile(text, "block", "exec"), {"__name__": "__main__"})


def run_command(line):
    """Output of one `slipfit ...` line, as a user sees it on both streams."""
    result = CliRunner().invoke(app, shlex.split(line)[1:])
    if isinstance(result.exception, SlipfitError):
        return f"slipfit: {result.exception}"
    assert result.exit_code == 0, result.output
    return result.output


def agree(shown, got):
    """The same words, and numbers within 2 %: pages show real output, but do not pin the last digit."""
    if NUMBER.sub("#", shown).split() != NUMBER.sub("#", got).split():
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(got), strict=True)
    return all(float(g) == pytest.approx(float(s), rel=0.02, abs=0.02) for s, g in pairs)


def check_console(text):
    """Run every command of a console block; the lines shown below it occur in its output, `...` stands for any."""
    for part in text.split("$ ")[1:]:
        command, *shown = part.splitlines()
        got = run_command(command).splitlines()
        for line in shown:
            assert line in ("", "...") or any(agree(line, g) for g in got), f"{command}: '{line}' is not in\n" + "\n".join(got)


@pytest.mark.usefixtures("sim_in_virtual_time")
@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_page_does_what_it_shows(page, tmp_path, monkeypatch):
    """In order and in one folder, as a reader would."""
    monkeypatch.chdir(tmp_path)
    for info, text in blocks(page):
        named = re.match(r"# (\S+\.yaml)\n", text)
        if info == "yaml" and named:
            (tmp_path / named[1]).write_text(text, encoding="utf-8")
        elif info == "python":
            run_python(text)
        elif info == "console" and text.startswith("$ slipfit"):
            check_console(text)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_script_runs_and_draws(script, tmp_path):
    done = subprocess.run([sys.executable, script, tmp_path / "out"], capture_output=True, text=True, check=False, timeout=HANG_S)
    assert done.returncode == 0, done.stderr
    assert "wrote" in done.stdout
    assert list((tmp_path / "out").glob("*.png"))


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), target
        if anchor:
            assert anchor in anchors(there), target


def anchors(page):
    """Headings as links name them."""
    titles = re.findall(r"(?m)^#+ (.+)$", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_work_that_is_cited_is_in_the_list():
    for page in PAGES:
        cited = re.findall(r"\[([A-Z]\w+\d{4})\]", page.read_text(encoding="utf-8"))
        assert set(cited) <= set(references()), page.name


def keys(model):
    """Every key of a file, those of its parts included."""
    for name, field in model.model_fields.items():
        yield field.alias or name
        for part in parts(field.annotation):
            yield from keys(part)


def parts(annotation):
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [part for argument in get_args(annotation) for part in parts(argument)]


DESCRIBED = [
    Robot,
    TrackedRobot,
    Ground,
    TerrainFile,
    Scenario,
    StudyFile,
    PlateColumns,
    ShearColumns,
    WheelColumns,
]


@pytest.mark.parametrize("model", DESCRIBED, ids=lambda model: model.__name__)
def test_every_key_of_a_file_is_described(model):
    page = (ROOT / "docs" / "reference" / "files.md").read_text(encoding="utf-8")
    described = {key for entry in re.findall(r"`([\w.]+)`", page) for key in entry.split(".")} | {"schema"}
    assert set(keys(model)) <= described


def test_every_constant_of_a_law_is_described():
    page = (ROOT / "docs" / "reference" / "files.md").read_text(encoding="utf-8")
    for law in LAWS.values():
        for name in (law.name, *(n for p in law.parameters for n in (p.name, p.alias) if n)):
            assert f"`{name}`" in page, name


def test_every_command_and_option_is_described():
    page = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    line = get_command(app)
    for name in line.commands:
        command = line.load(name)
        assert f"slipfit {name}" in page
        for option in (o for p in command.params for o in p.opts if o.startswith("--") and o != "--help"):
            assert f"`{option}`" in page, f"{name} {option}"


def test_every_name_of_the_front_door_is_described():
    page = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    for name in slipfit.__all__:
        assert f"sf.{name}" in page, name


def test_every_argument_of_the_front_door_is_described():
    page = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    for name in slipfit.__all__:
        thing = getattr(slipfit, name)
        if inspect.isfunction(thing):
            entry = next(part for part in page.split("\n\n") if f"sf.{name}(" in part)
            missing = [argument for argument in inspect.signature(thing).parameters if argument not in entry]
            assert not missing, f"{name}: {missing}"
