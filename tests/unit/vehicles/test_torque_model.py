"""The torque model of the Glasgow rover: SPEC 4(b)'s speeds, and how it breaks down on slopes, by closed form."""

import math

import numpy as np
import pytest

from slipfit.errors import SimulationError
from slipfit.ground import plane
from slipfit.kernels import as_batch
from slipfit.library import find_robot
from slipfit.simulation import Scenario
from slipfit.simulation.torque_model import _runs, simulate_torque_model
from slipfit.vehicles import torque_model
from slipfit.vehicles.driver import NEVER, Seen, table_for_all
from slipfit.vehicles.powertrain import prepared

ROVER = find_robot("lynxmotion_4wd3")

# SPEC 6 and 4(a), typed anew.
MASS, WEIGHT, RADIUS, ARM = 2.148, 2.148 * 9.81, 0.0635, 0.1245
K, RESISTANCE, FRICTION, ALPHA, GAMMA = 0.35, 4.0, 0.010, -0.133, 0.6
AHEAD, DRAG, ASIDE, YAW = 4.6358, 0.0181, 21.0719, 0.4722

#: SPEC 4(b): no-load speed, which the slip model reaches on the level to 1e-3.
SLIP_MODEL_MPS_PER_V = 0.13677


def drive(*volts, seconds=5.0, **more):
    """Table I of the document: a voltage for each side, or one for both, each for five seconds."""
    sides = [v if isinstance(v, tuple) else (v, v) for v in volts]
    commands = [{"for_s": seconds, "wheels_v": list(side)} for side in sides]
    return simulate_torque_model(ROVER, Scenario(commands=commands, **more))


def test_gravity_is_the_places():
    """On a slope a weaker gravity slows it down less: at 3.71 m/s² the pull is 3.71 / 9.81 of that on Earth."""
    speeds = [
        drive(3.0, ground={"slope_rad": 0.05, "surface": "rover_tyre", "gravity_mps2": g}).vx_mps[-1] for g in (1e-1, 3.71, 9.81)
    ]
    assert (speeds[0] - speeds[1]) / (speeds[0] - speeds[2]) == pytest.approx((3.71 - 0.1) / (9.81 - 0.1), rel=0.02)


def steady_speed(volts):
    """4 K i (gamma + alpha |i|) / R = (d + c |u|) u with the current of an unloaded motor, by hand."""
    current = volts / (RESISTANCE + K * K / FRICTION)
    thrust = 4.0 * K * abs(current) * (GAMMA + ALPHA * abs(current)) / RADIUS
    return math.copysign((-AHEAD + math.sqrt(AHEAD**2 + 4.0 * DRAG * thrust)) / (2.0 * DRAG), volts)


@pytest.fixture(scope="module")
def table_one():
    return drive(10.0, 6.0, 2.0, 0.0, -2.0, -6.0, -10.0, 0.0)


