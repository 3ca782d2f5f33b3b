"""The protocol on whole drives: constants come back, runs that must not count are rejected with the reason."""

import json

import numpy as np
import pytest

from robots import changed, unlimited, wheel_slip
from slipfit.calibration import calibrate
from slipfit.calibration.protocol import Pooled, RunVerdict, run_protocol
from slipfit.calibration.spin_test import SpinGeometry, ratio_from_spin, yaw_rate_of_spin
from slipfit.calibration.step_test import StepOutcome, c_long_from_step
from slipfit.contact.wheel_slip import spin_ratio, spin_yaw_rate
from slipfit.errors import FitError
from slipfit.library import find_robot
from slipfit.simulation import Scenario, simulate

P3AT = find_robot("p3at")
STEP = [{"for_s": 1.5, "v_mps": 0.2}, {"for_s": 1.5, "v_mps": 1.0}]
SPIN = [{"for_s": 1.5, "v_mps": 0.0}, {"for_s": 5.0, "yaw_rate_radps": 1.0}, {"for_s": 1.5, "v_mps": 0.0}]
SENSORS = {"encoders": {"rate_hz": 100}, "imu": {"rate_hz": 1000}, "pose": {"rate_hz": 20}}


def driven(commands, robot=P3AT, ground=None, **sensors):
    return simulate(robot, Scenario(commands=commands, sensors=SENSORS | sensors), ground=ground or wheel_slip()).readings


@pytest.fixture(scope="module")
def clean():
    return driven(STEP * 2 + SPIN * 2)


@pytest.mark.parametrize(("method", "tolerance"), [("central", 0.03), ("imu", 0.1)])
def test_clean_drives_give_the_constants_back(clean, method, tolerance):
    """Truth .005 and ratio 10. Clean 20 Hz central differences are 2 % high (SPEC 1(b)). An IMU misplaces a jump of 3.6 m/s² by
    half a sample, .5 ms: 1.5 mm of the 12.5 mm of slip after .8 s, a part of which the speed at the end takes back."""
    found = run_protocol(clean, P3AT, method=method, mu=10.0)
    assert found.c_long_per_n.mean == pytest.approx(0.005, rel=tolerance)
    assert found.ratio.mean == pytest.approx(10.0, rel=2e-3)
    assert found.c_lat_per_n == pytest.approx(0.05, rel=tolerance + 2e-3)
    assert found.ratio.runs == 2


def test_backward_differences_are_far_too_high(clean):
    """ENGINES: .012 to .020 instead of .005; at least twice the truth here."""
    assert run_protocol(clean, P3AT, method="backward").c_long_per_n.mean > 0.01


def test_spins_at_the_limit_are_rejected_by_the_limit_that_holds():
    """ENGINES: the spin uses |F|/N = .2875; across alone 11.97 N of 49.05 N, .244. mu = .27 is beyond the cone only.
    The step is gentle enough for both: 20 x .8 / 4 = 4 N."""
    gentle = [{"for_s": 1.5, "v_mps": 0.2}, {"for_s": 2.5, "v_mps": 1.0, "profile": "linear"}]
    log = driven(gentle + SPIN)
    by_cone, by_pyramid = (run_protocol(log, P3AT, mu=0.27, limit=limit) for limit in ("cone", "pyramid"))
    assert [run.verdict for run in by_cone.spins] == [RunVerdict.SATURATED]
    assert [run.verdict for run in by_pyramid.spins] == [RunVerdict.USED]
    assert by_pyramid.spins[0].grip_used == pytest.approx(0.2875, rel=0.05)
    assert by_cone.ratio is None
    assert "Rejected: a contact reached Coulomb's limit" in by_cone.summary()


def test_a_drive_that_slides_is_rejected():
    """mu = .15: the spin wants .244 N across, the step 4 x 2 / .11 = 73 N of 29 N."""
    found = run_protocol(driven(STEP + SPIN, ground=wheel_slip(mu=0.15)), P3AT, mu=0.15)
    assert found.c_long_per_n is None
    assert {run.verdict for run in found.steps if run.manoeuvre.to_mps > 0.9} == {RunVerdict.SATURATED}


def test_wheelies_are_rejected():
    """ENGINES: at 5 N m wheels lift. a = 4 x 5 / .11 / 20 = 9.1 m/s² against g l / h = 8.07; a step to 3 m/s lasts .3 s."""
    strong = changed("p3at", powertrain__torque_limit_nm=5.0)
    commands = [{"for_s": 1.5, "v_mps": 0.2}, {"for_s": 1.5, "v_mps": 3.0}]
    found = run_protocol(driven(commands, robot=strong), strong)
    assert [run.verdict for run in found.steps if run.manoeuvre.to_mps > 2.0] == [RunVerdict.LIFTED]


