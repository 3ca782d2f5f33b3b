"""slipfit export: what a user types and reads."""

import json
from pathlib import Path

import pytest
import yaml

from controllers import powertrain
from known_kinematics import with_kinematics
from known_twins import known_twin
from slipfit.exporters import TARGETS
from unit.exporters.own_models import WHEELS, sdf, urdf
from unit.twin.twins import mapping


@pytest.fixture
def twin(slipfit):
    with_kinematics(known_twin()).with_powertrain(powertrain()).save("p3at.twin.yaml")
    return "p3at.twin.yaml"


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_writes_and_tells(slipfit, twin, target):
    result = slipfit("export", twin, "--to", target)
    assert (result.code, result.said) == (0, [])
    written = [Path(line.removeprefix("wrote ")) for line in result.out.splitlines() if line.startswith("wrote ")]
    assert written[0].name.startswith("p3at_" + target.replace("-", "_"))
    assert all(path.stat().st_size > 100 for path in written)
    assert "what the file does not say as the twin does" in result.out


def test_json_is_one_document(slipfit, twin):
    document = json.loads(slipfit("export", twin, "--to", "gz", "--world", "-o", "w.sdf", "--json").out)
    assert document["written"] == ["w.sdf"]
    assert {"what", "why", "remedy"} == set(document["ledger"][0])
    assert "<world" in Path("w.sdf").read_text()


def test_patch_to_another_file_and_in_place(slipfit, twin):
    Path("mine.sdf").write_text(sdf())
    Path("mine.sdf").chmod(0o640)
    assert slipfit("export", twin, "--to", "gz", "--into", "mine.sdf", "-o", "new.sdf").code == 0
    assert Path("mine.sdf").read_text() == sdf()
    document = json.loads(slipfit("export", twin, "--to", "gz", "--into", "mine.sdf", "--in-place", "--json").out)
    assert document["changes"]
    assert Path("mine.sdf").read_bytes() == Path("new.sdf").read_bytes()
    assert Path("mine.sdf").stat().st_mode & 0o777 == 0o640
    assert "nothing to change" in slipfit("export", twin, "--to", "gz", "--into", "mine.sdf", "--in-place").out
    assert slipfit("export", "--check", "mine.sdf").code == 0


def test_patch_with_named_wheels(slipfit, twin):
    Path("mine.urdf").write_text(urdf())
    named = ",".join(f"{name}={name}_wheel" for name in WHEELS)
    assert slipfit("export", twin, "--to", "gazebo-classic", "--into", "mine.urdf", "--wheels", named, "-o", "new.urdf").code == 0
    assert "libWheelSlipPlugin.so" in Path("new.urdf").read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--world", "-o", "new.sdf"), "--world has no meaning with --into"),
        (("--step-s", "0.002", "-o", "new.sdf"), "--step-s has no meaning with --into"),
        (("--wheel-shape", "thin", "-o", "new.sdf"), "--wheel-shape has no meaning with --into"),
        (("-o", "new.yaml"), "new.yaml: a patched model cannot be '.yaml'; expected a name that ends in .sdf, .urdf"),
        (("-o", "loop.sdf"), "loop.sdf"),
    ],
)
def test_what_does_not_go_with_a_patch(slipfit, twin, options, said):
    Path("mine.sdf").write_text(sdf())
    Path("loop.sdf").symlink_to("loop.sdf")
    result = slipfit("export", twin, "--to", "gz", "--into", "mine.sdf", *options)
    assert (result.code, result.out) == (2, "")
    assert said in result.err
    assert not Path("new.sdf").exists()


def test_check_says_no_with_exit_code_1(slipfit):
    Path("bad.sdf").write_text(sdf())
    result = slipfit("export", "--check", "bad.sdf", "--json")
    assert result.code == 1
    assert json.loads(result.out)["is_good"] is False


def test_joints_of_a_controller(slipfit, twin):
    named = ",".join(f"{name}=j_{name}" for name in WHEELS)
    assert slipfit("export", twin, "--to", "ros2-control", "--wheels", named, "-o", "c.yaml").code == 0
    found = yaml.safe_load(Path("c.yaml").read_text())["diff_drive_controller"]["ros__parameters"]
    assert found["left_wheel_names"] == ["j_front_left", "j_rear_left"]


