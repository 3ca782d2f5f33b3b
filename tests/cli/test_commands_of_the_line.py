"""Help, JSON and exit codes of every command; what simulate and demo write."""

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer.main
import yaml

from controllers import controlled_twin
from patience import HANG_S
from slipfit.cli import app
from slipfit.library import find_robot, ground_names, robot_names
from slipfit.logs import read_log
from slipfit.simulation import Trajectory, run, simulate
from slipfit.simulation.scenario import standard_drive
from studies import DOCUMENT
from unit.calibration.omni.made_up_motors import motor_log
from unit.calibration.omni.made_up_runs import line, log_of
from unit.twin.twins import example

SHORT = """\
schema: slipfit/scenario/2
commands: [{for_s: 0.1, v_mps: 0.2}]
sensors: {imu: {rate_hz: 100}, pose: {rate_hz: 20}}
"""


def commands(group, path=()):
    """Every command that does something, as the words that call it; groups that do something on their own too."""
    for name, shown in group.commands.items():
        command = group.load(name) if path == () else shown
        if below := getattr(command, "commands", None):
            yield (*path, name), command
            yield from commands(command, (*path, name)) if below else ()
        else:
            yield (*path, name), command


COMMANDS = dict(commands(typer.main.get_command(app)))
ENGINES = pytest.mark.engine

#: What each needs in order to run.
ARGUMENTS = {
    ("robots", "show"): ["p3at"],
    ("grounds", "show"): ["gravel"],
    ("terrain", "show"): ["slope_20deg"],
    ("scenarios", "show"): ["serpentine_20deg"],
    ("schema",): ["robot"],
    ("simulate",): ["p3at", "--scenario", "short.yaml"],
    ("inspect",): ["drive", "--robot", "p3at"],
    ("twin",): ["p3at.twin.yaml"],
    ("calibrate",): ["drive", "--robot", "p3at"],
    ("compare",): ["drive", "--robot", "p3at", "--horizon", "1"],
    ("attribute",): ["drive", "--robot", "p3at", "--horizon", "1"],
    ("floors",): ["drive", "drive", "--robot", "p3at", "--horizon", "1"],
    ("plan",): ["p3at", "--precision", "20%"],
    ("validate",): ["p3at.twin.yaml", "drive"],
    ("export",): ["p3at.twin.yaml", "--to", "gz"],
    ("verify",): ["p3at.twin.yaml", "--engine", "ode"],
    ("drive",): ["short.yaml", "--twin", "driven.twin.yaml", "--port", "sim"],
    ("odometry",): ["drive", "--robot", "p3at"],
    ("umbmark",): ["drive", "--any-path", "--robot", "p3at"],
    ("circle",): ["--twin", "p3at.twin.yaml", "--turn-deg", "90", "--yaw-rate-radps", "0.5"],
    ("omni", "limit"): ["ohio_omni", "--ground", "ohio_paper"],
    ("omni", "move"): ["ohio_omni", "--ground", "ohio_paper", "--way-m", "0.1", "--speed", "0.2"],
    ("omni", "calibrate"): [*(f"line_{k}" for k in range(6)), "--truth", "pose", "--robot", "robotino"],
    ("omni", "tilt"): ["--mu-w-deg", "14.4", "--mu-w-deg", "14.6"],
    ("omni", "motor"): ["motors", "--supply-v", "24"],
    ("study",): ["curb.yaml"],
    ("estimate",): ["p3at", "drive"],
    ("tracks",): ["states.csv", "--robot", "maxxii"],
    ("soil", "show"): ["dry_sand"],
    ("soil", "plates"): ["plates.csv", "--columns", "plates.yaml"],
    ("soil", "shear"): ["shear.csv", "--columns", "shear.yaml"],
    ("soil", "wheel"): ["wheel.csv", "--columns", "wheel.yaml", "--soil", "dry_sand", "--model", "none"],
    ("soil", "cone"): ["400", "--kind", "sand"],
    ("tyre", "fit"): ["forces.csv", "--columns", "map.yaml", "--law", "dugoff"],
    ("friction", "tilt"): ["--angle-deg", "30", "--angle-deg", "31"],
    ("friction", "pull"): ["--force-n", "95", "--force-n", "92", "--robot", "p3at"],
    ("friction", "stall"): ["--torque-nm", "10", "--torque-nm", "11", "--robot", "p3at"],
    ("friction", "braking"): ["--speed-mps", "1", "--distance-m", "0.1", "--distance-std-m", "0.01"],
}


