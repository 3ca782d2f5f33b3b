"""Motors of real rovers against their own differential equations, and the books of every drive."""

import math

import numpy as np
import pytest

from rovers import lynx_on, record
from slipfit.ground import plane
from slipfit.vehicles.losses import Battery
from slipfit.vehicles.motors import CompliantMotor, LimitedMotor
from slipfit.vehicles.powertrain import Spin, after_step, free_wheel, prepared

CIRCUIT = (4.0, 0.1, 0.35, 0.35, 0.01, 12.0)  # Lynxmotion 4WD3, SPEC 6
SHAFT = CompliantMotor(0.005, 0.0003, *CIRCUIT, math.inf, 0.5, 0.003)


def spin(motor, volts, torque, dt, steps, start=None):
    wheel, state = prepared(motor, dt), start or Spin(0.0, 0.0, 0.0, 0.0)
    for _ in range(steps):
        free, mobility = free_wheel(wheel, volts, state, torque)
        state = after_step(wheel, volts, state, free - mobility * torque, torque)
    return state


def test_a_shaft_follows_its_equations():
    """Exact solution of the five linear equations by eigenvectors, at .05 s; backward steps err in proportion to the step."""
    r, l, kt, ke, b, _ = CIRCUIT
    jm, jw, ks, ds = 0.005, 0.0003, 0.5, 0.003
    a = np.array([  # current, rotor, wheel, twist
        [-r / l, -ke / l, 0.0, 0.0],
        [kt / jm, -(b + ds) / jm, ds / jm, -ks / jm],
        [0.0, ds / jw, -ds / jw, ks / jw],
        [0.0, 1.0, -1.0, 0.0],
    ])  # fmt: skip
    push = np.array([6.0 / l, 0.0, -0.05 / jw, 0.0])
    values, vectors = np.linalg.eig(a)
    steady = -np.linalg.solve(a, push)
    exact = (steady + (vectors * np.exp(values * 0.05)) @ np.linalg.solve(vectors, -steady)).real
    errors = []
    for steps in (2000, 4000):
        end = spin(SHAFT, 6.0, 0.05, 0.05 / steps, steps)
        errors.append(np.abs(np.array([end.effort, end.rotor, end.speed, end.twist]) - exact).max())
    assert errors[0] < 0.02 * np.abs(exact).max()
    assert errors[1] / errors[0] == pytest.approx(0.5, abs=0.05)


def test_a_stiff_shaft_is_a_rigid_one():
    """K_s to infinity: rotor and wheel turn as one, with the sum of their inertias."""
    stiff = SHAFT._replace(stiffness=1e7, damping=100.0)
    rigid = LimitedMotor(0.0053, *CIRCUIT, math.inf)
    a, b = spin(stiff, 6.0, 0.05, 1e-3, 200), spin(rigid, 6.0, 0.05, 1e-3, 200)
    assert a.speed == pytest.approx(b.speed, rel=1e-5)
    assert a.rotor == pytest.approx(a.speed, rel=1e-5)


@pytest.mark.parametrize(
    "motor", [LimitedMotor(0.0053, *CIRCUIT, 0.5), SHAFT._replace(current_limit=0.5)], ids=["rigid", "shaft"]
)
def test_current_stays_within_its_limit(motor):
    """At the limit a motor is a source of current: a wheel that is free gains K_t i_max / J a second, less friction; near its
    no-load speed the voltage decides again."""
    early = [spin(motor, 12.0, 0.0, 1e-4, steps) for steps in range(0, 2000, 50)]
    assert max(abs(state.effort) for state in early) == pytest.approx(0.5)
    late = spin(motor, 12.0, 0.0, 1e-3, 20000)
    assert late.effort < 0.5 or late.speed == pytest.approx(0.35 * 0.5 / 0.01, rel=1e-3)
    rigid = spin(LimitedMotor(0.0053, *CIRCUIT, 0.5), 12.0, 0.0, 1e-4, 2000)
    wanted = 0.35 * 0.5 / 0.01 * (1.0 - math.exp(-0.01 / 0.0053 * 0.19))  # the current needs some 5 ms to rise
    assert rigid.speed == pytest.approx(wanted, rel=0.05)


def closed(motion):
    """What the books do not explain, as a share of what went through."""
    flows, stores = motion["flows"][-1] - motion["flows"][0], motion["stores"][-1] - motion["stores"][0]
    return (flows[0] - flows[2:].sum() - stores.sum()) / flows[1]


