"""A robot and its log say the same: the online filter counts the same evidence and raises the alarms that `estimate` does."""

import numpy as np
import pytest
from side_drives import drive, log_of

from slipfit.estimation import FilterSettings, estimate
from slipfit.estimation.immobilisation import AlarmRule, alarms
from slipfit.estimation.online import OnlineSlipFilter
from slipfit.library import find_robot

HUSKY = find_robot("husky")
SETTINGS = FilterSettings(pose_m=0.005, pose_rad=0.005, gyro_radps=0.01)
SENSORS = ("pose", "gyro")
LOST_S, SILENT_S, HEARD_S, BLIND_S, PIVOT_S, END_S = 10.0, 12.0, 14.5, 16.5, 17.5, 20.0


def stuck_and_silent():
    """Curves at 0.5 m/s, grip lost at 10 s; no poses from 12 to 14.5 s and from 16.5 s on; from 17.5 s the sides turn against
    each other, which a gyro alone tells of."""

    def rims(t):
        left = 0.5 - np.clip((t - PIVOT_S) / 0.5, 0.0, 1.0)
        turn = np.where(t < LOST_S, 0.15, 0.02) * np.sin(0.2 * np.pi * t)  # at first the robot turns as its wheels say
        return left - turn, 0.5 + turn

    def slip(t):
        i = 0.05 + 0.9 * np.clip((t - LOST_S) / 0.1, 0.0, 1.0)
        return i, i, 0.0 * t

    log = log_of(drive(rims, slip, END_S, track_m=HUSKY.track_m), 1, pose_m=0.005, pose_rad=0.005, gyro_radps=0.01)
    pose, start = log["pose"], log["encoders"].stamps_ns[0]
    time_s = (pose.stamps_ns - start) / 1e9
    heard = (time_s < SILENT_S) | ((time_s > HEARD_S) & (time_s < BLIND_S))
    return log.having(type(pose)("pose", pose.stamps_ns[heard], pose.values[heard], pose.columns))


def online_of(log, batch):
    """Probabilities at the times of an estimate, from the log's readings one by one in their order."""
    online, start = OnlineSlipFilter(HUSKY, settings=SETTINGS), log["encoders"].stamps_ns[0]
    events = [(t, 9, "report", ()) for t in batch.time_s.tolist()]
    for rank, (kind, channel, columns) in enumerate((("pose", "pose", (0, 1, 2)), ("gyro", "imu", (3,)))):
        stamps = ((log[channel].stamps_ns - start) / 1e9).tolist()
        events += [(t, rank, kind, tuple(row)) for t, row in zip(stamps, log[channel].values[:, columns].tolist(), strict=True)]
    found = []
    for t, _, kind, numbers in sorted(events):
        if t > batch.time_s[-1]:
            break
        now = online.rims(t, *(float(np.interp(t, batch.time_s, rim)) for rim in batch.rims_mps.T))
        if kind == "report":
            found.append(now.stuck)
        else:
            getattr(online, kind)(t, *numbers)
    return np.array(found)


@pytest.fixture(scope="module")
def both():
    log = stuck_and_silent()
    batch = estimate(HUSKY, log, settings=SETTINGS, use=SENSORS, smooth=False, late_s={"pose": 0.0, "gyro": 0.0})
    return batch, online_of(log, batch)


def test_probabilities_are_the_same_online_and_over_the_log(both):
    """The filters start differently (with a pose that is used once, or twice), which is forgotten after a second."""
    batch, online = both
    later = batch.time_s > 1.0
    assert online[later] == pytest.approx(batch.stuck[later], abs=0.02)


def test_alarms_are_the_same_online_and_over_the_log(both):
    batch, online = both
    assert batch.alarms_s
    assert alarms(batch.time_s, online, AlarmRule()) == pytest.approx(batch.alarms_s)


def test_what_no_sensor_tells_is_no_evidence_online_either(both):
    """A second after the last pose of a straight drive the probability is none; sides against each other bring it back."""
    batch, online = both
    t = batch.time_s
    for found in (batch.stuck, online):
        assert (found[(t > SILENT_S + 1.01) & (t < HEARD_S)] == 0.0).all()
        assert (found[(t > LOST_S + 1.0) & (t < SILENT_S)] > 0.9).all()
        assert (found[t > PIVOT_S + 1.0] > 0.0).all()