def test_wide_wheels_are_the_inverse_of_each_other_and_give_the_measured_ratio():
    """ENGINES: a 75 mm cylinder on both edges reads 5.263 by eq. (3); with d = .0375 the truth, 10, comes back."""
    rate = spin_yaw_rate(1.0, 10.0, 0.201, 0.125, 0.0375)
    assert spin_ratio(1.0, rate, 0.201, 0.125) == pytest.approx(5.263, abs=1e-3)
    assert spin_ratio(1.0, rate, 0.201, 0.125, 0.0375) == pytest.approx(10.0, rel=1e-12)
    assert spin_yaw_rate(1.0, 10.0, 0.201, 0.125) == pytest.approx(0.962765, abs=1e-6)


@pytest.mark.parametrize(("offset", "commanded", "plain"), [((0.04, 0.0), 2.0, 9.94), ((0.0, 0.05), 2.0, 9.18)])
def test_the_centre_of_mass_is_corrected_for(offset, commanded, plain):
    """The dynamic vehicle with an offset, against eq. (offset): the rest is the step's first order, 5e-6 at .1 ms."""
    robot = unlimited(changed("p3at", centre_of_mass_m=[*offset, 0.152]))
    scenario = Scenario(commands=[{"for_s": 5.0, "yaw_rate_radps": commanded}], step_s=1e-4)
    rate = simulate(robot, scenario, ground=wheel_slip(0.02, 0.2)).yaw_rate_radps[-1]
    geometry = SpinGeometry.of(robot)
    assert ratio_from_spin(commanded, rate, geometry, c_long_per_n=0.02) == pytest.approx(10.0, rel=1e-4)
    assert ratio_from_spin(commanded, rate, geometry) == pytest.approx(plain, abs=0.01)
    assert yaw_rate_of_spin(commanded, 10.0, geometry, c_long_per_n=0.02) == pytest.approx(rate, rel=1e-6)


def test_offset_equations_are_inverse_to_each_other():
    """Below rho = l / (q (sqrt(y² - q² x²) - l q)) = 84, from where on a larger ratio turns the robot slower again."""
    geometry = SpinGeometry(0.2, 0.15, 0.03, 0.04, -0.06, 30.0, 4)
    for ratio in (1.0, 10.0, 50.0):
        rate = yaw_rate_of_spin(-1.5, ratio, geometry, c_long_per_n=0.01)
        assert ratio_from_spin(-1.5, rate, geometry, c_long_per_n=0.01) == pytest.approx(ratio, rel=1e-9)


def test_the_spin_turns_slower_again_beyond_the_ratio_of_the_derivation():
    """docs/theory/wheel_slip_protocol: the derivative of l²/rho + q² (x² + rho y²)/(1 + rho q²) by rho is zero there."""
    c_long, commanded = 0.05, 3.0
    for x, y in ((0.0, 0.1), (0.03, 0.08)):
        geometry = SpinGeometry(0.201, 0.125, 0.0, x, y, 20.0, 4)
        ratios = np.geomspace(1.0, 100.0, 4001)
        rates = [yaw_rate_of_spin(commanded, ratio, geometry, c_long_per_n=c_long) for ratio in ratios]
        fastest = int(np.argmax(rates))
        q = c_long * 20.0 * 0.201 * commanded * rates[fastest] / 4
        assert ratios[fastest] == pytest.approx(
            0.125 / (q * (np.sqrt(y**2 - (q * x) ** 2) - 0.125 * q)), rel=2e-3
        )  # the grid's step
        rate = rates[fastest + 500]
        assert ratio_from_spin(commanded, rate, geometry, c_long_per_n=c_long) < ratios[fastest]


def exact_run(c_long, accel=1.5, mass=20.0, v0=0.2, duration=0.5):
    """Constant acceleration, whose integral is v / (1 - a c m / 4) in closed form."""
    t = np.linspace(0.0, duration, 501)
    distance = (v0 * duration + 0.5 * accel * duration**2) / (1.0 - accel * c_long * mass / 4)
    return v0 + accel * t, np.full_like(t, accel), t, distance


@pytest.mark.parametrize("c_long", [0.001, 0.005, 0.02])
@pytest.mark.parametrize("accel", [1.5, -0.35])
def test_exact_acceleration_gives_c_long_back(c_long, accel):
    """SPEC 1(b): the same value, 1e-5; braking too, and backing up."""
    v, a, t, d = exact_run(c_long, accel)
    assert c_long_from_step(v, a, t, d, 20.0).c_long_per_n == pytest.approx(c_long, rel=1e-5)
    assert c_long_from_step(-v, -a, t, -d, 20.0).c_long_per_n == pytest.approx(c_long, rel=1e-5)


