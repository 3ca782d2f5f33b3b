"""What motors take in turns and in straight driving, whichever side brakes and whether or not currents have signs."""

from types import SimpleNamespace

import numpy as np
import pytest

from slipfit.estimation.currents import current_answers, has_currents
from slipfit.library import find_robot
from slipfit.logs import Channel, DriveLog

HUSKY = find_robot("husky")
STRAIGHT_A, TURNING_A, BRAKING_A = 2.0, 8.0, -3.0

#: Rim speeds (m/s) and true currents (A), left and right: straight, bends to both sides whose inner side brakes, on the spot,
#: the same bend backwards, and a bend too wide for wheels to slide.
DRIVEN = (
    ((0.5, 0.5), (STRAIGHT_A, STRAIGHT_A)),
    ((0.1, 0.3), (BRAKING_A, TURNING_A)),
    ((0.3, 0.1), (TURNING_A, BRAKING_A)),
    ((-0.2, 0.2), (-TURNING_A, TURNING_A)),
    ((-0.1, -0.3), (-BRAKING_A, -TURNING_A)),
    ((0.45, 0.52), (0.5, 4.0)),
)


def told(*, is_signed):
    """Twelve seconds of each, at 20 Hz; the body does 0.65 of the rims' turning, as a Warthog on asphalt."""
    time_s = np.arange(0.0, 12.0 * len(DRIVEN), 0.05)
    kind = (time_s // 12.0).astype(int)
    rims, currents = (np.array([row[k] for row in DRIVEN])[kind] for k in (0, 1))
    yaw_rate = 0.65 * (rims[:, 1] - rims[:, 0]) / HUSKY.track_m
    motion = SimpleNamespace(
        time_s=time_s, start_ns=0, rims_mps=rims, velocity=np.column_stack([rims.mean(axis=1), 0.0 * time_s, yaw_rate])
    )
    stamps = np.round(time_s * 1e9).astype(np.int64)
    names = ("left_current_a", "right_current_a")
    log = DriveLog({"motors": Channel("motors", stamps, currents if is_signed else np.abs(currents), names)})
    assert has_currents(log)
    return current_answers(motion, log, HUSKY, block_s=12.0, slowest_mps=0.1)


@pytest.mark.parametrize("is_signed", [True, False])
def test_turns_tell_the_current_of_the_side_that_pushes(is_signed):
    """8 A in every one of the four turns; what the inner side brakes with has no part in it."""
    blocks = told(is_signed=is_signed)["turning current"]
    assert (blocks.count > 0).tolist() == [False, True, True, True, True, False]
    assert np.exp(blocks.moment[1:5, 0] / blocks.gram[1:5, 0, 0]) == pytest.approx(TURNING_A)


def test_straight_driving_tells_its_own_current():
    """2 A, of the first block alone."""
    blocks = told(is_signed=False)["straight current"]
    assert (blocks.count > 0).tolist() == [True, False, False, False, False, False]
    assert np.exp(blocks.moment[0, 0] / blocks.gram[0, 0, 0]) == pytest.approx(STRAIGHT_A)


def test_a_log_without_currents_tells_none():
    """Motors may be logged with voltages alone."""
    channel = Channel("motors", np.arange(3, dtype=np.int64), np.ones((3, 1)), ("left_voltage_v",))
    assert not has_currents(DriveLog({"motors": channel}))
