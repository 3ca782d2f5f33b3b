"""What a scenario file may say."""

import pytest
import yaml

from slipfit.errors import ParameterError
from slipfit.simulation import Scenario
from slipfit.simulation.scenario import standard_drive

#: The scenario file that the documentation shows.
EXAMPLE = """\
schema: slipfit/scenario/2
ground: {shape: plane, slope_rad: 0.0, surface: lab_floor}
step_s: 0.001
commands:                                    # body velocities, wheel speeds or voltages
  - {for_s: 2.0, v_mps: 0.2}
  - {for_s: 2.0, v_mps: 1.0, profile: step}
  - {for_s: 12.0, yaw_rate_radps: 1.0, profile: quintic}
sensors:
  imu: {rate_hz: 100, accel_noise_mps2: 0.05, accel_bias_mps2: 0.02, gyro_noise_radps: 0.002}
  encoders: {rate_hz: 100, counts_per_turn: 4096}
  pose: {rate_hz: 20, position_noise_m: 0.001, yaw_noise_rad: 0.002}
"""

DRIVE = {"for_s": 1.0, "v_mps": 0.1}


def scenario(**changes):
    return Scenario.from_mapping({"schema": Scenario.kind(), "commands": [DRIVE]} | changes, where="s.yaml")


def test_the_documented_scenario_says_what_its_file_says(tmp_path):
    example = Scenario.from_mapping(yaml.safe_load(EXAMPLE), where="example")
    assert example.duration_s == 16.0
    assert example.sensors.names == ["imu", "encoders", "pose"]
    example.save(tmp_path / "again.yaml")
    assert Scenario.load(tmp_path / "again.yaml") == example


def test_the_standard_drive_is_a_step_a_stop_and_a_spin():
    drive = standard_drive()
    assert [c.v_mps for c in drive.commands if c.v_mps] == [0.2, 1.0]
    assert [c.yaw_rate_radps for c in drive.commands if c.yaw_rate_radps] == [1.0]
    assert drive.duration_s == 18.0


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ({"for_s": -1.0, "v_mps": 0.1}, r"commands\[0\]: for_s = -1 s ends before it starts"),
        ({"for_s": 0.0, "v_mps": 0.1}, r"commands\[0\]: for_s = 0 s ends before it starts"),
        ({"for_s": float("nan"), "v_mps": 0.1}, r"commands\[0\].for_s: found nan"),
        ({"for_s": float("inf"), "v_mps": 0.1}, r"commands\[0\].for_s: found inf"),
        ({"for_s": True, "v_mps": 0.1}, r"commands\[0\].for_s: for_s is True; expected a number"),
        ({"for_s": 1e-4, "v_mps": 0.1}, "less than one step"),
        ({"for_s": 1e9, "v_mps": 0.1}, "more than 20,000,000 steps"),
        ({"for_s": 1.0, "v_mps": float("nan")}, r"commands\[0\].v_mps: found nan"),
        ({"for_s": 1.0, "v_mps": "fast"}, r"commands\[0\].v_mps: v_mps is 'fast'; expected a number"),
        ({"for_s": 1.0, "wheels_radps": [1, "x"]}, r"commands\[0\].wheels_radps\[1\]"),
        ({"for_s": 1.0, "v_mp": 0.1}, r"unknown key 'commands\[0\].v_mp'; did you mean 'v_mps'"),
        ({"for_s": 1.0, "v_mps": 0.1, "profile": "cubic"}, r"commands\[0\].profile: found 'cubic'"),
        ({"for_s": 1.0, "v_mps": 0.1, "ramp_s": -1}, r"commands\[0\].ramp_s: found -1"),
        ({"for_s": 1.0}, "a command gives either"),
        ({"for_s": 1.0, "v_mps": 0.1, "wheels_v": [1, 1]}, "a command gives either"),
        ({"v_mps": 0.1}, r"key 'commands\[0\].for_s' is missing"),
    ],
)
def test_a_command_that_cannot_be_is_refused(command, complaint):
    with pytest.raises(ParameterError, match=f"s.yaml: {complaint}|s.yaml: .*{complaint}"):
        scenario(commands=[command])


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"commands": []}, "commands is empty: the scenario ends before it starts"),
        ({"commands": None}, "commands: found None"),
        ({"ground": {"slope_rad": 10}}, "ground.slope_rad: .*if you meant degrees, write 0.174533"),
        ({"ground": {"slope_rad": -0.1}}, "ground.slope_rad: "),
        ({"ground": {"uphill_rad": 90}}, "ground.uphill_rad: .*if you meant degrees, write 1.5708"),
        ({"start": {"heading_rad": 180}}, "start.heading_rad: .*if you meant degrees, write 3.14159"),
        ({"start": {"x_m": True}}, "start.x_m: x_m is True"),
        ({"step_s": 1}, "if you meant milliseconds, write 0.001"),
        ({"step_s": float("nan")}, "step_s: found nan"),
        ({"record_s": 1e-4}, "record_s = 0.0001 s is shorter than step_s"),
        ({"seed": -1}, "seed: found -1"),
        ({"seed": True}, "seed: seed is True"),
        ({"sensors": {"imu": {"rate_hz": 0}}}, "sensors.imu.rate_hz: found 0"),
        ({"sensors": {"imu": {"accel_bias_mps2": "x"}}}, "sensors.imu.accel_bias_mps2: accel_bias_mps2 is 'x'"),
        ({"sensors": {"imu": {"lever_arm_m": [1]}}}, r"sensors.imu.lever_arm_m\[1\]"),
        ({"sensors": {"imu": True}}, "sensors.imu: found True; expected keys and values"),
        ({"sensors": {"gps": {}}}, "unknown key 'sensors.gps'"),
        ({"sensors": {"encoders": {"counts_per_turn": 0}}}, "sensors.encoders.counts_per_turn: found 0"),
        ({"sensors": {"encoders": {"counts_per_turn": True}}}, "counts_per_turn is True; expected a whole number"),
    ],
)
def test_a_scenario_that_cannot_be_is_refused(changes, complaint):
    with pytest.raises(ParameterError, match=f"s.yaml: {complaint}|s.yaml: .*{complaint}"):
        scenario(**changes)


def test_text_that_is_a_number_is_understood():
    """YAML reads 1e-3 as text."""
    assert scenario(step_s="1e-3", commands=[{"for_s": "1e0", "v_mps": "1e-1"}]).commands[0].v_mps == 0.1


def test_a_scenario_with_everything_reads_back_equal(tmp_path):
    full = scenario(
        about="all of it",
        ground={"slope_rad": 0.1, "uphill_rad": 1.5, "surface": "gravel"},
        start={"x_m": 1, "heading_rad": -1.0, "v_mps": 0.1},
        commands=[DRIVE, {"for_s": 1, "wheels_radps": [1, 2], "profile": "linear", "ramp_s": 0.2}],
        sensors={"imu": {"accel_bias_mps2": [0.01, 0.02], "tilt_rad": [0.0, 0.1]}, "encoders": {}},
        seed=7,
    )
    full.save(tmp_path / "full.yaml")
    assert Scenario.load(tmp_path / "full.yaml") == full
