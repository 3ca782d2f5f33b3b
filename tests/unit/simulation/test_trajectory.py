"""The record of a drive and its files."""

import os

import numpy as np
import pytest

from slipfit.errors import SlipfitError
from slipfit.simulation import Outcome, Trajectory

#: What a double can be: smallest, largest, rounded, negative zero, not finite.
STRANGE = [0.1, 1 / 3, -0.0, 5e-324, 1.7976931348623157e308, 1e22, np.nan, np.inf, -np.inf, 123456789.123456789]


def strange(motion):
    time_s = np.arange(len(STRANGE)) * 0.01
    loads = np.column_stack([STRANGE, STRANGE[::-1], STRANGE, np.zeros(len(STRANGE))])
    return motion(time_s, x_m=STRANGE, heading_rad=np.full(len(STRANGE), np.nan), load_n=loads, outcome=Outcome.DIVERGED)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_files_give_back_the_same_bits(motion, tmp_path, suffix):
    before = strange(motion)
    before.save(tmp_path / f"drive{suffix}")
    after = Trajectory.load(tmp_path / f"drive{suffix}")
    assert list(after.table()) == list(before.table())
    for name, column in before.table().items():
        assert after.table()[name].tobytes() == column.tobytes(), name
    assert after.outcome is Outcome.DIVERGED


def test_parquet_remembers_robot_ground_and_status(motion, tmp_path):
    motion([0.0, 1.0], robot="p3at", ground="o'brien's floor").save(tmp_path / "a.parquet")
    back = Trajectory.load(tmp_path / "a.parquet")
    assert (back.robot, back.ground, back.outcome) == ("p3at", "o'brien's floor", Outcome.FINISHED)


@pytest.mark.parametrize("name", ["dr*ve.csv", "dr[i]ve.parquet", "o'brien.csv", "a b.parquet", "dr?ve.csv"])
def test_a_strange_name_is_just_a_name(motion, tmp_path, name):
    """Not a pattern: the file beside it, which the pattern would match, is left out."""
    motion([0.0, 1.0, 2.0]).save(tmp_path / f"drive.{name.split('.')[1]}")
    motion([0.0, 1.0]).save(tmp_path / name)
    assert len(Trajectory.load(tmp_path / name).time_s) == 2


def test_tum_has_what_trajectory_tools_read(motion, tmp_path):
    """Eight numbers a row, separated by blanks: stamp, position, quaternion xyzw of unit length, yaw about z; # for comments."""
    heading = np.array([0.0, 0.5, np.pi, 7.0, -3.0])
    motion(np.arange(5.0), x_m=[0, 1, 2, 3, 1 / 3], y_m=-0.5, heading_rad=heading).save(tmp_path / "a.tum")
    lines = (tmp_path / "a.tum").read_text().splitlines()
    assert lines[0].startswith("#")
    assert all(line.count(" ") == 7 for line in lines[1:])
    stamp, x, y, z, qx, qy, qz, qw = np.loadtxt(tmp_path / "a.tum").T
    assert stamp.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert (x.tolist(), set(y), set(z)) == ([0, 1, 2, 3, 1 / 3], {-0.5}, {0.0})
    assert qx**2 + qy**2 + qz**2 + qw**2 == pytest.approx(np.ones(5), abs=1e-15)
    assert np.exp(1j * 2 * np.arctan2(qz, qw)) == pytest.approx(np.exp(1j * heading))


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".tum"])
def test_an_existing_file_is_overwritten_only_with_force(motion, tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_text("mine")
    with pytest.raises(SlipfitError, match="exists already"):
        motion([0.0, 1.0]).save(path)
    assert path.read_text() == "mine"
    motion([0.0, 1.0]).save(path, force=True)
    assert path.read_bytes() != b"mine"
    assert os.listdir(tmp_path) == [path.name]  # noqa: PTH208 (hidden files too)


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".tum"])
def test_a_place_that_takes_no_files_is_one_sentence(motion, suffix):
    """/proc is a folder in which not even root makes files."""
    with pytest.raises(SlipfitError, match=f"/proc/a{suffix}: cannot be written"):
        motion([0.0, 1.0]).save(f"/proc/a{suffix}")


