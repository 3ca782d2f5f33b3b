"""Bekker's constants from plates: all diameters in one fit.

    p = (k_c / b + k_phi) z^n,    sought as (g b_r / b + a) (z / z_r)^n,    k_phi = a z_r^-n,  k_c = g b_r z_r^-n

with z_r, b_r medians of the data, which keeps the search round: k and n alone go together with a correlation near 1.

Symbols    as in `contact.soil` · a, g pressures (Pa) at the middle of the data
Reference  [Bekker1969]; derived in docs/theory/soil_calibration.md, plates
Valid for  the depths and widths that were pressed. One diameter tells k = k_c / b + k_phi of that width only
"""

import numpy as np
from scipy.stats import spearmanr

from slipfit.calibration.soil.beds import Beds
from slipfit.calibration.soil.certainty import Found, groups_of, solve
from slipfit.calibration.soil.data import PlateData
from slipfit.calibration.soil.result import SoilFit, determined, doubts
from slipfit.errors import FitError
from slipfit.twin import FittedParameter, Status

#: Widths that differ by less than this share are one width: k_c and k_phi cannot be told apart.
SAME_WIDTH = 0.05

FEWEST_ROWS = 6

#: Exponents between which n is sought, wider than any soil's.
EXPONENTS = (0.02, 3.0)

#: Rank correlations of pressure with depth below minus this are no plate's.
FALLING = 0.5

_OPEN = (-np.inf, np.inf)


def fit_plates(data: PlateData) -> SoilFit:
    """k_c, k_phi and n with 90 % intervals."""
    if len(data) < FEWEST_ROWS:
        raise FitError(
            f"{data.name}: {len(data)} rows with sinkage; expected {FEWEST_ROWS} or more, press deeper or record faster"
        )
    width, depth = float(np.median(data.width_m)), float(np.median(data.sinkage_m))
    largest = float(data.pressure_pa.max())
    if float(np.ptp(data.sinkage_m)) < 0.2 * depth:
        raise FitError(
            f"{data.name}: all rows have about the same sinkage, {1e3 * depth:.3g} mm; the exponent needs a range of depths"
        )
    if _falls(data):
        raise FitError(
            f"{data.name}: the pressure falls with depth in most tests; Bekker's law grows with it: check the columns of sinkage "
            f"and pressure, and where the sinkage counts from"
        )
    several = float(data.widths_m[-1]) > (1.0 + SAME_WIDTH) * float(data.widths_m[0])
    beds = Beds(data.test, data.pressure_pa / largest, 2 if several else 1)
    found = _solve(data, width, depth, largest, beds, several=several)
    return _result(data, found, width, depth, largest, beds, several=several)


def _falls(data: PlateData) -> bool:
    """Whether pressures go against depths in most tests: ranks of both, by test."""
    found = []
    for one in np.unique(data.test):
        rows = data.test == one
        if rows.sum() > 2 and np.ptp(data.pressure_pa[rows]) > 0.0 and np.ptp(data.sinkage_m[rows]) > 0.0:
            found.append(float(spearmanr(data.sinkage_m[rows], data.pressure_pa[rows]).statistic))
    return bool(found) and float(np.median(found)) < -FALLING


def _solve(data: PlateData, width: float, depth: float, largest: float, beds: Beds, *, several: bool) -> Found:
    across, along = width / data.width_m, np.log(data.sinkage_m / depth)

    def left(x: np.ndarray) -> np.ndarray:
        strength = x[0] + (x[2] * across if several else 0.0)
        return np.asarray((strength * np.exp(x[1] * along) - data.pressure_pa) / largest)

    middle = float(np.median(data.pressure_pa))
    names, ends = ["a", "n"], [(-50.0 * largest, 50.0 * largest), EXPONENTS]
    start, scale = [middle, 1.0], [largest, 1.0]
    if several:
        names, ends = [*names, "g"], [*ends, (-50.0 * largest, 50.0 * largest)]
        start, scale = [*start, 0.0], [*scale, largest]
    lower, upper = zip(*ends, strict=True)
    return solve(names, start, lower, upper, left, groups_of(data.test, data.sinkage_m), scale=scale, beds=beds)


