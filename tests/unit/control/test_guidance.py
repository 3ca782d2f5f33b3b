"""Waypoint drivers, with a unicycle as the robot: it turns exactly as its wheels say, or follows its volts with a lag."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit

from slipfit.control.guidance import HeadingPd, LineOfSight, Path, PurePursuit, SurgePid, VoltageLoops, WheelSpeeds
from slipfit.kernels import WIDTH, Eight, Shared, alike, as_batch, at, cos_and_sin, part, put, zeros
from slipfit.kernels.compile import OPTIONS
from slipfit.vehicles.driver import ARRIVED_AT, CROSS_TRACK, NEVER, WAYPOINT, Seen, get_ready, note_count, tell

RADIUS_M, HALF_TRACK_M = 0.0635, 0.1245
SIDE_M = np.array([HALF_TRACK_M, -HALF_TRACK_M, HALF_TRACK_M, -HALF_TRACK_M])

#: SPEC 4(b), the serpentine row: waypoints and gains; 12 V.
SERPENTINE = [(1, 0.5), (2, -0.5), (3, 0.5), (4, -0.5), (5, 0.5), (6, -0.5), (7, 0)]
VOLTS = VoltageLoops(SurgePid(3.0, 13.75, 0.0), HeadingPd(8.0, 1.0), 12.0)
SPEEDS = WheelSpeeds(RADIUS_M, HALF_TRACK_M, 2.0, math.inf)
SPEED_MPS, ACCEPTANCE_M = 0.3, 0.15


class Unicycle(NamedTuple):
    """Speed and yaw rate follow the sides' commands with one lag; then it moves on an exact arc."""

    gain: float  # m/s of rim per unit of command
    kept: float  # share of the old velocity after a period


WHEELED = Unicycle(RADIUS_M, 0.0)
#: SPEC 4(b): .13677 m/s per volt without load; a lag of 0.1 s at 100 Hz.
MOTORED = Unicycle(0.13677, math.exp(-0.1))


@part
def move(robot, seen, command, dt):
    rim_left, rim_right = robot.gain * command[0], robot.gain * command[1]
    u = robot.kept * seen.u + (1.0 - robot.kept) * 0.5 * (rim_left + rim_right)
    r = robot.kept * seen.yaw_rate + (1.0 - robot.kept) * 0.5 * (rim_right - rim_left) / HALF_TRACK_M
    half = 0.5 * r * dt
    chord = u * dt * (1.0 - half * half / 6.0)  # sin(h)/h to fourth order
    c, s = cos_and_sin(seen.heading + half)
    return Seen(seen.time + dt, seen.x + c * chord, seen.y + s * chord, seen.heading + r * dt, u, seen.v, r)


def path(waypoints, start=(0.0, 0.0), acceptance=ACCEPTANCE_M):
    return Path(Shared(np.array(waypoints, dtype=float).ravel()), start[0], start[1], acceptance)


def standing(x=0.0, y=0.0, heading=0.0, u=0.0, yaw_rate=0.0, time=0.0):
    return Seen(time, x, y, heading, u, 0.0, yaw_rate)


def ask(driver, seen, notes=None, period_s=0.01):
    """What the left and right wheels are told at once, and the notes."""
    if notes is None:
        notes = np.zeros(note_count(driver))
        get_ready(driver, notes, seen)
    command = np.zeros(4)
    tell(driver, notes, seen, 0, period_s, SIDE_M, command)
    assert command[0] == command[2]
    assert command[1] == command[3]
    return command[0], command[1], notes


def drive(driver, robot, seen=None, at_most_s=60.0, dt=0.01):
    """All states, notes and commands, asked in every step."""
    seen = standing() if seen is None else seen
    notes, command = np.zeros(note_count(driver)), np.zeros(4)
    get_ready(driver, notes, seen)
    log = []
    for turn in range(round(at_most_s / dt)):
        tell(driver, notes, seen, turn, dt, SIDE_M, command)
        log.append((*seen, *notes[:3], *command[:2]))
        if notes[ARRIVED_AT] != NEVER and turn > 10 + notes[ARRIVED_AT] / dt:
            break
        seen = move(robot, seen, command, dt)
    return np.array(log)


X, Y, NOTES = 1, 2, 7


