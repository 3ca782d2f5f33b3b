"""The dynamic omnidirectional vehicle: the battery of every vehicle, sectors, and limit cases with closed forms."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from robots import ground_with, run_kernel
from slipfit.library import OmniRobot, find_ground, find_robot
from slipfit.simulation import Scenario, simulate, simulate_many
from slipfit.simulation.omni_slip import roller_forces, roller_slip, touches_rigid
from slipfit.vehicles import omni, planar_body

G = 9.81
OHIO, PAPER, CARPET = find_robot("ohio_omni"), find_ground("ohio_paper"), find_ground("ohio_carpet")
EVERY_ROBOT = ["ohio_omni", "robotino", "optiodom_omni3", "optiodom_mecanum"]

#: All directions, turning, reversal and rest.
BUSY = [
    {"for_s": 0.6, "v_mps": 0.15},
    {"for_s": 0.6, "v_mps": 0.1, "vy_mps": -0.12, "yaw_rate_radps": 1.0},
    {"for_s": 0.6, "vy_mps": 0.2, "profile": "linear", "ramp_s": 0.3},
    {"for_s": 0.7, "yaw_rate_radps": -2.0, "profile": "quintic"},
    {"for_s": 0.5, "v_mps": 0.0},
]


def busy(**changes):
    return Scenario.from_mapping({"schema": Scenario.kind(), "commands": BUSY} | changes, where="busy")


def changed(name, **changes):
    data = find_robot(name).to_mapping()
    for key, value in changes.items():
        (data["wheels"] if key in data["wheels"] else data)[key] = value
    return OmniRobot.from_mapping(data, where="changed")


class TestRigidShare:
    @pytest.mark.parametrize("rigid", [0.0, 0.1, 0.5, 1.0])
    def test_it_is_the_share_of_the_way_by_counting(self, rigid):
        """Ways of any length and direction, from before zero too: counted in 200 000 points, so to 1e-4."""
        draw = np.random.default_rng(5)
        for begin, way in zip(draw.uniform(-3.0, 3.0, 20), draw.uniform(-2.5, 2.5, 20), strict=True):
            places = begin + way * (np.arange(200_000) + 0.5) / 200_000
            counted = np.mean(places - np.floor(places) >= 1.0 - rigid)
            assert omni.rigid_share(begin, begin + way, rigid) == pytest.approx(counted, abs=1e-4)

    def test_a_wheel_that_stands_touches_with_the_part_it_stands_on(self):
        """SPEC 3: roller for frac < 1 - f, rigid otherwise, floor modulo: -0.05 is the last part of the sector before."""
        assert [omni.rigid_share(x, x, 0.1) for x in (0.0, 0.899, 0.9, 0.95, -0.05, -0.2)] == [0.0, 0.0, 1.0, 1.0, 1.0, 0.0]

    def test_shares_of_steps_add_up_to_the_share_of_the_way(self):
        """No switch is missed or counted twice, whatever the steps."""
        stops = np.cumsum(np.random.default_rng(2).uniform(0.0, 0.4, 200)) - 7.0
        shares = [omni.rigid_share(a, b, 0.1) * (b - a) for a, b in pairwise(stops)]
        whole = omni.rigid_share(stops[0], stops[-1], 0.1) * (stops[-1] - stops[0])
        assert sum(shares) == pytest.approx(whole, abs=1e-12)


class TestAgainstAStiffSolver:
    """[Williams2002] eqs. (8)-(11) in the world's frame, written out here, by LSODA at 1e-10, started anew at every switch."""

    @staticmethod
    def switches(speed, phase, rigid, until):
        """Times at which a wheel rolls from one part onto another."""
        sectors = np.arange(-60.0, 60.0)
        places = np.concatenate([sectors, sectors + 1.0 - rigid])
        times = (places - phase) / (8.0 / (2.0 * math.pi) * speed)
        return times[(times > 1e-12) & (times < until)]

    def reference(self, ground, until=3.5, rest=1.0):
        mu = ground.values()
        radius, inertia_ratio = 0.1, 0.5 * 0.1**2
        angles = np.radians([15.0, 165.0, 270.0])
        speeds = np.array([1.0, 1.0, 0.0]) * math.sin(math.radians(15.0)) - np.array([0.0, 0.0, 1.0])
        speeds *= 0.4 / 3.5 / 0.0254

        def acceleration(state, theta_dot, rigid):
            heading, vx, vy, rate = state[2:]
            r_hat = np.column_stack([np.cos(angles + heading), np.sin(angles + heading)])
            s_hat = np.column_stack([-r_hat[:, 1], r_hat[:, 0]])
            v_w = s_hat @ (vx, vy) + radius * rate + 0.0254 * theta_dot
            v_t = r_hat @ (vx, vy)
            mu_w = np.where(rigid, mu["mu_w_rigid"], mu["mu_w"]) * 2.0 / math.pi * np.arctan(1000.0 * v_w)
            mu_t = np.where(rigid, mu["mu_t_rigid"], mu["mu_t"]) * 2.0 / math.pi * np.arctan(1000.0 * v_t)
            force = -G / 3.0 * (mu_w[:, None] * s_hat + mu_t[:, None] * r_hat)
            return [vx, vy, rate, *force.sum(axis=0), -G / 3.0 * radius * mu_w.sum() / inertia_ratio]

        times = np.unique(np.concatenate([[0.0, until, until + rest], *(self.switches(w, 0.0, 0.1, until) for w in speeds)]))
        state = np.zeros(6)
        for begin, end in pairwise(times):
            turned = speeds * min(0.5 * (begin + end), until) * 8.0 / (2.0 * math.pi)
            rigid = turned - np.floor(turned) >= 0.9
            theta_dot = speeds if end <= until else np.zeros(3)
            solution = solve_ivp(
                lambda t, s, w=theta_dot, g=rigid: acceleration(s, w, g), (begin, end), state, "LSODA", rtol=1e-9, atol=1e-11
            )
            state = solution.y[:, -1]
        return state[:3]

    def test_steps_converge_to_it_in_first_order(self):
        """Halving the step twice leaves at most 0.4 of the error (a quarter, for first order), with 40 switches on the way."""
        wanted = self.reference(CARPET)
        commands = [{"for_s": 3.5, "v_mps": 0.4 / 3.5}, {"for_s": 1.0, "v_mps": 0.0}]
        errors = {}
        for step_s in (1e-3, 2.5e-4, 6.25e-5):
            drive = simulate(OHIO, Scenario(commands=commands, step_s=step_s, record_s=0.5), ground=CARPET)
            end = np.array([drive.x_m[-1], drive.y_m[-1], drive.heading_rad[-1]])
            errors[step_s] = np.abs(end - wanted).max()
        assert errors[1e-3] < 3e-3
        assert errors[2.5e-4] < 0.4 * errors[1e-3]
        assert errors[6.25e-5] < 0.4 * errors[2.5e-4]


