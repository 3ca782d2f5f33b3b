"""Drives on routes and terrains: verdicts, records, files, batches, and books of every scenario that is shipped."""

import math

import numpy as np
import pytest

from robots import changed, ground_with
from slipfit.errors import ParameterError, SlipfitError
from slipfit.library import Terrain, find_ground, find_terrain
from slipfit.simulation import Scenario, simulate, simulate_many
from slipfit.simulation.assemble import named_values
from slipfit.simulation.outcome import Outcome
from slipfit.simulation.quantities import plane_to_world
from slipfit.simulation.record import BALANCE_COLUMNS
from slipfit.simulation.scenario import find_scenario, scenario_names
from slipfit.simulation.trajectory import Trajectory

ROVER = "lynxmotion_4wd3"
SHIPPED = [name for name in scenario_names() if find_scenario(name).keeps_books]
ROUTE = {"waypoints_m": [[1.0, 0.3]], "speed_mps": 0.3}
TYRE = {"surface": "rover_tyre"}


@pytest.mark.parametrize("name", SHIPPED)
def test_books_of_every_shipped_scenario_balance(name):
    """Supplied = stored + dissipated within .1 % of the integral of |V I|; all but the 33° serpentine arrive or finish."""
    motion = simulate(ROVER, find_scenario(name))
    assert abs(motion.energy.remainder_share) < 1e-3
    assert np.isfinite(motion.stopped_at_s) == ("33deg" in name)  # what failed says when
    wanted = Outcome.SLID_AWAY if "33deg" in name else Outcome.ARRIVED if motion.waypoints_m else Outcome.FINISHED
    assert motion.outcome is wanted
    assert str(round(motion.energy.supplied_j)) in motion.summary() or "energy" in motion.summary()


def test_shipped_scenarios_are_those_of_the_document_and_a_crater():
    """Issue 8: Table I, serpentine at 0, 10, 20, 30 and 33°, crater rim on Earth and Mars; a bump besides."""
    assert set(SHIPPED) == {
        "rover_voltages", "serpentine_flat", "serpentine_10deg", "serpentine_20deg", "serpentine_30deg", "serpentine_33deg",
        "crater_rim", "crater_rim_mars", "bump_3cm",
    }  # fmt: skip


def test_a_robot_is_put_down_at_rest():
    """On the rough flank of the crater: loads at the start and 10 ms later are the weight's, wheels that hang carry nothing."""
    motion = simulate(ROVER, find_scenario("crater_rim"))
    weight = 2.148 * 9.81 * math.cos(motion.pitch_rad[0]) * math.cos(motion.roll_rad[0])
    assert motion.load_n[0].sum() == pytest.approx(weight, rel=0.02)
    assert motion.load_n[1].sum() == pytest.approx(weight, rel=0.1)


def test_mars_needs_less_energy():
    """3.71 / 9.81 of the weight: less sliding, less climbing current."""
    earth, mars = (simulate(ROVER, find_scenario(name)) for name in ("crater_rim", "crater_rim_mars"))
    assert mars.energy.supplied_j < earth.energy.supplied_j
    assert mars.load_n.sum(axis=1).mean() == pytest.approx(2.148 * 3.71 * np.cos(mars.pitch_rad).mean(), rel=0.03)


def test_a_file_brings_the_drive_back(tmp_path):
    motion = simulate(ROVER, find_scenario("serpentine_flat").model_copy(update={"step_s": 0.001}))
    for name in ("drive.parquet", "drive.csv"):
        motion.save(tmp_path / name)
        again = Trajectory.load(tmp_path / name)
        for field in BALANCE_COLUMNS:
            assert getattr(again, field) == pytest.approx(getattr(motion, field), abs=1e-12), field
        assert again.energy.supplied_j == pytest.approx(motion.energy.supplied_j)
    again = Trajectory.load(tmp_path / "drive.parquet")
    assert (again.outcome, again.waypoints_m, again.arrived_at_s) == (motion.outcome, motion.waypoints_m, motion.arrived_at_s)
    assert again.largest_cross_track_m == pytest.approx(motion.largest_cross_track_m)