def write_soil_tests(folder):
    """Plates, shear boxes and a wheel in soils without scatter, as tables with maps of their columns."""
    rows = [(d, z, (0.99 / (5e-4 * d) + 1528.43) * (1e-3 * z) ** 1.1) for d in (60, 120) for z in range(1, 31, 3)]
    (folder / "plates.csv").write_text("d,z,p\n" + "".join(f"{d},{z},{p:.6g}\n" for d, z, p in rows))
    unit = {"z": "{column: z, unit: mm}", "d": "{column: d, unit: mm}"}
    (folder / "plates.yaml").write_text(
        f"schema: slipfit/plate_columns/1\ntest: d\nsinkage: {unit['z']}\ndiameter: {unit['d']}\n"
        "pressure: {column: p, unit: kPa}\n"
    )
    sheared = [(p, j, (1.0 + p * math.tan(0.5)) * (1.0 - math.exp(-j / 12.0))) for p in (5, 15, 30) for j in range(2, 60, 4)]
    (folder / "shear.csv").write_text("p,j,tau\n" + "".join(f"{p},{j},{tau:.6g}\n" for p, j, tau in sheared))
    (folder / "shear.yaml").write_text(
        "schema: slipfit/shear_columns/1\ntest: p\ndisplacement: {column: j, unit: mm}\nshear: {column: tau, unit: kPa}\n"
        "normal: {column: p, unit: kPa}\n"
    )
    slips = [0.1 * k for k in range(1, 9)] * 3
    pulls = [(s, 20.0 * (0.35 * (1.0 - math.exp(-5.0 * s)) - 0.1), 8.0 + 10.0 * s) for s in slips]
    (folder / "wheel.csv").write_text("slip,pull,z\n" + "".join(f"{s:.2f},{f:.4f},{z:.3f}\n" for s, f, z in pulls))
    (folder / "wheel.yaml").write_text(
        "schema: slipfit/wheel_columns/1\nradius_m: 0.058\nwidth_m: 0.05\nslip: slip\nload_n: 20\nforce_along: pull\n"
        "sinkage: {column: z, unit: mm}\nsettings: [slip]\n"
    )


@pytest.fixture(autouse=True)
def short_scenario(tmp_path, request):
    (tmp_path / "short.yaml").write_text(SHORT)
    if any(f"[{name}]" in request.node.name for name in ("twin", "validate", "export", "verify", "circle")):
        example().save(tmp_path / "p3at.twin.yaml")
    if "[omni calibrate]" in request.node.name:
        for k in range(6):
            log_of(line(k * np.pi / 3.0, 0.8, 0.01, 0.05)).save_csv(tmp_path / f"line_{k}")
    if "[tyre fit]" in request.node.name:
        (tmp_path / "forces.csv").write_text(
            "slip,force\n" + "".join(f"{k / 20},{40 * math.tanh(k / 2)}\n" for k in range(-9, 10))
        )
        (tmp_path / "map.yaml").write_text("{schema: slipfit/tyre_columns/1, slip: slip, load_n: 50, force_along: force}\n")
    if "[study]" in request.node.name:
        (tmp_path / "curb.yaml").write_text(yaml.safe_dump(DOCUMENT))
    if "[soil " in request.node.name:
        write_soil_tests(tmp_path)
    if "[tracks]" in request.node.name:
        rows = [(a, b, 0.01 * a - 0.02 * b, 0.01 * b - 0.02 * a) for a in range(-3, 4) for b in range(-3, 4)]
        (tmp_path / "states.csv").write_text("\n".join(",".join(map(str, row)) for row in rows))
    if "[omni motor]" in request.node.name:
        motor_log(dt_s=0.01).save_csv(tmp_path / "motors")
    if "[drive]" in request.node.name:
        controlled_twin().save(tmp_path / "driven.twin.yaml")
    if any(
        f"[{name}]" in request.node.name
        for name in ("inspect", "calibrate", "compare", "attribute", "floors", "validate", "odometry", "umbmark", "estimate")
    ):
        simulate(find_robot("p3at"), standard_drive()).readings.save_csv(tmp_path / "drive")


