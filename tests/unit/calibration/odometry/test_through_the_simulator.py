"""A twin with a powertrain drives in the simulator; its log gives the powertrain back, and slip constants beside it."""

import numpy as np
import pytest

from slipfit.calibration import calibrate
from slipfit.calibration.odometry import constants_of_log
from slipfit.library import find_robot
from slipfit.logs import Channel
from slipfit.simulation import Scenario, simulate
from slipfit.simulation.commands import command_table
from slipfit.simulation.scenario import standard_drive
from slipfit.twin import Twin
from unit.twin.twins import mapping

P3AT = find_robot("p3at")


def found(value):
    return {"value": value, "status": "converged", "source": "known"}


def with_commands(log, scenario, every_s=0.05):
    """The log with what the robot was told, as a driver would note it."""
    table = command_table(P3AT, scenario)
    rows = np.arange(0, len(table), round(every_s / scenario.time_step_s))
    stamps = np.round(rows * scenario.time_step_s * 1e9).astype(np.int64)
    return log.having(Channel("commands", stamps, table[rows][:, :2], ("left_speed_radps", "right_speed_radps")))


def test_lag_delay_and_gain_come_back_from_a_simulated_drive():
    """Left 0.12 s and 0.04 s, right 0.2 s and 0.1 s, with gains of 2 and -3 %; steps soft enough for the motors' torque."""
    sides = {
        "left": {"setpoint_per_radps": found(1.02), "lag_s": found(0.12), "delay_s": found(0.04)},
        "right": {"setpoint_per_radps": found(0.97), "lag_s": found(0.2), "delay_s": found(0.1)},
    }
    limits = {"setpoint_unit": "radps", "setpoint_limits": [-100, 100]}
    twin = Twin.from_mapping({**mapping(), "powertrain": {**limits, **sides}}, where="twin")
    speeds = [0.0, 0.1, 0.25, 0.1, 0.0, -0.15, 0.0, 0.3, 0.15, 0.0]
    scenario = Scenario.model_validate(
        {
            "commands": [{"for_s": 2.0, "v_mps": v} for v in speeds],
            "sensors": {"encoders": {"rate_hz": 100, "counts_per_turn": 4096}, "pose": {"rate_hz": 20}},
        }
    )
    log = with_commands(simulate(twin, scenario).readings, scenario)
    got = constants_of_log(log, P3AT).powertrain
    for side, (gain, lag, delay) in (("left", (1.02, 0.12, 0.04)), ("right", (0.97, 0.2, 0.1))):
        loop = getattr(got, side)
        assert loop.setpoint_per_radps.value == pytest.approx(gain, rel=0.005)
        assert loop.lag_s.value == pytest.approx(
            lag, abs=0.01
        )  # the torque limit makes steps softer, which the loop does not know
        assert loop.delay_s.value == pytest.approx(delay, abs=0.01)


def test_calibrate_fills_the_powertrain_where_a_log_has_commands():
    scenario = standard_drive()
    log = simulate(P3AT, scenario).readings
    assert calibrate(log, robot="p3at").to_twin().powertrain is None
    fit = calibrate(with_commands(log, scenario), robot="p3at")
    twin = fit.to_twin()
    assert twin.powertrain.left.setpoint_per_radps.value == pytest.approx(1.0, abs=0.01)
    assert twin.ground().values()["c_long_per_n"] > 0.0
    assert "powertrain" in fit.to_document()