class TestLineOfSight:
    def test_the_voltages_are_those_of_the_formula(self):
        """By hand: V_c = 3·0.3 + 13.75·0.3·0.01 = 0.94125; e = atan2(1, 1) = pi/4; V_h = 8·pi/4 - 1·0.2."""
        driver = LineOfSight(path([(1.0, 1.0)]), SPEED_MPS, VOLTS)
        left, right, _ = ask(driver, standing(yaw_rate=0.2))
        surge, heading = 0.94125, 8.0 * math.pi / 4.0 - 0.2
        assert (left, right) == pytest.approx((surge - heading, surge + heading), rel=1e-12)

    @pytest.mark.parametrize("turns", [-3, 0, 1])
    @pytest.mark.parametrize("side", [1.0, -1.0])
    def test_the_error_goes_the_short_way_round(self, side, turns):
        """Heading pi - 0.1, waypoint at -(pi - 0.1): 0.2 rad to the left, not 6.08 to the right; whole turns do not matter."""
        target = (5.0 * math.cos(math.pi - 0.1), -side * 5.0 * math.sin(math.pi - 0.1))
        driver = LineOfSight(path([target]), SPEED_MPS, VOLTS)
        left, right, _ = ask(driver, standing(heading=side * (math.pi - 0.1) + 2.0 * math.pi * turns))
        assert 0.5 * (right - left) == pytest.approx(side * 8.0 * 0.2, rel=1e-9)

    def test_voltages_stay_within_the_limit(self):
        """A waypoint behind asks for 8·pi = 25 V between the sides."""
        left, right, _ = ask(LineOfSight(path([(-5.0, 1e-9)]), SPEED_MPS, VOLTS), standing())
        assert (left, right) == (-12.0, 12.0)

    @pytest.mark.parametrize(("away", "waypoint"), [(0.1501, 0.0), (0.1499, 1.0)])
    def test_a_waypoint_is_reached_within_the_acceptance_radius(self, away, waypoint):
        *_, notes = ask(LineOfSight(path([(1.0, 0.0), (2.0, 0.0)]), SPEED_MPS, VOLTS), standing(x=1.0, y=away))
        assert notes[WAYPOINT] == waypoint

    def test_the_time_to_a_waypoint_ahead_is_distance_over_speed(self):
        """Wheels that turn as told: 3 m less the acceptance radius at 0.3 m/s are 9.5 s, to one period of 0.01 s."""
        log = drive(LineOfSight(path([(3.0, 0.0)]), SPEED_MPS, SPEEDS), WHEELED)
        assert log[-1, NOTES + ARRIVED_AT] == pytest.approx(9.5, abs=0.011)
        assert np.abs(log[:, Y]).max() == 0.0

    def test_after_the_last_waypoint_all_commands_are_zero(self):
        log = drive(LineOfSight(path([(1.0, 0.2), (2.0, 0.0)]), SPEED_MPS, VOLTS), MOTORED)
        arrived = log[:, NOTES + ARRIVED_AT] != NEVER
        assert 5 < arrived.sum() < len(log)
        assert (log[arrived, -2:] == 0.0).all()
        assert (log[~arrived, -2:] != 0.0).all()
        assert (log[arrived, NOTES + WAYPOINT] == 2.0).all()
        assert len(set(log[arrived, NOTES + ARRIVED_AT])) == 1
        assert len(set(log[arrived, NOTES + CROSS_TRACK])) == 1

    def test_cross_track_error_is_positive_to_the_left_of_the_leg(self):
        """First leg from the start along x, second from the first waypoint along y: 0.2 m left of each, by eye."""
        driver = LineOfSight(path([(1.0, 0.0), (1.0, 2.0)]), SPEED_MPS, VOLTS)
        *_, notes = ask(driver, standing(x=0.5, y=0.2))
        assert notes[CROSS_TRACK] == pytest.approx(0.2)
        *_, notes = ask(driver, standing(x=1.0, y=0.0), notes)
        *_, notes = ask(driver, standing(x=0.8, y=1.0), notes)
        assert (notes[WAYPOINT], notes[CROSS_TRACK]) == (1.0, pytest.approx(0.2))

    def test_the_serpentine_takes_as_long_as_its_legs(self):
        """A robot that turns on the spot leaves each leg 0.15 m before its waypoint; the start and six corners cost some time."""
        place, length = np.zeros(2), 0.0
        for waypoint in np.array(SERPENTINE, dtype=float):
            leg = np.hypot(*(waypoint - place)) - ACCEPTANCE_M
            length, place = length + leg, place + (waypoint - place) * leg / (leg + ACCEPTANCE_M)
        log = drive(LineOfSight(path(SERPENTINE), SPEED_MPS, VOLTS), MOTORED)
        assert 0.0 < log[-1, NOTES + ARRIVED_AT] - length / SPEED_MPS < 2.0  # SPEC's rover, which scrubs too: 2.0 s
        assert log[-1, NOTES + WAYPOINT] == len(SERPENTINE)
        for waypoint in SERPENTINE:
            assert np.hypot(*(log[:, X : Y + 1] - waypoint).T).min() < ACCEPTANCE_M
        assert np.abs(log[:, NOTES + CROSS_TRACK]).max() < ACCEPTANCE_M + 0.03  # where a new leg begins it is the radius

    def test_a_mirrored_path_is_driven_mirrored(self):
        """SPEC 7.3."""
        first = drive(LineOfSight(path(SERPENTINE), SPEED_MPS, VOLTS), MOTORED)
        other = drive(LineOfSight(path([(x, -y) for x, y in SERPENTINE]), SPEED_MPS, VOLTS), MOTORED)
        np.testing.assert_allclose(other[:, Y], -first[:, Y], rtol=0.0, atol=1e-12)