def is_progress(text):
    """Nothing, or a line for each stage of work that takes more than a second."""
    return all(line.startswith("slipfit: ") for line in text.splitlines())


def test_the_commands_of_the_journey_are_there():
    assert {("demo",), ("simulate",), ("robots",), ("robots", "show"), ("grounds",), ("laws",), ("schema",)} <= COMMANDS.keys()


@pytest.mark.parametrize(
    "words", [pytest.param(words, id=" ".join(words), marks=ENGINES if words == ("verify",) else ()) for words in COMMANDS]
)
@pytest.mark.usefixtures("sim_in_virtual_time")
class TestEveryCommand:
    def test_it_prints_one_json_document_and_nothing_else(self, slipfit, words):
        if words == ("demo",):
            return  # a demo is long: test_the_demo_needs_no_file_and_names_what_it_wrote
        result = slipfit(*words, *ARGUMENTS.get(words, []), "--json")
        # Standard error may say what takes more than a second, and nothing else.
        assert (result.code, is_progress(result.err)) == (0, True)
        document = json.loads(result.out, parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))
        assert isinstance(document, dict)

    def test_it_prints_text_for_people(self, slipfit, words):
        if words == ("demo",):
            return  # a demo is long: what `make demo` runs
        result = slipfit(*words, *ARGUMENTS.get(words, []))
        # Work of more than a second says so on standard error.
        assert (result.code, is_progress(result.err)) == (0, True)
        assert result.out.strip()

    @pytest.mark.parametrize("flag", ["--help", "-h"])
    def test_it_explains_itself(self, slipfit, words, flag):
        result = slipfit(*words, flag)
        assert (result.code, result.said) == (0, [])
        assert "Usage: slipfit " + " ".join(words) in re.sub(r"\s+", " ", result.out)
        assert "--json" in result.out


def test_help_of_all_commands_loads_nothing_heavy():
    """`import numba` alone takes longer than a user wants to wait for --help."""
    script = f"""
import sys
from slipfit.cli import main
for words in {[(), *COMMANDS]!r}:
    sys.argv = ["slipfit", *words, "--help"]
    try:
        main()
    except SystemExit as stop:
        assert not stop.code
heavy = {{"numba", "numpy", "scipy", "matplotlib", "duckdb", "yaml"}} & sys.modules.keys()
sys.exit(", ".join(sorted(heavy)) or 0)
"""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, timeout=HANG_S)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr  # it may say that something takes more than a second


def test_the_version_is_printed(slipfit):
    assert slipfit("--version").out == "slipfit 0.1.0\n"


@pytest.mark.parametrize(
    "arguments", [("simulate",), ("nonsense",), ("robots", "--nonsense"), ("simulate", "p3at", "--slope-deg", "x")]
)
def test_a_wrong_call_exits_with_2(slipfit, arguments):
    result = slipfit(*arguments)
    assert (result.code, result.out) == (2, "")
    assert "Traceback" not in result.err


def test_the_catalogue_lists_everything(slipfit):
    assert [robot["name"] for robot in json.loads(slipfit("robots", "--json").out)["robots"]] == robot_names()
    assert [ground["name"] for ground in json.loads(slipfit("grounds", "--json").out)["grounds"]] == ground_names()
    for name in robot_names():
        assert re.search(rf"(?m)^{name} ", slipfit("robots").out)


