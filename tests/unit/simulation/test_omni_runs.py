"""Omnidirectional robots in scenarios: commands, sensors, records, files, and what is refused."""

import numpy as np
import pytest

from robots import ground_with
from slipfit.errors import SimulationError
from slipfit.library import OmniRobot, find_ground, find_robot
from slipfit.report.figures import draw_drive
from slipfit.simulation import Scenario, Trajectory, simulate, simulate_many
from slipfit.simulation.commands import command_table
from slipfit.simulation.omni_slip import roller_slip
from slipfit.simulation.scenario import standard_drive

PAPER = find_ground("ohio_paper")
SIDEWAYS = [{"for_s": 1.0, "vy_mps": 0.1}]


def test_a_sideways_command_turns_the_wheels_as_the_kinematics_say():
    """Robotino, 0.1 m/s to the left: (0.5, -1, 0.5) x 0.1 / 0.04 rad/s; by hand from its wheels at 60, 180, 300 degrees."""
    robot = find_robot("robotino").model_copy(update={"powertrain": find_robot("ohio_omni").powertrain})
    assert command_table(robot, Scenario(commands=SIDEWAYS))[-1] == pytest.approx([1.25, -2.5, 1.25], abs=1e-6)


@pytest.mark.parametrize("robot", ["robotino", "optiodom_omni3", "optiodom_mecanum"])
def test_the_standard_tour_goes_where_it_is_told_and_sensors_watch(robot):
    """With friction of a carpet the tour's end differs from the commanded one by slip only: some centimetres and degrees."""
    drive = simulate(robot, standard_drive("omni"))
    wheels = drive.load_n.shape[1]
    assert set(drive.readings.channels) == {"imu", "encoders", "pose"}
    assert drive.readings.channels["encoders"].values.shape[1] == wheels
    assert drive.drive == "omni"
    assert drive.wheel_names == [f"wheel {w + 1}" for w in range(wheels)]
    assert drive.commanded_turn_rad == pytest.approx(0.25 + 0.5 * 2.0 + 0.75 + 1.0 * 2.0, abs=1e-3)  # ramps of 1 s, then held
    assert 0.6 * drive.commanded_turn_rad < drive.heading_rad[-1] < 1.02 * drive.commanded_turn_rad
    assert np.hypot(drive.vx_mps[-1], drive.vy_mps[-1]) < 1e-3


def test_a_skid_steer_robot_cannot_be_told_to_drive_sideways():
    with pytest.raises(SimulationError, match=r"commands\[0\].vy_mps: p3at is a skid-steer robot.*leave vy_mps out"):
        simulate("p3at", Scenario(commands=SIDEWAYS))


def test_a_ground_without_coefficients_for_rollers_is_refused():
    with pytest.raises(SimulationError, match=r"law wheel_slip.*robotino needs the law arctan: take ohio_carpet"):
        simulate("robotino", Scenario(commands=SIDEWAYS))


def test_wheel_speeds_come_one_for_each_wheel():
    with pytest.raises(SimulationError, match="wheels_radps has 2 entries; ohio_omni takes 3, one for each wheel"):
        simulate("ohio_omni", Scenario(commands=[{"for_s": 1.0, "wheels_radps": [1.0, 1.0]}]), ground=PAPER)


def test_numbers_of_rollers_can_be_varied_and_wrong_names_tell_the_right_ones():
    vary = {"phase_2_sectors": [0.0, 0.5], "rollers": [8, 9]}
    batch = simulate_many("ohio_omni", Scenario(commands=SIDEWAYS), vary, ground=PAPER)
    assert batch.end_pose[0, 1] != batch.end_pose[1, 1]
    with pytest.raises(SimulationError, match="did you mean 'phase_2_sectors'"):
        simulate_many("ohio_omni", Scenario(commands=SIDEWAYS), {"phase_2_sector": [0.0]}, ground=PAPER)
    with pytest.raises(SimulationError, match=r"rigid_fraction = 1\.5 lies outside"):
        simulate_many("ohio_omni", Scenario(commands=SIDEWAYS), {"rigid_fraction": [1.5]}, ground=PAPER)


def test_a_start_sideways_rolls_along():
    """Rolling without slip along the rollers' axes at the start, as wheels of other robots do."""
    start = {"v_mps": 0.1, "vy_mps": 0.2, "yaw_rate_radps": 0.3}
    robot = find_robot("ohio_omni")
    drive = simulate(robot, Scenario(commands=[{"for_s": 0.01, "v_mps": 0.0}], start=start), ground=ground_with("arctan"))
    assert drive.wheel_speed_radps[0] == pytest.approx(robot.wheel_map() @ (0.1, 0.2, 0.3))
    assert np.abs(roller_slip(drive, robot)[0, :, 0]).max() < 1e-12


def test_files_read_back_as_they_were(tmp_path):
    drive = simulate("ohio_omni", Scenario(commands=SIDEWAYS), ground=PAPER)
    drive.save(tmp_path / "drive.parquet")
    again = Trajectory.load(tmp_path / "drive.parquet")
    assert (again.force_x_n == drive.force_x_n).all()
    assert again.wheel_names == drive.wheel_names == ["wheel 1", "wheel 2", "wheel 3"]


def test_the_figure_shows_slip_along_the_rollers():
    robot = find_robot("ohio_omni")
    drive = simulate(robot, Scenario(commands=SIDEWAYS), ground=PAPER)
    slip = draw_drive(drive, robot).axes[2]
    assert slip.get_title(loc="left") == "slip velocity along the rollers' axes"
    np.testing.assert_array_equal(slip.lines[1].get_ydata(), roller_slip(drive, robot)[:, 1, 0])


@pytest.mark.parametrize("name", ["phase_0_sectors", "rigid_fraction", "rollers", "mu_w"])
def test_a_run_with_a_number_that_is_none_has_no_result(name):
    """Phases decide by comparing, which a NaN survives: its run must not pass for finished; its neighbour does."""
    good = {"phase_0_sectors": 0.0, "rigid_fraction": 0.1, "rollers": 8.0, "mu_w": 0.26}[name]
    batch = simulate_many("ohio_omni", Scenario(commands=SIDEWAYS), {name: [np.nan, good]}, ground=PAPER)
    assert batch.is_finished.tolist() == [False, True]


def test_more_rollers_of_the_same_size_leave_less_between_them():
    """Rollers of 0.6 rad: 8 of them leave 1 - 8 * 0.6 / (2 pi) of a turn rigid, 10 leave 1 - 10 * 0.6 / (2 pi)."""
    data = find_robot("ohio_omni").to_mapping()
    wheels = {key: entry for key, entry in data["wheels"].items() if key != "rigid_fraction"} | {"roller_arc_rad": 0.6}
    eight, ten = (OmniRobot.from_mapping(data | {"wheels": wheels | {"rollers": count}}, where="rollers") for count in (8, 10))
    batch = simulate_many(eight, Scenario(commands=SIDEWAYS), {"rollers": [8.0, 10.0]}, ground=PAPER)
    assert batch.run(1).y_m.tobytes() == simulate(ten, Scenario(commands=SIDEWAYS), ground=PAPER).y_m.tobytes()
