"""Counters of left and right that make different counts a turn: what a simulated controller counts, and the angles of a log."""

import math

import pytest

from controllers import controlled_twin, found
from slipfit.control import Mode, Scale
from slipfit.hardware.record import Recorder
from slipfit.hardware.simulated_motors import Motors
from slipfit.twin.powertrain import FittedPowertrain, Side


def twin():
    own = FittedPowertrain(left=Side(counts_per_turn=found(44000.0)), right=Side(counts_per_turn=found(22000.0)))
    return controlled_twin().with_powertrain(own)


def test_motors_count_by_side():
    """Wheels that turn by one rad each: 44000 / 2 pi and 22000 / 2 pi counts."""
    motors = Motors.of(twin(), Scale.of(twin()))
    for side, turn in ((motors.left, 44000), (motors.right, 22000)):
        side.angle_rad = 1.0
        assert side.count == math.floor(turn / (2.0 * math.pi))


def test_a_log_has_the_angles_of_both_sides():
    """One turn each."""
    recorder = Recorder(Scale.of(twin()), Mode.MIXED, twin().powertrain.turn_counts_both)
    recorder.read(recorder.began_s, (44000, 22000))
    assert recorder.log("")["encoders"].values[0] == pytest.approx([2.0 * math.pi, 2.0 * math.pi])
