"""[Trimble2022], skid-steer friction calibration: every number of SPEC 1(b) that simulation and closed forms can show."""

import math

import numpy as np
import pytest

from robots import changed, unlimited, wheel_slip
from slipfit.contact.wheel_slip import spin_forces, spin_ratio, spin_yaw_rate
from slipfit.simulate import Scenario, simulate
from slipfit.vehicles.kinematic import EqualSlip, body_velocity

B, L = 0.197, 0.1345  # half track and half wheelbase of the other public P3AT, SPEC 6
SPIN = [{"for_s": 4.0, "yaw_rate_radps": 1.0}]


def other_p3at(**changes):
    at = [[L, B], [L, -B], [-L, B], [-L, -B]]
    return unlimited(changed("p3at", wheels__at_m=at, **changes))


def test_spin_rate_of_the_other_model():
    """SPEC: .955463 rad/s, tolerance 1e-6."""
    assert spin_yaw_rate(1.0, 10.0, B, L) == pytest.approx(0.955463, abs=1e-6)


def test_spin_rate_of_the_official_model():
    """SPEC: .962765 rad/s (b = .201, l = .125), tolerance 1e-6."""
    assert spin_yaw_rate(1.0, 10.0, 0.201, 0.125) == pytest.approx(0.962765, abs=1e-6)


def test_simulated_spin_of_the_library_robot():
    """The same number from the dynamic vehicle at a 1 ms step; the 2 N·m of the library's P3AT suffice."""
    drive = simulate("p3at", Scenario(commands=SPIN))
    assert drive.yaw_rate_radps[-1] == pytest.approx(0.962765, abs=1e-6)
    assert drive.effort[-1] == pytest.approx(np.array([-1, 1, -1, 1]) * 0.11 * 7.4469, abs=1e-3)


def test_ratio_recovered_from_the_simulated_steady_state():
    """SPEC: 10.0000 (document 9.998), tolerance 1e-3."""
    drive = simulate(other_p3at(), Scenario(commands=SPIN), ground=wheel_slip())
    assert spin_ratio(1.0, drive.yaw_rate_radps[-1], B, L) == pytest.approx(10.0, abs=1e-3)


def test_swapping_track_and_wheelbase_is_noticed():
    """Erratum 3: eq. (3) holds for b half track and l half wheelbase; swapped it gives (b/l)^4 of the ratio."""
    rate = spin_yaw_rate(1.0, 10.0, B, L)
    assert spin_ratio(1.0, rate, L, B) == pytest.approx(10.0 * (B / L) ** 4)


@pytest.mark.parametrize(("turns", "ratio"), [(1, 9.877), (3, 9.959), (10, 9.988)])
def test_turns_timed_from_rest_include_the_run_in(turns, ratio):
    """SPEC: I_z = .6 and n = 1, 3, 10 turns give 9.877, 9.959, 9.988, tolerance 1e-3.

    The run-in lasts I / (4 (b / (w c_long) + l^2 / (b w c_lat))) = 3.6 ms, so the step is short."""
    robot = other_p3at(yaw_inertia_kgm2=0.6, roll_inertia_kgm2=0.4)
    duration = 2 * math.pi * turns / 0.955463 + 0.05
    commands = [{"for_s": duration, "yaw_rate_radps": 1.0}]
    drive = simulate(robot, Scenario(commands=commands, step_s=1e-4, record_s=1e-3), ground=wheel_slip())
    when = np.interp(2 * math.pi * turns, drive.heading_rad, drive.time_s)
    assert spin_ratio(1.0, 2 * math.pi * turns / when, B, L) == pytest.approx(ratio, abs=1e-3)


def test_forces_in_the_spin():
    """SPEC: 8.907 and 13.047 N per wheel at c .005 / .05, tolerance 1e-3; by formula and simulated."""
    assert spin_forces(1.0, 0.955463, 0.005, 0.05, B, L) == pytest.approx((8.907, 13.047), abs=1e-3)
    drive = simulate(other_p3at(), Scenario(commands=SPIN), ground=wheel_slip())
    assert np.abs(drive.force_x_n[-1]) == pytest.approx(8.907, abs=1e-3)
    assert np.abs(drive.force_y_n[-1]) == pytest.approx(13.047, abs=1e-3)


