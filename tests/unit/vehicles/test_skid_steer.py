"""The dynamic skid-steer vehicle: the battery that every law and powertrain passes, and limit cases."""

import math

import numpy as np
import pytest

from robots import BUSY, busy_scenario, changed, ground_with, run_kernel, six_wheeled, unlimited, wheel_slip
from slipfit.contact import LAWS, Touch, force, traction
from slipfit.library import Parameter, find_robot
from slipfit.simulation import Outcome, Scenario, simulate, simulate_many
from slipfit.vehicles import skid_steer

G = 9.81
REST = [{"for_s": 3.0, "v_mps": 0.0}]


def at_rest(law, *, slope_deg=10.0, uphill_rad=math.pi / 2):
    place = {"slope_rad": math.radians(slope_deg), "uphill_rad": uphill_rad}
    return simulate("p3at", Scenario(commands=REST, ground=place), ground=law)


class TestEveryLaw:
    @pytest.mark.parametrize("name", LAWS)
    def test_a_parked_robot_stays_or_creeps_as_its_law_says(self, name):
        """Issue: on a 10° side slope wheel_slip creeps less than 1e-6 m/s at 1 ms; so do all laws that claim to hold."""
        ground = ground_with(name)
        drive = at_rest(ground)
        creep = math.hypot(drive.vx_mps[-1], drive.vy_mps[-1])
        if LAWS[name].holds_at_rest:
            assert creep < 1e-6
            assert abs(drive.y_m[-1]) < 3e-6
        else:  # it creeps at the speed at which the law carries a quarter of the weight's component
            carried = self.lateral_force(ground, creep, load=20.0 * G * math.cos(math.radians(10.0)) / 4.0)
            assert carried == pytest.approx(20.0 * G * math.sin(math.radians(10.0)) / 4.0, rel=1e-6)

    @staticmethod
    def lateral_force(ground, slip_mps, load):
        law = LAWS[ground.law].model(ground.values())
        return force(traction(law, Touch(0.0, slip_mps, 0.0, load), None, 0, 1e-3), 0.0, slip_mps)[1]

    @pytest.mark.parametrize("name", LAWS)
    def test_no_wheel_pulls_more_than_its_grip_or_its_motor(self, name):
        """Coulomb's limit and the torque limit hold in every step but those in which a contact or a motor changes over."""
        drive = simulate("jackal", busy_scenario(record_s=0.001), ground=ground_with(name))
        most = max(value for key, value in LAWS[name].example.items() if key.startswith("mu"))
        loaded = drive.load_n > 1.0
        grip = np.maximum(np.abs(drive.force_x_n), np.abs(drive.force_y_n))[loaded] / drive.load_n[loaded]
        assert np.mean(grip > 1.02 * most) < 1e-3
        assert np.mean(np.abs(drive.effort) > 1.001 * drive.effort_limit) < 1e-3

    @pytest.mark.parametrize("name", LAWS)
    def test_no_law_adds_energy(self, name):
        """SPEC 7.2: wheels locked, any start velocity: kinetic energy only falls, step by step."""
        robot = unlimited(find_robot("p3at"))
        scenario = Scenario(commands=[{"for_s": 0.4, "v_mps": 0.0}], record_s=0.001)
        draw = np.random.default_rng(3)
        n = 24
        starts = {"start_v_mps": draw.uniform(-2, 2, n), "start_yaw_rate_radps": draw.uniform(-4, 4, n)}
        batch = simulate_many(robot, scenario, starts, ground=ground_with(name))
        u, v, r = np.moveaxis(batch.records[:, :, 3:6], 2, 0)
        energy = 0.5 * 20.0 * (u**2 + v**2) + 0.5 * 0.755 * r**2
        rise = np.diff(energy, axis=1)
        assert rise.max() <= 1e-12 * energy.max()
        assert (energy[:, -1] < energy[:, 0]).all()

    @pytest.mark.parametrize("name", LAWS)
    def test_mirrored_commands_move_mirrored(self, name):
        """SPEC 7.3: left and right swapped flip y and heading to 1e-12, the slope mirrored too."""
        ground, mirrored = ground_with(name), []
        for turn in (1.0, -1.0):
            commands = [c | {"yaw_rate_radps": turn * c.get("yaw_rate_radps", 0.0)} for c in BUSY]
            place = {"slope_rad": 0.1, "uphill_rad": turn * 0.7}
            drive = simulate("p3at", Scenario(commands=commands, ground=place), ground=ground)
            mirrored.append((drive.x_m, turn * drive.y_m, turn * drive.heading_rad))
        np.testing.assert_allclose(mirrored[1], mirrored[0], rtol=0.0, atol=1e-12)

    @pytest.mark.parametrize("name", LAWS)
    def test_half_the_step_changes_little(self, name):
        """SPEC 7.4: a tenth of the stated tolerance (10 mm and 10 mrad at 1 ms, docs/theory/stepping), with torque to spare."""
        robot, ramps = changed("p3at", powertrain__torque_limit_nm=10.0), [c | {"profile": "quintic"} for c in BUSY]
        ends = []
        for step_s in (1e-3, 5e-4):
            drive = simulate(robot, busy_scenario(step_s=step_s, commands=ramps), ground=ground_with(name))
            ends.append([drive.x_m[-1], drive.y_m[-1], drive.heading_rad[-1]])
        np.testing.assert_allclose(ends[1], ends[0], rtol=0.0, atol=1e-3)


