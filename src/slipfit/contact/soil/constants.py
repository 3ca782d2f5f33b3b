"""A soil's constants: as the compiled core takes them (`Soil`), and as files name them (`INFO`).

Symbols, used throughout this package:
    z sinkage below the untouched surface (m) · k = k_c / b + k_phi pressure constant (N/m^(n+2)) · b smaller side of a contact
    n exponent · i slip · K_ss slip-sinkage ratio · c cohesion (Pa) · phi friction angle · K shear modulus (m)
    j shear displacement (m) · p, sigma normal and tau shear stress (Pa)
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from slipfit.contact.law import LawInfo, LawParameter
from slipfit.errors import ParameterError

#: Steepest friction angle that a soil may have, rad (60 degrees): beyond it tan(phi) grows without meaning.
STEEPEST_FRICTION_RAD = 1.0472

#: A rigid base below a soil layer, Pa per metre of indentation: 300 N on 0.01 m^2 press it in by 0.03 mm.
BASE_PA_PER_M = 1e9

#: What stands for a layer without an end, m.
BOTTOMLESS_M = 1e3

#: Below these a value is more likely in kPa or kN than in Pa or N: no soil of the tables comes near.
LEAST_COHESION_PA, _LEAST_FRICTIONAL = 20.0, 5e3

#: Above this one was multiplied once too often: the strongest clay of the tables has 69 kPa.
MOST_COHESION_PA = 5e5

#: The least of |k_c|, N/m^(n+1): the smallest of the tables has 60, which adds a tenth to the least k_phi under a wheel of 1 cm.
LEAST_COHESIVE = 59.0

#: Gravity of the Earth, and more than any planet's with a ground to drive on, m/s^2.
_GRAVITY_MPS2, _STRONGEST_GRAVITY_MPS2 = 9.81, 100.0


class Soil(NamedTuple):
    """Numbers of one soil in SI units; arrays with one entry per run where runs differ."""

    cohesive: float  # N/m^(n+1), k_c
    frictional: float  # N/m^(n+2), k_phi
    exponent: float  # n
    cohesion: float  # Pa, c
    friction: float  # tan(phi)
    shear_modulus: float  # m, K
    digging: float  # power of K_ss: 1 as Lyasko has it, 0 without slip-sinkage
    exponent_growth: float  # n_1 of Ding: the exponent is n + n_1 i; 0 without
    rebound: float  # share of the deepest sinkage that comes back when the load goes
    damping: float  # Pa s/m, against sinking
    side_cohesive: float  # Pa, what bulldozing takes for each metre of depth and of wall
    side_weight: float  # Pa/m, for each squared metre
    peak: float  # where the normal stress under a wheel is largest, as a share of the entry angle: c_1 + c_2 |i|
    peak_growth: float
    exit: float  # exit angle over entry angle, negative: behind the axle
    layer: float  # m, thickness above a rigid base
    base: float  # Pa/m


def bulldozing(cohesion_pa: Any, friction_angle_rad: Any, unit_weight_npm3: Any) -> tuple[Any, Any]:
    """Resistance of soil against a vertical wall that is pushed into it, per metre of wall, at depth h: a h + w h^2; (a, w).

        R = D_1 (c h + D_2 gamma h^2 / 2),    D_1 = cot X + tan(X + phi),  D_2 = cot X + cot^2 X tan(phi),  X = 45 deg - phi / 2

    Symbols    X angle of the surface along which the soil breaks · gamma unit weight (N/m^3)
    Reference  [Hegedus1960], in the form of [IshigamiEtAl2007]
    Valid for  dense soil, walls that move level
    """
    phi = np.asarray(friction_angle_rad, dtype=float)
    x = 0.25 * np.pi - 0.5 * phi
    cot = 1.0 / np.tan(x)
    first, second = cot + np.tan(x + phi), cot + cot * cot * np.tan(phi)
    return first * cohesion_pa, 0.5 * first * second * unit_weight_npm3


def soil(
    *,
    k_c: Any,
    k_phi: Any,
    n: Any,
    cohesion_pa: Any,
    friction_angle_rad: Any,
    shear_modulus_m: Any,
    slip_sinkage: Any = 1.0,
    exponent_per_slip: Any = 0.0,
    rebound: Any = 0.05,
    damping_pa_s_per_m: Any = 0.0,
    density_kgpm3: Any = 1600.0,
    gravity_mps2: Any = _GRAVITY_MPS2,
    peak_share: Any = 0.4,
    peak_share_per_slip: Any = 0.2,
    exit_share: Any = 0.0,
    layer_m: Any = BOTTOMLESS_M,
) -> Soil:
    """The compiled model's constants from those of files; takes arrays, one entry per run.

    Ranges are those of files (`INFO`), and numbers that look like kPa or kN are refused by a `ParameterError` that names the
    factor. NaN passes, and gives NaN.
    """
    given = {name: np.asarray(value, dtype=float) for name, value in locals().items()}
    for parameter in _PARAMETERS:
        _check_range(parameter.name, given[parameter.name], parameter.lower, parameter.upper)
    _check_range("gravity_mps2", given["gravity_mps2"], 0.0, _STRONGEST_GRAVITY_MPS2)
    if sentence := problem(given):
        raise ParameterError(sentence)
    return _constants(given)


def _check_range(name: str, value: np.ndarray, lower: float, upper: float) -> None:
    wrong = value[(value < lower) | (value > upper)]
    if wrong.size:
        hint = f" ({np.degrees(upper):.0f} degrees)" if name.endswith("_rad") else ""
        raise ParameterError(f"{name} = {wrong.flat[0]:g}; expected {lower:g} to {upper:g}{hint}")


def _constants(values: Mapping[str, Any]) -> Soil:
    """The model's constants, unchecked: files and variations are checked where they are read, fits search in their own ranges."""
    along, weight = bulldozing(
        values["cohesion_pa"], values["friction_angle_rad"], np.asarray(values["density_kgpm3"]) * values["gravity_mps2"]
    )
    exit_angle: Any = -np.asarray(values["exit_share"], dtype=float)
    return Soil(
        cohesive=values["k_c"],
        frictional=values["k_phi"],
        exponent=values["n"],
        cohesion=values["cohesion_pa"],
        friction=np.tan(values["friction_angle_rad"]),
        shear_modulus=values["shear_modulus_m"],
        digging=values["slip_sinkage"],
        exponent_growth=values["exponent_per_slip"],
        rebound=values["rebound"],
        damping=values["damping_pa_s_per_m"],
        side_cohesive=along,
        side_weight=weight,
        peak=values["peak_share"],
        peak_growth=values["peak_share_per_slip"],
        exit=exit_angle,
        layer=values["layer_m"],
        base=BASE_PA_PER_M,
    )


