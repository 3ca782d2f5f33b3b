"""One drive or many: the same bits, whoever runs beside it."""

import numpy as np
import pytest

from robots import ground_with
from slipfit.errors import ParameterError, SimulationError
from slipfit.library import find_ground, find_robot
from slipfit.simulation import Outcome, Scenario, simulate, simulate_many

TURN = Scenario(commands=[{"for_s": 0.2, "v_mps": 0.5, "yaw_rate_radps": 1.0}])
MASSES = np.linspace(15.0, 40.0, 20)


def straight(**changes):
    return Scenario(commands=[{"for_s": 0.1, "v_mps": 0.2}], **changes)


@pytest.fixture(scope="module")
def twenty():
    return simulate_many("p3at", TURN, {"mass_kg": MASSES}, workers=1)


@pytest.mark.parametrize("i", [0, 7, 8, 19])
def test_a_run_gives_the_same_bits_alone_as_in_a_batch(twenty, i):
    alone = simulate_many("p3at", TURN, {"mass_kg": [MASSES[i]]})
    assert alone.records[0].tobytes() == twenty.records[i].tobytes()


def test_the_library_mass_in_a_batch_is_the_robot_itself():
    batch = simulate_many("p3at", TURN, {"mass_kg": [10.0, 20.0]})
    single = simulate("p3at", TURN)
    for name, column in single.table().items():
        assert batch.run(1).table()[name].tobytes() == column.tobytes(), name


@pytest.mark.parametrize("workers", [2, 3, 7, None])
def test_results_do_not_depend_on_the_number_of_workers(twenty, workers):
    assert simulate_many("p3at", TURN, {"mass_kg": MASSES}, workers=workers).records.tobytes() == twenty.records.tobytes()


def test_results_do_not_depend_on_the_order(twenty):
    backwards = simulate_many("p3at", TURN, {"mass_kg": MASSES[::-1]})
    assert backwards.records[::-1].tobytes() == twenty.records.tobytes()


def test_a_run_that_diverges_gets_a_status_and_the_others_go_on(twenty):
    masses = MASSES.copy()
    masses[[3, 11]] = np.nan
    batch = simulate_many("p3at", TURN, {"mass_kg": masses})
    assert [i for i, outcome in enumerate(batch.outcomes) if outcome is Outcome.DIVERGED] == [3, 11]
    assert (~batch.is_finished).nonzero()[0].tolist() == [3, 11]
    assert batch.run(3).outcome is Outcome.DIVERGED
    for i in batch.is_finished.nonzero()[0]:
        assert batch.records[i].tobytes() == twenty.records[i].tobytes()
    assert "18  The run reached its end." in batch.summary()
    assert "2  The numbers stopped being finite" in batch.summary()


def test_ends_only_records_start_and_end(twenty):
    ends = simulate_many("p3at", TURN, {"mass_kg": MASSES}, ends_only=True)
    assert ends.records.shape[1] == 2
    assert ends.time_s.tolist() == [0.0, pytest.approx(0.2)]
    assert ends.end_pose.tobytes() == np.ascontiguousarray(twenty.end_pose).tobytes()


@pytest.mark.parametrize(("record_s", "times"), [(0.05, [0.0, 0.05, 0.1]), (0.1, [0.0, 0.1]), (60.0, [0.0, 0.1])])
def test_records_come_at_their_interval_and_a_long_one_does_not_prolong_the_drive(record_s, times):
    assert simulate("p3at", straight(record_s=record_s)).time_s.tolist() == pytest.approx(times)


def test_fewer_records_are_the_same_drive():
    fine, coarse = simulate("p3at", straight(record_s=0.001)), simulate("p3at", straight(record_s=0.02))
    assert coarse.x_m.tobytes() == np.ascontiguousarray(fine.x_m[::20]).tobytes()


def test_a_drive_starts_where_and_as_it_is_told():
    start = {"x_m": 1.0, "y_m": -2.0, "heading_rad": 0.5, "v_mps": 0.2}
    drive = simulate("p3at", straight(start=start))
    assert (drive.x_m[0], drive.y_m[0], drive.heading_rad[0], drive.vx_mps[0]) == (1.0, -2.0, 0.5, 0.2)
    assert drive.wheel_speed_radps[0] == pytest.approx(np.full(4, 0.2 / 0.11))


def test_robots_scenarios_and_grounds_may_be_records_names_or_files(tmp_path):
    find_robot("p3at").save(tmp_path / "robot.yaml")
    find_ground("gravel").save(tmp_path / "ground.yaml")
    straight().save(tmp_path / "scenario.yaml")
    by_name = simulate("p3at", straight(), ground="gravel")
    by_file = simulate(tmp_path / "robot.yaml", tmp_path / "scenario.yaml", ground=tmp_path / "ground.yaml")
    by_record = simulate(find_robot("p3at"), straight(), ground=find_ground("gravel"))
    assert by_name.x_m.tobytes() == by_file.x_m.tobytes() == by_record.x_m.tobytes()
    assert by_name.ground == "gravel"


