"""Logs of a motor whose constants are known."""

import math

import numpy as np

from slipfit.logs import Channel, DriveLog
from slipfit.logs.channels import ENCODERS, MOTORS, wheel_columns

RESISTANCE_OHM, INDUCTANCE_H, K = 5.95, 0.0089, 0.8224
SUPPLY_V = 24.0


def motor_log(*, dt_s, with_voltage=True, is_signed=True, count_a=0.0, with_noise=True):
    """A motor with friction behind a stepped voltage, solved finely, recorded every `dt_s`."""
    fine_s, inertia, drag, dry = 1e-4, 0.004, 0.02, 0.1
    rng = np.random.default_rng(3)
    steps = round(40.0 / fine_s)
    volts = np.repeat(rng.uniform(-SUPPLY_V, SUPPLY_V, 80), steps // 80)
    speed, current, kept = 0.0, 0.0, []
    every = round(dt_s / fine_s)
    for j, v in enumerate(volts):
        if j % every == 0:
            kept.append((v, current, speed))
        current += fine_s * (v - RESISTANCE_OHM * current - K * speed) / INDUCTANCE_H
        torque = K * current - drag * speed - dry * math.tanh(speed / 0.05)
        speed += fine_s * torque / inertia
    rows = np.array(kept)
    seen = rows[:, 1] if is_signed else np.abs(rows[:, 1])
    seen = np.round(seen / count_a) * count_a if count_a else seen
    if with_noise:
        rows[:, 2] += rng.normal(0.0, 0.02, len(rows))
    stamps = (np.arange(len(rows)) * dt_s * 1e9).astype(np.int64)
    values, columns = (seen[:, None], ("wheel_0_current_a",))
    if with_voltage:
        values, columns = np.column_stack([seen, rows[:, 0]]), (*columns, "wheel_0_voltage_v")
    encoders = Channel(ENCODERS, stamps, rows[:, 2:], wheel_columns("speed", 1))
    return DriveLog({ENCODERS: encoders, MOTORS: Channel(MOTORS, stamps, values, columns)}, source="steps.csv")