def problem(values: Mapping[str, Any]) -> str:
    """A sentence when constants look like kPa or kN, of which the factor is 1000, or do not go together."""
    cohesion, frictional = (np.asarray(values.get(name, np.nan), dtype=float) for name in ("cohesion_pa", "k_phi"))
    small = cohesion[(cohesion > 0.0) & (cohesion < LEAST_COHESION_PA)]
    if small.size:
        return (
            f"cohesion_pa = {small.flat[0]:g} Pa is less than any soil's; in kPa it would be {1e3 * small.flat[0]:g} Pa: tables "
            f"print kPa, multiply by 1000 (or write 0 for a soil without cohesion)"
        )
    if cohesion.ndim == 0 and cohesion > MOST_COHESION_PA:  # one soil; of many runs some are made as strong as can be
        return (
            f"cohesion_pa = {cohesion:g} Pa is more than any soil's; if {1e-3 * cohesion:g} was printed it is in Pa already: "
            f"divide by 1000"
        )
    small = frictional[frictional < _LEAST_FRICTIONAL]
    if small.size:
        return (
            f"k_phi = {small.flat[0]:g} N/m^(n+2) is less than any soil's; in kN/m^(n+2) it would be {1e3 * small.flat[0]:g}: "
            f"tables print kN and kPa, multiply k_c and k_phi by 1000"
        )
    cohesive = np.asarray(values.get("k_c", np.nan), dtype=float)
    small = cohesive[(cohesive != 0.0) & (np.abs(cohesive) < LEAST_COHESIVE)]
    if small.size and small.size == np.count_nonzero(cohesive):  # of many runs some may come near to zero
        return (
            f"k_c = {small.flat[0]:g} N/m^(n+1) is less than any soil's, while k_phi is not; in kN/m^(n+1) it would be "
            f"{1e3 * small.flat[0]:g}: tables print kN, multiply by 1000 (or write 0, which so little amounts to)"
        )
    return ""