def test_tum_files_have_the_attitude(tmp_path):
    """On a slope of the terrain the quaternion is that of yaw, pitch and roll, z up."""
    scenario = Scenario(
        commands=[{"for_s": 0.1, "wheels_v": [0.0, 0.0]}], ground={**TYRE, "shape": "terrain", "terrain": "slope_20deg"}
    )
    motion = simulate(ROVER, scenario)
    motion.save(tmp_path / "drive.tum")
    row = [float(x) for x in (tmp_path / "drive.tum").read_text().splitlines()[1].split()]
    assert abs(motion.pitch_rad[0]) == pytest.approx(math.radians(20.0), abs=3e-3)
    assert row[4:] == pytest.approx([0.0, math.sin(motion.pitch_rad[0] / 2), 0.0, math.cos(motion.pitch_rad[0] / 2)], abs=1e-6)


def test_many_drives_are_single_ones():
    """Run k of a batch equals the same drive alone."""
    scenario = Scenario(route=ROUTE, ground=TYRE)
    masses = np.array([1.8, 2.148, 2.6])
    many = simulate_many(ROVER, scenario, {"mass_kg": masses})
    alone = simulate(changed(ROVER, mass_kg=2.6), scenario)
    assert np.array_equal(many.run(2).x_m, alone.x_m)
    assert many.arrived_at_s[2] == alone.arrived_at_s
    ends = simulate_many(ROVER, scenario, {"mass_kg": masses}, ends_only=True)
    assert np.array_equal(ends.arrived_at_s, many.arrived_at_s)
    assert "3  The robot reached its last waypoint." in many.summary()


@pytest.mark.slow  # a kernel of its own
def test_pure_pursuit_and_speed_loops_arrive_too():
    """What people use today: a P3AT with speed loops on pure pursuit."""
    route = {**ROUTE, "waypoints_m": [[2.0, 0.0], [3.0, 1.0]], "guidance": "pure_pursuit"}
    motion = simulate("p3at", Scenario(route=route, ground={"surface": "lab_floor"}))
    assert motion.outcome is Outcome.ARRIVED
    assert motion.largest_cross_track_m < 0.2


def test_sensors_watch_a_route():
    sensors = {"imu": {"rate_hz": 100}, "encoders": {"rate_hz": 50}, "pose": {"rate_hz": 20}}
    motion = simulate(ROVER, Scenario(route=ROUTE, ground=TYRE, sensors=sensors))
    assert set(motion.readings.channels) == {"imu", "encoders", "pose"}
    assert motion.outcome is Outcome.ARRIVED
    assert np.diff(motion.time_s)[:-1] == pytest.approx(0.01)


# --- verdicts ----------------------------------------------------------------------------------------------------------------


def test_time_runs_out():
    motion = simulate(ROVER, Scenario(route={**ROUTE, "at_most_s": 1.0}, ground=TYRE))
    assert motion.outcome is Outcome.TIMED_OUT
    assert "0 of 1 waypoints" in motion.summary()


def test_a_robot_that_drives_off_the_map():
    """bump_3cm reaches to x = 3 m."""
    place = {**TYRE, "shape": "terrain", "terrain": "bump_3cm"}
    motion = simulate(ROVER, Scenario(commands=[{"for_s": 4.0, "wheels_v": [10.0, 10.0]}], ground=place, start={"x_m": 0.0}))
    assert motion.outcome is Outcome.LEFT_THE_MAP
    assert 2.0 < motion.stopped_at_s < 4.0
    assert motion.x_m[-1] == pytest.approx(2.9, abs=0.05)
    assert f"{motion.stopped_at_s:.3f} s" in motion.summary()


def test_a_tall_robot_tips_over():
    """Centre of mass at .35 m over a wheelbase of .2 m: tips backwards beyond atan(.1 / .35) = 15.9°, and does on a 20° slope."""
    tall = changed(ROVER, centre_of_mass_m=[0.0, 0.0, 0.35])
    place = {**TYRE, "shape": "terrain", "terrain": "slope_20deg"}
    motion = simulate(tall, Scenario(commands=[{"for_s": 3.0, "wheels_v": [0.0, 0.0]}], ground=place))
    assert motion.outcome is Outcome.TIPPED_OVER
    assert motion.smallest_tip_over_margin_rad < 0.0


def test_gains_that_shake_the_robot_are_told_by_its_verdict():
    """Heading gains a thousand times too large: the rover fails its route, and its run says so instead of a number."""
    gains = {"heading": {"kp_v_per_rad": 8000.0, "kd_v_s_per_rad": 5000.0}}
    motion = simulate(ROVER, Scenario(route={**ROUTE, "gains": gains, "at_most_s": 10.0}, ground=TYRE))
    assert motion.outcome in (Outcome.TIMED_OUT, Outcome.SLID_AWAY, Outcome.ARRIVED)
    assert np.isfinite(motion.x_m).all()


