"""How much sensors scatter from one reading to the next, by the readings alone: a floor for what the filter supposes.

    sigma^2 = mean of (x_k+1 - 2 x_k + x_k-1)^2 / 6

is the variance of white noise; smooth motion hardly shows in second differences. A shaking IMU, or a pose of a coarse map, does.

Valid for  readings much faster than the body's motion changes; of slow ones some motion counts as noise
"""

from dataclasses import replace

import numpy as np

from slipfit.estimation.readings import Readings, Sensor
from slipfit.logs.inspection.record import Finding, Severity
from slipfit.logs.rims import GRID_S, SPEED_OVER_S

#: Readings that are farther apart than so many usual intervals do not belong together.
NEIGHBOURS = 1.5

#: Fewer second differences than this say nothing.
LEAST = 50

#: Differences beyond so many medians are outliers, which the gate looks after.
OUTLIER = 6.0

#: Rims slower than this (m/s) stand, and have no noise.
TURNING_MPS = 0.05

#: Standard deviation over the median of normal numbers without their signs.
MEDIAN = 1.4826


def scatter(sensor: Sensor) -> np.ndarray:
    """Standard deviation of each column (3,); zero where too little is told."""
    found = np.zeros(3)
    gaps = np.diff(sensor.time_s)
    if len(gaps) < LEAST:
        return found
    near = gaps < NEIGHBOURS * float(np.median(gaps))
    whole = near[1:] & near[:-1]
    if len(sensor.anchors):
        whole &= ~(sensor.anchors[1:-1] | sensor.anchors[2:])
    for k in range(3):
        second = np.abs(np.diff(sensor.values[:, k], n=2))[whole]
        second = second[np.isfinite(second)]
        if len(second) >= LEAST:
            kept = second[second <= OUTLIER * max(float(np.median(second)), 1e-12)]
            found[k] = float(np.sqrt(np.mean(kept**2) / 6.0)) if len(kept) else 0.0
    return found


def rim_scatter(readings: Readings) -> float:
    """Standard deviation of the rims' speeds (m/s) as they are told, by second differences over `SPEED_OVER_S` while they turn:
    by the median, so that moments in which commands change do not count. Of an omni robot's body ahead and aside. Zero where the
    rims hardly turn."""
    apart, rims = round(SPEED_OVER_S / GRID_S), readings.rims_mps[:, :2]
    if len(rims) <= 2 * apart:
        return 0.0
    second = np.abs(rims[2 * apart :] - 2.0 * rims[apart:-apart] + rims[: -2 * apart])
    second = second[np.abs(rims[apart:-apart]) > TURNING_MPS]
    return float(MEDIAN * np.median(second) / np.sqrt(6.0)) if len(second) >= LEAST else 0.0


def widened(readings: Readings, names: tuple[str, ...]) -> tuple[Readings, list[Finding]]:
    """Readings whose spreads are at least what these sensors scatter by, and a finding for each that is worse than usual."""
    sensors, findings = [], []
    for sensor in readings.sensors:
        shown = scatter(sensor) if sensor.name in names else np.zeros(3)
        if sensor.name in ("pose", "gnss"):  # both axes of a place are alike
            shown[:2] = float(np.sqrt(np.mean(shown[:2] ** 2)))
        stds = np.fmax(sensor.stds, np.where(np.isfinite(sensor.stds), shown, np.nan))
        worse = np.flatnonzero(stds > 1.2 * sensor.stds)
        if len(worse):
            k = int(worse[0])
            said = f"scatters by {stds[k]:.2g}, more than the {sensor.stds[k]:.2g} that is usual"
            findings.append(Finding(Severity.INFO, sensor.name, "scatter", said, "the filter supposes that", float(stds[k])))
        sensors.append(replace(sensor, stds=stds))
    return replace(readings, sensors=tuple(sensors)), findings
