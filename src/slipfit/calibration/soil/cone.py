"""A soil from a cone index, as field teams have it: wide, and said so.

    c = CI / N_c (clay)            (k_c/b + k_phi) z_c^n = s CI            n, phi and the rest: the table's rows of that kind

The factor of k_phi holds that of s and what n leaves open: (ln f)^2 = (ln f_s)^2 + (ln z_c  d n)^2. Intervals of constants that
are the table's hold all its rows of that kind, and are not narrower than the rows' own spreads.

A cone index is one number, the pressure on a 30-degree cone pressed in by hand; a soil has six. It tells how strong the soil is;
what kind it is must be told; the rest is the library's rows of that kind with their scatter.

Symbols    CI cone index (Pa) · N_c bearing factor of the cone in clay · z_c depth that the index stands for · s cone to plate
Reference  [RohaniBaladi1981] for a cone index that follows strength; N_c = 12.5 as commonly quoted for the mobility cone
Valid for  a first guess; plates or a wheel tell more. Widths are factors, 90 %: see `WIDTHS`
"""

import numpy as np

from slipfit.calibration.soil.result import SoilFit
from slipfit.errors import ParameterError
from slipfit.library import find_ground, ground_names
from slipfit.library.files import nearest
from slipfit.twin import FittedParameter, Status

KINDS = ("sand", "loam", "clay", "snow")

#: Source of constants that the table gave, not the cone.
TABLE_ROWS = "rows of the table:"

#: Cone index over cohesion in clay.
BEARING_FACTOR = 12.5

#: The index stands for the first 150 mm: their middle.
DEPTH_M = 0.075

#: Factors of 90 %: cohesion by the bearing factor, and k by taking the cone for a plate, which is assumed.
WIDTHS = {"cohesion_pa": 2.0, "k_phi": 3.0}

#: Cone indices of soils that robots drive on, Pa.
RANGE_PA = (5e3, 1e7)

#: Units that cone indices come in, Pa.
UNITS_PA = {"Pa": 1.0, "kPa": 1e3, "MPa": 1e6, "psi": 6894.76}

_QUANTILE = 1.6449


def soil_from_cone(index_pa: float, kind: str, *, unit: str = "Pa") -> SoilFit:
    """Constants of a soil of one kind with a cone index, each with a wide 90 % interval; `unit` is that of what is refused."""
    if kind not in KINDS:
        raise ParameterError(f"there is no kind of soil '{kind}'; {nearest(kind, KINDS)}")
    _check(index_pa, unit)
    rows = [soil.parameters for soil in map(find_ground, rows_of(kind))]
    middle, ends = {}, {}
    for name in ("n", "cohesion_pa", "friction_angle_rad", "shear_modulus_m"):
        own = [row[name].value for row in rows]
        spreads = [(row[name].std or 0.0) / row[name].value for row in rows]
        logs = np.log(own)
        middle[name] = float(np.exp(logs.mean()))
        width = float(np.exp(_QUANTILE * max(logs.std(ddof=1), float(np.mean(spreads)), 0.1)))
        ends[name] = (min(middle[name] / width, *own), max(middle[name] * width, *own))
    source, table = f"cone index {1e-3 * index_pa:g} kPa, {kind}", f"{TABLE_ROWS} {kind}"
    said = f"not told by the cone: mean of {len(rows)} rows, the interval holds them all"
    parameters = {name: _told(value, ends[name], table, said) for name, value in middle.items()}
    if kind == "clay":
        middle["cohesion_pa"], wide = index_pa / BEARING_FACTOR, WIDTHS["cohesion_pa"]
        parameters["cohesion_pa"] = _told(middle["cohesion_pa"], _around(middle["cohesion_pa"], wide), source)
    middle["k_phi"] = index_pa * DEPTH_M ** -middle["n"]
    of_n = float(np.log(DEPTH_M)) * 0.5 * (ends["n"][1] - ends["n"][0])
    wide = float(np.exp(np.hypot(np.log(WIDTHS["k_phi"]), of_n)))
    parameters["k_phi"] = _told(middle["k_phi"], _around(middle["k_phi"], wide), source, "goes together with n")
    nothing = f"a cone has one width: k_c is not told and taken as 0 (rows of {kind}: {len(rows)})"
    parameters["k_c"] = FittedParameter(status=Status.NOT_EXCITED, source=source, note=nothing)
    combined = _told(1e-3 * index_pa, _around(1e-3 * index_pa, WIDTHS["k_phi"]), source)
    return SoilFit(
        test="cone",
        data=source,
        rows=1,
        values=middle | {"k_c": 0.0},
        parameters=parameters,
        combinations={f"pressure at {1e3 * DEPTH_M:g} mm, kPa": combined},
        names=(),
        correlation=np.zeros((0, 0)),
        rank=1,
        errors={},
        valid_for={"sinkage_m": (0.0, 2.0 * DEPTH_M)},
        findings=(
            "one number tells one combination; the others are those of the library's rows of this kind, with their scatter",
        ),
    )


def _check(index_pa: float, unit: str) -> None:
    """Refuse what is no cone index, in the unit that it was given in."""
    low, high = RANGE_PA
    if low <= index_pa <= high:
        return
    own = UNITS_PA[unit]
    if index_pa <= 0.0:
        raise ParameterError(
            f"a cone index of {index_pa / own:g} {unit}; it is the pressure on a cone that is pushed in, expected "
            f"{low / own:g} to {high / own:g} {unit}: leave out a sign that stands for the direction"
        )
    given, hint = index_pa / own, ""
    for other in ("kPa", "MPa", "Pa", "psi"):
        meant = given * UNITS_PA[other]
        if other != unit and low <= meant <= high:
            hint = f"; if it is in {other}, write {meant / own:g}"
            break
    raise ParameterError(f"a cone index of {given:g} {unit}; expected {low / own:g} to {high / own:g} {unit}{hint}")


def rows_of(kind: str) -> list[str]:
    """Soils of the library of one kind, by their names."""
    kinds = {name: next((k for k in KINDS if k in name.split("_")), None) for name in ground_names()}
    kinds |= {name: "clay" for name in kinds if "clayey_soil" in name}
    return [name for name, own in kinds.items() if own == kind and _is_of_the_table(name)]


def _is_of_the_table(name: str) -> bool:
    """Whether a ground is a row of the printed table: fits of one wheel are no soils in general."""
    ground = find_ground(name)
    return ground.law == "soil" and ground.parameters["n"].source == "Wong2008"


def _around(value: float, factor: float) -> tuple[float, float]:
    """A factor to both sides."""
    return value / factor, value * factor


def _told(value: float, ends: tuple[float, float], source: str, note: str = "") -> FittedParameter:
    """A value with an interval of 90 %."""
    std = value * 0.5 * float(np.log(ends[1] / ends[0])) / _QUANTILE
    return FittedParameter(value=value, std=std, interval_90=ends, status=Status.CONVERGED, source=source, note=note)
