"""Run i of a batch is the single run with its number, to the last bit: every number that can be varied, of every drive.

Numbers are listed by the functions that `vary` is checked against, so that a new one joins by itself. The expected motion is that
of `simulate` with the number written into the robot's, ground's or scenario's file."""

import numpy as np
import pytest

from known_twins import known_twin
from robots import changed, ground_with
from slipfit.contact import LAWS
from slipfit.library import OmniRobot, find_ground, find_robot
from slipfit.library.drives import ROBOTS
from slipfit.simulation import Scenario, simulate, simulate_many
from slipfit.simulation.climb import climb_bounds, variable_numbers
from slipfit.simulation.drives import VEHICLES
from slipfit.simulation.scenario import Command, Start, Stop, find_scenario
from slipfit.twin import Twin
from tracks import climb
from varied import Drive, climb_with, other_values

#: Steps, and ramps from a start that moves: the first command of these depends on how a run starts.
STEPS = [{"for_s": 0.05, "v_mps": 0.3, "yaw_rate_radps": 0.4}, {"for_s": 0.03, "v_mps": 0.1, "yaw_rate_radps": -0.8}]
RAMPS = [
    {"for_s": 0.06, "v_mps": 0.3, "yaw_rate_radps": 0.4, "profile": "linear", "ramp_s": 0.04},
    {"for_s": 0.04, "v_mps": 0.1, "yaw_rate_radps": -0.8},
]
OMNI_STEPS = [command | {"vy_mps": 0.1} for command in STEPS]
OMNI_RAMPS = [command | {"vy_mps": 0.1} for command in RAMPS]
MOVING = {"v_mps": 0.2, "yaw_rate_radps": 0.1, "heading_rad": 0.3}
TILTED = {"slope_rad": 0.1, "uphill_rad": 0.5}


def drive_of(robot, surface, commands=RAMPS, **scenario):
    scenario = {"schema": Scenario.kind(), "commands": commands, "start": MOVING, "record_s": 0.01, **scenario}
    surface = find_ground(surface) if isinstance(surface, str) else surface
    return Drive(robot, Scenario.from_mapping(scenario, where="drive"), surface)


def numbers_of(robot, ground, scenario):
    return VEHICLES[robot.drive].numbers(robot, ground, scenario)


def omni_changed(name, **wheels):
    data = find_robot(name).to_mapping()
    data["wheels"] = {key: entry for key, entry in (data["wheels"] | wheels).items() if entry is not None}
    return OmniRobot.from_mapping(data, where="changed robot")


LYNX = find_robot("lynxmotion_4wd3")
ROUTE = {"waypoints_m": [[0.4, 0.2], [0.8, 0.0]], "speed_mps": 0.3}

DRIVES = {
    "skid-steer": drive_of(find_robot("p3at"), ground_with("wheel_slip"), ground=TILTED),
    "differential": drive_of(find_robot("turtlebot3_burger"), ground_with("wheel_slip"), ground=TILTED),
    "motors": drive_of(LYNX, "rover_tyre", ground=TILTED),
    "shafts": drive_of(find_robot("lynxmotion_4wd3_shaft"), "rover_tyre", STEPS, ground=TILTED, energy=True),
    "omni": drive_of(find_robot("ohio_omni"), ground_with("arctan"), OMNI_RAMPS, ground=TILTED),
    "mecanum": drive_of(find_robot("optiodom_mecanum"), ground_with("arctan"), OMNI_RAMPS, ground=TILTED),
    "rollers with gaps": drive_of(
        omni_changed("ohio_omni", rigid_fraction=None, roller_arc_rad=0.6), ground_with("arctan"), OMNI_STEPS
    ),
    "energy balance": drive_of(LYNX, "rover_tyre", STEPS, ground=TILTED, energy=True),
    "terrain": drive_of(LYNX, "rover_tyre", ground={"shape": "terrain", "terrain": "bump_3cm"}),
    "soil": drive_of(LYNX, "dry_sand", STEPS, ground=TILTED),
    "soil with grousers": drive_of(
        changed("lynxmotion_4wd3", wheels__grouser_height_m=0.005, wheels__grouser_count=24), "dry_sand", STEPS, ground=TILTED
    ),
}
#: Needs a kernel of its own, and differs from what "omni" does with the same number only in its powertrain.
OF_OMNI_WHEELS_TOO = {("mecanum", "kinetic_ratio")}
NUMBERS = [
    (kind, name)
    for kind, d in DRIVES.items()
    for name in numbers_of(d.robot, d.ground, d.scenario)
    if (kind, name) not in OF_OMNI_WHEELS_TOO
]


def assert_same_drive(run, alone):
    """Every column, and what is said of the whole drive."""
    columns = alone.table()
    assert run.table().keys() == columns.keys()
    for key, column in columns.items():
        assert run.table()[key].tobytes() == column.tobytes(), key
    for field in ("outcome", "effort_limit", "slope_rad", "commanded_turn_rad", "notes"):
        assert repr(getattr(run, field)) == repr(getattr(alone, field)), field


def assert_runs_are_single_drives(drive, name, driver=None):
    numbers = numbers_of(drive.robot, drive.ground, drive.scenario)
    values = other_values(
        name, float(numbers[name]), VEHICLES[drive.robot.drive].bounds(drive.robot, drive.ground, drive.scenario)
    )
    batch = simulate_many(driver(drive.robot) if driver else drive.robot, drive.scenario, {name: values}, ground=drive.ground)
    for i, value in enumerate(values):
        one = drive.single(name, value)
        assert_same_drive(batch.run(i), simulate(driver(one.robot) if driver else one.robot, one.scenario, ground=one.ground))