def test_one_of_several_grounds(slipfit):
    data = mapping()
    data["grounds"]["wet"] = data["grounds"]["lab_floor"]
    Path("two.twin.yaml").write_text(yaml.safe_dump(data))
    assert "choose one of lab_floor, wet" in slipfit("export", "two.twin.yaml", "--to", "gz").err
    assert slipfit("export", "two.twin.yaml", "--to", "gz", "--ground", "wet").code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["p3at.twin.yaml"], "--to is missing"),
        (["--to", "gz"], "the twin is missing"),
        (["p3at.twin.yaml", "--to", "gazebo"], "did you mean 'gazebo-classic'"),
        (["none.twin.yaml", "--to", "gz"], "none.twin.yaml: there is no such file"),
        (["p3at.twin.yaml", "--to", "gz", "-o", "x.yaml"], "expected a name that ends in .sdf"),
        (["p3at.twin.yaml", "--to", "gz", "-o", "there.sdf"], "exists already"),
        (["p3at.twin.yaml", "--to", "gz", "--ground", "moon"], "has no ground 'moon'"),
        (["p3at.twin.yaml", "--to", "gz", "--wheel-shape", "cube"], "expected sphere or thin"),
        (["p3at.twin.yaml", "--to", "mjcf", "--at-speed-mps", "0"], "at_speed_mps = 0 m/s lies outside"),
        (["p3at.twin.yaml", "--to", "mjcf", "--world"], "--world has no meaning for mjcf"),
        (["p3at.twin.yaml", "--to", "mjcf", "--wheel-shape", "thin"], "--wheel-shape has no meaning for mjcf"),
        (["p3at.twin.yaml", "--to", "gz", "--at-speed-mps", "1"], "--at-speed-mps has no meaning for gz here; it goes with mjcf"),
        (["p3at.twin.yaml", "--to", "gz", "--step-s", "0.002"], "--step-s has no meaning for gz here"),
        (
            ["p3at.twin.yaml", "--to", "gz", "--wheels", ",".join(f"{name}={name}" for name in WHEELS)],
            "--wheels has no meaning for gz here",
        ),
        (["--check", "mine.sdf", "-o", "x.sdf"], "--check writes nothing"),
        (["p3at.twin.yaml", "--to", "mjcf", "--into", "mine.sdf", "-o", "x.sdf"], "--into has no meaning for mjcf"),
        (["p3at.twin.yaml", "--to", "gz", "--in-place"], "--in-place needs --into"),
        (["p3at.twin.yaml", "--to", "gz", "--into", "mine.sdf"], "--into needs either -o FILE"),
        (["p3at.twin.yaml", "--to", "gz", "--into", "mine.sdf", "-o", "there.sdf"], "exists already"),
        (["p3at.twin.yaml", "--to", "gz", "--into", "none.sdf", "--in-place"], "none.sdf: there is no such file"),
        (["p3at.twin.yaml", "--to", "gz", "--into", "there.sdf", "--in-place"], "there.sdf, line 1: not well-formed"),
        (["p3at.twin.yaml", "--to", "gz", "--into", "mine.sdf", "--in-place", "--wheels", "left"], "expected WHEEL=LINK"),
        (["p3at.twin.yaml", "--to", "gz", "--into", "mine.sdf", "--in-place", "--wheels", "fl=a"], "has no wheel 'fl'"),
        (["p3at.twin.yaml", "--to", "gz", "--into", "mine.sdf", "--in-place", "--wheels", "front_left=a"], "is missing"),
        (["--check", "none.sdf"], "none.sdf: there is no such file"),
        (["--check", "there.sdf"], "not well-formed"),
    ],
)
def test_refusals(refused, twin, arguments, said):
    Path("mine.sdf").write_text(sdf())
    Path("there.sdf").write_text("mine")
    assert said in refused("export", *arguments)
    assert Path("there.sdf").read_text() == "mine"
    assert Path("mine.sdf").read_text() == sdf()


def test_help_has_an_example(slipfit):
    assert "slipfit export p3at.twin.yaml --to gz" in " ".join(slipfit("export", "--help").out.split())


def test_the_step_is_the_files(slipfit, twin):
    assert slipfit("export", twin, "--to", "mjcf", "--step-s", "0.002", "-o", "s.xml").code == 0
    assert 'timestep="0.002"' in Path("s.xml").read_text()
    assert slipfit("export", twin, "--to", "gazebo-classic", "--world", "--step-s", "0.002", "-o", "s.sdf").code == 0
    assert "<max_step_size>0.002</max_step_size>" in Path("s.sdf").read_text()
