"""Steps that are too long for a drive are divided, and the result says so (docs/theory/stepping, "Steps that are too long")."""

import numpy as np
import pytest

from robots import busy_scenario
from slipfit.errors import ParameterError
from slipfit.library import find_ground, find_robot
from slipfit.simulation import Scenario, simulate, simulate_many
from slipfit.simulation.scenario import find_scenario
from slipfit.simulation.step_rule import LONGEST_STEP_S, in_short_steps
from slipfit.simulation.trajectory import Trajectory

#: The stated tolerance of docs/theory/stepping: how far end poses of allowed steps lie from those at 1 ms.
WITHIN_M, WITHIN_RAD = 0.010, 0.010

ARC = [{"for_s": 5.0, "v_mps": 1.0, "yaw_rate_radps": 1.0}]


def arc(step_s, **changes):
    return Scenario(commands=ARC, step_s=step_s, record_s=max(step_s, 0.1), **changes)


def random_drive(speed_mps, yaw_rate_radps, profile, step_s, *, is_omni=False):
    """Eight random velocities of a second each, as in benchmarks/accuracy."""
    draw = np.random.default_rng(5).uniform(-1.0, 1.0, (8, 3)).tolist()
    commands = [
        {"for_s": 1.0, "v_mps": u * speed_mps, "yaw_rate_radps": r * yaw_rate_radps, "profile": profile}
        | ({"vy_mps": v * speed_mps} if is_omni else {})
        for u, r, v in draw
    ]
    return Scenario.from_mapping(
        {"schema": Scenario.kind(), "commands": commands, "step_s": step_s, "record_s": max(step_s, 0.1)}, where="random drive"
    )


def end_of(drive):
    return np.array([drive.x_m[-1], drive.y_m[-1], drive.heading_rad[-1]])


def assert_same_end(one, other):
    apart = np.abs(end_of(one) - end_of(other))
    assert np.hypot(*apart[:2]) < WITHIN_M
    assert apart[2] < WITHIN_RAD


@pytest.mark.parametrize("step_s", [0.1, 0.05, 0.01, 0.005])
def test_a_robot_that_cannot_turn_does_not_turn_at_any_legal_step(step_s):
    """A P3AT with 2 N m stands on mu = 0.85: turning on the spot takes mu N R / sqrt(1 + (b/l)^2), more than 2 N m on mu = 0.8
    (docs/theory/stepping). Undivided, steps of 0.1 s turn it by more than 100 degrees."""
    drive = simulate("p3at", arc(step_s), ground="dry_asphalt")
    assert abs(np.degrees(drive.heading_rad[-1])) < 0.1
    assert_same_end(drive, simulate("p3at", arc(0.001), ground="dry_asphalt"))
    assert len(drive.notes) == 1


SKID_STEER = {
    "p3at": (1.0, 1.5), "husky": (1.0, 1.0), "jackal": (1.0, 1.5), "warthog": (2.0, 1.0), "atrv_jr": (1.0, 1.0),
    "lynxmotion_4wd3": (0.4, 1.5), "lynxmotion_4wd3_shaft": (0.4, 1.5),
}  # fmt: skip
DIFFERENTIAL = {"turtlebot3_burger": (0.2, 1.5)}
OMNI = {"ohio_omni": (0.3, 1.5), "robotino": (0.4, 1.0), "optiodom_mecanum": (0.3, 1.0), "optiodom_omni3": (0.3, 1.0)}
#: On motors of their own each law of a ground is another kernel: only the one that other tests compile is driven every time.
MOTORS = ("lynxmotion_4wd3", "lynxmotion_4wd3_shaft")
#: Grounds of the library on which steps of 1 ms are accurate themselves: lab_floor has mu = 10 (docs/theory/stepping).
GROUNDS = ["dry_asphalt", "ice", "gravel", "lubricated", "rover_tyre"]
PAIRS = [
    pytest.param(robot, ground, marks=pytest.mark.slow if robot in MOTORS and ground != "rover_tyre" else ())
    for robot in SKID_STEER
    for ground in GROUNDS
]
PAIRS += [(robot, ground) for robot in DIFFERENTIAL for ground in ("dry_asphalt", "ice", "rover_tyre")]
PAIRS += [(robot, ground) for robot in OMNI for ground in ("ohio_paper", "ohio_carpet")]


@pytest.mark.parametrize("profile", ["quintic", "step"])
@pytest.mark.parametrize(("robot", "ground"), PAIRS)
def test_every_step_agrees_with_one_millisecond(robot, ground, profile):
    """The longest step that is not divided, and two that are."""
    speed, yaw_rate = (SKID_STEER | DIFFERENTIAL | OMNI)[robot]
    record = find_robot(robot)
    surface = find_ground(ground)
    drives = {
        step_s: simulate(record, random_drive(speed, yaw_rate, profile, step_s, is_omni=robot in OMNI), ground=surface)
        for step_s in (0.001, LONGEST_STEP_S, 0.01, 0.1)
    }
    assert [bool(drive.notes) for drive in drives.values()] == [False, False, True, True]
    for step_s in (LONGEST_STEP_S, 0.01, 0.1):
        assert_same_end(drives[step_s], drives[0.001])


