"""Files of omnidirectional robots: what they give, and what is wrong with bad ones, in a sentence."""

import math

import numpy as np
import pytest

from slipfit.errors import ParameterError
from slipfit.library import OmniRobot, SkidSteerRobot, find_robot, omni_robot, robot_names, skid_steer_robot

OMNI = ["ohio_omni", "ohio_omni_fit_a", "ohio_omni_fit_b", "robotino", "optiodom_omni3", "optiodom_mecanum"]


def refused(robot="robotino", **changes):
    data = find_robot(robot).to_mapping()
    for key, value in changes.items():
        (data["wheels"] if key in data["wheels"] or key == "roller_arc_rad" else data)[key] = value
    for gone in [key for key, value in data["wheels"].items() if value is None]:
        del data["wheels"][gone]
    with pytest.raises(ParameterError) as told:
        OmniRobot.from_mapping(data, where="mine.yaml")
    return str(told.value)


def test_the_library_has_the_robots_of_the_issue():
    assert set(OMNI) <= set(robot_names())
    assert all(isinstance(find_robot(name), OmniRobot) for name in OMNI)
    assert isinstance(find_robot("p3at"), SkidSteerRobot)


def test_the_fits_are_those_of_the_specification():
    """SPEC 3(b), fits A and B: r, I / m r², f, phases."""
    for name, r, inertia, rigid, phases in (
        ("ohio_omni_fit_a", 0.1009, 1.2734, 0.0677, (0.136, 0.136, 0.1327)),
        ("ohio_omni_fit_b", 0.1018, 1.0523, 0.10, (0.94144, 0.17778, 0.04002)),
    ):
        robot = find_robot(name)
        assert np.hypot(*robot.at_m.T) == pytest.approx(np.full(3, r), abs=1e-9)
        assert robot.yaw_inertia_kgm2.value / (robot.mass_kg.value * r**2) == pytest.approx(inertia, abs=1e-6)
        assert robot.wheels.rigid_share == rigid
        assert tuple(robot.wheels.phase_sectors.value) == phases


def test_an_arc_of_each_roller_says_the_same_as_a_rigid_fraction():
    """Eight rollers of 0.9 x 2 pi / 8 each leave a tenth."""
    data = find_robot("ohio_omni").to_mapping()
    del data["wheels"]["rigid_fraction"]
    data["wheels"]["roller_arc_rad"] = 0.9 * 2.0 * math.pi / 8.0
    assert OmniRobot.from_mapping(data, where="x").wheels.rigid_share == pytest.approx(0.1, abs=1e-12)


def test_wheels_may_differ_in_radius():
    data = find_robot("robotino").to_mapping()
    data["wheels"]["radius_ratio"] = [1.0, 1.01, 0.99]
    robot = OmniRobot.from_mapping(data, where="x")
    assert robot.radii_m == pytest.approx([0.04, 0.0404, 0.0396])
    assert robot.wheel_map()[1] == pytest.approx(find_robot("robotino").wheel_map()[1] / 1.01)


class TestBadInput:
    def test_a_layout_that_cannot_move_or_hold_the_robot(self):
        """Rank below 3: all wheels roll ahead, nothing drives sideways."""
        told = refused(rolling_rad=[0.0, 0.0, 0.0])
        assert "rank 2 of 3" in told
        assert "0.00 ahead, 1.00 to the left, 0.00 turning" in told.replace("-", "")

    def test_mecanum_wheels_that_all_lean_the_same_way(self):
        assert "of 3: no wheel drives or holds" in refused("optiodom_mecanum", roller_rad=0.785398163397, rolling_rad=0.0)

    @pytest.mark.parametrize("digits", [10, 6, 3, 2])
    def test_mecanum_rollers_that_point_to_the_centre(self, digits):
        """Nothing turns such a robot; angles in a file are rounded, and must not hide it."""
        leaning = [round(sign * math.pi / 4, digits) for sign in (1, -1, -1, 1)]
        at = [[0.2, 0.2], [0.2, -0.2], [-0.2, 0.2], [-0.2, -0.2]]
        told = refused("optiodom_mecanum", at_m=at, roller_rad=leaning, rolling_rad=0.0)
        assert "rank 2 of 3" in told

    def test_wheels_on_one_line(self):
        told = refused(at_m=[[0.1, 0.0], [0.0, 0.0], [-0.1, 0.0]], rolling_rad=[1.5708, 0.0, -1.5708], loads="equal")
        assert "one line" in told

    @pytest.mark.parametrize("fraction", [-0.1, 1.2])
    def test_fractions_outside_a_sector(self, fraction):
        assert f"rigid_fraction = {fraction:g} lies outside [0, 1]" in refused(rigid_fraction=fraction)

    def test_overlapping_rollers(self):
        told = refused(rigid_fraction=None, roller_arc_rad=0.6)
        assert "12 rollers of 0.6 rad each overlap" in told
        assert "7.2 rad" in told

    def test_fraction_and_arc_at_once(self):
        assert "keep one of them" in refused(roller_arc_rad=0.1)

    def test_part_of_a_roller(self):
        assert "whole number of rollers" in refused(rollers=7.5)

    def test_a_roller_along_the_axle(self):
        assert "wheel 2 lies along the axle" in refused(roller_rad=[1.57, 0.0, 1.57])

    def test_too_few_wheels_or_numbers(self):
        assert "three or more" in refused(at_m=[[0.1, 0.0], [-0.1, 0.0]])
        assert "rolling_rad has 2 entries; expected one for all, or 3" in refused(rolling_rad=[0.0, 1.0])
        assert "phase_sectors is empty" in refused(phase_sectors=[])

    def test_a_mass_beside_the_wheels(self):
        assert "tip over" in refused(centre_of_mass_m=[0.3, 0.0, 0.1])

    def test_degrees_where_radians_are_expected(self):
        assert "if you meant degrees, write 2.61799" in refused(rolling_rad=[150.0, -1.57, 0.52])

    def test_an_unknown_key_tells_the_nearest(self):
        assert "did you mean 'rollers'" in refused(roller=8)

    def test_skid_steer_commands_name_what_can_be_done(self):
        with pytest.raises(ParameterError, match=r"drive is omni.*skid-steer robots.*slipfit simulate"):
            skid_steer_robot("robotino")

    def test_a_skid_steer_robot_is_no_omni_robot(self):
        with pytest.raises(ParameterError, match="p3at: drive is skid_steer, and this works with omnidirectional robots"):
            omni_robot("p3at")
