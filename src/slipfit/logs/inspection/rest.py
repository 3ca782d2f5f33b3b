"""The IMU at rest and in spins: bias, tilt, gravity, lever arm.

At rest a gyro tells its bias, and an accelerometer g times the sine of its tilt plus its bias, which nothing separates: 1° of
tilt leaks 0.17 m/s². In a spin an IMU at (x, y) from the centre of the turn feels

    a_x = -r² x - r' y + b_x,    a_y = -r² y + r' x + b_y.
"""

from dataclasses import replace

import numpy as np

from slipfit.library import SkidSteerRobot
from slipfit.logs import channels as names
from slipfit.logs.drive_log import Channel, DriveLog
from slipfit.logs.inspection.align import Z_90
from slipfit.logs.inspection.record import Finding, Severity, Step, spans
from slipfit.logs.inspection.signals import origin_ns, seconds, wheels_of

#: Rest is wheels that stand for so long; its first and last moments are the body's swing.
REST_S, SWING_S = 0.5, 0.15

#: From these on a bias is more than fits expect as their unknown, and is taken out: half a degree per second; 1.5° of tilt.
GYRO_BIAS_RADPS, ACCEL_BIAS_MPS2 = 0.01, 0.25

#: What gravity may be on Earth with a scale error of 3 %.
GRAVITY_MPS2, GRAVITY_ERROR_MPS2 = 9.81, 0.3


def rest_of(log: DriveLog, robot: SkidSteerRobot) -> np.ndarray | None:
    """Which rows of the IMU were taken at rest; None without any."""
    wheels = wheels_of(log, robot, origin_ns(log))
    if wheels is None or names.IMU not in log:
        return None
    when = seconds(log[names.IMU], origin_ns(log))
    half = max(0.5 * SWING_S, 1.01 * wheels.period_s)
    still = np.abs(wheels.at(when + half) - wheels.at(when - half)).max(axis=1) < 4e-4 + 2e-3 * half
    still &= (when >= wheels.time_s[0]) & (when <= wheels.time_s[-1])
    rest = np.zeros(len(when), dtype=bool)
    for a, b in spans(still):
        if when[b] - when[a] > REST_S:
            rest[a : b + 1] = (when[a : b + 1] > when[a] + SWING_S) & (when[a : b + 1] < when[b] - SWING_S)
    return rest if np.count_nonzero(rest) > 10 else None


