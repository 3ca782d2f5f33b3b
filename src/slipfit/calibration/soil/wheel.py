"""Shear and slip-sinkage constants from single-wheel tests: drawbar pull and sinkage over slip, by the model that drives robots.

    min over constants  sum ((DP - DP_model) / N)^2 + ((z - z_model) / R)^2 + (10 (N - N_model) / N)^2

The model is `wheel_on_soil` at the measured slips and loads; Bekker's constants stay the soil's (plates), and so does what a test
of the soil measured (a shear test's c, phi and K). What the wheel does not tell stays the soil's too: the least known is held,
and the rest is sought again, until all that is sought is told.
Pull over load and sinkage over radius count alike, so that nothing has to be weighed. The last term is zero unless the soil
does not carry the wheel at all: a wheel that sinks to its axle must not look like one that rolls.

Which model of slip-sinkage is right is asked of the repeats that are fitted; each repeat is left out in its turn, and constants
to be sought and model are chosen anew without it, to see what all of that is worth.

Symbols    DP drawbar pull · N load · z sinkage · R radius
Reference  derived in docs/theory/soil_calibration.md, wheels; slip-sinkage: [Lyasko2010], [DingEtAl2010]
Valid for  straight driving, rigid wheels. Constants are of this pair of wheel and soil: smooth rims slide first
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from slipfit.calibration.soil.certainty import Found, groups_of, solve
from slipfit.calibration.soil.data import WheelData
from slipfit.calibration.soil.result import SoilFit, determined, doubts
from slipfit.contact.soil import INFO, WheelStates, wheel_on_soil
from slipfit.contact.soil.wheel import DEEPEST_SHARE
from slipfit.errors import FitError, ParameterError
from slipfit.library import Ground, references
from slipfit.library.files import nearest
from slipfit.library.parameter import plain
from slipfit.twin import FittedParameter, Status

#: Models of slip-sinkage: the constant that each has, the others' being 0.
MODELS = {"lyasko": "slip_sinkage", "ding": "exponent_per_slip", "none": None}

#: What is sought beside it, with the range of the search: a rim's shear, and where the stress is largest. Cohesion and
#: angle as the table of soils has them (to 69 kPa; 6 to 38 degrees), with none for dry sand, and 45 degrees for dense one.
RANGES = {
    "cohesion_pa": (0.0, 7e4),
    "friction_angle_rad": (0.1, 0.7854),
    "shear_modulus_m": (5e-4, 0.1),
    "slip_sinkage": (0.0, 3.0),
    "exponent_per_slip": (0.0, 3.0),
    "peak_share": (0.0, 0.9),
    "peak_share_per_slip": (-1.0, 1.0),
}

#: Steps of the search: typical sizes, not ranges.
_SIZES = {"cohesion_pa": 2e3, "shear_modulus_m": 0.01}

#: Where searches begin, what is not told here with the soil's own value: a wheel that digs itself in to its axle is another,
#: worse minimum, which one start alone runs into.
_STARTS: tuple[dict[str, float], ...] = tuple(
    {"slip_sinkage": dug, "exponent_per_slip": 0.4 * dug, "peak_share": peak}
    for dug, peak in ((0.5, 0.4), (0.5, 0.1), (0.1, 0.2))
)

#: What counts of a load that is not carried, against errors of the pull: it must not pay.
_NOT_CARRIED = 10.0

_QUANTILE = 1.6449

#: Sources whose constants a wheel may find anew, spread or not: another wheel's, a guess.
_ANEW = ("wheel ", "cone index ", "rows of the table", "assumed")


def predict_wheel(values: Mapping[str, float], data: WheelData) -> WheelStates:
    """What a soil of these constants gives at the measured slips and loads."""
    return wheel_on_soil(
        INFO.model(values),
        radius_m=data.radius_m,
        width_m=data.width_m,
        grouser_m=data.grouser_m,
        slip=data.slip,
        load_n=data.load_n,
        keep_stuck=True,
    )


def errors_of(values: Mapping[str, float], data: WheelData, rows: np.ndarray | None = None) -> tuple[float, float]:
    """Root mean square errors of pull over load, and of sinkage (m)."""
    found = predict_wheel(values, data)
    chosen = slice(None) if rows is None else rows
    pull = ((found.pull_n - data.pull_n) / data.load_n)[chosen]
    depth = (found.sinkage_m - data.sinkage_m)[chosen]
    return float(np.sqrt(np.mean(pull**2))), float(np.sqrt(np.mean(depth**2)))


def fit_wheel(
    data: WheelData,
    soil: Ground,
    *,
    hold: Sequence[str] = (),
    seek: Sequence[str] = (),
    models: Sequence[str] = tuple(MODELS),
    tell: Callable[[str], None] = lambda stage: None,
) -> SoilFit:
    """Constants with 90 % intervals, of the model of slip-sinkage that fits best; errors on repeats that were left out.

    Constants that a test of the soil measured are held, and those that the wheel does not tell stay the soil's, unless `seek`
    names them.
    """
    _check(data, soil, (*hold, *seek), models)
    measured = [name for name in RANGES if name not in (*hold, *seek) and is_measured(soil, name)]
    base = {p.name: float(p.default) for p in INFO.parameters if p.default is not None} | soil.values()
    fits = {}
    for model in models:
        tell(f"fitting {model}")
        fits[model] = _fit_told(data, base, model, (*hold, *measured), seek)
    chosen = min(models, key=lambda model: float(fits[model][0].residuals @ fits[model][0].residuals))
    tell("leaving repeats out")
    held_out = _cross(data, base, models, (*hold, *measured), seek) if data.repeats > 1 else ()
    found, values, untold = fits[chosen]
    how = "chosen by the rows that were fitted" if len(models) > 1 else "as asked for"
    said = [f"slip-sinkage model: {chosen}, {how}", *_held_words(soil, measured)]
    return _result(data, soil, found, values, chosen, held_out, untold, said)


def is_measured(soil: Ground, name: str) -> bool:
    """Whether a test of this very soil gave a constant: it has a spread, and its source is no printed work, guess or wheel."""
    record = soil.parameters.get(name)
    if record is None or record.std is None:
        return False
    return record.source not in references() and not record.source.startswith(_ANEW)


def _held_words(soil: Ground, measured: Sequence[str]) -> list[str]:
    if not measured:
        return []
    records = [soil.parameters[name] for name in measured]
    ones = ", ".join(f"{p.name} {plain(p.value, 4)} ± {plain(p.std or 0.0, 2)}" for p in records)
    sources = ", ".join(dict.fromkeys(soil.parameters[name].source for name in measured))
    return [f"held as {soil.name} has it from its tests ({sources}): {ones}; --seek NAME fits one to the wheel instead"]


def _check(data: WheelData, soil: Ground, hold: Sequence[str], models: Sequence[str]) -> None:
    if soil.law != INFO.name:
        raise ParameterError(f"ground {soil.name} has the law {soil.law}; expected a soil (`slipfit soil list` shows them)")
    for name in models:
        if name not in MODELS:
            raise ParameterError(f"there is no slip-sinkage model '{name}'; {nearest(name, MODELS)}")
    for name in hold:
        if name not in RANGES:
            raise ParameterError(f"'{name}' cannot be held or sought, wheels do not tell it; {nearest(name, RANGES)}")
    most = len(RANGES) - 1
    if 2 * len(data) < most + 2:
        raise FitError(f"{data.name}: {len(data)} rows of straight driving for up to {most} constants; expected more slips")


def _sought(model: str, hold: Sequence[str]) -> list[str]:
    """Constants that a model has, without those that are held."""
    own = MODELS[model]
    names = [name for name in RANGES if name not in MODELS.values() or name == own]
    return [name for name in names if name not in hold]


def _fit_told(
    data: WheelData, base: Mapping[str, float], model: str, hold: Sequence[str], seek: Sequence[str]
) -> tuple[Found, dict[str, float], tuple[str, ...]]:
    """A fit of constants that are all told; those that are not stay the soil's, the friction angle first, then the widest."""
    every = np.ones(len(data), dtype=bool)
    untold: list[str] = []
    while True:
        names = _sought(model, (*hold, *untold))
        if not names:
            why = f"the wheel tells none of {', '.join(untold)}" if untold else "all constants are held"
            raise FitError(f"{data.name}: {why}; nothing is left to fit with the slip-sinkage model {model}: hold fewer")
        found, values = _fit(data, base, names, model, every)
        loose = [name for name in names if name not in seek and found.told(name, "").value is None]
        if not loose:
            return found, values, tuple(untold)
        untold.append("friction_angle_rad" if "friction_angle_rad" in loose else max(loose, key=found.share_of_range))