def test_an_unknown_surface_is_told_with_its_key():
    with pytest.raises(ParameterError, match=r"ground\.surface.*'lab_flor'.*did you mean 'lab_floor'"):
        simulate("p3at", straight(ground={"surface": "lab_flor"}))


def test_a_ramp_begins_at_the_runs_own_speed():
    """Linear from v to 0 within a second, without slip to speak of: v/2 metres; a robot that starts at rest stays where it is."""
    braking = Scenario(commands=[{"for_s": 1.5, "v_mps": 0.0, "profile": "linear"}], start={"v_mps": 0.77})
    speeds = np.array([0.0, 0.2, 0.4])
    batch = simulate_many("p3at", braking, {"start_v_mps": speeds})
    assert batch.end_pose[0, 0] == 0.0
    assert batch.end_pose[:, 0] == pytest.approx(0.5 * speeds, abs=0.01)
    start = braking.start.model_copy(update={"v_mps": 0.4})
    alone = simulate("p3at", braking.model_copy(update={"start": start}))
    assert batch.run(2).x_m.tobytes() == alone.x_m.tobytes()


def test_the_commanded_turn_is_that_of_the_runs_wheels():
    """Wheels twice as large turn the robot twice as far at the same speeds."""
    batch = simulate_many("p3at", TURN, {"radius_m": [0.11, 0.22]})
    assert [batch.run(i).commanded_turn_rad for i in range(2)] == pytest.approx([0.2, 0.4])


def test_a_tyre_that_does_not_relax_is_itself_among_tyres_that_do():
    """Without a relaxation length the law is another, and has no memory."""
    batch = simulate_many("p3at", TURN, {"relaxation_lat_m": [0.1, 0.0, 0.2]}, ground=ground_with("wheel_slip"))
    alone = simulate("p3at", TURN, ground=ground_with("wheel_slip"))
    assert batch.run(1).heading_rad.tobytes() == alone.heading_rad.tobytes()
    assert batch.run(0).heading_rad[-1] != alone.heading_rad[-1] != batch.run(2).heading_rad[-1]


# --- what may be varied ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["mass_kg", "c_long_per_n", "c_lat", "slope_rad", "start_x_m", "torque_limit_nm", "gravity_mps2"]
)
def test_every_number_of_a_run_can_be_varied(name):
    assert len(simulate_many("p3at", straight(), {name: np.full(3, 0.5)})) == 3


@pytest.mark.parametrize(
    ("vary", "complaint"),
    [
        ([{"mass_kg": 20.0}], "expected arrays by name"),
        ({"mas_kg": [1.0]}, "no number 'mas_kg' in this run; did you mean 'mass_kg'"),
        ({"mass_kg": [1.0, 2.0], "slope_rad": [0.0]}, "lengths differ"),
        ({"mass_kg": [20.0, -1.0]}, "mass_kg = -1 kg lies outside"),
        ({"mass_kg": 20.0}, r"has shape \(\)"),
        ({"mass_kg": []}, r"has shape \(0,\)"),
        ({"mass_kg": [[20.0]]}, r"has shape \(1, 1\)"),
        ({"mass_kg": ["heavy"]}, "mass_kg is .*; expected one number per run"),
        ({"mass_kg": [[1.0], [1.0, 2.0]]}, "expected one number per run"),
        ({"c_long": [-1.0]}, "c_long_per_n = -1 lies outside"),
        ({"slope_rad": [10.0]}, "if you meant degrees, write 0.174533"),
        ({"gravity_mps2": [-9.81]}, "gravity_mps2 = -9.81"),
        ({"centre_of_mass_height_m": [-0.1]}, "centre_of_mass_height_m = -0.1"),
    ],
)
def test_what_cannot_be_varied_is_one_sentence(vary, complaint):
    with pytest.raises(SimulationError, match=f"vary: .*{complaint}"):
        simulate_many("p3at", straight(), vary)


def test_a_result_that_would_not_fit_into_memory_is_refused():
    """A million runs of 1001 records with 9 + 7 x 4 columns of 8 bytes: 296 GB."""
    with pytest.raises(SimulationError, match="296 GB; take a larger record_s"):
        simulate_many("p3at", Scenario(commands=[{"for_s": 10.0, "v_mps": 0.1}]), {"mass_kg": np.full(1_000_000, 20.0)})


def test_a_scenario_may_be_what_its_file_holds():
    """0.2 m/s for a second, at rest before: the same as the record's."""
    commands = [{"for_s": 1.0, "v_mps": 0.2}]
    assert simulate("p3at", {"commands": commands}).x_m[-1] == simulate("p3at", Scenario(commands=commands)).x_m[-1]


@pytest.mark.parametrize(
    ("robot", "scenario", "said"),
    [
        ("p3at", {"command": []}, "scenario: "),
        ("p3at", 3, "scenario is of type int; expected a Scenario"),
        (3, Scenario(commands=[{"for_s": 1.0, "v_mps": 0.2}]), "robot is of type int; expected a Robot"),
    ],
)
def test_what_is_no_scenario_and_no_robot_is_refused_with_a_sentence(robot, scenario, said):
    with pytest.raises(ParameterError, match=said):
        simulate(robot, scenario)