# --- bad input ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"route": {**ROUTE, "waypoints_m": [[9.0, 0.0]]}, "ground": {"shape": "terrain", "terrain": "bump_3cm"}}, "off the map"),
        ({"route": ROUTE, "start": {"x_m": 50.0}, "ground": {"shape": "terrain", "terrain": "bump_3cm"}}, "start = "),
        ({"route": ROUTE, "ground": {"shape": "terrain"}}, "which"),
        ({"route": ROUTE, "ground": {"shape": "plane", "terrain": "bump_3cm"}}, "shape: terrain"),
        ({"route": ROUTE, "ground": {"shape": "terrain", "terrain": "bump_3cm", "slope_rad": 0.1}}, "belong to planes"),
        ({"route": ROUTE, "commands": [{"for_s": 1.0, "v_mps": 0.1}]}, "both"),
        ({"route": ROUTE, "ground": {"shape": "terrain", "terrain": "bump_4cm"}}, "bump_3cm"),
        ({"route": {**ROUTE, "speed_mps": -1.0}}, "speed_mps"),
        ({"route": {**ROUTE, "gains": {"surge": {"ki_v_per_m": -1.0}}}}, "negative gain"),
        ({"route": ROUTE, "ground": {"gravity_mps2": -3.7}}, "gravity_mps2"),
    ],
)
def test_bad_input_is_a_sentence(changes, words):
    with pytest.raises((SlipfitError, ValueError), match=words):
        simulate(ROVER, {"ground": TYRE, **changes})


def test_terrains_need_inertias():
    robot = changed(ROVER)
    bare = robot.model_copy(update={"roll_inertia_kgm2": None})
    place = {**TYRE, "shape": "terrain", "terrain": "bump_3cm"}
    with pytest.raises(SlipfitError, match="roll_inertia_kgm2"):
        simulate(bare, Scenario(route={**ROUTE}, ground=place))


def test_ledges_are_told(tmp_path):
    """A step of 5 cm in a map of 5 cm bends more sharply than a wheel of 6.35 cm: the run says so, and where."""
    heights = np.zeros((60, 60))
    heights[:, 30:] = -0.05
    Terrain("ledge", heights, 0.05, (-1.0, -1.5)).save(tmp_path / "ledge.yaml")
    place = {**TYRE, "shape": "terrain", "terrain": str(tmp_path / "ledge.yaml")}
    motion = simulate(ROVER, Scenario(commands=[{"for_s": 0.1, "wheels_v": [2.0, 2.0]}], ground=place))
    assert any("more sharply than a wheel" in note for note in motion.all_notes)
    assert not any("sharply" in note for note in simulate(ROVER, find_scenario("crater_rim")).all_notes)


@pytest.mark.parametrize("guidance", ["line_of_sight", pytest.param("pure_pursuit", marks=pytest.mark.slow)])
def test_runs_start_their_path_where_they_start(guidance):
    """A varied start is the same drive as that start alone."""
    route = {"waypoints_m": [[3.0, 0.0], [3.0, 2.0]], "speed_mps": 0.3, "guidance": guidance}
    many = simulate_many(ROVER, Scenario(route=route, ground=TYRE), {"start_y_m": np.array([0.0, 1.0])})
    alone = simulate(ROVER, Scenario(route=route, ground=TYRE, start={"y_m": 1.0}))
    shared = min(len(alone.x_m), len(many.run(1).x_m))
    assert many.arrived_at_s[1] == alone.arrived_at_s
    assert np.array_equal(many.run(1).x_m[:shared], alone.x_m[:shared])


def test_height_maps_with_holes_are_refused():
    heights = find_terrain("bump_3cm").heights_m.copy()
    heights[3, 4] = np.nan
    with pytest.raises(ParameterError, match="missing"):
        Terrain("holed", heights, 0.02, (0.0, 0.0))


FED = changed(ROVER, battery={"open_circuit_v": 12.0, "internal_resistance_ohm": 0.5})


def straight(volts, **more):
    return Scenario(commands=[{"for_s": 1.0, "wheels_v": [volts, volts]}], **{"ground": TYRE, **more})


