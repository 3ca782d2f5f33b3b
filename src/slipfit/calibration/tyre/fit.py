"""Tyre curves from measured forces: every law is fitted, the one that predicts best is chosen, its curve comes with a band."""

from collections.abc import Callable, Sequence

import numpy as np

from slipfit.calibration.tyre.data import AXES, TyreData
from slipfit.calibration.tyre.held_out import HeldOut, best_law, flexible_held_out, law_held_out
from slipfit.calibration.tyre.intervals import band, certainty, told_constants
from slipfit.calibration.tyre.law_fit import CRITICAL, LawFit, fit_law
from slipfit.calibration.tyre.result import TyreFit
from slipfit.contact import CURVES, LAWS, dugoff
from slipfit.errors import FitError, ParameterError
from slipfit.library.files import nearest

#: A flexible curve that is better by more than this factor says that no law here has the shape of the data.
WRONG_SHAPE = 1.5

#: Of fewer rows nothing can be left out.
FEWEST_ROWS = 6

#: Slips at which the curve is given.
CURVE_POINTS = 61


def fit_tyre(
    data: TyreData,
    laws: Sequence[str] = CURVES,
    *,
    with_offsets: bool = False,
    tell: Callable[[str], None] = lambda stage: None,
) -> TyreFit:
    """Fit laws to measured forces and choose by the error on repeats that were left out."""
    for law in laws:
        if law not in CURVES:
            reason = "has no friction curve over slip" if law in LAWS else "is not a law"
            raise ParameterError(f"law '{law}' {reason}; {nearest(law, CURVES)}")
    if len(data) < FEWEST_ROWS:
        raise FitError(f"{data.name}: {len(data)} rows; expected {FEWEST_ROWS} or more, measure at more slips")
    if float(data.resultant_slip.max()) <= 0.0:
        raise FitError(f"{data.name}: the wheel never slips; expected rows with slip")
    fits = {}
    for law in dict.fromkeys(laws):
        tell(f"fitting {law}")
        fits[law] = fit_law(law, data, with_offsets=with_offsets)
    tell("leaving repeats out")
    candidates = [law_held_out(fit, data, with_offsets=with_offsets) for fit in fits.values()]
    chosen = best_law(candidates, data)
    candidates.append(flexible_held_out(data))
    tell(f"how well {chosen.name} is told")
    return _result(fits[chosen.name], data, tuple(candidates))


def _result(fit: LawFit, data: TyreData, candidates: tuple[HeldOut, ...]) -> TyreFit:
    known = certainty(fit, data)
    largest = float(data.resultant_slip.max())
    slips = np.linspace(0.0, largest, CURVE_POINTS)
    friction, half = band(fit, known, slips)
    predicted = fit.predict(data)
    residual = {axis: float(np.sqrt(np.mean((force - predicted[axis]) ** 2))) for axis, force in data.forces().items()}
    return TyreFit(
        data=data.name,
        law=fit.law,
        values={p.name: fit.values[p.name] for p in LAWS[fit.law].parameters},
        parameters=told_constants(fit, data, known),
        offsets=fit.offsets,
        rows=len(data),
        repeats=data.repeats,
        mean_load_n=data.mean_load_n,
        slip_range=(float(data.resultant_slip.min()), largest),
        residual_n=residual,
        spread_n=data.spread_within_cells(),
        slips=slips,
        friction=friction,
        band_90=half,
        names=tuple(c.name for c in fit.coordinates),
        correlation=known.correlation,
        rank=known.rank,
        candidates=candidates,
        findings=(*data.findings, *_findings(fit, data, candidates)),
    )


#: Racing tyres on warm asphalt reach about this friction.
_STRONGEST = 2.0


def _findings(fit: LawFit, data: TyreData, candidates: tuple[HeldOut, ...]) -> list[str]:
    found = []
    if data.repeats < 2:
        found.append(
            "one repeat only: rows were left out instead of repeats, which misses what differs from one run to the next; "
            "name the column `repeat`, or `settings`, if there are several"
        )
    peak, largest = peak_slip(fit), float(data.resultant_slip.max())
    if peak > largest:
        where = f"; its peak at {peak:.2g} and its fall are" if np.isfinite(peak) else ": a peak would be"
        found.append(f"the curve still rises at the largest slip, {largest:.2g}{where} an extrapolation; measure at more slip")
    axes = list(data.forces())
    if len(axes) < len(AXES):
        missing = next(axis for axis in AXES if axis not in axes)
        found.append(
            f"no force {missing} was measured: the curve is that of the force {axes[0]}, lateral_ratio stays at its default"
        )
    most = float(np.quantile(np.hypot.reduce(list(data.forces().values())) / data.load_n, 0.95))
    if most > _STRONGEST:
        found.append(
            f"forces reach {most:.2g} times the load, more than tyres grip; if the load is in kg, its entry in the map needs "
            f"scale: 9.81"
        )
    law = next(c for c in candidates if c.name == fit.law)
    flexible = candidates[-1]
    if law.total_n > WRONG_SHAPE * flexible.total_n:
        found.append(
            f"no friction curve here has the shape of these forces: {fit.law} leaves {law.total_n:.3g} N, a flexible curve "
            f"{flexible.total_n:.3g} N; soil that is pushed aside (bulldozing) or rolled down is not friction over slip"
        )
    return found


def peak_slip(fit: LawFit) -> float:
    """Slip of the largest friction."""
    if CRITICAL in fit.values:
        return fit.values[CRITICAL]
    critical, _ = dugoff.peak(*(np.array(fit.values[name]) for name in ("mu", "initial_slope", "friction_fall")))
    return float(critical)
