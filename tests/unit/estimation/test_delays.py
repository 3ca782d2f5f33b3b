"""Delays of sensors: none where there is none, each on the sensor that has it, with a sentence, and never the end of a grid."""

import numpy as np
import pytest
from side_drives import drive, log_of

from slipfit.estimation import FilterSettings, estimate
from slipfit.estimation.clocks import find_delay
from slipfit.estimation.motion import sides
from slipfit.estimation.readings import readings_of
from slipfit.library import find_robot
from slipfit.logs.inspection.record import Severity

HUSKY = find_robot("husky")
FINE, USUAL = FilterSettings(pose_m=0.002, pose_rad=0.002), None
BY_FILTER = "clock offset, by the filter"


def smooth_log(seed, *, pose_late_s=0.0, gyro_late_s=0.0):
    """60 s of rims that sway, each at its own pace, with a slip of 0.1."""
    draw = np.random.default_rng(seed)
    by, pace, phase = draw.uniform(0.05, 0.2, 2), draw.uniform(0.2, 1.0, 2), draw.uniform(0.0, 6.0, 2)

    def rims(t):
        return tuple(0.5 + 0.1 * k + by[k] * np.sin(pace[k] * t + phase[k]) for k in (0, 1))

    truth = drive(rims, lambda t: (0.1 + 0.0 * t, 0.1 + 0.0 * t, 0.0 * t), 60.0)
    log = log_of(truth, seed, gyro_radps=0.01, late_s=pose_late_s)
    imu = log["imu"]
    return log.having(type(imu)(imu.name, imu.stamps_ns + round(gyro_late_s * 1e9), imu.values, imu.columns))


def told(found):
    return [finding for finding in found.findings if finding.kind.startswith("clock offset")]


@pytest.mark.parametrize("settings", [FINE, USUAL], ids=["fine", "usual"])
@pytest.mark.parametrize("seed", [0, 1])
def test_no_delay_is_invented_in_a_smooth_drive(seed, settings):
    found = estimate(HUSKY, smooth_log(seed), settings=settings, smooth=False)
    assert found.late_s == {}
    assert told(found) == []


@pytest.mark.parametrize("settings", [FINE, USUAL], ids=["fine", "usual"])
@pytest.mark.parametrize("seed", [1])
@pytest.mark.parametrize(("sensor", "channel"), [("pose", "pose"), ("gyro", "imu")])
def test_a_delay_is_found_on_the_sensor_that_has_it(sensor, channel, seed, settings):
    """By 0.1 s: one of them is late, the other not; a sentence says which one, by how much, to which side."""
    found = estimate(HUSKY, smooth_log(seed, **{f"{sensor}_late_s": 0.1}), settings=settings, smooth=False)
    assert set(found.late_s) == {sensor}
    assert found.late_s[sensor] == pytest.approx(0.1, abs=0.02)
    (finding,) = told(found)
    assert (finding.channel, finding.kind, finding.severity) == (channel, BY_FILTER, Severity.WARNING)
    assert finding.is_corrected
    assert finding.value == found.late_s[sensor]
    assert f"the {sensor} is {found.late_s[sensor]:.3f} s late" in finding.found


@pytest.mark.parametrize("seed", [0, 1])
def test_a_gyro_without_a_pose_gets_no_delay_from_chance(seed):
    assert estimate(HUSKY, smooth_log(seed), settings=FINE, smooth=False, use=("gyro",)).late_s == {}


def test_a_delay_beyond_those_that_are_tried_is_not_used():
    """Poses stamped 0.45 s before what they tell, where 0.2 s are tried: the end of these is no answer."""
    motion = sides(HUSKY.track_m)
    readings = readings_of(smooth_log(1, pose_late_s=-0.45), HUSKY, motion, FINE, use=("pose", "gyro"))
    found = find_delay(readings, motion, FINE, "pose")
    assert (found.is_told, found.is_at_end, found.late_s) == (False, True, 0.0)


def test_a_delay_that_is_not_used_is_a_sentence():
    """As above, with the gyro's delay given, so that it cannot stand in for the pose's."""
    found = estimate(HUSKY, smooth_log(1, pose_late_s=-0.45), settings=FINE, smooth=False, late_s={"gyro": 0.0})
    assert found.late_s == {"gyro": 0.0}
    (finding,) = told(found)
    assert "none of them is used" in finding.found
    assert not finding.is_corrected