class TestSurge:
    FAR = LineOfSight(path([(100.0, 0.0)]), SPEED_MPS, VOLTS)

    def test_the_speed_error_vanishes(self):
        """What the integral is for: the plant alone would run at 0.137·3/(1 + 0.137·3) = 0.29 of the wanted speed."""
        log = drive(self.FAR, MOTORED, at_most_s=5.0)
        assert log[-1, 4] == pytest.approx(SPEED_MPS, rel=1e-3)

    def test_a_blocked_robot_winds_nothing_up(self):
        """Ten seconds against a wall would integrate 13.75·0.3·10 = 41 V. Held, the volts sit just below 12, and as soon as
        the robot is too fast they fall by 3·0.6 V and more."""
        _, _, notes = ask(self.FAR, standing())
        for _ in range(1000):
            left, right, notes = ask(self.FAR, standing(), notes)
        assert left == right
        assert 12.0 - 13.75 * 0.3 * 0.01 <= left <= 12.0  # within one step of the integral
        left, _, notes = ask(self.FAR, standing(u=0.6), notes)
        assert left == pytest.approx(12.0 - 3.0 * 0.6, abs=0.1)

    def test_turning_at_the_limit_does_not_hold_the_integral_but_its_own_limit_does(self):
        """A waypoint abeam asks for 8·pi/2 = 12.57 V between the sides, more than the limit: the integral goes on to 12 V."""
        driver = LineOfSight(path([(0.0, 100.0)]), SPEED_MPS, VOLTS)
        _, _, notes = ask(driver, standing())
        for _ in range(1000):
            left, right, notes = ask(driver, standing(), notes)
        assert right == 12.0
        assert left == pytest.approx(12.0 - 8.0 * math.pi / 2.0, abs=13.75 * 0.3 * 0.01)

    def test_the_derivative_acts_on_the_measured_speed(self):
        """kd = 0.5: gaining 0.02 m/s in 0.01 s takes 1 V; by hand, the rest as above."""
        loops = VOLTS._replace(surge=SurgePid(0.0, 0.0, 0.5))
        driver = self.FAR._replace(loops=loops)
        left, _, notes = ask(driver, standing(u=0.1))
        assert left == 0.0
        left, _, _ = ask(driver, standing(u=0.12), notes)
        assert left == pytest.approx(-1.0)


class TestWheelSpeeds:
    def test_sides_turn_by_the_kinematics(self):
        """e = 0.1 rad asks for 2·0.1 rad/s; left (0.3 - 0.2·0.1245)/0.0635 rad/s, right with +."""
        driver = LineOfSight(path([(math.cos(0.1), math.sin(0.1))]), SPEED_MPS, SPEEDS)
        left, right, _ = ask(driver, standing())
        assert left == pytest.approx((0.3 - 0.2 * HALF_TRACK_M) / RADIUS_M)
        assert right == pytest.approx((0.3 + 0.2 * HALF_TRACK_M) / RADIUS_M)

    def test_wheels_stay_within_the_limit(self):
        left, right, _ = ask(LineOfSight(path([(-1.0, 0.01)]), SPEED_MPS, SPEEDS._replace(limit=5.0)), standing())
        assert (right, abs(left) <= 5.0) == (5.0, True)


def pursuit(waypoints, lookahead=0.5, loops=SPEEDS, **more):
    return PurePursuit(path(waypoints, **more), SPEED_MPS, loops, lookahead)