class TestLanes:
    def test_lanes_equal_one_by_one(self):
        """One source for both, equal to rounding."""
        n = 11

        def spread(batch):
            batch.body.yaw_inertia[:] *= np.linspace(0.8, 1.2, n)
            batch.wheels.phase[:] += np.linspace(0.0, 1.0, n)[:, None]

        lanes, _ = run_kernel(omni.in_lanes, OHIO, PAPER, busy(), n, change=spread)
        alone, _ = run_kernel(omni.one_by_one, OHIO, PAPER, busy(), n, change=spread)
        assert np.abs(lanes - alone).max() < 1e-9 * np.abs(alone).max()
        assert np.ptp(lanes[:, -1, 0]) > 1e-6  # the runs differ

    def test_a_nan_lane_does_not_touch_its_neighbours(self):
        n, bad = 11, 3

        def poison(batch):
            batch.body.mass[bad] = np.nan

        clean, good = run_kernel(omni.in_lanes, OHIO, PAPER, busy(), n)
        dirty, status = run_kernel(omni.in_lanes, OHIO, PAPER, busy(), n, change=poison)
        others = np.arange(n) != bad
        assert (clean[others] == dirty[others]).all()
        assert (good == planar_body.OK).all()
        assert status[bad] == planar_body.NOT_FINITE

    def test_a_run_gives_the_same_bits_alone_and_among_many(self):
        """Also where a neighbour changes sector in a step in which this run does not."""
        phases = np.linspace(0.0, 1.0, 13)
        many = simulate_many(OHIO, busy(), {"phase_2_sectors": phases}, ground=CARPET)
        alone = simulate_many(OHIO, busy(), {"phase_2_sectors": phases[5:6]}, ground=CARPET)
        assert (many.records[5] == alone.records[0]).all()