@pytest.mark.parametrize("name", ["a.txt", "a", "a.tum.gz"])
def test_an_unknown_format_is_refused(motion, tmp_path, name):
    with pytest.raises(SlipfitError, match=r"cannot write '.*'; expected a name that ends in \.parquet, \.csv, \.tum"):
        motion([0.0, 1.0]).save(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.csv", b"", "missing"),
        ("a.csv", b"time_s,x_m\n0.0,1.0\n", "column 'y_m' is missing"),
        ("a.csv", bytes(range(256)), "a.csv: "),
        ("a.parquet", b"PAR1 but not really", "cannot be read as a trajectory"),
        ("a.tum", b"0 0 0 0 0 0 0 1\n", "cannot read '.tum' back"),
    ],
)
def test_what_is_no_trajectory_is_refused(tmp_path, name, content, complaint):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SlipfitError, match=complaint):
        Trajectory.load(tmp_path / name)


def test_a_column_of_text_is_refused(motion, tmp_path):
    motion([0.0, 1.0]).save(tmp_path / "a.csv")
    header, *_ = (tmp_path / "a.csv").read_text().splitlines()
    (tmp_path / "b.csv").write_text(header + "\n" + ",".join(["fast"] * len(header.split(","))) + "\n")
    with pytest.raises(SlipfitError, match=r"b\.csv: cannot be read as a trajectory"):
        Trajectory.load(tmp_path / "b.csv")


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(SlipfitError, match="there is no such file"):
        Trajectory.load(tmp_path / "a.csv")


# --- what it says about the drive ------------------------------------------------------------------------------------


def test_distance_is_the_length_of_the_path(motion):
    """3-4-5 triangle, then 2 m back."""
    assert motion([0.0, 1.0, 2.0], x_m=[0, 3, 3], y_m=[0, 4, 2]).distance_m == pytest.approx(7.0)


def test_the_summary_names_the_wheels_that_left_the_ground(motion):
    loads = np.full((3, 4), 50.0)
    loads[1:, 2] = 0.0
    lifted = motion([0.0, 0.5, 1.0], load_n=loads, lowest_load_n=loads)
    assert lifted.lifted_wheels == {2: 0.5}
    assert "left the ground: rear left at 0.50 s" in lifted.summary()
    assert "all on the ground" in motion([0.0, 1.0]).summary()


def test_grip_is_the_largest_force_over_load(motion):
    """A force of 3 and 4 N on 50 N of load: 0.1; a lifted wheel does not count."""
    forces = {"force_x_n": np.array([3.0, 0.0, 0.0, 9.0]), "force_y_n": np.array([4.0, 1.0, 0.0, 0.0])}
    assert motion([0.0, 1.0], load_n=np.array([50.0, 50.0, 50.0, 0.0]), **forces).largest_grip_used == pytest.approx(0.1)
    assert np.isnan(motion([0.0, 1.0], load_n=0.0).largest_grip_used)


def test_the_summary_of_a_run_that_failed_begins_with_how(motion):
    """A run that ended where it started has no speed, grip or energy to tell."""
    sank = motion([0.0, 1.0], outcome=Outcome.SUNK_IN).summary().splitlines()
    assert sank[1] == f"  status   {Outcome.SUNK_IN.value}"
    at_once = motion([0.0], outcome=Outcome.SUNK_IN)
    assert at_once.has_failed_at_once
    assert len(at_once.summary().splitlines()) == 2


def test_the_summary_gives_time_path_and_turn(motion):
    text = motion([0.0, 2.0], x_m=[0.0, 1.5], heading_rad=[0.0, np.pi / 2], robot="p3at", ground="floor").summary()
    assert text.splitlines()[0] == "p3at on floor: 2 s, 1.500 m, turned 90.0°"


def test_a_run_that_stopped_being_finite_says_so(motion):
    text = motion([0.0, 1.0], x_m=np.nan, load_n=np.nan, outcome=Outcome.DIVERGED).summary()
    assert Outcome.DIVERGED.value in text
    assert "all on the ground" not in text


def test_a_summary_has_no_negative_zeros(motion):
    """A number that is rounded to zero has no sign."""
    run = motion([0.0, 1.0], x_m=[0.0, -1e-6], heading_rad=[0.0, -1e-6], vx_mps=[-1e-6, 0.0])
    assert "turned 0.0°" in run.summary()
    assert "-0.0" not in run.summary()
