"""A side whose encoders are disconnected, of a simulated drive with four wheels: found, named, and told from a real turn."""

from dataclasses import replace

import numpy as np
import pytest

from drives import drive
from slipfit.library import find_robot
from slipfit.logs import Severity, inspect_log
from slipfit.logs.channels import wheel_columns

P3AT = find_robot("p3at")
LEFT, RIGHT = [0, 2], [1, 3]


def dead(log, wheels, begin_s=0.0, end_s=np.inf):
    """Angles of some wheels stay as they were while the cable is off, and go on from there."""
    channel = log["encoders"]
    off = (channel.time_s >= begin_s) & (channel.time_s < end_s)
    columns = [channel.columns.index(name) for name in wheel_columns("angle", 4)]
    values = channel.values.copy()
    for k in wheels:
        steps = np.diff(values[:, columns[k]], prepend=values[0, columns[k]])
        values[:, columns[k]] = values[0, columns[k]] + np.cumsum(np.where(off, 0.0, steps))
    return log.having(replace(channel, values=values))


@pytest.mark.parametrize(("wheels", "side"), [(LEFT, "left"), (RIGHT, "right")])
def test_a_side_without_cable_is_fatal(good, wheels, side):
    inspection = inspect_log(dead(good, wheels), P3AT)
    assert inspection.fatal is not None
    assert inspection.fatal.kind == "dead side"
    assert f"the {side} side stays as it is" in inspection.fatal.found


def test_a_cable_that_is_off_for_a_while_costs_these_rows(good):
    """From 3 s to 6 s the robot goes straight at 0.2 to 1 m/s."""
    inspection = inspect_log(dead(good, LEFT, 3.0, 6.0), P3AT)
    assert inspection.fatal is None
    (finding,) = inspection.of_kind("dead side")
    assert finding.severity is Severity.ERROR
    assert finding.is_corrected
    rest = (inspection.corrected["encoders"].stamps_ns - good["encoders"].stamps_ns[0]) / 1e9
    assert not ((rest > 3.1) & (rest < 5.9)).any()


def test_a_good_drive_has_both_sides(good):
    assert not inspect_log(good, P3AT).of_kind("dead side")


def test_a_turn_about_one_side_is_a_turn():
    """v = r b / 2 stands the left side still (b the track): 4 s of it, and back."""
    rate = 0.8
    turn = {"for_s": 4.0, "v_mps": 0.5 * P3AT.track_m * rate, "yaw_rate_radps": rate}
    back = {**turn, "v_mps": -turn["v_mps"], "yaw_rate_radps": -rate}
    log = drive(commands=[{"for_s": 1.5, "v_mps": 0.0}, turn, {"for_s": 1.5, "v_mps": 0.0}, back]).readings
    assert not inspect_log(log, P3AT).of_kind("dead side")