class TestMechanics:
    @pytest.mark.parametrize("robot", EVERY_ROBOT)
    def test_forces_move_the_body(self, robot):
        """Newton: sum of the wheels' forces is mass times specific force, their moment inertia times yaw acceleration."""
        record = find_robot(robot)
        drive = simulate(record, busy(record_s=0.001), ground=PAPER)
        mass, inertia, at = record.mass_kg.value, record.yaw_inertia_kgm2.value, record.at_m
        np.testing.assert_allclose(drive.force_x_n.sum(axis=1)[1:], mass * drive.fx_mps2[1:], atol=1e-9 * mass * G)
        np.testing.assert_allclose(drive.force_y_n.sum(axis=1)[1:], mass * drive.fy_mps2[1:], atol=1e-9 * mass * G)
        moment = drive.force_y_n @ at[:, 0] - drive.force_x_n @ at[:, 1]
        np.testing.assert_allclose(moment[1:], inertia * drive.yaw_accel_radps2[1:], atol=1e-9 * mass * G)

    def test_torque_turns_the_wheels(self):
        """J theta.. = tau - R e . F of every wheel and step, within the limit and at it."""
        record = changed("optiodom_mecanum", powertrain={"kind": "speed_loop", "torque_limit_nm": 0.02})
        drive = simulate(record, busy(record_s=0.001), ground=PAPER)
        pull = drive.force_x_n * np.cos(record.rolling_rad) + drive.force_y_n * np.sin(record.rolling_rad)
        spin = record.wheels.spin_inertia_kgm2.value * np.diff(drive.wheel_speed_radps, axis=0) / 0.001
        np.testing.assert_allclose(drive.effort[1:], spin + record.radii_m * pull[1:], atol=1e-9)
        at_limit = np.abs(drive.effort) > 0.0199
        assert 0.1 < at_limit.mean() < 0.9
        assert np.mean(np.abs(drive.effort) > 0.02 * 1.001) < 1e-3

    @pytest.mark.parametrize("robot", EVERY_ROBOT)
    def test_without_roller_friction_robots_come_to_roll_as_their_kinematics_say(self, robot):
        """mu_t = 0: nothing brakes, so that steady motion has no slip along the rollers' axes, with any powertrain."""
        record = find_robot(robot)
        wanted = np.array([0.08, -0.05, 0.3])
        speeds = (record.wheel_map() @ wanted).tolist()
        friction = {"viscous_friction_nm_s_per_rad": 0.0} if robot == "robotino" else {}
        record = changed(robot, rigid_fraction=0.0, powertrain=record.to_mapping()["powertrain"] | friction)
        told = {"wheels_radps": speeds}
        drive = simulate(record, Scenario(commands=[{"for_s": 4.0, **told}]), ground=ground_with("arctan", mu_w=0.6, mu_t=0.0))
        # Centripetal force m v r is carried by slip of about F / (0.64 k mu N) = 1e-4 m/s; motors lag behind commands by it.
        rolled = np.linalg.pinv(record.wheel_map()) @ drive.wheel_speed_radps[-1]
        assert [drive.vx_mps[-1], drive.vy_mps[-1], drive.yaw_rate_radps[-1]] == pytest.approx(rolled.tolist(), abs=5e-4)
        assert rolled.tolist() == pytest.approx(wanted.tolist(), abs=1e-9 if robot != "robotino" else 0.01)
        assert np.abs(roller_forces(drive, record)[:, :, 1]).max() < 1e-12
        assert np.abs(roller_slip(drive, record)[-1, :, 0]).max() < 2e-4

    @pytest.mark.parametrize("robot", ["ohio_omni", "optiodom_mecanum"])
    def test_no_energy_is_added(self, robot):
        """SPEC 7.2: wheels locked, any start velocity, rollers and rigid parts: kinetic energy only falls, step by step."""
        draw, n = np.random.default_rng(3), 16
        starts = {
            "start_v_mps": draw.uniform(-1, 1, n),
            "start_vy_mps": draw.uniform(-1, 1, n),
            "start_yaw_rate_radps": draw.uniform(-4, 4, n),
            "rigid_fraction": draw.uniform(0.0, 1.0, n),
        }
        record = changed(robot, powertrain={"kind": "prescribed"})
        batch = simulate_many(record, Scenario(commands=[{"for_s": 0.4, "v_mps": 0.0}], record_s=0.001), starts, ground=PAPER)
        u, v, r = np.moveaxis(batch.records[:, :, 3:6], 2, 0)
        energy = 0.5 * record.mass_kg.value * (u**2 + v**2) + 0.5 * record.yaw_inertia_kgm2.value * r**2
        assert np.diff(energy, axis=1).max() <= 1e-12 * energy.max()
        assert (energy[:, -1] < energy[:, 0]).all()

    @pytest.mark.parametrize("uphill_rad", [0.0, 0.8, -1.4])
    def test_a_parked_robot_creeps_as_its_law_says(self, uphill_rad):
        """arctan is viscous at rest: at the steady creep the contacts carry the weight's component along the slope."""
        ground = ground_with("arctan", mu_w=0.6, mu_t=0.6)
        place = {"slope_rad": 0.1, "uphill_rad": uphill_rad}
        drive = simulate(OHIO, Scenario(commands=[{"for_s": 1.0, "v_mps": 0.0}], ground=place), ground=ground)
        carried = math.hypot(drive.force_x_n[-1].sum(), drive.force_y_n[-1].sum())
        assert carried == pytest.approx(3.0 * G * math.sin(0.1), rel=1e-6)
        creep = math.hypot(drive.vx_mps[-1], drive.vy_mps[-1])
        assert 1e-5 < creep < 1e-3

    @pytest.mark.parametrize("robot", EVERY_ROBOT)
    def test_half_the_step_changes_little(self, robot):
        """SPEC 7.4: a tenth of the stated tolerance, 10 mm and 20 mrad at 0.5 ms (docs/theory/omni)."""
        ends = []
        for step_s in (5e-4, 2.5e-4):
            drive = simulate(robot, busy(step_s=step_s), ground=CARPET)
            ends.append([drive.x_m[-1], drive.y_m[-1], 0.5 * drive.heading_rad[-1]])
        np.testing.assert_allclose(ends[1], ends[0], rtol=0.0, atol=1e-3)

    def test_friction_follows_the_wheel_angle(self):
        """Sliding wheels reach mu of the part they stand on: .26 on rollers, .47 on the rigid parts."""
        record = changed("ohio_omni", rigid_fraction=0.3)
        spin = Scenario(commands=[{"for_s": 2.0, "wheels_radps": [8.0, 8.0, -8.0]}], step_s=2.5e-4, record_s=0.001)
        drive = simulate(record, spin, ground=PAPER)
        slip, pull = roller_slip(drive, record)[1:, :, 0], roller_forces(drive, record)[1:, :, 0] / drive.load_n[1:]
        rigid = touches_rigid(drive, record)
        steady = (rigid[1:] == rigid[:-1]) & (np.abs(slip) > 0.05)
        expected = np.where(rigid[1:], 0.47, 0.26) * 2.0 / math.pi * np.arctan(1000.0 * np.abs(slip))
        assert steady.sum() > 100
        assert np.unique(rigid[1:][steady]).tolist() == [False, True]
        np.testing.assert_allclose(np.abs(pull)[steady], expected[steady], rtol=0.01)