def _result(data: PlateData, found: Found, width: float, depth: float, largest: float, beds: Beds, *, several: bool) -> SoilFit:
    source = f"plates {data.digest[:12]}"
    a, n, *rest = found.values
    per, log_depth = depth**-n, np.log(depth)
    combinations = {}
    for b in data.widths_m if several else [width]:
        share = width / b
        k = (a + (rest[0] * share if several else 0.0)) * per
        slope = np.array([per, -log_depth * k, *([share * per] if several else [])])
        combinations[f"k_c/b + k_phi at b = {b:.4g} m, N/m^(n+2)"] = found.number(float(k), slope, source, _OPEN)
    if several:
        k_phi, k_c = float(a * per), float(rest[0] * width * per)
        parameters = {
            "k_c": found.number(k_c, np.array([0.0, -log_depth * k_c, width * per]), source, _OPEN),
            "k_phi": found.number(k_phi, np.array([per, -log_depth * k_phi, 0.0]), source, _OPEN),
        }
    else:
        k_phi, k_c = float(a * per), 0.0
        note = f"one plate width ({width:.4g} m): only k_c/b + k_phi is told; as a soil, k_c = 0 and k_phi has all of it"
        unknown = FittedParameter(status=Status.NOT_EXCITED, source=source, note=note)
        parameters = {"k_c": unknown, "k_phi": unknown}
    parameters["n"] = found.told("n", source)
    rmse = float(np.sqrt(np.mean(found.residuals**2))) * largest
    order = [2, 0, 1] if several else [0, 1]
    errors = {"rmse_pa": rmse, "rmse_over_largest_pressure": rmse / largest}
    return SoilFit(
        test="plates",
        data=data.name,
        rows=len(data),
        values={"k_c": k_c, "k_phi": k_phi, "n": float(n)},
        parameters=parameters,
        combinations=determined(combinations),
        names=("k_c", "k_phi", "n"),
        correlation=_correlation(found, order, width, depth, several=several),
        rank=found.rank if several else min(found.rank, 2),
        errors=errors,
        valid_for={
            "b_m": (float(data.widths_m[0]), float(data.widths_m[-1])),
            "sinkage_m": (float(data.sinkage_m.min()), float(data.sinkage_m.max())),
        },
        findings=(*data.findings, *_findings(data, parameters["k_c"], k_phi, beds, several=several), *doubts(errors, parameters)),
    )


def _correlation(found: Found, order: list[int], width: float, depth: float, *, several: bool) -> np.ndarray:
    """Of k_c, k_phi and n; with one width, of k and n, and k_c stands alone."""
    if not several:
        matrix = np.eye(3)
        matrix[1:, 1:] = found.correlation
        return matrix
    a, n, g = found.values
    per, log_depth = depth**-n, np.log(depth)
    slopes = np.array([[0.0, -log_depth * g * width * per, width * per], [per, -log_depth * a * per, 0.0], [0.0, 1.0, 0.0]])
    covariance = slopes @ np.where(np.isfinite(found.covariance), found.covariance, 0.0) @ slopes.T
    std = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    return np.asarray(covariance / np.outer(std, std))


def _findings(data: PlateData, k_c: FittedParameter, k_phi: float, beds: Beds, *, several: bool) -> list[str]:
    found = []
    low, high = float(data.widths_m[0]), float(data.widths_m[-1])
    if not several:
        found.append(
            f"plates of one width, b = {low:.4g} m: k_c and k_phi cannot be told apart, only k_c/b + k_phi at this width; "
            f"press a plate of twice the size too"
        )
    elif k_c.value is not None and k_c.interval_90 is not None and k_c.interval_90[1] < 0.0:
        found.append(
            f"k_c is negative: wide plates sink less than narrow ones, which Bekker's form lacks; k_c/b + k_phi holds for b from "
            f"{1e3 * low:.3g} to {1e3 * high:.3g} mm, is zero at {1e3 * -k_c.value / k_phi:.3g} mm, and says nothing of narrower "
            f"contacts"
        )
    elif k_phi < 0.0:
        found.append(
            f"k_phi is negative: k_c/b + k_phi is a fit for b from {low:.3g} to {high:.3g} m only, and says nothing beyond"
        )
    if few := beds.finding("press more often"):
        found.append(few)
    return found