@pytest.mark.parametrize("commanded", [0.25, 0.5, 1.0, 2.0])
def test_grip_used_does_not_depend_on_the_spin_rate(commanded):
    """ENGINES: |F|/N = .2875 from .25 to 2 rad/s with the official model: a slower spin cannot leave Coulomb's region."""
    drive = simulate("p3at", Scenario(commands=[{"for_s": 4.0, "yaw_rate_radps": commanded}]))
    grip = np.hypot(drive.force_x_n[-1], drive.force_y_n[-1]) / drive.load_n[-1]
    assert grip == pytest.approx(0.2875, abs=1e-4)


def test_equal_slip_constants_give_the_turning_factor_of_document_001():
    """SPEC 0 and 1(b): omega / omega_t = b^2 / (b^2 + l^2) = T^2 / (T^2 + B^2) = .682065, both modules alike to 1e-12."""
    by_000 = spin_yaw_rate(1.0, 1.0, B, L)
    by_001 = body_velocity(EqualSlip(2 * B, 2 * L), -B, B)[2]
    assert by_000 == pytest.approx(0.682065, abs=1e-6)
    assert by_000 == pytest.approx(by_001, abs=1e-12)


def test_the_dynamic_vehicle_turns_as_document_001_when_both_constants_are_equal():
    """The same through forces: steady state of the simulation."""
    drive = simulate(other_p3at(), Scenario(commands=SPIN), ground=wheel_slip(0.005, 0.005))
    assert drive.yaw_rate_radps[-1] == pytest.approx(body_velocity(EqualSlip(2 * B, 2 * L), -B, B)[2], abs=1e-12)


def test_a_speed_step_slips_as_far_as_the_document_measures():
    """ENGINES: .2 to 1.0 m/s at 1 N·m per wheel: 12.5 mm of slip in about .81 m."""
    robot = changed("p3at", powertrain__torque_limit_nm=1.0)
    scenario = Scenario(
        commands=[{"for_s": 1.0, "v_mps": 1.0}], start={"v_mps": 0.2}, record_s=0.001, ground={"surface": "lab_floor"}
    )
    drive = simulate(robot, scenario)
    rolled = 0.11 * (drive.wheel_angle_rad[:, 0])
    slipped = rolled - drive.x_m
    # F = m a and slip velocity = c w F give ∫ c w (m/4) dv, with w = v / (1 - a c m / 4) from the corrected eq. (1).
    a = np.gradient(drive.vx_mps, drive.time_s)
    rim = drive.vx_mps / (1.0 - a * 0.005 * 20.0 / 4.0)
    expected = np.trapezoid(0.005 * 20.0 / 4.0 * rim * a, drive.time_s)
    assert slipped[-1] == pytest.approx(expected, rel=5e-3)  # 250 first-order steps: right-hand sums are .3 % off
    assert slipped[-1] == pytest.approx(0.0125, abs=4e-4)


def test_the_simulated_robot_follows_the_corrected_equation_1_and_not_the_printed_one():
    """Erratum 1: accelerating straight, v_r = v / (1 - a c m / 4); as printed, with 1 - 4 a c m, it is far off."""
    robot = changed("p3at", powertrain__torque_limit_nm=1.0)
    drive = simulate(robot, Scenario(commands=[{"for_s": 0.3, "v_mps": 1.0}], start={"v_mps": 0.2}, record_s=0.001))
    v, a = drive.vx_mps[200], drive.fx_mps2[200]  # level ground: the specific force is the acceleration
    rim = 0.11 * drive.wheel_speed_radps[200, 0]
    assert v / (1 - a * 0.005 * 20.0 / 4) == pytest.approx(rim, rel=1e-9)
    assert abs(v / (1 - 4 * a * 0.005 * 20.0) - rim) > 0.5 * rim


def test_a_parked_wheel_does_not_slip_but_a_lubricated_one_does():
    """Document 000, section 1: viscous slip lets a stationary vehicle slide down, wheel_slip does not."""
    place = {"slope_rad": math.radians(10.0), "uphill_rad": math.pi / 2}
    rest = [{"for_s": 4.0, "v_mps": 0.0}]  # sixteen time constants m k / 4 of the sliding one
    holds = simulate("p3at", Scenario(commands=rest, ground=place | {"surface": "lab_floor"}))
    slides = simulate("p3at", Scenario(commands=rest, ground=place | {"surface": "lubricated"}))
    assert abs(holds.vy_mps[-1]) < 1e-6
    assert slides.vy_mps[-1] == pytest.approx(-0.05 * 20.0 * 9.81 * math.sin(math.radians(10.0)) / 4, rel=1e-4)