@pytest.mark.parametrize(("kind", "name"), NUMBERS, ids=lambda entry: entry)
def test_a_run_of_a_batch_is_the_single_drive_with_its_number(kind, name):
    assert_runs_are_single_drives(DRIVES[kind], name)


#: Constants that need a kernel of their own once they are not zero, and that other drives here vary too.
WITH_A_KERNEL = {("wheel_slip_cone", "relaxation_long_m"), ("wheel_slip_cone", "relaxation_lat_m"), ("arctan", "kinetic_ratio")}


@pytest.mark.parametrize(
    ("law", "name"),
    [
        pytest.param(law, p.name, marks=pytest.mark.slow if (law, p.name) in WITH_A_KERNEL else ())
        for law in LAWS
        for p in LAWS[law].parameters
    ],
)
def test_every_constant_of_every_law(law, name):
    drive = drive_of(find_robot("p3at"), ground_with(law), STEPS)
    if name in numbers_of(drive.robot, drive.ground, drive.scenario):
        assert_runs_are_single_drives(drive, name)


# --- twins ----------------------------------------------------------------------------------------------------------------


def found(value):
    return {"value": value, "status": "converged", "source": "known"}


def twin_of(robot):
    """A twin whose loops are late, slow, limited and found at another rolling radius than the robot's file has."""
    side = {"metres_per_count": found(2.0 * np.pi * 0.1 / 1000.0), "lag_s": found(0.02), "delay_s": found(0.0033)}
    side |= {"setpoint_per_radps": found(1.02), "saturation_radps": found(2.5), "dead_band_setpoint": found(0.1)}
    powertrain = {"setpoint_unit": "radps", "counts_per_turn": found(1000.0), "left": side, "right": side}
    return Twin.from_mapping(known_twin(robot).to_mapping() | {"powertrain": powertrain}, where="twin")


TWIN_DRIVE = drive_of(find_robot("p3at"), known_twin().ground("floor"), ground=TILTED)


@pytest.mark.parametrize("name", numbers_of(TWIN_DRIVE.robot, TWIN_DRIVE.ground, TWIN_DRIVE.scenario))
def test_a_run_of_a_twin_is_the_single_drive_with_its_number(name):
    assert_runs_are_single_drives(TWIN_DRIVE, name, twin_of)


# --- routes ---------------------------------------------------------------------------------------------------------------

#: Numbers that the controller of a route takes from the robot's file: a batch does not change what the controller knows.
KNOWN_TO_THE_CONTROLLER = {"radius_m", "voltage_limit_v"}
ROUTE_DRIVE = Drive(
    LYNX,
    Scenario.from_mapping(
        {"schema": Scenario.kind(), "route": ROUTE | {"at_most_s": 0.3}, "ground": TILTED, "start": MOVING}, where="route"
    ),
    find_ground("rover_tyre"),
)


@pytest.mark.parametrize(
    "name",
    sorted(numbers_of(ROUTE_DRIVE.robot, ROUTE_DRIVE.ground, ROUTE_DRIVE.scenario).keys() - KNOWN_TO_THE_CONTROLLER),
)
def test_a_run_on_a_route_is_the_single_drive_with_its_number(name):
    assert_runs_are_single_drives(ROUTE_DRIVE, name)


def test_every_kind_of_robot_is_among_the_drives():
    """A new kind of robot joins the lists above, or this fails. Tracked robots climb (below)."""
    driven = {d.robot.drive for d in (*DRIVES.values(), TWIN_DRIVE, ROUTE_DRIVE)}
    assert driven | {"tracked"} == set(ROBOTS)


# --- climbs ---------------------------------------------------------------------------------------------------------------


def short(name, duration_s=0.2, **changes):
    drive = find_scenario(name)
    if drive.straight:
        return drive.model_copy(update={"stop": Stop(after_s=duration_s), "record_s": 0.05} | changes)
    return drive.model_copy(update={"commands": [Command(for_s=duration_s, yaw_rate_radps=1.0)], "record_s": 0.05} | changes)


CLIMBS = {
    "out of soil": short("curb_117mm"),
    "hard ground": short("curb_117mm_dry_concrete", duration_s=0.3),
    "ditch": short("ditch"),
    "ramp": short("ramp_20deg"),
    "stairs": short("stairs"),
    "turning while driving": short(
        "turn_in_sand", commands=[Command(for_s=0.2, v_mps=0.2, yaw_rate_radps=1.0)], start=Start(rolling=True)
    ),
    "turning on the spot": short("turn_in_sand"),
    "field": climb(mu_static=0.8, obstacle={"kind": "field", "terrain": "bump_3cm", "run_m": 0.5}, duration_s=0.2),
}
PACKBOT = find_robot("packbot")
CLIMB_NUMBERS = [(kind, name) for kind, climb in CLIMBS.items() for name in variable_numbers(PACKBOT, climb)]


@pytest.mark.parametrize(("kind", "name"), CLIMB_NUMBERS, ids=lambda entry: entry)
def test_a_run_of_a_batch_of_climbs_is_the_single_climb_with_its_number(kind, name):
    climb = CLIMBS[kind]
    values = other_values(name, float(variable_numbers(PACKBOT, climb)[name]), climb_bounds(PACKBOT, climb))
    batch = simulate_many(PACKBOT, climb, {name: values})
    for i, value in enumerate(values):
        alone, run = simulate(*climb_with(PACKBOT, climb, name, value)), batch.run(i)
        assert run.outcome is alone.outcome
        for key, column in alone.columns.items():
            assert run.columns[key].tobytes() == column.tobytes(), key