class TestLoads:
    def test_three_wheels_balance_the_weight_while_accelerating(self):
        """Statics: loads add up to the weight, their moments to that of weight and specific force of the step before."""
        record = find_robot("optiodom_omni3")
        drive = simulate(record, busy(record_s=0.001), ground=PAPER)
        weight, height = record.mass_kg.value * G, record.centre_of_mass_m.value[2]
        np.testing.assert_allclose(drive.load_n.sum(axis=1), weight, rtol=1e-12)
        moment = record.mass_kg.value * height
        np.testing.assert_allclose(drive.load_n[1:] @ record.at_m[:, 0], -moment * drive.fx_mps2[:-1], atol=1e-9)
        np.testing.assert_allclose(drive.load_n[1:] @ record.at_m[:, 1], -moment * drive.fy_mps2[:-1], atol=1e-9)

    def test_four_wheels_share_as_equal_springs(self):
        """A square of springs under a mass off centre: N = m g / 4 (1 + x / a + y / b) by hand."""
        record = changed("optiodom_mecanum", centre_of_mass_m=[0.02, -0.01, 0.05])
        drive = simulate(record, Scenario(commands=[{"for_s": 0.01, "v_mps": 0.0}]), ground=PAPER)
        x, y = record.at_m.T / 0.1
        assert drive.load_n[0] == pytest.approx(3.0 * G / 4.0 * (1.0 + 0.2 * x - 0.1 * y), rel=1e-9)