def _fit(
    data: WheelData, base: Mapping[str, float], names: list[str], model: str, rows: np.ndarray
) -> tuple[Found, dict[str, float]]:
    """Best constants on some rows, and with them all constants of the soil."""
    fixed = dict(base) | {name: 0.0 for name in MODELS.values() if name and name not in names and name != MODELS[model]}
    slip, load = data.slip[rows], data.load_n[rows]
    pull, depth = data.pull_n[rows], data.sinkage_m[rows]

    def left(x: np.ndarray) -> np.ndarray:
        found = wheel_on_soil(
            INFO.model(fixed | dict(zip(names, x.tolist(), strict=True))),
            radius_m=data.radius_m,
            width_m=data.width_m,
            grouser_m=data.grouser_m,
            slip=slip,
            load_n=load,
            keep_stuck=True,
        )
        return np.concatenate(
            [(found.pull_n - pull) / load, (found.sinkage_m - depth) / data.radius_m, _NOT_CARRIED * (found.load_n - load) / load]
        )

    lower, upper = zip(*(RANGES[name] for name in names), strict=True)
    groups = np.tile(groups_of(_by_slip(slip), slip), 3)
    sizes = [_SIZES.get(name, 1.0) for name in names]
    searches = [
        solve(names, [start.get(name, fixed[name]) for name in names], lower, upper, left, groups, scale=sizes)
        for start in _STARTS
    ]
    found = min(searches, key=lambda one: float(one.residuals @ one.residuals))
    return found, fixed | dict(zip(names, found.values.tolist(), strict=True))


