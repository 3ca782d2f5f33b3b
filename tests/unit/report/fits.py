"""A calibration made by hand: synthetic signals, records as a solver would fill them. Nothing here was fitted."""

from dataclasses import replace

import numpy as np
from scipy.signal import lfilter

from slipfit.calibration.fit import DriveFit, Fit, Nuisance, Trace
from slipfit.calibration.manoeuvres import Manoeuvre, ManoeuvreKind
from slipfit.calibration.protocol import Pooled, ProtocolResult, RunVerdict, SpinRun, StepRun
from slipfit.calibration.step_test import StepOutcome, StepResult
from slipfit.library import find_robot
from slipfit.logs import Channel, DriveLog
from slipfit.logs.channels import POSE, POSE_COLUMNS
from slipfit.logs.inspection import Finding, Inspection, Severity
from slipfit.twin import Covariance, FittedOn, FittedParameter, Status

NAMES = ("c_long_per_n", "c_lat_per_n")
TRUTH = {"c_long": 0.005, "c_lat": 0.05}
SOURCE = "log 9f3c12"
RATE_HZ = 100.0


def example_fit(*, drives: int = 3, duration_s: float = 60.0, **changes) -> Fit:
    """A P3AT on a lab floor: slip constants found, mu not excited."""
    draws = np.random.default_rng(7).multivariate_normal(
        [0.00497, 0.0501, 20.0], [[1.2e-8, 9e-8, -1.2e-5], [9e-8, 1.69e-6, -1e-4], [-1.2e-5, -1e-4, 0.04]], 4000
    )
    fit = Fit(
        robot=find_robot("p3at"),
        ground="lab_floor",
        law="wheel_slip",
        gravity_mps2=9.81,
        parameters={
            "c_long_per_n": FittedParameter(
                value=0.00497, std=0.00011, interval_90=(0.00479, 0.00515), status=Status.CONVERGED, source=SOURCE
            ),
            "c_lat_per_n": FittedParameter(
                value=0.0501, std=0.0013, interval_90=(0.0480, 0.0522), status=Status.CONVERGED, source=SOURCE
            ),
            "mu": FittedParameter(at_least=0.29, status=Status.NOT_EXCITED, source=SOURCE),
        },
        combinations={
            "c_lat/c_long": FittedParameter(
                value=10.08, std=0.09, interval_90=(9.93, 10.23), status=Status.CONVERGED, source=SOURCE
            ),
            "mass*c_long": FittedParameter(
                value=0.0994, std=0.0018, interval_90=(0.0964, 0.1024), status=Status.CONVERGED, source=SOURCE
            ),
        },
        covariance=Covariance(names=list(NAMES), matrix=[[1.2e-8, 9e-8], [9e-8, 1.69e-6]]),
        drives=tuple(example_drive(k, duration_s) for k in range(drives)),
        identifiability=("Only m · c_long is determined: the interval of c_long holds the spread of the mass.",),
        advice=("Add a speed step from 0.2 to 1.0 m/s: it would halve the interval of c_long.",),
        repeatability={"c_long_per_n": 0.021, "c_lat_per_n": 0.018} if drives > 1 else {},
        fitted_on=FittedOn(speed_mps=(0.0, 1.0), yaw_rate_radps=(-1.0, 1.0)),
        load_n=49.05,
        posterior={"c_long_per_n": draws[:, 0], "c_lat_per_n": draws[:, 1], "mass_kg": draws[:, 2]},
        notes=("The start of the drive, 2.1 s at rest, gave the IMU's bias.",),
    )
    return replace(fit, **changes)