def test_a_robot_is_shown_with_its_sources(slipfit):
    """SPEC 6: the P3AT has 20 kg; its numbers come from the Gazebo model library."""
    document = json.loads(slipfit("robots", "show", "p3at", "--json").out)
    assert (document["mass_kg"]["value"], document["mass_kg"]["source"]) == (20.0, "GazeboP3AT")
    assert "Gazebo model library" in document["sources"]["GazeboP3AT"]
    assert "Gazebo model library" in slipfit("robots", "show", "p3at").out


@pytest.mark.parametrize("name", robot_names())
def test_a_robot_shown_as_yaml_is_a_file_to_start_from(slipfit, name):
    Path("mine.yaml").write_text(slipfit("robots", "show", name, "--yaml").out)
    assert find_robot("mine.yaml") == find_robot(name)
    assert slipfit("robots", "show", "mine.yaml").code == 0


def test_a_ground_shown_as_yaml_is_a_file_to_start_from(slipfit):
    text = slipfit("grounds", "show", "gravel", "--yaml").out
    assert yaml.safe_load(text)["parameters"]["mu_long"]["value"] == 0.60
    Path("mine.yaml").write_text(text)
    assert slipfit("simulate", "p3at", "--scenario", "short.yaml", "--ground", "mine.yaml").code == 0


def test_a_schema_is_printed_as_it_is_kept(slipfit):
    assert json.loads(slipfit("schema", "scenario").out)["title"] == "slipfit/scenario/2"


# --- simulate and demo -----------------------------------------------------------------------------------------------


def test_simulate_writes_what_it_is_told_and_says_so(slipfit):
    flags = ["-o", "drive.csv", "--readings", "said", "--plot", "drive.png"]
    result = slipfit("simulate", "p3at", "--scenario", "short.yaml", *flags, "--json")
    document = json.loads(result.out)
    assert document["written"] == ["drive.csv", "said/imu.csv", "said/pose.csv", "drive.png"]
    assert sorted(map(str, Path.cwd().rglob("*.*"))) == sorted(str(Path.cwd() / f) for f in ["short.yaml", *document["written"]])
    drive = Trajectory.load("drive.csv")
    assert document["end"]["x_m"] == drive.x_m[-1]
    assert document["duration_s"] == pytest.approx(0.1)
    assert document["readings"]["imu"] == {"samples": 11, "rate_hz": pytest.approx(100.0)}
    assert "wrote drive.tum" in slipfit("simulate", "p3at", "--scenario", "short.yaml", "-o", "drive.tum").out


@pytest.mark.parametrize("name", ["run2.mcap", "run2.bag"])
def test_readings_named_as_a_bag_are_a_bag(slipfit, name):
    """The scenario has 11 samples of the IMU and 3 poses."""
    result = slipfit("simulate", "p3at", "--scenario", "short.yaml", "--readings", name, "--json")
    assert json.loads(result.out)["written"] == [name]
    assert Path(name).is_file()
    log = read_log(name)
    assert (len(log["imu"].stamps_ns), len(log["pose"].stamps_ns)) == (11, 3)
    assert "exists already" in slipfit("simulate", "p3at", "--scenario", "short.yaml", "--readings", name).err


def test_readings_as_db3_are_refused(slipfit):
    result = slipfit("simulate", "p3at", "--scenario", "short.yaml", "--readings", "run2.db3")
    assert (result.code, "expected .mcap, .bag, or a folder's name" in result.err) == (2, True)


def test_a_friction_that_a_twin_does_not_tell_is_told_to_be_assumed(slipfit):
    """The twin proves mu of 0.29 and more; the law's default is 10."""
    example().save("told.twin.yaml")
    note = "the twin's drives do not tell mu: mu = 10 (grip never runs out) was assumed, at least 0.29 was proven"
    assert f"note: {note}\n" in slipfit("simulate", "told.twin.yaml", "--scenario", "short.yaml").out
    assert json.loads(slipfit("simulate", "told.twin.yaml", "--scenario", "short.yaml", "--json").out)["notes"] == [note]
    elsewhere = slipfit("simulate", "told.twin.yaml", "--scenario", "short.yaml", "--ground", "gravel", "--json")
    assert json.loads(elsewhere.out)["notes"] == []