def _by_slip(slip: np.ndarray) -> np.ndarray:
    """Rows of neighbouring slips share what the model lacks: groups of like slips, to a twentieth."""
    return np.unique(np.round(20.0 * slip), return_inverse=True)[1]


def _cross(
    data: WheelData, base: Mapping[str, float], models: Sequence[str], hold: Sequence[str], seek: Sequence[str]
) -> tuple[dict[str, Any], ...]:
    """Errors on each repeat of fits that have not seen it: neither constants, nor which of them are told, nor the model."""
    records = []
    for k in range(data.repeats):
        train = data.repeat != k
        seen = replace(data, **{name: getattr(data, name)[train] for name in ("slip", "load_n", "pull_n", "sinkage_m", "repeat")})
        fits = {model: _fit_or_soil(seen, base, model, hold, seek) for model in models}
        chosen = min(models, key=lambda model: fits[model][0])
        for model, (_, values) in fits.items():
            (pull, depth), (own_pull, own_depth) = errors_of(values, data, ~train), errors_of(values, data, train)
            records.append(
                {
                    "model": model,
                    "left_out": k,
                    "pull": pull,
                    "sinkage_m": depth,
                    "fitted_pull": own_pull,
                    "fitted_sinkage_m": own_depth,
                    "chosen": model == chosen,
                }
            )
    return tuple(sorted(records, key=lambda one: (models.index(one["model"]), one["left_out"])))


def _fit_or_soil(
    data: WheelData, base: Mapping[str, float], model: str, hold: Sequence[str], seek: Sequence[str]
) -> tuple[float, dict[str, float]]:
    """Sum of squares and constants; the soil's own where these rows tell none."""
    try:
        found, values, _ = _fit_told(data, base, model, hold, seek)
    except FitError:
        return float("inf"), dict(base) | {name: 0.0 for name in MODELS.values() if name and name != MODELS[model]}
    return float(found.residuals @ found.residuals), values