_PARAMETERS = (
    LawParameter("k_c", "Bekker's cohesive modulus, N/m^(n+1); tables print kN", -1e7, 1e7, unit="N/m^(n+1)"),
    LawParameter("k_phi", "Bekker's frictional modulus, N/m^(n+2); tables print kN", 0.0, 1e9, unit="N/m^(n+2)"),
    LawParameter("n", "exponent of sinkage", 0.01, 3.0),
    LawParameter("cohesion_pa", "cohesion", 0.0, 1e6),
    LawParameter("friction_angle_rad", "angle of internal friction, at most 60 degrees", 0.0, STEEPEST_FRICTION_RAD),
    LawParameter("shear_modulus_m", "Janosi's shear modulus: displacement that mobilises 63 % of the strength", 1e-4, 0.5),
    LawParameter("slip_sinkage", "power of Lyasko's slip-sinkage ratio, 1 as printed, 0 without", 0.0, 3.0, default=1.0),
    LawParameter("exponent_per_slip", "growth of n with slip after Ding, 0 without", 0.0, 3.0, default=0.0),
    LawParameter("rebound", "share of the deepest sinkage that comes back without load", 0.002, 1.0, default=0.05),
    LawParameter("damping_pa_s_per_m", "damping against sinking, per area", 0.0, 1e8, default=2e4, unit="Pa s/m"),
    LawParameter("density_kgpm3", "bulk density; soil is pushed aside against its weight", 1.0, 5000.0, default=1600.0),
    LawParameter("peak_share", "angle of the largest stress over the entry angle, without slip", 0.0, 1.0, default=0.4),
    LawParameter("peak_share_per_slip", "growth of that share with slip", -1.0, 1.0, default=0.2),
    LawParameter("exit_share", "exit angle behind the axle over entry angle", 0.0, 1.0, default=0.0),
    LawParameter("layer_m", "thickness of the soil above a rigid base", 1e-3, BOTTOMLESS_M, default=BOTTOMLESS_M),
)

INFO = LawInfo(
    name="soil",
    about="soft ground that sinks: Bekker pressure, Janosi shear, slip-sinkage, ruts",
    formula="p = K_ss^-n (k_c/b + k_phi) z^n, tau = (c + p tan phi) (1 - exp(-j/K))",
    valid_for="sand, loam, clay and snow under wheels and plates",
    references=("Bekker1969", "JanosiHanamoto1961", "Lyasko2010", "WongReece1967"),
    parameters=_PARAMETERS,
    build=lambda values: _constants({"gravity_mps2": _GRAVITY_MPS2} | dict(values)),
    example={
        "k_c": 990.0,
        "k_phi": 1528430.0,
        "n": 1.1,
        "cohesion_pa": 1040.0,
        "friction_angle_rad": 0.48869,
        "shear_modulus_m": 0.012,
    },
    problem=problem,
    needs_gravity=True,
)
