"""What a scenario file may say."""

import pytest
import yaml

from slipfit.errors import ParameterError, SlipfitError
from slipfit.library import Robot, find_robot
from slipfit.simulation import Scenario
from slipfit.simulation.commands import command_table
from slipfit.simulation.run import resolve
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


@pytest.mark.parametrize(
    ("robot", "changes", "sentence"),
    [
        ("p3at", {"start": {"flipper_angle_rad": 0.5}}, r"start\.flipper_angle_rad: p3at has no flippers; it takes start\."),
        ("p3at", {"start": {"rolling": True}}, r"start\.rolling: p3at is on wheels, .*; it takes start\."),
        ("p3at", {"stop": {"patience_s": 1.0}}, r"stop: p3at is on wheels, whose drives end with their commands or route"),
        ("p3at", {"ground": {"mu_static": 0.8}}, r"ground\.mu_static: p3at is on wheels, .*; it takes ground\."),
        ("p3at", {"ground": {"soil": {"k_phi": 1e6}}}, r"soil\.\w+ is missing"),
        ("p3at", {"ground": {"soil": "gravel"}}, r"ground\.soil gravel has the law coulomb; expected a ground with the law soil"),
        ("p3at", {"battery": {"open_circuit_v": 24.0}}, r"battery: p3at has no battery in its file"),
        ("p3at", "curb_117mm", r"ground\.obstacle: p3at is on wheels, and obstacles are not simulated for wheels yet; it takes"),
        (
            "p3at",
            {"commands": [], "straight": {"distance_m": 1.0}},
            "straight: p3at is on wheels, .* not simulated for wheels",
        ),
        ("p3at", {"commands": [DRIVE | {"vy_mps": 0.1}]}, r"commands\[0\]\.vy_mps: p3at is a skid-steer robot"),
    ],
)
def test_keys_that_a_robot_on_wheels_cannot_use_are_refused_with_those_it_can(robot, changes, sentence):
    with pytest.raises(SlipfitError, match=sentence):
        command_table(find_robot(robot), resolve(robot, changes if isinstance(changes, str) else scenario(**changes)).scenario)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"straight": {"distance_m": 1.0}}, "commands and straight are both given; a robot follows one of them"),
        ({"commands": [], "straight": {}}, "straight.distance_m is missing; how far is the goal on this plane"),
        ({"ground": {"shape": "obstacle"}}, "shape is obstacle, but which"),
        ({"ground": {"obstacle": {"kind": "curb", "height_m": 0.1}}}, "there is an obstacle, and shape is plane"),
        ({"ground": {"surface": "ice", "mu_static": 0.8}}, "give either surface"),
        ({"ground": {"surface": None}}, "give either surface"),
        ({"stop": {"after_s": 5.0}}, "stop.after_s is for straight drives"),
        ({"commands": [], "straight": {"distance_m": 1.0, "speed_mps": 0.0}}, "never arrives; give stop.after_s"),
        ({"obstacle": {"kind": "curb"}}, "unknown key 'obstacle'; did you mean 'ground.obstacle'"),
    ],
)
def test_ground_and_task_fit_together(changes, sentence):
    with pytest.raises(ParameterError, match=sentence):
        scenario(**changes)


def test_a_soil_covers_the_surface_for_wheels_too():
    found = resolve("husky", scenario(ground={"surface": "dry_concrete", "soil": "dry_sand"}))
    assert found.ground.name == "dry_sand"


def test_a_battery_of_the_scenario_stands_in_for_the_robots():
    data = find_robot("lynxmotion_4wd3").to_mapping()
    robot = Robot.from_mapping(data | {"battery": {"open_circuit_v": 12.0, "internal_resistance_ohm": 0.2}}, where="tests")
    found = resolve(robot, scenario(battery={"open_circuit_v": 9.0}))
    numbers = found.vehicle.numbers(found.robot, found.ground, found.scenario)
    assert (numbers["open_circuit_v"], numbers["internal_resistance_ohm"]) == (9.0, 0.2)


def test_a_drive_type_fills_in_its_own_steps():
    """0.5 ms for tracks, 1 ms for wheels (docs/theory/stepping); a step in the file counts for both."""
    level = {"ground": {"surface": "dry_concrete"}, "commands": [DRIVE]}
    steps = [
        (resolve(robot, level).scenario.time_step_s, resolve(robot, level).scenario.record_interval_s)
        for robot in ("packbot", "p3at")
    ]
    assert steps == [(0.0005, 0.02), (0.001, 0.01)]
    assert [resolve(robot, level | {"step_s": 2e-4}).scenario.time_step_s for robot in ("packbot", "p3at")] == [2e-4, 2e-4]