@pytest.mark.slow  # two kernels of its own
def test_keeping_books_changes_nothing_about_the_motion():
    """A battery sags whether its joules are counted or not."""
    assert simulate(FED, straight(12.0)).x_m[-1] == simulate(FED, straight(12.0, energy=True)).x_m[-1]


@pytest.mark.parametrize("name", ["internal_resistance_ohm", "open_circuit_v", "centre_of_mass_height_m"])
def test_a_run_with_a_number_that_is_none_has_no_result(name):
    """Also where a limit or a comparison swallows it; its neighbour is not touched."""
    good = named_values(FED, find_ground("rover_tyre"), straight(12.0))[name]
    batch = simulate_many(FED, straight(12.0, energy=True), {name: [math.nan, good]})
    assert batch.outcomes == (Outcome.DIVERGED, Outcome.FINISHED)


def test_no_alarm_where_no_motor_turns_over_any_energy():
    """At 0 V on a slope what goes through the motors is rounding: nothing to compare the remainder with."""
    motion = simulate(ROVER, straight(0.0, energy=True, ground={**TYRE, "slope_rad": 0.1}))
    assert math.isnan(motion.energy.remainder_share)
    assert "not explained" in motion.summary()
    assert "doubt" not in motion.summary()


def test_starts_off_the_map_are_refused_in_batches_too():
    with pytest.raises(SlipfitError, match=r"vary: a start = \[50, 0\] lies off the map of crater_rim"):
        simulate_many(ROVER, find_scenario("crater_rim"), {"start_x_m": [0.0, 50.0], "start_y_m": [0.0, 0.0]})


def test_omnidirectional_robots_keep_no_books():
    with pytest.raises(SlipfitError, match="omnidirectional"):
        simulate("ohio_omni", Scenario(route=ROUTE, ground={"surface": "ohio_paper"}))


def test_a_plane_in_world_axes():
    """Uphill rises by sin(slope), the contour line stays level."""
    turned = plane_to_world(0.3, 0.7)
    assert turned @ [math.cos(0.7), math.sin(0.7), 0.0] == pytest.approx(
        [math.cos(0.7) * math.cos(0.3), math.sin(0.7) * math.cos(0.3), math.sin(0.3)]
    )
    assert turned @ [-math.sin(0.7), math.cos(0.7), 0.0] == pytest.approx([-math.sin(0.7), math.cos(0.7), 0.0])


def test_wheels_that_spin_to_the_end_are_told():
    """Rims at 0.3 m/s whose slip is 0.29 of it in the last two seconds and 0.01 before: ratios of 0.97 and 0.03."""
    motion = simulate(ROVER, find_scenario("crater_rim"))
    last = motion.time_s > motion.time_s[-1] - 2.0
    rims = np.full_like(motion.rim_mps, 0.3)
    spun = motion.with_columns(rim_mps=rims, slip_x_mps=np.where(last[:, None], 0.29, 0.01) * np.ones_like(rims))
    assert spun.spins_from_s == motion.time_s[last][0]
    assert any("all wheels spun" in note for note in spun.all_notes)
    assert np.isnan(motion.spins_from_s)


def test_the_time_limit_of_a_route_counts_from_the_runs_own_start():
    """Twice the time of the legs plus ten seconds (docs/reference/files), from each run's own start; on hardly any grip no
    run arrives."""
    ice, starts = ground_with("magic_formula", mu=0.001), [0.0, 1.5, -2.0]
    scenario = Scenario(route={"waypoints_m": [[3.0, 0.0]], "speed_mps": 1.0}, record_s=0.1)
    batch = simulate_many(ROVER, scenario, {"start_x_m": starts}, ground=ice)
    for i, start_x_m in enumerate(starts):
        start = scenario.start.model_copy(update={"x_m": start_x_m})
        alone = simulate(ROVER, scenario.model_copy(update={"start": start}), ground=ice)
        assert alone.time_s[-1] == pytest.approx(2.0 * (3.0 - start_x_m) + 10.0, abs=0.1)
        assert batch.run(i).outcome is alone.outcome
        assert batch.run(i).x_m.tobytes() == alone.x_m.tobytes()
        assert batch.end_pose[i, 0] == alone.x_m[-1]
    assert len(simulate_many(ROVER, scenario, {"start_x_m": starts}, ground=ice, ends_only=True).time_s) == 2