def test_of_two_roots_of_a_braking_run_the_smaller_one_is_the_answer():
    """1 to 0.2 m/s at -1.6 m/s², 0.30 m; then a push to 0.35 m/s at 1.5 m/s², 0.0275 m. With m/n = 5 the wheels roll
    0.30 / (1 + 8 c) + 0.0275 / (1 - 7.5 c): 0.3170 m for c = 0.005, and once more beyond the minimum, near the pole at 0.133."""
    brake, push = np.linspace(0.0, 0.5, 501), np.linspace(0.5, 0.6, 101)
    t = np.concatenate([brake, push])
    v = np.concatenate([1.0 - 1.6 * brake, 0.2 + 1.5 * (push - 0.5)])
    a = np.repeat([-1.6, 1.5], [501, 101])

    def rolled(c):
        return 0.30 / (1.0 + 8.0 * c) + 0.0275 / (1.0 - 7.5 * c)

    for c in (0.001, 0.005, 0.02):
        assert rolled(0.13) > rolled(c) > rolled(0.07)  # a second root lies beyond the minimum
        assert c_long_from_step(v, a, t, rolled(c), 20.0).c_long_per_n == pytest.approx(c, rel=1e-5)
    assert c_long_from_step(v, a, t, 1.01 * rolled(0.0), 20.0).outcome is StepOutcome.NO_SLIP
    assert c_long_from_step(v, a, t, 0.5 * rolled(0.0), 20.0).outcome is StepOutcome.NO_ROOT


def test_no_root_is_an_answer():
    v, a, t, d = exact_run(0.005)
    less = c_long_from_step(v, a, t, 0.9 * d, 20.0)
    assert (less.c_long_per_n, less.outcome) == (None, StepOutcome.NO_SLIP)
    still = c_long_from_step(v, 0.0 * a, t, d, 20.0)
    assert still.outcome is StepOutcome.NO_SPEED_CHANGE
    braking = c_long_from_step(*exact_run(0.005, -0.35)[:3], 1e-6, 20.0)
    assert braking.outcome is StepOutcome.NO_ROOT
    with pytest.raises(FitError, match="expected three or more finite samples"):
        c_long_from_step(v[:2], a[:2], t[:2], d, 20.0)


def test_runs_are_pooled():
    """Mean 2, deviation 1 among three runs, 1/√3 of the mean; weights move the mean."""
    pooled = Pooled.of([1.0, 2.0, 3.0])
    assert (pooled.mean, pooled.repeatability, pooled.relative_repeatability) == pytest.approx((2.0, 1.0, 0.5))
    assert pooled.std_of_mean == pytest.approx(3**-0.5)
    assert Pooled.of([1.0, 2.0], [3.0, 1.0]).mean == pytest.approx(1.25)
    assert Pooled.of([]) is None
    assert Pooled.of([1.0]).repeatability is None


def test_the_mass_is_part_of_the_spread(clean):
    """Only m c_long is determined: 1 % of mass is 1 % of c_long."""
    found = run_protocol(clean, P3AT)
    assert found.c_long_std_per_n >= 0.01 * found.c_long_per_n.mean
    assert found.compliances[0] == pytest.approx(found.c_long_per_n.mean * 20.0 * 9.81 / 4)


def test_results_print_and_become_documents(clean):
    found = run_protocol(clean, P3AT)
    assert "c_lat / c_long" in found.summary()
    document = json.loads(json.dumps(found.to_document(), allow_nan=False))
    assert document["c_long_per_n"]["value"] == found.c_long_per_n.mean
    assert len(document["spins"]) == 2


def test_what_is_missing_is_said():
    log = driven([{"for_s": 3.0, "v_mps": 0.0}])
    found = run_protocol(log, P3AT)
    assert found.c_long_per_n is None
    assert any("no speed step" in note for note in found.notes)
    assert any("no steady spin" in note for note in found.notes)
    without = type(log)({"encoders": log["encoders"]})
    with pytest.raises(FitError, match="no channel 'pose'"):
        run_protocol(without, P3AT)


def test_backing_up_in_any_direction_gives_the_same():
    """Mirrored motion, and a start that looks along no axis: c_long within the 3 % of clean central differences."""
    commands = [{"for_s": 1.5, "v_mps": -0.2}, {"for_s": 1.5, "v_mps": -1.0}]
    scenario = Scenario(commands=commands, sensors=SENSORS, start={"heading_rad": 2.0})
    found = run_protocol(simulate(P3AT, scenario, ground=wheel_slip()).readings, P3AT)
    assert found.c_long_per_n.mean == pytest.approx(0.005, rel=0.03)


def test_a_fit_hands_its_gravity_to_the_protocol(clean):
    """m g / n of 20 kg on four wheels under the gravity of Mars, 3.71 m/s²: 18.55 N."""
    fit = calibrate(clean, robot=P3AT, gravity_mps2=3.71)
    assert fit.drives[0].protocol.static_load_n == pytest.approx(20.0 * 3.71 / 4)
