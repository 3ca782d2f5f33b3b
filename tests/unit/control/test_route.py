"""Routes as files give them: defaults with a source, sentences for what cannot be driven, and the drivers they make."""

import math

import numpy as np
import pytest

from slipfit.control import guidance
from slipfit.control.route import Route
from slipfit.errors import ParameterError
from slipfit.library import find_robot
from slipfit.library.files import validated

PLAIN = {"waypoints_m": [[1, 0.5], [2, -0.5]], "speed_mps": 0.3}


def route(**changes):
    return validated(Route, PLAIN | changes, where="a.scenario.yaml: route")


class TestDrivers:
    def test_motors_get_volts_by_the_published_gains(self):
        """SPEC 4(b) and 6: Kp 3, Ki 13.75; heading 8, rate 1; 12 V; acceptance 0.15 m."""
        driver = route().driver(find_robot("lynxmotion_4wd3"), (0.0, 0.1))
        assert isinstance(driver, guidance.LineOfSight)
        assert driver.loops == guidance.VoltageLoops(guidance.SurgePid(3.0, 13.75, 0.0), guidance.HeadingPd(8.0, 1.0), 12.0)
        assert (driver.path.start_x, driver.path.start_y, driver.path.acceptance, driver.speed) == (0.0, 0.1, 0.15, 0.3)
        np.testing.assert_array_equal(driver.path.waypoints.array, [1.0, 0.5, 2.0, -0.5])

    def test_speed_loops_get_wheel_speeds(self):
        """SPEC 6: P3AT, wheels of 0.11 m, half track 0.201 m; its file has no speed limit."""
        driver = route(guidance="pure_pursuit", lookahead_m=0.4, gains={"turn_per_s": 3.0}).driver(find_robot("p3at"))
        assert isinstance(driver, guidance.PurePursuit)
        assert driver.lookahead == 0.4
        assert driver.loops == guidance.WheelSpeeds(0.11, pytest.approx(0.201), 3.0, math.inf)

    def test_a_robots_own_limit_counts(self):
        """The Husky's controller allows 1 m/s."""
        husky = find_robot("husky")
        most = husky.limits.speed_mps.value
        assert route().driver(husky).loops.limit == pytest.approx(most / husky.wheels.radius_m.value)
        with pytest.raises(ParameterError, match=rf"speed_mps = {most + 1:g} m/s is more than the {most:g} m/s"):
            route(speed_mps=most + 1.0).driver(husky)


class TestTimes:
    def test_length_and_time_limit(self):
        """3-4-5 triangles: 5 m from the start to (3, 4), 5 m on; twice 10 m at 0.5 m/s, and ten seconds."""
        way = route(waypoints_m=[[3, 4], [6, 8]], speed_mps=0.5)
        assert way.length_m((0.0, 0.0)) == 10.0
        assert way.time_limit_s((0.0, 0.0)) == 50.0
        assert route(at_most_s=7.0).time_limit_s((0.0, 0.0)) == 7.0

    def test_a_command_lasts_whole_steps(self):
        assert route(control_rate_hz=50).hold_steps(1e-3) == 20
        with pytest.raises(ParameterError, match=r"every 33\.33 steps of 0\.001 s; .* take control_rate_hz: 30\.303"):
            route(control_rate_hz=30).hold_steps(1e-3)
        with pytest.raises(ParameterError, match="take control_rate_hz: 1000"):
            route(control_rate_hz=5000).hold_steps(1e-3)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"waypoints_m": []}, "waypoints_m is empty: there is nowhere to go"),
        ({"waypoints_m": [[1, 0], [1, 0]]}, r"waypoints_m\[0\] and \[1\] are both \[1, 0\]; expected different places"),
        ({"waypoints_m": [[1, 0], [1.1, 0]]}, r"waypoints_m\[1\] = \[1.1, 0\] is 0.1 m from the one before, within acceptance_m"),
        ({"waypoints_m": [[1, "far"]]}, "waypoints_m.*far"),
        ({"waypoints_m": [[1, 2, 3]]}, "waypoints_m"),
        ({"waypoints_m": [[1, float("nan")]]}, "waypoints_m"),
        ({"speed_mps": 0.0}, "speed_mps = 0; expected more than 0"),
        ({"speed_mps": -0.3}, "speed_mps = -0.3; expected more than 0"),
        ({"acceptance_m": 0.0}, "acceptance_m = 0; expected more than 0"),
        ({"lookahead_m": -1.0}, "lookahead_m = -1; expected more than 0"),
        ({"control_rate_hz": 0}, "control_rate_hz = 0; expected more than 0"),
        ({"at_most_s": 0}, "at_most_s = 0; expected more than 0"),
        ({"gains": {"surge": {"kp_v_s_per_m": -3}}}, "kp_v_s_per_m = -3; a negative gain drives away from what is wanted"),
        ({"gains": {"heading": {"kd_v_s_per_rad": 1e9}}}, "kd_v_s_per_rad = 1e.09 lies outside"),
        ({"gains": {"surge": {"kp": 3}}}, "unknown key 'gains.surge.kp'; known are .*kp_v_s_per_m"),
        ({"guidance": "stanley"}, "guidance"),
        ({"speed": 0.3}, "unknown key 'speed'; did you mean 'speed_mps'"),
    ],
)
def test_what_cannot_be_driven_is_a_sentence(changes, sentence):
    with pytest.raises(ParameterError, match=sentence):
        route(**changes)


def test_a_start_at_the_first_waypoint_is_a_sentence():
    with pytest.raises(
        ParameterError, match=r"waypoints_m\[0\] = \[1, 0.5\] is 0.1 m from the start \[1, 0.4\], within acceptance_m"
    ):
        route().driver(find_robot("p3at"), (1.0, 0.4))
