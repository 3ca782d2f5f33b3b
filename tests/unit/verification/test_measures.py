"""What is read of drives, without an engine: loads that statics determines, and the spin of the twin itself."""

import numpy as np
import pytest

from known_twins import known_twin
from slipfit.errors import SimulationError
from slipfit.library import Robot, find_robot
from slipfit.twin import Twin
from slipfit.verification.manoeuvres import side_slope
from slipfit.verification.measures import load_share
from slipfit.verification.run import Course

HALF_TRACK_M, HALF_WHEELBASE_M = 0.201, 0.125
FOUR = np.array([(x, y) for x in (HALF_WHEELBASE_M, -HALF_WHEELBASE_M) for y in (HALF_TRACK_M, -HALF_TRACK_M)])
SIX = np.array([(x, y) for x in (0.3, 0.05, -0.25) for y in (0.201, -0.201)])


def on_springs(weight_n, centre_m, at_m):
    """Equal springs under a rigid body, from their three equations of balance: N = a + b x + c y."""
    plane = np.column_stack([np.ones(len(at_m)), at_m])
    return plane @ np.linalg.solve(plane.T @ plane, weight_n * np.array([1.0, *centre_m]))


def test_off_centre_loads_may_be_shared_in_more_than_one_way():
    """Four wheels, mass off centre both ways: product of the shares of axles and sides, or springs. Both balance."""
    ahead, left = 0.5 + 0.06 / 0.25, 0.5 + 0.03 / 0.402
    product = 196.2 * np.array([ahead * left, ahead * (1 - left), (1 - ahead) * left, (1 - ahead) * (1 - left)])
    springs = on_springs(196.2, (0.06, 0.03), FOUR)
    assert np.abs(springs / product - 1.0).max() > 0.05
    assert load_share(springs, product, FOUR, has_springs=True) < 1e-12
    assert load_share(springs, product, FOUR, has_springs=False) < 1e-12


def test_six_wheels_have_weight_and_two_moments_only():
    springs = on_springs(196.2, (0.0, 0.0), SIX)
    # Loads that change nothing in weight and moments: 0.3 * 0.3 + 0.05 * a - 0.25 * b = 0 with 0.3 + a + b = 0.
    a = (-0.25 * 0.3 - 0.3 * 0.3) / (0.05 + 0.25)
    balanced = 20.0 * np.repeat([0.3, a, -0.3 - a], 2)
    assert load_share(springs + balanced, springs, SIX, has_springs=False) < 1e-12
    assert load_share(springs + balanced, springs, SIX, has_springs=True) > 0.1


def test_loads_of_stiff_contacts_are_apart_on_the_diagonal():
    """docs/howto/engines: 45 and 53 N where each carries 49 with kp 1e12; rigid engines may do so, springs may not."""
    loads, even = np.array([45.0, 53.0, 53.0, 45.0]), np.full(4, 49.0)
    assert load_share(loads, even, FOUR, has_springs=True) == pytest.approx(4.0 / 49.0)
    assert load_share(loads, even, FOUR, has_springs=False) < 1e-12


def test_a_centre_of_mass_elsewhere_shows_in_the_pairs():
    """10 mm ahead of the twin's, of 250 mm: each axle is 4 % of the weight off, 8 % of its mean."""
    loads = on_springs(196.2, (0.01, 0.0), FOUR)
    assert load_share(loads, np.full(4, 196.2 / 4.0), FOUR, has_springs=False) == pytest.approx(0.08)


def gripping(mu, c_long, c_lat, torque_nm=50.0):
    """A P3AT with strong motors on ground with this friction."""
    robot = find_robot("p3at").to_mapping()
    robot["powertrain"] = {"kind": "speed_loop", "torque_limit_nm": torque_nm}
    data = known_twin(Robot.from_mapping(robot, where="strong"), c_long, c_lat).to_mapping()
    data["grounds"]["floor"]["parameters"]["mu"] = {"value": mu, "status": "converged", "source": "known"}
    return Twin.from_mapping(data, where="gripping")


def test_the_twins_own_spin_reads_its_constants():
    """[Trimble2022] eq. (3)."""
    assert Course(known_twin()).spin_ratio() == pytest.approx(10.0, rel=1e-3)


def test_where_grip_runs_out_the_twin_reads_something_else():
    """Wheels slide across at mu N, so F_long = mu N l / b and 1 - omega / omega_t = q = c_long mu N l / b: eq. 3 reads
    (l / b)² (1 - q) / q, 20.75 instead of 2."""
    mu, c_long = 0.6, 0.001
    lever = HALF_WHEELBASE_M / HALF_TRACK_M
    q = c_long * mu * (20.0 * 9.81 / 4.0) * lever
    assert Course(gripping(mu, c_long, 0.002)).spin_ratio() == pytest.approx(lever**2 * (1.0 - q) / q, rel=2e-3)


def test_motors_that_are_too_weak_have_no_steady_spin():
    """1 N m at 0.11 m is 9 N, less than the mu N l / b = 18 N that wheels on the point of sliding across need."""
    assert Course(gripping(0.6, 0.001, 0.002, torque_nm=1.0)).spin_ratio() is None


def test_a_twin_that_does_not_move_is_refused():
    """Without friction wheels push nothing: no way to be apart by a share of."""
    with pytest.raises(SimulationError, match=r"p3at on floor: the twin itself moves 0 mm.*check its mu \(0\) and the motors'"):
        Course(gripping(0.0, 0.005, 0.05))


def test_a_slope_that_hardly_carries_the_twin_tells_nothing():
    """s = c_lat |w| F with F = m g sin 5° / 4 over some 0.9 m: 0.2 m at c_lat 0.05, 4e-5 m at 1e-5."""
    force_n = 20.0 * 9.81 * np.sin(np.radians(5.0)) / 4.0
    course = Course(known_twin())
    way_m = float(course[side_slope].motion.x_m[-1])
    # The sideways speed has to be gained first: m c_lat |w| v / 4 of way are lost, 0.05 * 5 * 0.5 * 0.107 m = 0.013 m at most.
    assert 0.05 * force_n * way_m - 0.013 < course.carried_m() < 0.05 * force_n * way_m
    assert Course(known_twin(c_long=1e-6, c_lat=1e-5)).carried_m() is None


def test_a_slope_that_the_twin_slides_down_tells_nothing():
    """tan 5° = 0.087 is more than mu."""
    assert Course(gripping(0.08, 0.005, 0.05)).slides()
    assert Course(gripping(0.08, 0.005, 0.05)).carried_m() is None
    assert not Course(gripping(0.1, 0.005, 0.05)).slides()


def test_the_speed_step_of_a_twin_without_grip_reads_something_else():
    """At mu = 0.01 the robot gains 0.1 m/s² whatever its wheels do; eq. of the step then reads far more than c_long."""
    assert Course(known_twin()).step_c_long() == 0.005
    assert Course(gripping(0.01, 0.005, 0.05)).step_c_long() > 0.5
