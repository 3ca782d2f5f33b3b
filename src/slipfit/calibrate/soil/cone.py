"""A soil from a cone index, as field teams have it: wide, and said so.

    c = CI / N_c (clay)            (k_c/b + k_phi) z_c^n = s CI            n, phi and the rest: the table's rows of that kind

A cone index is one number, the pressure on a 30-degree cone pressed in by hand; a soil has six. It tells how strong the soil is;
what kind it is must be told; the rest is the library's rows of that kind with their scatter.

Symbols    CI cone index (Pa) · N_c bearing factor of the cone in clay · z_c depth that the index stands for · s cone to plate
Reference  [RohaniBaladi1981] for a cone index that follows strength; N_c = 12.5 as commonly quoted for the mobility cone
Valid for  a first guess; plates or a wheel tell more. Widths are factors, 90 %: see `WIDTHS`
"""

import numpy as np

from slipfit.calibrate.soil.result import SoilFit
from slipfit.errors import ParameterError
from slipfit.library import find_ground, ground_names
from slipfit.library.files import nearest
from slipfit.twin import FittedParameter, Status

KINDS = ("sand", "loam", "clay", "snow")

#: Cone index over cohesion in clay.
BEARING_FACTOR = 12.5

#: The index stands for the first 150 mm: their middle.
DEPTH_M = 0.075

#: Factors of 90 %: cohesion by the bearing factor, and k by taking the cone for a plate, which is assumed.
WIDTHS = {"cohesion_pa": 2.0, "k_phi": 3.0}

#: Cone indices of soils that robots drive on, Pa.
RANGE_PA = (5e3, 1e7)

_QUANTILE = 1.6449


def soil_from_cone(index_pa: float, kind: str) -> SoilFit:
    """Constants of a soil of one kind with a cone index, each with a wide 90 % interval."""
    if kind not in KINDS:
        raise ParameterError(f"there is no kind of soil '{kind}'; {nearest(kind, KINDS)}")
    if not RANGE_PA[0] <= index_pa <= RANGE_PA[1]:
        hint = ""
        for unit, times in (("kPa", 1e3), ("psi", 6894.76)):
            if RANGE_PA[0] <= index_pa * times <= RANGE_PA[1]:
                hint = f"; if it is in {unit}, the factor is {times:g}: write {index_pa * times:g}"
                break
        raise ParameterError(f"a cone index of {index_pa:g} Pa; expected {RANGE_PA[0]:g} to {RANGE_PA[1]:g} Pa{hint}")
    rows = [soil.values() for soil in map(find_ground, rows_of(kind))]
    middle, factor = {}, {}
    for name in ("n", "cohesion_pa", "friction_angle_rad", "shear_modulus_m"):
        logs = np.log([row[name] for row in rows])
        middle[name] = float(np.exp(logs.mean()))
        factor[name] = float(np.exp(_QUANTILE * max(logs.std(ddof=1), 0.1)))
    if kind == "clay":
        middle["cohesion_pa"], factor["cohesion_pa"] = index_pa / BEARING_FACTOR, WIDTHS["cohesion_pa"]
    middle["k_phi"] = index_pa * DEPTH_M ** -middle["n"]
    factor["k_phi"] = WIDTHS["k_phi"]
    source = f"cone index {index_pa:g} Pa, {kind}"
    parameters = {name: _told(value, factor[name], source) for name, value in middle.items()}
    nothing = f"a cone has one width: k_c is not told and taken as 0 (rows of {kind}: {len(rows)})"
    parameters["k_c"] = FittedParameter(status=Status.NOT_EXCITED, source=source, note=nothing)
    combined = _told(index_pa, WIDTHS["k_phi"], source)
    return SoilFit(
        test="cone",
        data=source,
        rows=1,
        values=middle | {"k_c": 0.0},
        parameters=parameters,
        combinations={f"pressure at {1e3 * DEPTH_M:g} mm, Pa": combined},
        names=(),
        correlation=np.zeros((0, 0)),
        rank=1,
        errors={},
        valid_for={"sinkage_m": (0.0, 2.0 * DEPTH_M)},
        findings=(
            "one number tells one combination; the others are those of the library's rows of this kind, with their scatter",
        ),
    )


def rows_of(kind: str) -> list[str]:
    """Soils of the library of one kind, by their names."""
    kinds = {name: next((k for k in KINDS if k in name.split("_")), None) for name in ground_names()}
    kinds |= {name: "clay" for name in kinds if "clayey_soil" in name}
    return [name for name, own in kinds.items() if own == kind and _is_of_the_table(name)]


def _is_of_the_table(name: str) -> bool:
    """Whether a ground is a row of the printed table: fits of one wheel are no soils in general."""
    ground = find_ground(name)
    return ground.law == "soil" and ground.parameters["n"].source == "Wong2008"


def _told(value: float, factor: float, source: str) -> FittedParameter:
    """A value with a factor of 90 % to both sides."""
    std = value * float(np.log(factor)) / _QUANTILE
    return FittedParameter(
        value=value, std=std, interval_90=(value / factor, value * factor), status=Status.CONVERGED, source=source
    )