class TestLevelGround:
    @pytest.mark.parametrize(("segment", "volts", "published"), [(0, 10.0, 1.5076), (1, 6.0, 0.9637), (2, 2.0, 0.3412)])
    def test_steady_speeds(self, table_one, segment, volts, published):
        """SPEC 4(b), tolerance 2e-4; and the closed form."""
        speed = table_one.vx_mps[500 * (segment + 1)]
        assert speed == pytest.approx(published, abs=2e-4)
        assert speed == pytest.approx(steady_speed(volts), abs=2e-5)  # five seconds are eleven time constants of the body

    @pytest.mark.parametrize(("volts", "percent"), [(10.0, 10.0), (6.0, 17.0), (2.0, 25.0)])
    def test_it_is_faster_than_the_slip_model(self, table_one, volts, percent):
        """SPEC 4(b): +10, +17, +25 %, rounded."""
        speed = table_one.vx_mps[500 * {10.0: 1, 6.0: 2, 2.0: 3}[volts]]
        assert 100.0 * (speed / (SLIP_MODEL_MPS_PER_V * volts) - 1.0) == pytest.approx(percent, abs=0.6)

    def test_overshoot(self, table_one):
        """SPEC 4(b): none from 0 to 10 V; 9 % of the step from 10 to 6 V, where the current falls below its end."""
        first, second = table_one.vx_mps[:501], table_one.vx_mps[500:1001]
        assert first.max() == first[-1]
        assert 100.0 * (second[-1] - second.min()) / (second[0] - second[-1]) == pytest.approx(9.0, abs=0.5)

    def test_reverse_mirrors_forward(self, table_one):
        """SPEC erratum 6: with |i| in the efficiency. As printed, gamma + alpha i, reverse would be 30 % faster."""
        back = drive(-10.0, -6.0)
        np.testing.assert_allclose(back.vx_mps, -table_one.vx_mps[:1001], rtol=0.0, atol=1e-12)
        current = -10.0 / (RESISTANCE + K * K / FRICTION)
        as_printed = 4.0 * K * current * (GAMMA + ALPHA * current) / RADIUS / AHEAD  # without air
        assert as_printed < 1.3 * back.vx_mps[500]

    def test_left_and_right_are_mirrored(self):
        """SPEC 7.3, with a slope that mirrors too."""
        place = {"slope_rad": 0.05, "uphill_rad": 0.3}
        left, right = drive((2.0, 5.0), ground=place), drive((5.0, 2.0), ground=place | {"uphill_rad": -0.3})
        np.testing.assert_allclose(right.y_m, -left.y_m, rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(right.heading_rad, -left.heading_rad, rtol=0.0, atol=1e-12)

    def test_a_pivot_turns_as_the_moment_says(self):
        """r = 2 · 2 F Y / d_r with the force of one motor at 6 V, left wheels backwards: to the left."""
        current = 6.0 / (RESISTANCE + K * K / FRICTION)
        force = K * current * (GAMMA + ALPHA * current) / RADIUS
        run = drive((-6.0, 6.0))
        assert run.yaw_rate_radps[-1] == pytest.approx(4.0 * force * ARM / YAW, rel=1e-6)
        assert run.x_m[-1] == pytest.approx(0.0, abs=1e-12)

    def test_half_the_step_changes_little(self):
        """SPEC 7.4 asks for a tenth of the tolerance of 2e-4 at the end of a segment; the method is of first order."""
        ends = [drive(10.0, (4.0, 6.0), seconds=3.0, step_s=step_s).vx_mps[[300, 600]] for step_s in (1e-3, 5e-4)]
        np.testing.assert_allclose(ends[1], ends[0], atol=2e-5)

    def test_it_never_breaks_down_on_the_level(self, table_one):
        assert table_one.broke_down_at_s is None
        assert "broke down" not in table_one.summary()


def steepest(speed):
    """sin(slope) at which the sway thrust F v / u equals the damping d_y v, with a steady climb's F = d_x u + c u² + m g sin."""
    return (ASIDE - AHEAD - DRAG * speed) * speed / WEIGHT


def growth_rate(speed, share, seconds=3.0, dt=1e-3):
    """How fast a tiny sideways velocity grows (1/s) in a steady climb at a share of the steepest slope: by the closed form, and
    by the model started in that state."""
    slope = math.asin(share * steepest(speed))
    thrust = AHEAD * speed + DRAG * speed**2 + WEIGHT * math.sin(slope)
    needed = thrust * RADIUS / (4.0 * K)  # = i (gamma + alpha i)
    current = (GAMMA - math.sqrt(GAMMA**2 + 4.0 * ALPHA * needed)) / (-2.0 * ALPHA)
    volts = current * (RESISTANCE + K * K / FRICTION)
    run = _runs(ROVER, Scenario(commands=[{"for_s": 1.0, "v_mps": 0.0}]), None)
    run = run._replace(ground=plane(9.81, slope, 0.0), side=run.side[0])
    motors = torque_model.Motors(np.full(4, K * current / FRICTION), np.full(4, current), np.full(4, volts))
    s, tiny = Seen(0.0, 0.0, 0.0, 0.0, speed, 1e-7, 0.0), 1e-7
    wheel = prepared(run.powertrain, dt)
    for _ in range(round(seconds / dt)):
        s, _ = torque_model.step(run, wheel, motors, s, dt, 0.0)
    assert s.u == pytest.approx(speed, rel=1e-6)  # it did climb steadily
    return (thrust / speed - ASIDE) / MASS, math.log(s.v / tiny) / seconds


class TestSlopes:
    def test_the_limit_is_that_of_the_specification(self):
        """SPEC 4(b): sin(slope) > .78 u; 13.5° at .3 m/s, and 10° below .223 m/s."""
        assert steepest(0.3) / 0.3 == pytest.approx(0.78, abs=5e-4)
        assert math.degrees(math.asin(steepest(0.3))) == pytest.approx(13.5, abs=0.05)
        assert steepest(0.223) == pytest.approx(math.sin(math.radians(10.0)), rel=3e-3)

    @pytest.mark.parametrize("speed", [0.15, 0.3])
    @pytest.mark.parametrize("share", [0.95, 1.05])
    def test_sideslip_grows_above_the_limit_and_decays_below(self, speed, share):
        """Linear stability: v. = (F/u - d_y) v / m. The step is of first order: d_y dt / m = 1 %."""
        by_hand, by_model = growth_rate(speed, share)
        assert by_hand * (share - 1.0) > 0.0
        assert by_model == pytest.approx(by_hand, rel=0.012)

    def test_a_start_straight_uphill_is_no_breakdown(self):
        """Before the motors pull, gravity moves the rover back; at 10 V on 5° it then climbs. Nothing moves it sideways."""
        run = drive(10.0, ground={"slope_rad": math.radians(5.0)}, record_s=0.001)
        assert run.vx_mps.min() < 0.0 < run.vx_mps[-1]
        assert run.broke_down_at_s is None

    def test_a_start_aslant_is_one(self):
        """Rolling back and aside it cannot come forward again: as u nears zero, F cos(beta) does too (docs/theory/rover)."""
        run = drive(10.0, ground={"slope_rad": math.radians(3.0), "uphill_rad": 0.7})
        assert run.vx_mps[1:].max() < 0.0
        assert run.broke_down_at_s < 2.0

    @pytest.mark.parametrize("slope_deg", [0.0, 10.0])
    def test_the_serpentine_works_on_the_level_and_breaks_down_at_ten_degrees(self, slope_deg):
        """[Shilliday2023] IV.C: validated in 2D; on the slope the sideslip grows and the model breaks down."""
        waypoints = [(1, 0.5), (2, -0.5), (3, 0.5), (4, -0.5), (5, 0.5), (6, -0.5), (7, 0)]
        route = {"waypoints_m": waypoints, "speed_mps": 0.3, "at_most_s": 35.0}
        run = simulate_torque_model(ROVER, Scenario(route=route, ground={"slope_rad": math.radians(slope_deg)}))
        if slope_deg == 0.0:
            assert run.broke_down_at_s is None
            assert run.arrived_at_s == pytest.approx(31.0, abs=1.0)  # 9.31 m of legs at 0.3 m/s
            assert np.abs(run.sideslip_rad[run.time_s > 1.0]).max() < 0.5
        else:
            assert run.broke_down_at_s is not None
            assert run.arrived_at_s is None
            assert "broke down" in run.summary()


class TestLanes:
    def batch(self, n=11):
        """Runs that differ in mass and slope, driven by one table."""
        volts = np.repeat([[4.0, 7.0], [8.0, 3.0], [0.0, 0.0]], 400, axis=0)
        scenario = Scenario(commands=[{"for_s": 1.0, "v_mps": 0.0}], start={"heading_rad": 0.4})
        run = _runs(ROVER, scenario, table_for_all(np.tile(volts, 2), n))
        slope = np.linspace(0.0, 0.3, n)
        run = run._replace(ground=plane(9.81, slope, 0.0), side=np.tile(run.side, (n, 1)))
        batch = as_batch(run, n)
        batch.body.mass[:] *= np.linspace(0.8, 1.2, n)
        return batch

    def records(self, kernel, batch, n=11):
        out = np.empty((n, 121, len(torque_model.COLUMNS)))
        kernel(batch, 0, n, 1, 10, 1e-3, out)
        return out

    def test_lanes_equal_one_by_one(self):
        lanes, alone = (self.records(kernel, self.batch()) for kernel in (torque_model.in_lanes, torque_model.one_by_one))
        np.testing.assert_allclose(lanes, alone, rtol=0.0, atol=1e-9)
        assert np.ptp(lanes[:, -1, 0]) > 1e-3

    def test_a_nan_lane_does_not_touch_its_neighbours(self):
        """To the last bit; it breaks down in its first step."""
        clean, poisoned, bad = self.records(torque_model.in_lanes, self.batch()), self.batch(), 3
        poisoned.body.mass[bad] = np.nan
        dirty = self.records(torque_model.in_lanes, poisoned)
        others = np.arange(11) != bad
        assert (clean[others] == dirty[others]).all()
        column = torque_model.COLUMNS.index("broke_down_at_s")
        assert dirty[bad, -1, column] == pytest.approx(1e-3)
        assert clean[0, -1, column] == NEVER


@pytest.mark.parametrize(("robot", "problem"), [("p3at", "no torque_model"), ("husky", "no torque_model")])
def test_a_robot_without_the_constants_is_told(robot, problem):
    with pytest.raises(SimulationError, match=problem):
        simulate_torque_model(robot, Scenario(commands=[{"for_s": 1.0, "v_mps": 0.1}]))