def example_drive(k: int = 0, duration_s: float = 60.0, **changes) -> DriveFit:
    """Speed steps and a spin, seen by an IMU and a pose."""
    noise = np.random.default_rng(100 + k)
    time_s = np.arange(round(duration_s * RATE_HZ)) / RATE_HZ
    speed = 0.2 + 0.8 * (np.sin(2.0 * np.pi * time_s / 12.0) > 0.3)
    lagged = speed + (0.2 - speed) * np.exp(-(time_s % 6.0) / 0.8) * 0.4
    accel = np.gradient(lagged, 1.0 / RATE_HZ).clip(-1.5, 1.5)
    yaw_rate = np.where((time_s > 0.55 * duration_s) & (time_s < 0.9 * duration_s), 0.95, 0.0)
    pose_s = time_s[::5]
    traces = (
        _trace("accel_x_mps2", "acceleration ahead", time_s, accel, 0.05, noise),
        _trace("accel_y_mps2", "acceleration to the left", time_s, 0.02 * yaw_rate, 0.05, noise, memory=0.6),
        _trace("gyro_z_radps", "yaw rate", time_s, yaw_rate, 0.004, noise),
        _trace("pose_x_m", "way ahead from one pose to the next", pose_s, 0.05 * lagged[::5], 0.001, noise),
    )
    drive = DriveFit(
        name=f"yard_run_{k + 1:02d}.mcap",
        digest="9f3c12" + f"{k:x}" * 58,
        duration_s=duration_s,
        names=NAMES,
        values=np.array([0.00497, 0.0501]) * (1.0 + np.array([0.025, -0.02]) * (k - 1)),
        covariance=np.array([[3.6e-8, 1e-7], [1e-7, 5e-6]]),
        own_covariance=np.array([[3.2e-8, 0.5e-7], [0.5e-7, 4.5e-6]]),
        nuisances=(
            Nuisance("accel_bias_x_mps2", 0.0214, 0.0009, None, "bias of the accelerometer ahead"),
            Nuisance("clock_offset_s", 0.0312, 0.0006, 0.1, "IMU behind the encoders"),
            Nuisance("mass_kg", 20.03, 0.19, 0.2, "mass of the robot"),
        ),
        traces=traces,
        misfit=1.04,
        inflation=1.31,
        inspection=example_inspection(time_s),
        protocol=example_protocol(),
        most_grip_used=0.29,
        speed_range_mps=(0.0, 1.0),
        yaw_rate_range_radps=(-0.02, 0.96),
        odometry_m=_path(time_s, lagged, yaw_rate),
    )
    return replace(drive, **changes)


def example_inspection(time_s: np.ndarray) -> Inspection:
    """A log with a 20 Hz pose, two findings, one of them corrected."""
    pose = Channel(POSE, (time_s[::5] * 1e9).astype(np.int64), np.zeros((len(time_s[::5]), 3)), POSE_COLUMNS)
    log = DriveLog({POSE: pose}, source="yard_run_01.mcap", digest="9f3c12")
    findings = (
        Finding(
            Severity.ERROR, "imu", "yaw sign", "turns against the wheels (correlation -0.99)", "mount it z up", is_corrected=True
        ),
        Finding(Severity.WARNING, "pose", "gap", "0.8 s without a pose at 31.2 s", "look at the network"),
    )
    return Inspection(log, log, findings, ("yaw sign of the IMU flipped", "clock of the IMU moved by 0.031 s"))


def example_protocol() -> ProtocolResult:
    """Numbers of SPEC section 1: central differences at 20 Hz with 5 mm of noise read .0039 where .005 is true."""
    step = Manoeuvre(ManoeuvreKind.STEP, 0, 3_000_000_000, 0.2, 1.0, 0.0, 10**9, 2 * 10**9)
    spin = Manoeuvre(ManoeuvreKind.SPIN, 0, 8_000_000_000, 0.0, 0.0, 1.0, 0, 8 * 10**9, run_in_s=0.4)
    found = StepResult(0.0039, StepOutcome.FOUND, 0.822, 0.81, 1.1, 0.18)
    return ProtocolResult(
        method="central",
        c_long_per_n=Pooled(0.0039, 3, 0.0004),
        ratio=Pooled(9.96, 2, 0.05),
        mass_kg=20.0,
        mass_std_kg=0.2,
        static_load_n=49.05,
        steps=(StepRun(step, RunVerdict.USED, found, 5.5, 42.0), StepRun(step, RunVerdict.LIFTED, None, 40.0, 0.0)),
        spins=(SpinRun(spin, RunVerdict.USED, 1.0, 0.9628, 9.96, (8.9, 13.0), 49.0),),
        notes=("mu was not given: no run is rejected for sliding",),
    )


def _trace(name, about, time_s, signal, noise_std, source, memory=0.0) -> Trace:
    """White residuals, or with `memory` of the first order; a stretch in the middle is not used."""
    white = lfilter([1.0], [1.0, -memory], source.normal(size=len(time_s)))
    weight = np.where((time_s > 0.5 * time_s[-1]) & (time_s < 0.53 * time_s[-1]), 0.0, 1.0)
    return Trace(name, about, time_s, signal + noise_std * white, signal, weight, white, noise_std)


def _path(time_s, speed, yaw_rate) -> np.ndarray:
    heading = np.cumsum(yaw_rate) / RATE_HZ
    x, y = (np.cumsum(speed * direction) / RATE_HZ for direction in (np.cos(heading), np.sin(heading)))
    return np.column_stack([time_s, x, y])