def yaw_rate_told(driver, seen):
    """Without the correction of what it is behind."""
    left, right, _ = ask(driver._replace(loops=driver.loops._replace(turn=0.0)), seen)
    return 0.5 * (right - left) * RADIUS_M / HALF_TRACK_M


class TestPurePursuit:
    @pytest.mark.parametrize("aside", [0.3, -0.1])
    def test_the_arc_leads_through_the_point_ahead(self, aside):
        """A circle that touches the x axis at 0 and goes through (x, y) has the curvature 2 y / (x² + y²)."""
        driver = pursuit([(10.0, aside)], start=(-1.0, aside))
        assert yaw_rate_told(driver, standing()) == pytest.approx(SPEED_MPS * 2.0 * aside / 0.5**2, rel=1e-9)

    def test_the_voltages_are_those_of_the_formula(self):
        """0.3 m to the right of the path, the point at (0.4, 0.3): a = atan2(3, 4), curvature 2·0.3/0.25 per m, by hand."""
        left, right, _ = ask(pursuit([(10.0, 0.3)], loops=VOLTS, start=(-1.0, 0.3)), standing(yaw_rate=0.2))
        turning = 8.0 * math.atan2(3.0, 4.0) + 1.0 * (0.3 * 2.0 * 0.3 / 0.25 - 0.2)
        assert 0.5 * (right - left) == pytest.approx(turning, rel=1e-9)
        assert 0.5 * (right + left) == pytest.approx(0.94125)

    def test_the_point_ahead_goes_round_corners(self):
        """0.2 m before the corner, 0.5 m further along the path: (1, 0.3), which is (0.2, 0.3) from the robot."""
        driver = pursuit([(1.0, 0.0), (1.0, 1.0)], acceptance=0.05)
        assert yaw_rate_told(driver, standing(x=0.8)) == pytest.approx(SPEED_MPS * 2.0 * 0.3 / (0.2**2 + 0.3**2), rel=1e-9)

    def test_far_from_the_path_it_heads_for_the_nearest_point(self):
        """2 m to the right of the path with 0.5 m of lookahead: the point is abeam, 2 m to the left, curvature 2 / 2 m."""
        assert yaw_rate_told(pursuit([(10.0, 0.0)]), standing(x=3.0, y=-2.0)) == pytest.approx(SPEED_MPS * 2.0 / 2.0, rel=1e-9)

    def test_a_point_behind_asks_for_the_tightest_arc(self):
        """Straight behind, sin(a) = 0 would let the robot drive away for ever."""
        driver = pursuit([(-10.0, 0.0)])
        assert abs(yaw_rate_told(driver, standing())) == pytest.approx(SPEED_MPS * 2.0 / 0.5)

    def test_it_swings_onto_a_line_as_the_linear_theory_says(self):
        """Small offsets: y'' + 2 y'/L + 2 y/L² = 0 over the distance s, so y = y0 exp(-s/L) (cos(s/L) + sin(s/L))."""
        offset, length = 0.002, 0.5
        log = drive(pursuit([(3.0, 0.0)], loops=SPEEDS._replace(turn=0.0)), WHEELED, standing(y=offset), dt=0.002)
        s = log[:, X] / length
        before = log[:, X] < 2.3  # then the path's end comes nearer than the lookahead
        expected = offset * np.exp(-s) * (np.cos(s) + np.sin(s))
        np.testing.assert_allclose(log[before, Y], expected[before], atol=2e-3 * offset)

    @pytest.mark.parametrize(("loops", "robot"), [(SPEEDS, WHEELED), (VOLTS, MOTORED)], ids=["wheel speeds", "volts"])
    def test_it_completes_the_serpentine_and_cuts_its_corners(self, loops, robot):
        """A lookahead of 0.3 m: shorter than the legs' 31 s, never further from a leg than the lookahead."""
        log = drive(pursuit(SERPENTINE, 0.3, loops), robot)
        assert log[-1, NOTES + WAYPOINT] == len(SERPENTINE)
        assert 27.0 < log[-1, NOTES + ARRIVED_AT] < 31.0
        assert np.abs(log[:, NOTES + CROSS_TRACK]).max() < 0.3

    @pytest.mark.parametrize("back", [(0.0, 0.5), (0.0, 0.01), (0.2, -0.6)])
    def test_a_hairpin_is_not_a_trap(self, back):
        """It turns off before the tip is reached; behind the bisector the next leg counts."""
        log = drive(pursuit([(3.0, 0.0), back], acceptance=0.05), WHEELED)
        assert log[-1, NOTES + WAYPOINT] == 2.0

    def test_with_wheels_that_slip_the_yaw_rate_is_still_reached(self):
        """Wheels that turn the robot by only 0.6 of the kinematics, on a circle of 1 m: the integral makes up for it."""
        circle = [(math.sin(a), 1.0 - math.cos(a)) for a in np.linspace(0.1, 6.0, 60)]
        wide = SPEEDS._replace(half_track=0.6 * HALF_TRACK_M)
        log = drive(pursuit(circle, 0.3, wide, acceptance=0.05), WHEELED)
        settled = log[:, 0] > 8.0
        moving = settled & (log[:, NOTES + ARRIVED_AT] == NEVER)
        assert log[moving, 6].mean() == pytest.approx(0.3, rel=0.02)