def _result(
    data: WheelData,
    soil: Ground,
    found: Found,
    values: dict[str, float],
    model: str,
    held_out: tuple[dict[str, Any], ...],
    untold: tuple[str, ...],
    said: list[str],
) -> SoilFit:
    source = f"wheel {data.digest[:12]}"
    parameters = {name: found.told(name, source) for name in found.names}
    parameters |= {
        name: FittedParameter(
            status=Status.NOT_EXCITED, source=_source(soil, name), note="the wheel does not tell it: the soil's"
        )
        for name in untold
    }
    pull, depth = errors_of(values, data)
    errors = {"pull_rmse_over_load": pull, "sinkage_rmse_m": depth}
    if data.spread:
        errors |= {"pull_spread_of_repeats_over_load": data.spread[0], "sinkage_spread_of_repeats_m": data.spread[1]}
    held: dict[str, dict[str, Any]] = {
        name: {"value": 0.0, "source": source, "note": f"slip-sinkage model {model}"}
        for name in MODELS.values()
        if name and name != MODELS[model]
    }
    combination: dict[str, Any] = {}
    for pressure in (5e3, 2e4):
        combination |= _strength(found, values, pressure, source)
    return SoilFit(
        test="wheel",
        data=data.name,
        rows=len(data),
        values=values,
        parameters=parameters,
        combinations=determined(combination),
        names=found.names,
        correlation=found.correlation,
        rank=found.rank,
        errors=errors,
        valid_for={"slip": (float(data.slip.min()), float(data.slip.max()))},
        findings=(*data.findings, *said, *_findings(data, soil, found, values), *doubts(errors, parameters)),
        held=held,
        held_out=held_out,
        kept=untold,
    )


def _source(soil: Ground, name: str) -> str:
    record = soil.parameters.get(name)
    return "the law's default" if record is None else record.source


def _strength(found: Found, values: Mapping[str, float], pressure: float, source: str) -> dict[str, Any]:
    """c + p tan(phi), told better than c and phi are."""
    if not {"cohesion_pa", "friction_angle_rad"} <= set(found.names):
        return {}
    slope = np.zeros(len(found.names))
    slope[found.names.index("cohesion_pa")] = 1.0
    slope[found.names.index("friction_angle_rad")] = pressure / np.cos(values["friction_angle_rad"]) ** 2
    value = values["cohesion_pa"] + pressure * np.tan(values["friction_angle_rad"])
    return {f"c + p tan(phi) at p = {plain(pressure, 4)} Pa, Pa": found.number(float(value), slope, source, (-np.inf, np.inf))}


def _findings(data: WheelData, soil: Ground, found: Found, values: Mapping[str, float]) -> list[str]:
    said = []
    if values["k_c"] + _QUANTILE * (soil.parameters["k_c"].std or 0.0) < 0.0:
        zero = -values["k_c"] / values["k_phi"]
        said.append(
            f"k_c of {soil.name} is negative: k_c/b + k_phi holds near the plates' widths (zero at b = {1e3 * zero:.3g} mm); "
            f"b is the wheel's width here, {1e3 * data.width_m:.3g} mm"
        )
    if found.rank < len(found.names):
        said += [f"not told: {direction}" for direction in found.weak]
    if "friction_angle_rad" in found.names and values["friction_angle_rad"] < 0.1:
        said.append(
            "the rim's shear hardly grows with pressure: c and phi are the wheel's constants here, not the soil's; hold phi "
            "(--hold friction_angle_rad) for a soil that other wheels can use"
        )
    deepest = DEEPEST_SHARE * (data.radius_m + data.grouser_m)
    if float(data.sinkage_m.max()) > 0.9 * deepest:
        said.append(
            f"the wheel sinks to {1e3 * data.sinkage_m.max():.3g} mm, about its radius: beyond what the stresses are meant for"
        )
    if data.repeats < 2:
        said.append("one repeat only: nothing was left out to test the fit on; name `repeat` or `settings` in the map")
    return said
