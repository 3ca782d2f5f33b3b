"""A ladder on a twin: the numbers that a drive was made with, the same bits in the file, and several grounds."""

import numpy as np
import pytest

from slipfit.calibration.ladder.to_twin import with_ladder
from slipfit.errors import ExportError, ParameterError
from slipfit.exporters import export
from slipfit.twin import Status, Twin
from unit.calibration.ladder.known_drives import known_drive, known_ladder

LOGS = {"log c_long_per_n": np.log(0.002), "log c_lat_per_n": np.log(0.004), "log mu": np.log(0.8)}


@pytest.fixture(scope="module")
def twin():
    return with_ladder(None, known_ladder(known_drive(0.9, 0.95, turn_error=0.02, way_error=0.02), log_values=LOGS), "hall")


def test_effective_track_and_gain_are_those_of_the_drive(twin):
    """Made with 0.9 m and 0.95; errors of 2 % from piece to piece, in 100 pieces that turn, leave 0.2 % of the track."""
    found = twin.grounds["hall"].kinematics
    low, high = found.effective_track_m.interval_90
    assert found.effective_track_m.value == pytest.approx(0.9, rel=0.01)
    assert low < found.effective_track_m.value < high
    assert found.gain.value == pytest.approx(0.95, rel=0.01)
    assert found.track_m == pytest.approx(twin.robot.track_m)
    assert found.rung == "track and gain"
    assert set(found.numbers) == {"effective_track_m", "gain", "imu_late_s", "gyro_bias_radps", "pose_late_s"}


def test_logarithms_become_constants(twin):
    """exp of the value and of the interval's ends; the spread times the value: 0.1 of each, and a correlation that stays."""
    ground = twin.grounds["hall"]
    c_long = ground.parameter("c_long")
    assert (c_long.value, c_long.std) == (pytest.approx(0.002), pytest.approx(0.0002))
    low, high = c_long.interval_90
    assert low * high == pytest.approx(0.002**2)
    assert np.log(high / low) == pytest.approx(2.0 * 1.729 * 0.1, rel=1e-3)  # Student's 95 % of 19 degrees of freedom
    assert ground.covariance.array[0, 1] == pytest.approx(0.5 * 0.0002 * 0.0004)
    assert twin.ground("hall").values()["mu"] == pytest.approx(0.8)


def test_what_was_saved_is_loaded(twin, tmp_path):
    twin.save(tmp_path / "a.twin.yaml")
    again = Twin.load(tmp_path / "a.twin.yaml")
    assert again == twin
    assert "odometry with these is off by" in again.summary()


def test_a_second_ground_stands_beside_the_first(twin):
    ladder = known_ladder(known_drive(1.1, 0.9, seed=2, digest="cd" * 32), log_values=LOGS)
    both = with_ladder(twin, ladder, "sand")
    assert both.grounds["hall"] == twin.grounds["hall"]
    assert both.grounds["sand"].kinematics.effective_track_m.value == pytest.approx(1.1, rel=0.01)
    assert [log.sha256[:2] for log in both.provenance.logs] == ["ab", "cd"]
    assert both.provenance.corrected == ["known.csv: yaw sign"]
    again = with_ladder(both, ladder, "sand")
    assert again.provenance.logs == both.provenance.logs
    assert again.provenance.notes == both.provenance.notes


def test_a_constant_that_the_drive_did_not_tell_has_no_value():
    """A spread as wide as what was expected beforehand: 0.5 of log mu."""
    ladder = known_ladder(known_drive(0.9, 0.95), log_values=LOGS, log_std=0.45, correlation=0.0)
    ground = with_ladder(None, ladder, "hall").grounds["hall"]
    assert ground.parameter("mu").status is Status.NOT_EXCITED
    assert ground.parameter("c_long").value == pytest.approx(0.002)
    assert ground.covariance.names == ["c_long_per_n", "c_lat_per_n"]


def test_a_constant_beyond_the_laws_range_sits_on_its_bound():
    ladder = known_ladder(known_drive(0.9, 0.95), log_values=LOGS | {"log c_long_per_n": np.log(3.0)})
    found = with_ladder(None, ladder, "hall").grounds["hall"].parameter("c_long")
    assert (found.value, found.status) == (1.0, Status.AT_BOUND)


def test_straight_driving_tells_the_gain_and_no_track():
    """Nothing turned: no track, no noise by rotation, and nothing that a controller could be told about turning."""
    twin = with_ladder(None, known_ladder(known_drive(0.9, 0.95, way_error=0.02, turns=False), log_values=LOGS), "hall")
    found = twin.grounds["hall"].kinematics
    assert found.effective_track_m.status is Status.NOT_EXCITED
    assert found.gain.value == pytest.approx(0.95, rel=0.01)
    amcl = found.odometry_noise.amcl
    assert (amcl.alpha1.value, amcl.alpha4.value) == (None, None)
    assert amcl.alpha3.value == pytest.approx(0.02**2, rel=0.5)
    with pytest.raises(ExportError, match="the drive did not tell the effective track"):
        export(twin, "ros2-control")
    assert "alpha1, alpha4 = 0.2" in [entry.what for entry in export(twin, "nav2-amcl").ledger.entries]


def test_another_robot_is_refused(twin):
    with pytest.raises(ParameterError, match="the twin is of husky, the drive of jackal"):
        with_ladder(twin, known_ladder(known_drive(0.9, 0.95), robot="jackal"), "sand")


def test_grip_that_never_ran_out_is_a_bound():
    """A spread of log mu as wide as what was expected: mu has no value, but the tyres carried what curves of up to 1 m/s and 0.5
    rad/s ask for, at most 0.5 m/s² or 0.051 g."""
    ladder = known_ladder(known_drive(0.9, 0.95), log_values=LOGS, log_std=0.45, correlation=0.0)
    mu = with_ladder(None, ladder, "hall").grounds["hall"].parameter("mu")
    assert (mu.value, mu.status) == (None, Status.NOT_EXCITED)
    assert 0.01 < mu.at_least < 0.051
    without = known_ladder(known_drive(0.9, 0.95, has_pose=False), log_values=LOGS, log_std=0.45, correlation=0.0)
    assert 0.01 < with_ladder(None, without, "hall").grounds["hall"].parameter("mu").at_least < 0.06


def test_a_gyro_alone_does_not_tell_the_gain():
    """Turning tells track over gain: 0.9 / 0.95; the gain is taken as 1 and has no value of its own."""
    ladder = known_ladder(known_drive(0.9, 0.95, has_pose=False), log_values=LOGS)
    found = with_ladder(None, ladder, "hall").grounds["hall"].kinematics
    assert found.effective_track_m.value == pytest.approx(0.9 / 0.95, rel=0.01)
    assert (found.gain.value, found.gain.status) == (None, Status.NOT_EXCITED)


def test_straight_driving_tells_no_sideways_slip():
    ladder = known_ladder(known_drive(0.9, 0.95, turns=False), log_values=LOGS)
    assert with_ladder(None, ladder, "hall").grounds["hall"].parameter("c_lat").status is Status.NOT_EXCITED
