"""Contact rungs on drives of the simulator: constants come back, and a limit of grip only where the drive met it."""

import numpy as np
import pytest

from slipfit.calibration.ladder import drive_of
from slipfit.calibration.ladder.contact_rungs import ContactRung
from slipfit.calibration.ladder.fit import fit_rung
from slipfit.library import Ground, Parameter, find_robot
from slipfit.library.robot import SpeedLoop
from slipfit.logs import Channel, DriveLog
from slipfit.simulation import Command, Scenario, simulate

HUSKY = find_robot("husky")
C_LONG, C_LAT = 4e-4, 1.2e-3


def driven(mu, *, seconds=100, seed=3, radius_factor=1.0):
    """A husky whose sides are told other speeds every 4 s; wheels, gyro and pose at 20 Hz. Encoders know nothing of a wheel that
    is larger than its file says."""
    random = np.random.default_rng(seed)
    told = random.uniform(-4.0, 4.0, (seconds // 4, 2))
    told = told * np.sign(told[:, :1] * told[:, 1:] + 1e-9) ** [0, 1]  # no side against the other: see docs/theory/laws
    ground = Ground.from_mapping(
        {"schema": Ground.kind(), "name": "made", "law": "wheel_slip",
         "parameters": {"c_long_per_n": C_LONG, "c_lat_per_n": C_LAT, "mu": mu}}, where="test"
    )  # fmt: skip
    commands = [Command(for_s=4.0, wheels_radps=list(pair), profile="linear", ramp_s=0.5) for pair in told]
    strong = SpeedLoop(kind="speed_loop", torque_limit_nm=Parameter("torque_limit_nm", 1e6))
    robot = HUSKY.model_copy(
        update={"powertrain": strong, "wheels": HUSKY.wheels.model_copy(update={"radius_m": HUSKY.wheels.radius_m.__class__(
            "radius_m", radius_factor * HUSKY.wheels.radius_m.value)})}
    )  # fmt: skip
    run = simulate(robot, Scenario(commands=commands, record_s=0.05), ground=ground)
    stamps = np.round(run.time_s * 1e9).astype(np.int64)
    channels = [
        Channel("encoders", stamps, run.wheel_speed_radps[:, :2], ("left_speed_radps", "right_speed_radps")),
        Channel("imu", stamps, run.yaw_rate_radps[:, None] + 0.001 * random.standard_normal((len(stamps), 1)), ("gyro_z_radps",)),
        Channel(
            "pose",
            stamps,
            np.column_stack([run.x_m, run.y_m, run.heading_rad]) + 0.003 * random.standard_normal((len(stamps), 3)),
            ("x_m", "y_m", "yaw_rad"),
        ),
    ]
    return drive_of(DriveLog({c.name: c for c in channels}, about="a simulated husky"), HUSKY)


def found(fit, name):
    low, high = fit.interval_90(f"log {name}")
    return np.exp(fit.value(f"log {name}")), np.exp(low), np.exp(high)


@pytest.fixture(scope="module")
def endless():
    return driven(10.0)


def ratio(fit):
    return np.exp(fit.value("log c_lat_per_n") - fit.value("log c_long_per_n"))


def test_constants_come_back_without_a_limit(endless):
    """Steady turns tell the ratio, which sets the effective track; only short accelerations tell how large both are."""
    fit = fit_rung(ContactRung(HUSKY, "wheel_slip"), endless.rims, endless.windows)
    assert ratio(fit) == pytest.approx(C_LAT / C_LONG, rel=0.02)
    _, low, high = found(fit, "c_long_per_n")
    assert high / low > 1.5
    assert low < C_LONG < high


def test_grip_that_never_ran_out_is_not_told(endless):
    """mu = 10 while curves ask for a few tenths: the spread says so, and slip constants carry it."""
    fit = fit_rung(ContactRung(HUSKY, "wheel_slip"), endless.rims, endless.windows)
    assert not fit.tells("log mu")
    _, low, high = found(fit, "c_long_per_n")
    assert low < C_LONG < high


@pytest.mark.parametrize("mu", [0.15, 0.7, 1.0])
def test_grip_that_ran_out_is_found(mu):
    drive = driven(mu)
    fit = fit_rung(ContactRung(HUSKY, "wheel_slip"), drive.rims, drive.windows)
    assert fit.tells("log mu")
    assert found(fit, "mu")[0] == pytest.approx(mu, rel=0.1)
    assert found(fit, "c_long_per_n")[0] == pytest.approx(C_LONG, rel=0.2)


def test_a_larger_wheel_is_the_gain():
    """Wheels 3 % larger than the file says roll 3 % farther; slip constants stay those of the ground."""
    drive = driven(10.0, radius_factor=1.03)
    fit = fit_rung(ContactRung(HUSKY, "wheel_slip"), drive.rims, drive.windows)
    assert fit.value("gain") == pytest.approx(1.03, abs=0.005)
    assert ratio(fit) == pytest.approx(C_LAT / C_LONG, rel=0.02)