@pytest.mark.parametrize("name", ["bump_3cm", "crater_rim", "serpentine_flat"])
def test_drives_over_terrain_and_on_routes(name):
    scenario = find_scenario(name)
    if scenario.route:  # a command lasts whole steps
        scenario = scenario.model_copy(update={"route": scenario.route.model_copy(update={"control_rate_hz": 10.0})})
    fine, long = (
        simulate("lynxmotion_4wd3", scenario.model_copy(update={"step_s": step_s, "record_s": 0.1})) for step_s in (0.001, 0.1)
    )
    assert_same_end(long, fine)
    assert any(note.startswith("step_s = 0.1 s is longer than the 2 ms") for note in long.notes)


# --- the rule -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step_s", [1e-5, 0.001, 0.002])
def test_steps_up_to_the_longest_are_what_the_scenario_says(step_s):
    scenario = busy_scenario(step_s=step_s)
    same, notes = in_short_steps(scenario)
    assert same is scenario
    assert notes == ()


@pytest.mark.parametrize(("step_s", "parts"), [(0.003, 2), (0.004, 2), (0.005, 3), (0.01, 5), (0.1, 50)])
def test_longer_steps_are_divided_into_equal_parts(step_s, parts):
    """The fewest parts of at most 2 ms."""
    short, (note,) = in_short_steps(arc(step_s))
    assert short.step_s == pytest.approx(step_s / parts)
    assert f"each step was computed in {parts} steps of" in note


@pytest.mark.parametrize(("step_s", "record_s", "between_s"), [(0.1, 0.1, 0.1), (0.05, 0.1, 0.1), (0.02, 0.05, 0.04)])
def test_records_stay_where_they_were(step_s, record_s, between_s):
    """A record comes after whole steps of the scenario, as many as are nearest to record_s."""
    scenario = Scenario(commands=[{"for_s": 1.0, "v_mps": 0.2}], step_s=step_s, record_s=record_s)
    assert np.diff(simulate("p3at", scenario).time_s) == pytest.approx(between_s)


def test_batches_are_divided_alike_and_say_so():
    batch = simulate_many("p3at", arc(0.1), {"mass_kg": [20.0, 22.0]}, ground="dry_asphalt")
    alone = simulate("p3at", arc(0.1), ground="dry_asphalt")
    assert batch.run(0).x_m.tobytes() == alone.x_m.tobytes()
    assert batch.notes == batch.run(1).notes == alone.notes
    for text in (batch.summary(), alone.summary()):
        assert "  note     step_s = 0.1 s is longer than the 2 ms up to which drives are accurate" in text


def test_notes_are_kept_in_files(tmp_path):
    drive = simulate("p3at", arc(0.1), ground="dry_asphalt")
    drive.save(tmp_path / "drive.parquet")
    assert Trajectory.load(tmp_path / "drive.parquet").notes == drive.notes


def test_sensors_read_a_drive_that_is_divided():
    """Wheel angles of encoders without noise: those of the drive at 1 ms, within the tolerance over the radius."""
    sensors = {"encoders": {"rate_hz": 10.0, "counts_per_turn": 1_000_000}}
    fine, long = (simulate("p3at", arc(step_s, sensors=sensors), ground="lab_floor") for step_s in (0.001, 0.1))
    ends = [drive.readings["encoders"].values[-1] - drive.readings["encoders"].values[0] for drive in (fine, long)]
    assert ends[0] == pytest.approx(ends[1], abs=WITHIN_M / 0.11)


def test_a_drive_of_too_many_short_steps_is_refused():
    """20 million steps of 2 ms are 40 000 s."""
    with pytest.raises(
        ParameterError, match=r"step_s = 0.1 s is computed in steps of 2 ms, and the drive lasts 50000 s, more than"
    ):
        simulate("p3at", Scenario(commands=[{"for_s": 50_000.0, "v_mps": 0.1}], step_s=0.1, record_s=1.0))


# --- climbs -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["curb_117mm", "curb_163mm", "ramp_20deg", "turn_in_sand"])
def test_climbs_with_the_longest_steps_end_as_with_the_usual_ones(name):
    """3 ms is within what packbot's contacts allow; it is divided into two steps of 1.5 ms."""
    usual = find_scenario(name)
    long = simulate("packbot", usual.model_copy(update={"step_s": 0.003}))
    drive = simulate("packbot", usual)
    assert long.outcome is drive.outcome
    assert long["x_m"][-1] == pytest.approx(drive["x_m"][-1], abs=WITHIN_M)
    assert long.heading_rad[-1] == pytest.approx(drive.heading_rad[-1], abs=WITHIN_RAD)
    assert not drive.notes
    assert [note for note in long.notes if "computed in 2 steps of 1.5 ms" in note]
    batch = simulate_many("packbot", usual.model_copy(update={"step_s": 0.003}), {"mass_kg": [31.8]}, ends_only=True)
    assert "  note     step_s = 0.003 s is longer than the 2 ms" in batch.summary()