class Runs(NamedTuple):
    driver: object
    robot: Unicycle
    heading: float


def compiled_drive(group, step):
    """The same loop, compiled, for one run or for eight."""

    @njit(**OPTIONS)
    def every(runs, side_m, turns, dt, out):
        for i in range(0, out.shape[0], step):
            run = at(runs, group(i))
            zero = alike(0.0, run.heading)
            seen = Seen(zero, zero, zero, run.heading, zero, zero, zero)
            notes, command = zeros(note_count(run.driver), zero), zeros(4, zero)
            get_ready(run.driver, notes, seen)
            for turn in range(turns):
                tell(run.driver, notes, seen, turn, dt, side_m, command)
                seen = move(run.robot, seen, command, dt)
            for k in range(3):
                put(out[:, k], group(i), notes[k])
            put(out[:, 3], group(i), seen.x)
            put(out[:, 4], group(i), seen.y)
            put(out[:, 5], group(i), seen.heading)

    def run(runs):
        out = np.full((len(runs.heading), 6), np.nan)
        every(runs, SIDE_M, 3500, 0.01, out)
        return out

    return run


@pytest.fixture(scope="module")
def in_lanes():
    return compiled_drive(Eight, WIDTH)


@pytest.fixture(scope="module")
def one_by_one():
    return compiled_drive(njit(lambda i: i), 1)


def batch(driver, n=11):
    """Runs that differ in heading, speed and, where each has its own, in their waypoints."""
    runs = as_batch(Runs(driver, MOTORED, np.linspace(-3.0, 3.0, n)), n)
    runs.driver.speed[:] *= np.linspace(0.8, 1.2, n)
    return runs


def own_waypoints(n=11):
    """A table per run: the serpentine, stretched."""
    table = np.array(SERPENTINE, dtype=float).ravel()
    return np.outer(np.linspace(0.9, 1.1, n), table)


DRIVERS = {
    "line of sight, shared waypoints": LineOfSight(path(SERPENTINE), SPEED_MPS, VOLTS),
    "pure pursuit, own waypoints": PurePursuit(Path(own_waypoints(), 0.0, 0.0, ACCEPTANCE_M), SPEED_MPS, VOLTS, 0.3),
}


def test_lanes_equal_one_by_one(in_lanes, one_by_one):
    """One source for both; equal but for rounding, which a stable loop forgets. One driver: each costs seconds to compile."""
    runs = batch(DRIVERS["line of sight, shared waypoints"])
    np.testing.assert_allclose(in_lanes(runs), one_by_one(runs), rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("name", DRIVERS)
class TestLanes:
    def test_lanes_equal_plain_python(self, name, in_lanes):
        runs = batch(DRIVERS[name])
        lanes = in_lanes(runs)
        assert len(set(lanes[:, ARRIVED_AT])) > 5  # the runs differ, and some arrive
        for i in (2, 4, 9):
            plain = drive(at(runs, i).driver, MOTORED, standing(heading=runs.heading[i]), at_most_s=35.0)
            assert plain[-1, NOTES : NOTES + 3] == pytest.approx(lanes[i, :3], abs=1e-9)

    def test_a_nan_lane_does_not_touch_its_neighbours(self, name, in_lanes):
        """To the last bit; the NaN run never arrives."""
        clean, bad = in_lanes(batch(DRIVERS[name])), 3
        runs = batch(DRIVERS[name])
        runs.heading[bad] = np.nan
        dirty = in_lanes(runs)
        others = np.arange(len(clean)) != bad
        assert (clean[others] == dirty[others]).all()
        assert dirty[bad, ARRIVED_AT] == NEVER
        assert np.isnan(dirty[bad, 3])