def _mean(samples: np.ndarray) -> tuple[float, float]:
    """Mean and its spread; neighbouring samples may be alike, so blocks of a tenth are compared with single samples."""
    blocks = np.array_split(samples, min(10, max(2, len(samples) // 5)))
    by_block = float(np.std([block.mean() for block in blocks], ddof=1) / np.sqrt(len(blocks)))
    return float(samples.mean()), max(by_block, float(samples.std(ddof=1) / np.sqrt(len(samples))))


def measure_rest(log: DriveLog, robot: SkidSteerRobot) -> Step:
    """Bias and tilt at rest; large ones are taken out."""
    if names.IMU not in log:
        return Step(log)
    rest = rest_of(log, robot)
    channel = log[names.IMU]
    if rest is None:
        finding = Finding(
            Severity.INFO,
            names.IMU,
            "rest",
            "the robot never stands still: bias is unknown",
            "stand for 2 s at the start and the end",
        )
        return Step(log, (finding,))
    findings, corrections, values = [], [], channel.values.copy()
    for name, limit, unit in (
        ("gyro_z_radps", GYRO_BIAS_RADPS, "rad/s"),
        ("accel_x_mps2", ACCEL_BIAS_MPS2, "m/s²"),
        ("accel_y_mps2", ACCEL_BIAS_MPS2, "m/s²"),
    ):
        if name not in channel.columns:
            continue
        mean, std = _mean(channel.column(name)[rest])
        is_large = abs(mean) > limit + 3.0 * std
        is_accel = name.startswith("accel")
        tilt = f", or {np.degrees(np.arcsin(np.clip(mean / GRAVITY_MPS2, -1, 1))):.2f}° of tilt" if is_accel else ""
        findings.append(
            Finding(
                Severity.WARNING if is_large else Severity.INFO,
                names.IMU,
                f"bias of {name.rsplit('_', 1)[0]}",
                f"{mean:.4f} ± {std:.4f} {unit} at rest{tilt}",
                ("level the IMU (1° of tilt leaks 0.17 m/s²)" if is_accel else "let the IMU warm up") if is_large else "nothing",
                mean,
                (mean - Z_90 * std, mean + Z_90 * std),
                is_corrected=is_large,
            )
        )
        if is_large:
            values[:, channel.columns.index(name)] -= mean
            corrections.append(f"bias of {name} {mean:.3f} {unit}")
    findings += _gravity(channel, rest)
    corrected = log.having(replace(channel, values=values)) if corrections else log
    return Step(corrected, tuple(findings), tuple(corrections))


def _gravity(channel: Channel, rest: np.ndarray) -> list[Finding]:
    if not set(names.IMU_COLUMNS[:3]) <= set(channel.columns):
        return []
    force = np.column_stack([channel.column(name) for name in names.IMU_COLUMNS[:3]])[rest].mean(axis=0)
    norm = float(np.linalg.norm(force))
    if abs(norm - GRAVITY_MPS2) < GRAVITY_ERROR_MPS2:
        return []
    hint = "gravity was taken out by the driver" if norm < 1.0 else f"a scale error of {100 * (norm / GRAVITY_MPS2 - 1):.0f} %"
    return [
        Finding(
            Severity.INFO if norm < 1.0 else Severity.WARNING,
            names.IMU,
            "gravity",
            f"{norm:.3f} m/s² at rest, expected 9.81: {hint}",
            "nothing" if norm < 1.0 else "calibrate the accelerometer's scale",
            norm,
        )
    ]


def measure_lever_arm(log: DriveLog, robot: SkidSteerRobot) -> Step:
    """Where the IMU sits, from the centripetal acceleration of spins."""
    wheels = wheels_of(log, robot, origin_ns(log))
    if (
        wheels is None
        or names.IMU not in log
        or not {"accel_x_mps2", "accel_y_mps2", "gyro_z_radps"} <= set(log[names.IMU].columns)
    ):
        return Step(log)
    channel = log[names.IMU]
    if len(channel.stamps_ns) < 50:
        return Step(log)
    when, rate = seconds(channel, origin_ns(log)), channel.column("gyro_z_radps")
    half = max(0.1, wheels.period_s)
    left, right = ((wheels.at(when + half) - wheels.at(when - half)) / (2.0 * half)).T
    on_the_spot = np.abs(left + right) < 0.1 * np.abs(right - left) + 0.01
    on_the_spot &= (when > wheels.time_s[0] + half) & (when < wheels.time_s[-1] - half)
    width = max(1, round(0.05 * channel.rate_hz)) * 2 + 1
    smooth = np.convolve(np.pad(rate, width // 2, mode="edge"), np.full(width, 1.0 / width), mode="valid")
    turn = np.gradient(smooth, when)
    spin = on_the_spot & (np.abs(smooth) > 0.2)
    if np.count_nonzero(spin) < 50 or np.ptp(smooth[on_the_spot] ** 2) < 0.1:
        return Step(log)
    r, a = smooth[on_the_spot], turn[on_the_spot]
    zero, one = np.zeros_like(r), np.ones_like(r)
    design = np.vstack([np.column_stack([-(r**2), -a, one, zero]), np.column_stack([a, -(r**2), zero, one])])
    felt = np.concatenate([channel.column("accel_x_mps2")[on_the_spot], channel.column("accel_y_mps2")[on_the_spot]])
    best = np.linalg.lstsq(design, felt, rcond=None)[0]
    std = _arm_spread(design, felt - design @ best, len(r))
    size = float(np.hypot(best[0], best[1]))
    is_off = size > 0.02 and size > 3.0 * float(std.max())
    finding = Finding(
        Severity.INFO,
        names.IMU,
        "lever arm",
        f"{best[0]:+.3f} ± {std[0]:.3f} m ahead and {best[1]:+.3f} ± {std[1]:.3f} m left of where the robot spins about",
        "compare with where the IMU sits" if is_off else "nothing",
        size,
        (max(0.0, size - Z_90 * float(std.max())), size + Z_90 * float(std.max())),
    )
    return Step(log, (finding,))


def _arm_spread(design: np.ndarray, residual: np.ndarray, rows: int) -> np.ndarray:
    """Spread of both arms; residuals are correlated, so scores are summed in blocks of half a second's size."""
    inverse = np.linalg.pinv(design.T @ design)
    scores = design * residual[:, None]
    block = max(1, min(50, rows // 10))
    summed = [scores[k : k + block].sum(axis=0) for start in (0, rows) for k in range(start, start + rows, block)]
    robust = inverse @ (np.array(summed).T @ np.array(summed)) @ inverse
    plain = inverse * float(residual @ residual) / max(len(residual) - 4, 1)
    return np.sqrt(np.maximum(np.maximum(np.diag(robust), np.diag(plain)), 0.0))[:2]  # rounding of pinv may be negative