class TestLanes:
    CASES = [  # noqa: RUF012
        ("p3at", wheel_slip(mu=0.6)),
        ("lynxmotion_4wd3", ground_with("magic_formula")),
    ]

    @pytest.mark.parametrize(("robot", "ground"), CASES, ids=["speed loop", "motors"])
    def test_lanes_equal_one_by_one(self, robot, ground):
        """One source for both, equal to rounding. With mu = 10 rounding decides at reversals (docs/theory/stepping), so .6."""
        n = 11

        def spread(batch):
            batch.body.mass[:] *= np.linspace(0.8, 1.2, n)

        args = (find_robot(robot), ground, busy_scenario(), n)
        lanes, _ = run_kernel(skid_steer.in_lanes, *args, change=spread)
        alone, _ = run_kernel(skid_steer.one_by_one, *args, change=spread)
        assert np.abs(lanes - alone).max() < 1e-9 * np.abs(alone).max()
        assert np.ptp(lanes[:, -1, 0]) > 1e-6  # the runs differ

    def test_a_nan_lane_does_not_touch_its_neighbours(self):
        """To the last bit; and the NaN run gets its status."""
        n, bad = 11, 3

        def poison(batch):
            batch.body.mass[bad] = np.nan

        args = (find_robot("p3at"), wheel_slip(), busy_scenario(), n)
        clean, good = run_kernel(skid_steer.in_lanes, *args)
        dirty, status = run_kernel(skid_steer.in_lanes, *args, change=poison)
        others = np.arange(n) != bad
        assert (clean[others] == dirty[others]).all()
        assert (good == skid_steer.OK).all()
        assert status[bad] == skid_steer.NOT_FINITE
        assert (status[others] == skid_steer.OK).all()


class TestStability:
    @pytest.mark.parametrize("c_long", [0.001, 0.05])
    @pytest.mark.parametrize("c_lat", [0.001, 0.05, 2.0])
    def test_stiff_and_soft_wheels_come_to_rest_through_reversals(self, c_long, c_lat):
        """Issue: 1 ms, c_long .001 to .05, c_lat up to 2 1/N, mu = 10. Nothing may outrun its wheels or shake at the end."""
        drive = simulate("p3at", busy_scenario(), ground=wheel_slip(c_long, c_lat))
        assert drive.outcome is Outcome.FINISHED
        assert np.abs(drive.vx_mps).max() < 0.5 + 1.5 * 0.201  # the fastest rim
        assert np.hypot(drive.vx_mps, drive.vy_mps)[-1] < 1e-6
        assert abs(drive.yaw_rate_radps[-1]) < 1e-6

    def test_a_step_of_ten_milliseconds_is_stable_too(self):
        drive = simulate("p3at", busy_scenario(step_s=0.01, record_s=0.01), ground=wheel_slip(0.001, 0.001))
        assert np.abs(drive.vx_mps).max() < 1.0
        assert abs(drive.vx_mps[-1]) < 1e-6