def test_existing_files_are_overwritten_with_force(slipfit):
    for _ in range(2):
        result = slipfit(
            "simulate", "p3at", "--scenario", "short.yaml", "-o", "a.csv", "--plot", "a.svg", "--readings", "a", "--force"
        )
        assert result.code == 0
    assert sorted(path.name for path in Path.cwd().iterdir()) == ["a", "a.csv", "a.svg", "short.yaml"]


def test_a_slope_on_the_command_line_is_in_degrees(slipfit):
    """At rest nose-up on 20°: each axle carries m g (cos 20° ∓ sin 20° h / (L / 2)) / 2, P3AT h = 0.152 m, L = 0.25 m."""
    Path("rest.yaml").write_text("schema: slipfit/scenario/2\ncommands: [{for_s: 0.1, v_mps: 0.0}]\n")
    slipfit("simulate", "p3at", "--scenario", "rest.yaml", "--slope-deg", "20", "-o", "rest.parquet")
    half = 20.0 * 9.81 / 4
    c, s = np.cos(np.radians(20)), np.sin(np.radians(20))
    expected = [half * (c - s * 0.152 / 0.125)] * 2 + [half * (c + s * 0.152 / 0.125)] * 2
    assert Trajectory.load("rest.parquet").load_n[-1] == pytest.approx(expected, rel=1e-3)


def test_uphill_to_the_left_loads_the_right_wheels(slipfit):
    Path("rest.yaml").write_text("schema: slipfit/scenario/2\ncommands: [{for_s: 0.1, v_mps: 0.0}]\n")
    slipfit("simulate", "p3at", "--scenario", "rest.yaml", "--slope-deg", "10", "--uphill-deg", "90", "-o", "rest.parquet")
    left, right, *_ = Trajectory.load("rest.parquet").load_n[-1]
    assert left < right


def test_a_run_that_diverges_exits_with_1(slipfit, monkeypatch):
    """The answer is "no": exit 1, and JSON has null where a number is not finite."""
    as_it_is = run.drive_runs
    monkeypatch.setattr(run, "drive_runs", lambda found, vary, records: as_it_is(found, {"mass_kg": [np.nan]}, records))
    result = slipfit("simulate", "p3at", "--scenario", "short.yaml", "--json")
    assert result.code == 1
    assert json.loads(result.out)["status"] == "diverged"
    assert json.loads(result.out)["end"]["x_m"] is None


def test_the_demo_needs_no_file_and_names_what_it_wrote(slipfit):
    result = slipfit("demo", "--json")
    assert (result.code, is_progress(result.err)) == (0, True)
    document = json.loads(result.out, parse_constant=lambda constant: pytest.fail(f"{constant} is no JSON"))
    names = [Path(path).name for path in document["written"]]
    assert {"plan.scenario.yaml", "run.mcap", "p3at.twin.yaml", "p3at.report.html", "slip.png", "validation.png"} <= set(names)
    assert all(Path(path).stat().st_size > 0 for path in document["written"])
    # The truth that only the simulator knows; and the published protocol on its own speed steps, which scatter (SPEC 1(b)).
    found, known = document["calibration"]["parameters"]["c_long_per_n"], document["truth"]["c_long_per_n"]
    assert found["value"] == pytest.approx(known, abs=4 * found["std"])
    by_differences = document["by_published_protocol"]["c_long_per_n"]
    assert by_differences["runs"] >= 10
    assert by_differences["std_of_mean"] > 2 * found["std"]


def test_laws_are_drawn(slipfit):
    document = json.loads(slipfit("laws", "--plot", "laws.svg", "--json").out)
    assert document["picture"] == "laws.svg"
    assert Path("laws.svg").read_text().startswith("<?xml")