SLALOM = [[6 + 4 * math.sin(2 * t), 6 - 4 * math.sin(1.7 * t)] for t in np.arange(3000) * 1e-3]


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"motor": SHAFT, "losses": (0.0181, 0.02, 0.01)}, id="shaft, rolling, caster"),
        pytest.param(
            {"motor": LimitedMotor(0.0053, *CIRCUIT, 1.0), "battery": Battery(12.0, 0.3)},
            id="current limit, battery",
            marks=pytest.mark.slow,  # a kernel of its own
        ),
    ],
)
def test_books_balance(options):
    """Supplied = stored + dissipated within .1 % of what went through, every loss at work."""
    motion = record(lynx_on(plane(9.81, 0.2), SLALOM, 3000, is_planar=True, **options), 3000)
    assert abs(closed(motion)) < 1e-3
    flows = motion["flows"][-1]
    assert (flows[[3, 4, 5, 8]] > 0.0).all()
    assert (flows[7] > 0.0) == ("losses" in options)
    assert (flows[2] > 0.0) == ("battery" in options)


def test_what_books_do_not_explain_shrinks_with_the_step():
    """Numerical damping of backward steps is of first order."""
    shares = [
        closed(record(lynx_on(plane(9.81, 0.2), np.repeat(SLALOM, 3000 * k // 3000, axis=0), 3000 * k, is_planar=True),
                      3000 * k, dt=1e-3 / k, every=10 * k))
        for k in (1, 2)
    ]  # fmt: skip
    assert shares[1] / shares[0] == pytest.approx(0.5, abs=0.1)


def test_a_battery_sags_under_load():
    """At a stall (here: of a robot far too heavy for its motors) each of four draws V / R: bus V_0 / (1 + 4 R_b / R), from
    Kirchhoff."""
    heavy = {"mass": 5000.0, "mu": 1.0}
    motion = record(
        lynx_on(plane(9.81), [12.0, 12.0], 300, is_planar=True, battery=Battery(12.0, 0.5), **heavy,
                motor=LimitedMotor(0.0053, *CIRCUIT, math.inf)),
        300,
    )  # fmt: skip
    assert motion["told"][-1] == pytest.approx(12.0 / (1.0 + 4 * 0.5 / 4.0), rel=0.01)


def test_a_battery_feeds_what_limited_motors_take():
    """At their current limit motors take the power i (R i + K_e omega), whatever they are told: by Kirchhoff V_bus is the larger
    root of V^2 - V_0 V + R_b P = 0, and the battery's own heat the integral of R_b (P / V_bus)^2."""
    limited = LimitedMotor(0.0053, *CIRCUIT, 0.5)
    motion = record(
        lynx_on(plane(9.81), [12.0, 12.0], 1000, is_planar=True, battery=Battery(12.0, 0.5), motor=limited, mass=500.0, mu=1.0),
        1000, every=1,
    )  # fmt: skip
    steady = slice(100, None)  # the current needs some milliseconds to rise
    current, speed = motion["effort"][steady], motion["speed"][steady]
    assert current == pytest.approx(0.5)
    power = (current * (4.0 * current + 0.35 * speed)).sum(axis=1)
    bus = 6.0 + np.sqrt(36.0 - 0.5 * power)
    assert motion["told"][steady][1:, 0] == pytest.approx(bus[:-1], rel=1e-3)  # the bus of a step is that of the speed before
    heat = motion["flows"][steady][:, 2]
    assert heat[-1] - heat[0] == pytest.approx((0.5 * (power / bus) ** 2)[1:].sum() * 1e-3, rel=0.01)


def test_a_weak_battery_does_not_ring():
    """No inductance, and half of a motor's resistance inside the battery: the bus falls once and recovers; following the power of
    the step before it would alternate."""
    motor = LimitedMotor(0.0053, 4.0, 0.0, 0.35, 0.35, 0.01, 12.0, math.inf)
    motion = record(lynx_on(plane(9.81), [10.0, 10.0], 50, is_planar=True, battery=Battery(12.0, 0.5), motor=motor), 50, every=1)
    bus = motion["told"][1:, 0] / 10.0
    assert bus[0] == pytest.approx(1.0 / (1.0 + 4 * 0.5 * (10.0 / 12.0) ** 2 / 4.0), rel=0.02)  # at a stall, by Kirchhoff
    assert (np.diff(bus) > -1e-6).all()


def test_rolling_resistance_is_a_share_of_the_load():
    """At constant speed the motors' torque holds c_r N R on each wheel: K i = b omega + c_r N R, for all wheels together."""
    motion = record(lynx_on(plane(9.81), [6.0, 6.0], 4000, is_planar=True, losses=(0.0, 0.05, 0.0)), 4000)
    torque = 0.35 * motion["effort"][-1].sum() - 0.01 * motion["speed"][-1].sum()
    assert torque == pytest.approx(0.05 * 2.148 * 9.81 * 0.0635, rel=1e-4)
