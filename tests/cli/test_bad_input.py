"""Whatever is wrong with the input: one sentence with file and key, exit 2, nothing written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from patience import HANG_S
from slipfit.simulation import engine

ROBOT = """\
schema: slipfit/robot/1
name: mine
drive: skid_steer
mass_kg: 20.0
yaw_inertia_kgm2: 0.755
roll_inertia_kgm2: 0.426
pitch_inertia_kgm2: 0.480
centre_of_mass_m: [0.0, 0.0, 0.16]
wheels:
  radius_m: 0.11
  width_m: 0.075
  at_m: [[0.125, 0.201], [0.125, -0.201], [-0.125, 0.201], [-0.125, -0.201]]
  spin_inertia_kgm2: 0.0091
powertrain: {kind: speed_loop, torque_limit_nm: 2.0}
"""

SCENARIO = """\
schema: slipfit/scenario/2
ground: {slope_rad: 0.0, surface: lab_floor}
commands: [{for_s: 0.05, v_mps: 0.2}]
"""


def write(name, text, old="", new=""):
    assert old in text
    Path(name).write_text(text.replace(old, new))
    return name


def test_the_files_are_good_before_they_are_spoilt(slipfit):
    result = slipfit("simulate", write("robot.yaml", ROBOT), "--scenario", write("scenario.yaml", SCENARIO))
    assert (result.code, result.said) == (0, [])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("mass_kg: 20.0", "mass_kg: -20.0", ["mass_kg", "-20 kg", "[0.01, 100000]"]),
        ("mass_kg: 20.0", "mass_kg: yes", ["mass_kg", "True", "expected a number"]),
        ("mass_kg: 20.0", "mass_kg: .nan", ["mass_kg", "not a number"]),
        ("mass_kg: 20.0", "mass_kg: 1" + "0" * 400, ["mass_kg", "expected a number"]),
        ("mass_kg: 20.0", "mass_kg: 20.0\nmass_kg: 30.0", ["line 5", "'mass_kg'", "twice"]),
        ("mass_kg: 20.0", "mas_kg: 20.0", ["unknown key 'mas_kg'", "did you mean 'mass_kg'"]),
        ("radius_m: 0.11", "radius_m: 110", ["wheels.radius_m", "110 m", "millimetres, write 0.11"]),
        ("radius_m: 0.11", "radiusm: 0.11", ["unknown key 'wheels.radiusm'", "'radius_m'"]),
        ("torque_limit_nm: 2.0", "torque_limit_nm: -2", ["powertrain.torque_limit_nm", "-2 N m"]),
        ("kind: speed_loop", "kind: steam", ["powertrain", "'steam'", "'speed_loop', 'dc_motor'"]),
        ("0.755", "0.955", ["yaw_inertia_kgm2 = 0.955 kg m²", "more than the other two", "0.906"]),
        ("slipfit/robot/1", "slipfit/robot/2", ["schema", "slipfit/robot/2", "expected 'slipfit/robot/1'"]),
        ("schema: slipfit/robot/1\n", "", ["schema is None", "expected 'slipfit/robot/1'"]),
        ("  width_m: 0.075\n", "", ["'wheels.width_m' is missing"]),
        ("wheels:", "wheels: {", ["not valid YAML at line"]),
        (ROBOT, "", ["found nothing at the top level", "expected keys and values"]),
        (ROBOT, "- a\n- b\n", ["found a list at the top level"]),
        (ROBOT, "just text", ["found text at the top level"]),
    ],
)
def test_a_robot_file(refused, old, new, said):
    line = refused("simulate", write("robot.yaml", ROBOT, old, new), "-o", "out.csv", "--readings", "out")
    assert "robot.yaml: " in line
    for words in said:
        assert words in line


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("for_s: 0.05", "for_s: -1", ["commands[0]", "for_s = -1 s ends before it starts"]),
        ("for_s: 0.05", "for_s: 0", ["commands[0]", "for_s = 0 s ends before it starts"]),
        ("for_s: 0.05", "for_s: .nan", ["commands[0].for_s", "found nan"]),
        ("[{for_s: 0.05, v_mps: 0.2}]", "[]", ["commands is empty", "ends before it starts"]),
        ("slope_rad: 0.0", "slope_rad: 10", ["ground.slope_rad", "10 rad", "degrees, write 0.174533"]),
        ("v_mps: 0.2", "v_mp: 0.2", ["unknown key 'commands[0].v_mp'", "'v_mps'"]),
        ("v_mps: 0.2", "wheels_v: [6, 6]", ["commands[0].wheels_v", "p3at has a speed loop"]),
        ("v_mps: 0.2", "wheels_radps: [1, 2, 3]", ["commands[0].wheels_radps has 3 entries", "takes 4"]),
        ("lab_floor", "lab_flor", ["ground.surface", "'lab_flor'", "did you mean 'lab_floor'"]),
        ("lab_floor", "./nowhere.yaml", ["ground.surface", "nowhere.yaml: there is no such file"]),
        ("scenario/2", "robot/1", ["schema is 'slipfit/robot/1'", "expected 'slipfit/scenario/2'"]),
    ],
)
def test_a_scenario_file(refused, old, new, said):
    line = refused("simulate", "p3at", "--scenario", write("scenario.yaml", SCENARIO, old, new), "-o", "out.csv")
    assert "scenario.yaml: " in line
    for words in said:
        assert words in line


def test_a_misspelt_robot_ground_or_kind_gets_the_nearest(refused):
    assert "'p3att'" in (line := refused("simulate", "p3att"))
    assert "did you mean 'p3at'" in line
    assert "'husky'" in refused("robots", "show", "huskey")
    assert "did you mean 'gravel'?" in refused("grounds", "show", "gravell")
    assert "did you mean 'gravel'?" in refused("simulate", "p3at", "--ground", "gravell")
    assert "did you mean 'robot'?" in refused("schema", "robots")


def test_what_is_no_file_of_ours(refused):
    Path("folder.yaml").mkdir()
    Path("binary.yaml").write_bytes(bytes(range(256)))
    assert "nowhere.yaml: there is no such file" in refused("simulate", "nowhere.yaml")
    assert "folder.yaml: cannot be read as text" in refused("robots", "show", "folder.yaml")
    assert "binary.yaml: cannot be read as text" in refused("grounds", "show", "binary.yaml")
    assert "nowhere.yaml: there is no such file" in refused("simulate", "p3at", "--scenario", "nowhere.yaml")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--slope-deg", "100"), "--slope-deg = 100 lies outside [0, 89.9] degrees"),
        (("--slope-deg", "-5"), "--slope-deg = -5"),
        (("--slope-deg", "nan"), "--slope-deg is not a number"),
        (("--uphill-deg", "400"), "--uphill-deg = 400 lies outside [-360, 360] degrees"),
    ],
)
def test_an_angle_that_cannot_be(refused, arguments, said):
    assert said in refused("simulate", "p3at", *arguments)


# --- places to write -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("-o", "taken.csv"), "taken.csv: exists already"),
        (("--plot", "taken.png"), "taken.png: exists already"),
        (("--readings", "readings"), "imu.csv: exists already"),
        (("-o", "new.csv", "--plot", "taken.png"), "taken.png: exists already"),
        (("-o", "new.csv", "--readings", "readings"), "imu.csv: exists already"),
        (("-o", "new.txt"), "new.txt: cannot write '.txt'; expected a name that ends in .parquet, .csv, .tum"),
        (("-o", "new.csv", "--plot", "new.jpg"), "new.jpg: cannot write '.jpg'"),
        (("-o", "nowhere/new.csv"), "there is no folder nowhere"),
        (("-o", "folder.csv", "--force"), "folder.csv: is a folder"),
        (("--readings", "taken.csv"), "taken.csv: cannot be a folder"),
        (("--readings", "taken.csv/below"), "taken.csv is a file"),
    ],
)
def test_a_place_that_cannot_take_the_result(refused, monkeypatch, arguments, said):
    """Told before anything is simulated, and with several results before the first of them is written."""
    monkeypatch.setattr(engine, "drive_in_chunks", lambda *_: pytest.fail("simulated before it looked"))
    Path("folder.csv").mkdir()
    Path("readings").mkdir()
    for taken in ("taken.csv", "taken.png", "readings/imu.csv"):
        Path(taken).write_text("mine")
    assert said in refused("simulate", "p3at", *arguments)
    assert Path("taken.csv").read_text() == Path("taken.png").read_text() == "mine"


@pytest.mark.parametrize(("flag", "name"), [("-o", "a.csv"), ("-o", "a.parquet"), ("-o", "a.tum"), ("--plot", "a.png")])
def test_a_folder_that_cannot_be_written(refused, flag, name):
    """/proc is a folder in which not even root makes files."""
    assert f"/proc/{name}: cannot be written" in refused("simulate", "p3at", flag, f"/proc/{name}")


def test_readings_without_sensors(refused):
    line = refused("simulate", "p3at", "--scenario", write("scenario.yaml", SCENARIO), "--readings", "out")
    assert "the scenario has no sensors" in line


def test_a_picture_of_laws_that_cannot_be_drawn(refused):
    assert "laws.txt: cannot write '.txt'" in refused("laws", "--plot", "laws.txt")


@pytest.mark.parametrize("taken", ["slip.png", "p3at.twin.yaml", "run.mcap"])
def test_a_demo_whose_place_is_taken(refused, taken):
    Path("demo").mkdir()
    (Path("demo") / taken).write_text("mine")
    assert f"{taken}: exists already" in refused("demo")


def test_a_demo_whose_folder_is_a_file(refused):
    Path("demo").write_text("mine")
    assert "demo: cannot be a folder" in refused("demo")


def test_text_or_json_not_both(refused):
    assert "exclude each other" in refused("robots", "show", "p3at", "--json", "--yaml")


# --- as a process of its own -----------------------------------------------------------------------------------------


def test_a_shell_sees_exit_2_and_one_line(tmp_path):
    (tmp_path / "robot.yaml").write_text(yaml.safe_dump(yaml.safe_load(ROBOT) | {"mass_kg": -1}))
    command = [sys.executable, "-c", "from slipfit.cli import main; main()", "simulate", "robot.yaml", "--json"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": ":".join(sys.path)}, timeout=HANG_S
    )
    assert (done.returncode, done.stdout) == (2, "")
    said = [line for line in done.stderr.splitlines(keepends=True) if not line.endswith("s so far)\n")]
    assert "".join(said) == "slipfit: robot.yaml: mass_kg: mass_kg = -1 kg lies outside [0.01, 100000] kg\n"