class TestLimitCases:
    def test_grip_without_slip_is_the_ideal_drive_when_lateral_slip_is_free(self):
        """c_long -> 0 with c_lat >> c_long: omega -> omega_t, the textbook differential drive."""
        drive = simulate("p3at", Scenario(commands=[{"for_s": 3.0, "yaw_rate_radps": 0.5}]), ground=wheel_slip(1e-6, 1.0))
        assert drive.yaw_rate_radps[-1] == pytest.approx(0.5, rel=1e-5)

    def test_straight_acceleration_is_the_torque_limit(self):
        """(m + 4 J / R^2) a = 4 tau / R while the torque is at its limit and slip is small."""
        drive = simulate("p3at", Scenario(commands=[{"for_s": 0.2, "v_mps": 5.0}]), ground=wheel_slip(1e-5, 1e-5))
        expected = 4 * 2.0 / 0.11 / (20.0 + 4 * 0.009075 / 0.11**2)
        assert drive.vx_mps[-1] / 0.2 == pytest.approx(expected, rel=1e-3)

    def test_locked_wheels_stop_by_friction(self):
        """v^2 / (2 mu g): from 2 m/s with mu .8 in .2548 m; first order in the step, v dt / 2 = 1 mm."""
        robot = unlimited(find_robot("p3at"))
        scenario = Scenario(commands=[{"for_s": 1.0, "v_mps": 0.0}], start={"v_mps": 2.0})
        drive = simulate(robot, scenario, ground=ground_with("coulomb"))
        assert drive.x_m[-1] == pytest.approx(2.0**2 / (2 * 0.8 * G), abs=1.1e-3)

    def test_a_slope_steeper_than_friction_slides(self):
        """a = g (sin - mu cos) down the slope."""
        drive = at_rest(ground_with("coulomb", mu_long=0.3, mu_lat=0.3), slope_deg=30.0, uphill_rad=0.0)
        slope = math.radians(30.0)
        down = G * (math.sin(slope) - 0.3 * math.cos(slope))
        assert drive.vx_mps[-1] == pytest.approx(-3.0 * down, abs=down * 1e-3)  # one step: when it broke loose

    @pytest.mark.parametrize("uphill_deg", [0, 60, 135, -90])
    def test_a_slope_may_face_any_way(self, uphill_deg):
        """Only the direction of the fall changes: the path points downhill."""
        drive = at_rest(ground_with("coulomb", mu_long=0.1, mu_lat=0.1), slope_deg=20.0, uphill_rad=math.radians(uphill_deg))
        downhill = math.atan2(-drive.y_m[-1], -drive.x_m[-1])
        assert math.remainder(downhill - math.radians(uphill_deg), 2 * math.pi) == pytest.approx(0.0, abs=1e-6)

    def test_a_centre_of_mass_off_centre_loads_the_near_wheels(self):
        """Statics: K_front = 1/2 + x / L, K_left = 1/2 + y / T."""
        robot = changed("p3at", centre_of_mass_m=[0.05, -0.02, 0.152])
        drive = simulate(robot, Scenario(commands=REST), ground=wheel_slip())
        front, left = 0.5 + 0.05 / 0.25, 0.5 - 0.02 / 0.402
        shares = [front * left, front * (1 - left), (1 - front) * left, (1 - front) * (1 - left)]
        assert drive.load_n[-1] == pytest.approx(np.array(shares) * 20.0 * G)

    def test_velocity_is_the_derivative_of_the_pose_wherever_the_mass_is(self):
        """Definition of vx, vy in the body's axes, for a centre of mass off centre on both axes, turning on a slope."""
        robot = changed("p3at", centre_of_mass_m=[0.04, -0.05, 0.152])
        ramps = [c | {"profile": "quintic"} for c in BUSY[:2]]
        place = {"slope_rad": 0.1, "uphill_rad": 0.8}
        drive = simulate(robot, busy_scenario(commands=ramps, record_s=0.001, ground=place), ground=wheel_slip(mu=0.6))
        vx, vy = np.gradient(drive.x_m, 1e-3), np.gradient(drive.y_m, 1e-3)
        c, s = np.cos(drive.heading_rad), np.sin(drive.heading_rad)
        inner = slice(5, -5)
        assert (c * vx + s * vy)[inner] == pytest.approx(drive.vx_mps[inner], abs=5e-3)  # a step's change of velocity
        assert (c * vy - s * vx)[inner] == pytest.approx(drive.vy_mps[inner], abs=5e-3)

    def test_a_mass_to_the_right_turns_a_braking_robot_to_the_left(self):
        """Locked wheels at equal friction: the retarding force acts at the centre of pressure, which load transfer leaves at the
        mass's side; with viscous slip all wheels brake alike, at the centre: moment -v n / k · (0 - y) about a mass at y."""
        y, k, v = -0.05, 0.05, 1.0
        robot = unlimited(changed("p3at", centre_of_mass_m=[0.0, y, 0.152]))
        ground = ground_with("viscous_slip", k_long_mps_per_n=k, k_lat_mps_per_n=k, mu=10.0)
        scenario = Scenario(commands=[{"for_s": 0.002, "v_mps": 0.0}], start={"v_mps": v}, record_s=0.001)
        drive = simulate(robot, scenario, ground=ground)
        force = -4 * v / k
        expected = -(0.0 - y) * force / 0.755  # moment -Y F_x of a force at Y = -y from the mass
        assert drive.yaw_accel_radps2[1] == pytest.approx(expected, rel=0.02)  # one implicit step of a 12 ms decay

    def test_a_slanted_friction_direction_turns_a_robot_with_its_mass_ahead(self):
        """Pyramid turned by 45°, sliding straight: lateral force (mu1 - mu2) / sqrt(2) N at each wheel, moment sum X F_y."""
        robot = unlimited(changed("p3at", centre_of_mass_m=[0.05, 0.0, 0.001]))
        ground = ground_with("coulomb_pyramid", mu_long=0.5, mu_lat=0.3, direction_rad=math.pi / 4)
        scenario = Scenario(commands=[{"for_s": 0.002, "v_mps": 0.0}], start={"v_mps": 1.0}, record_s=0.001)
        drive = simulate(robot, scenario, ground=ground)
        x = np.array([0.125, 0.125, -0.125, -0.125]) - 0.05
        lateral = -(0.5 - 0.3) / math.sqrt(2.0) * drive.load_n[1]  # slip is backwards: s = (-1, 0)
        assert drive.force_y_n[1] == pytest.approx(lateral, rel=0.03)
        assert drive.yaw_accel_radps2[1] == pytest.approx(x @ lateral / 0.755, abs=0.3)

    def test_a_left_turn_loads_the_right_wheels(self):
        """Load transfer: K_left = 1/2 - (h / T) f_y / g with f_y = v r > 0 in a left turn."""
        drive = simulate("p3at", Scenario(commands=[{"for_s": 3.0, "v_mps": 0.8, "yaw_rate_radps": 0.8, "profile": "quintic"}]))
        left = drive.load_n[-1, ::2].sum() / (20.0 * G)
        assert left == pytest.approx(0.5 - 0.152 / 0.402 * drive.vx_mps[-1] * drive.yaw_rate_radps[-1] / G, rel=1e-3)
        assert left < 0.49

    def test_a_heavy_nose_does_not_move_the_recorded_pose(self):
        """The pose is that of the wheels' centre: a robot that turns on the spot by symmetry of its wheels stays there if its
        mass is central, and the recorded point circles the same centre if the mass is moved."""
        spin = Scenario(commands=[{"for_s": 4.0, "yaw_rate_radps": 1.0}])
        drive = simulate(changed("p3at", centre_of_mass_m=[0.05, 0.0, 0.152]), spin, ground=wheel_slip())
        assert math.hypot(drive.x_m[0], drive.y_m[0]) < 1e-15
        assert np.hypot(drive.x_m, drive.y_m).max() < 0.02

    def test_hard_braking_lifts_the_rear_wheels_and_says_so(self):
        """Lift-off when mu h > l: h = .4 m, l = .125 m, mu = .8."""
        robot = unlimited(changed("p3at", centre_of_mass_m=[0.0, 0.0, 0.4]))
        drive = simulate(
            robot, Scenario(commands=[{"for_s": 0.1, "v_mps": 0.0}], start={"v_mps": 2.0}), ground=ground_with("coulomb")
        )
        assert set(drive.lifted_wheels) == {2, 3}
        assert drive.load_n[5].sum() == pytest.approx(20.0 * G)

    @pytest.mark.parametrize("record_s", [0.001, 0.01, 0.1])
    def test_a_wheel_that_lifts_between_two_records_is_reported(self, record_s):
        """ENGINES: at 5 N·m a speed step lifts the front wheels, for some hundredths of a second."""
        robot = changed("p3at", powertrain__torque_limit_nm=5.0)
        drive = simulate(robot, Scenario(commands=[{"for_s": 1.0, "v_mps": 0.5}], record_s=record_s), ground=wheel_slip())
        assert set(drive.lifted_wheels) == {0, 1}

    def test_six_wheels_need_more_force_to_turn_than_their_middle_pair_alone(self):
        """Closed form for n axles at x_k: omega / omega_t = 1 / (1 + mean(x^2) / b^2 · c_long / c_lat)."""
        spin = Scenario(commands=[{"for_s": 3.0, "yaw_rate_radps": 1.0}])
        drive = simulate(unlimited(six_wheeled()), spin, ground=wheel_slip())
        mean_square = (0.25**2 + 0.0 + 0.25**2) / 3
        expected = 1.0 / (1.0 + mean_square / 0.201**2 * 0.005 / 0.05)
        assert drive.yaw_rate_radps[-1] == pytest.approx(expected, rel=1e-6)

    def test_gravity_belongs_to_the_ground(self):
        """Mars: locked wheels need 9.81 / 3.71 of the way to stop."""
        mars = ground_with("coulomb").model_copy(update={"gravity_mps2": Parameter("gravity_mps2", 3.71)})
        scenario = Scenario(commands=[{"for_s": 2.0, "v_mps": 0.0}], start={"v_mps": 2.0})
        drive = simulate(unlimited(find_robot("p3at")), scenario, ground=mars)
        assert drive.x_m[-1] == pytest.approx(2.0**2 / (2 * 0.8 * 3.71), abs=1.1e-3)
