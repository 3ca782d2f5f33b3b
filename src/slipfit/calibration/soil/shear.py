"""Cohesion, friction angle and shear modulus from shear tests: Janosi's curve at several normal stresses in one fit.

    tau = (c + p tan phi) (1 - exp(-j / K))

Symbols    as in `contact.soil`
Reference  [JanosiHanamoto1961]; derived in docs/theory/soil_calibration.md, shear
Valid for  soils without a shear peak. One normal stress tells c + p tan(phi) and K only
"""

import numpy as np

from slipfit.calibration.soil.beds import Beds
from slipfit.calibration.soil.certainty import Found, groups_of, solve
from slipfit.calibration.soil.data import ShearData
from slipfit.calibration.soil.result import SoilFit, determined, doubts
from slipfit.contact.soil import INFO
from slipfit.contact.soil.constants import STEEPEST_FRICTION_RAD
from slipfit.errors import FitError
from slipfit.library.parameter import plain
from slipfit.twin import FittedParameter, Status

#: Normal stresses that differ by less than this share are one.
SAME_STRESS = 0.05

FEWEST_ROWS = 6

#: Largest stress over that at the end of a test: beyond, the soil has a peak that Janosi's curve lacks.
PEAK = 1.25


def fit_shear(data: ShearData) -> SoilFit:
    """c, phi and K with 90 % intervals."""
    if len(data) < FEWEST_ROWS:
        raise FitError(f"{data.name}: {len(data)} rows; expected {FEWEST_ROWS} or more, record the displacement's whole way")
    if float(data.shear_pa.max()) <= 0.0:
        raise FitError(f"{data.name}: no shear stress above zero; if the file counts it negative, write scale: -1 beside it")
    several = float(data.normal_pa.max()) > (1.0 + SAME_STRESS) * float(data.normal_pa.min())
    largest, longest = float(data.shear_pa.max()), float(data.displacement_m.max())
    normal, way = data.normal_pa, data.displacement_m

    def left(x: np.ndarray) -> np.ndarray:
        strength = x[1] + (x[2] * normal if several else 0.0)
        return np.asarray((strength * -np.expm1(-way / x[0]) - data.shear_pa) / largest)

    names = ["shear_modulus_m", "strength_pa", *(["tan_phi"] if several else [])]
    tan_most = float(np.tan(STEEPEST_FRICTION_RAD))
    modulus, cohesion = INFO.parameter("shear_modulus_m"), INFO.parameter("cohesion_pa")
    assert modulus is not None
    assert cohesion is not None
    strongest = min(10.0 * largest, cohesion.upper) if several else 10.0 * largest
    lower, upper = [modulus.lower, 0.0, 0.0], [min(10.0 * longest, modulus.upper), strongest, tan_most]
    scale, start = [longest, largest, 1.0], [max(0.1 * longest, 2.0 * modulus.lower), 0.1 * largest if several else largest, 0.4]
    size = len(names)
    beds = Beds(data.test, data.shear_pa / largest, 2 if several else 1)
    found = solve(names, start[:size], lower[:size], upper[:size], left, groups_of(data.test, way), scale=scale[:size], beds=beds)
    return _result(data, found, largest, beds, several=several)


def _result(data: ShearData, found: Found, largest: float, beds: Beds, *, several: bool) -> SoilFit:
    source = f"shear {data.digest[:12]}"
    modulus, first, *rest = (float(value) for value in found.values)
    parameters = {"shear_modulus_m": found.told("shear_modulus_m", source)}
    combinations = {}
    if several:
        angle, slope = float(np.arctan(rest[0])), np.array([0.0, 0.0, 1.0 / (1.0 + rest[0] ** 2)])
        parameters["cohesion_pa"] = found.told("strength_pa", source)
        parameters["friction_angle_rad"] = found.number(angle, slope, source, (0.0, STEEPEST_FRICTION_RAD))
        middle = float(np.median(data.normal_pa))
        combinations[f"c + p tan(phi) at p = {plain(middle, 4)} Pa, Pa"] = found.number(
            first + rest[0] * middle, np.array([0.0, 1.0, middle]), source, (-np.inf, np.inf)
        )
        values = {"cohesion_pa": first, "friction_angle_rad": angle, "shear_modulus_m": modulus}
    else:
        pressure = float(np.median(data.normal_pa))
        combinations[f"c + p tan(phi) at p = {plain(pressure, 4)} Pa, Pa"] = found.told("strength_pa", source)
        note = f"one normal stress ({plain(pressure, 4)} Pa): only c + p tan(phi) is told; as a soil, c = 0 and phi has all of it"
        unknown = FittedParameter(status=Status.NOT_EXCITED, source=source, note=note)
        parameters |= {"cohesion_pa": unknown, "friction_angle_rad": unknown}
        angle = min(float(np.arctan(first / pressure)), STEEPEST_FRICTION_RAD)
        values = {"cohesion_pa": 0.0, "friction_angle_rad": angle, "shear_modulus_m": modulus}
    rmse = float(np.sqrt(np.mean(found.residuals**2))) * largest
    errors = {"rmse_pa": rmse, "rmse_over_largest_shear": rmse / largest}
    names = ("shear_modulus_m", "cohesion_pa", "friction_angle_rad")
    matrix = np.eye(3)
    matrix[: len(found.names), : len(found.names)] = found.correlation
    return SoilFit(
        test="shear",
        data=data.name,
        rows=len(data),
        values=values,
        parameters=parameters,
        combinations=determined(combinations),
        names=names,
        correlation=matrix,
        rank=found.rank if several else min(found.rank, 2),
        errors=errors,
        valid_for={
            "normal_pa": (float(data.normal_pa.min()), float(data.normal_pa.max())),
            "displacement_m": (0.0, float(data.displacement_m.max())),
        },
        findings=(*data.findings, *_findings(data, modulus, beds, several=several), *doubts(errors, parameters)),
    )


def _findings(data: ShearData, modulus: float, beds: Beds, *, several: bool) -> list[str]:
    found = []
    if not several:
        found.append(
            "one normal stress: c and phi cannot be told apart, only c + p tan(phi); repeat the test with another weight"
        )
    if modulus > 0.7 * float(data.displacement_m.max()):
        found.append(
            f"the shear still grows at the longest displacement, {1e3 * data.displacement_m.max():.3g} mm: strength and K are "
            f"extrapolated together; shear on"
        )
    if few := beds.finding("repeat the tests in beds prepared anew"):
        found.append(few)
    for number, name in enumerate(data.tests):
        rows = np.flatnonzero(data.test == number)
        last = rows[np.argsort(data.displacement_m[rows], kind="stable")][-max(3, len(rows) // 10) :]
        if len(rows) >= 10 and np.quantile(data.shear_pa[rows], 0.98) > PEAK * float(np.mean(data.shear_pa[last])):
            found.append(f"test {name} has a shear peak, which Janosi's curve lacks: the fit lies between peak and rest")
    return found
