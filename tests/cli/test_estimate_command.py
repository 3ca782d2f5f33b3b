"""slipfit estimate: what it prints, writes and refuses."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from slipfit.cli import app
from slipfit.errors import SlipfitError

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "estimation"))


@pytest.fixture(scope="module")
def run_file(tmp_path_factory):
    from side_drives import drive, log_of

    truth = drive(lambda t: (0.5 + 0.0 * t, 0.6 + 0.0 * t), lambda t: (0.1 + 0.0 * t, 0.2 + 0.0 * t, 0.0 * t), 12.0)
    path = tmp_path_factory.mktemp("estimate") / "run.mcap"
    log_of(truth, 1).save(path)
    return path


def test_slip_is_told_and_written(run_file, tmp_path):
    out, series, plot, page = (tmp_path / name for name in ("slip.json", "slip.mcap", "slip.png", "slip.html"))
    words = ["estimate", "husky", run_file, "--json", "-o", out, "--series", series, "--plot", plot, "--report", page]
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["slip"]["slip_left"]["median"] == pytest.approx(0.1, abs=0.03)
    assert found["slip"]["slip_right"]["median"] == pytest.approx(0.2, abs=0.03)
    assert all(path.exists() for path in (out, series, plot, page))


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--pose-std-m", "0"], "--pose-std-m is 0"),
        (["--contact-area-m2", "0.1"], "contact-length-m"),
        (["--contact-area-m2", "0.1", "--contact-length-m", "0.5"], "newton-per-ampere"),
        (["--newton-per-ampere", "20"], "motor currents"),
        (["-o", "slip.txt"], "json"),
        (["--surfaces"], "expected 120 s or more to tell surfaces"),
        (["--series", "slip.csv"], "or a folder for CSV files"),
    ],
)
def test_what_cannot_be_is_a_sentence(run_file, more, words):
    done = CliRunner().invoke(app, ["estimate", "husky", str(run_file), *more])
    assert isinstance(done.exception, SlipfitError)
    assert words in str(done.exception)


def test_a_change_of_the_surface_is_told_where_it_is(tmp_path):
    """Slip of both sides goes from 0.05 to 0.4 at 120 s; a change lies where a block of 12 s ends."""
    from side_drives import drive, log_of

    def rims(t):
        turn = 0.3 * np.sin(2.0 * np.pi * t / 7.0) * np.sign(np.sin(2.0 * np.pi * t / 31.0))
        return 0.6 - turn, 0.6 + turn

    def slips(t):
        slip = np.where(t < 120.0, 0.05, 0.4)
        return slip, slip, 0.0 * t

    log_of(drive(rims, slips, 240.0), 1).save(tmp_path / "run.mcap")
    done = CliRunner().invoke(app, ["estimate", "husky", str(tmp_path / "run.mcap"), "--surfaces", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["surfaces"]
    (at,) = found["changes_s"]
    assert at == pytest.approx(120.0, abs=12.0)
    first, second = found["stretches"]
    assert first["turning"] == pytest.approx(0.95, abs=0.05)
    assert second["turning"] == pytest.approx(0.6, abs=0.05)
    assert first["turning_current_a"] is None


def test_four_wheels_are_no_tracks(run_file, tmp_path):
    """A PackBot's sprockets are two. The same speeds as four wheels are another robot's."""
    from slipfit.logs import Channel, read_log

    log = read_log(run_file)
    left, right = (log["encoders"].column(f"{side}_speed_radps") for side in ("left", "right"))
    speeds = np.column_stack([left, right, left, right])
    wheels = Channel("encoders", log["encoders"].stamps_ns, speeds, tuple(f"wheel_speed_{k}_radps" for k in range(4)))
    path = tmp_path / "rover.mcap"
    log.having(wheels).save(path)
    done = CliRunner().invoke(app, ["estimate", "packbot", str(path)])
    assert isinstance(done.exception, SlipfitError)
    assert "4 wheels; packbot has two tracks" in str(done.exception)


def test_tracked_robots_are_estimated(run_file):
    done = CliRunner().invoke(app, ["estimate", "packbot", str(run_file), "--json", "--effective-track-m", "0.6"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["robot"] == "packbot"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["estimate", "robotino"], "omni robot"),
        (["estimate", "husky", "--effective-track-m", "-1"], "effective_track_m"),
        (["estimate", "husky", "--pose-late-s", "nan"], "late_s of pose"),
        (["estimate", "husky", "--ground", "grass"], "grounds belong to twins"),
    ],
    ids=["omni", "track", "late", "ground"],
)
def test_what_does_not_fit_the_robot_is_a_sentence(run_file, words, said):
    done = CliRunner().invoke(app, [*words[:2], str(run_file), *words[2:]])
    assert isinstance(done.exception, SlipfitError)
    assert said in str(done.exception)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """A drive of the simulator: what its sensors said, and how it moved."""
    import slipfit as sf

    commands = [sf.Command(for_s=4.0, v_mps=0.5), sf.Command(for_s=6.0, v_mps=0.4, yaw_rate_radps=0.6)]
    sensors = {"encoders": {"rate_hz": 50.0}, "pose": {"rate_hz": 20.0, "position_noise_m": 0.005, "yaw_noise_rad": 0.005}}
    sensors["imu"] = {"rate_hz": 100.0}
    drive = sf.simulate("p3at", sf.Scenario(commands=commands, sensors=sensors))
    folder = tmp_path_factory.mktemp("simulated")
    drive.readings.save(folder / "run.mcap")
    drive.save(folder / "drive.parquet")
    return folder


def test_errors_against_the_drive_that_was_simulated(simulated, tmp_path):
    words = ["estimate", "p3at", simulated / "run.mcap", "--truth", simulated / "drive.parquet", "--json"]
    done = CliRunner().invoke(app, [str(word) for word in [*words, "--report", tmp_path / "slip.html"]])
    assert done.exit_code == 0, done.output
    errors = json.loads(done.stdout)["errors"]
    assert [(e["state"], e["way"]) for e in errors] == [
        ("pose", "forwards"), ("slip", "forwards"), ("pose", "smoothed"), ("slip", "smoothed"),
    ]  # fmt: skip
    assert all(0.0 < e["mean"] < 10.0 for e in errors)
    page = (tmp_path / "slip.html").read_text(encoding="utf-8")
    assert "moments inside their 95 % band" in page
    assert "NEES: pose (blue), slip (orange)" in page


def test_a_withheld_pose_is_the_truth(simulated):
    """Without it nothing tells the way ahead, and the accelerometer, which feels tilt as well, is left out."""
    done = CliRunner().invoke(app, ["estimate", "p3at", str(simulated / "run.mcap"), "--withhold", "pose", "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert [c["sensor"] for c in found["consistency"]] == ["gyro"]
    assert "way ahead not told" in [f["kind"] for f in found["findings"]]
    assert [e["state"] for e in found["errors"]] == ["pose", "pose"]


@pytest.mark.parametrize(
    ("more", "said"),
    [(["--withhold", "compass"], "no such sensor"), (["--truth", "nowhere.parquet"], "no such file")],
)
def test_a_truth_that_cannot_be_is_a_sentence(simulated, more, said):
    done = CliRunner().invoke(app, ["estimate", "p3at", str(simulated / "run.mcap"), *more])
    assert isinstance(done.exception, SlipfitError)
    assert said in str(done.exception)


def test_a_pose_that_the_filter_is_told_does_not_judge_it(simulated):
    run = str(simulated / "run.mcap")
    done = CliRunner().invoke(app, ["estimate", "p3at", run, "--truth", run])
    assert isinstance(done.exception, SlipfitError)
    assert "--withhold pose" in str(done.exception)


def test_the_log_in_the_twins_place(refused):
    assert "the twin or robot comes first" in refused("estimate", "run.mcap", "p3at")


def test_places_alone_are_enough(tmp_path):
    """Encoders and GNSS, neither IMU nor pose (docs/howto/estimate): the slip of 0.15 that both sides have, from places that are
    good to 3 cm; turns tell one side from the other."""
    from side_drives import drive, log_of

    from slipfit.logs import Channel, DriveLog

    truth = drive(
        lambda t: (0.6 + 0.1 * np.sin(0.5 * t), 0.7 - 0.2 * np.sin(0.2 * t)),
        lambda t: (0.15 + 0.0 * t, 0.15 + 0.0 * t, 0.0 * t),
        120.0,
    )
    log = log_of(truth, 1, pose_hz=5.0, pose_m=0.03)
    places = Channel("gnss", log["pose"].stamps_ns, log["pose"].values[:, :2], ("x_m", "y_m"))
    DriveLog({"encoders": log["encoders"], "gnss": places}).save(tmp_path / "run.mcap")
    done = CliRunner().invoke(app, ["estimate", "husky", str(tmp_path / "run.mcap"), "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    for side in ("slip_left", "slip_right"):
        assert found["slip"][side]["median"] == pytest.approx(0.15, abs=0.05)
