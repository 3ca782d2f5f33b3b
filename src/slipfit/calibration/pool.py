"""From one or several drives to one answer: pooled values, statuses, combinations, and sentences about what is not known."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from slipfit.calibration.fit import DriveFit, Fit
from slipfit.calibration.grip import TRUSTED_GRIP
from slipfit.calibration.spread import BLOCK_S, quantile
from slipfit.calibration.unknowns import HIGHEST, LOWEST, NO_RELAXATION
from slipfit.contact.wheel_slip import RELAXATION
from slipfit.library import SkidSteerRobot
from slipfit.twin import Covariance, FittedOn, FittedParameter, Status

#: A constant is told when it is this many standard deviations from zero; else only a bound is.
TOLD_FROM = 3.0

#: A bound says something while the slip that it allows, at a force equal to the wheel's load, stays below this.
LARGEST_SLIP = 3.0

#: Combinations worth telling have at most this relative spread.
WELL_TOLD = 0.3

#: Residuals beyond this many times their noise are told.
POOR_FIT = 1.5

#: Beyond this the model does not describe the drive at all: nothing is told of the slip constants.
HOPELESS_FIT = 3.0

#: c_lat is told by turns: less than this, in all drives together, tells nothing, whatever the counts of encoders make of it.
LEAST_TURN_RAD = 1.0

#: A lower bound of mu below this says nothing.
LEAST_GRIP = 0.02

#: Nor when wheels slide for more than this share of the drive: what rolls between tells too little.
MOST_SLIDING = 0.35

#: A constant this near to the highest value that is looked for is said to be at its bound.
AT_BOUND_FROM = 0.98

#: A nuisance this many expected spreads away is told as doubtful.
FAR = 2.5

#: One-sided 95 %, in standard deviations.
_TAIL, _ONE_SIDED = 0.95, 1.645

#: Blocks that a spread is taken to rest on at least: where they widened it, and where they agreed with the noise of the readings.
FEWEST_COUNTED, FEWEST_CONFIRMED = 8, 20

#: Powers of the combinations that are told.
COMBINATIONS = {
    "c_lat/c_long": {"c_lat_per_n": 1.0, "c_long_per_n": -1.0},
    "mass*c_long": {"mass_kg": 1.0, "c_long_per_n": 1.0},
}

_SLIP = ("c_long_per_n", "c_lat_per_n")


def pooled_fit(drives: Sequence[DriveFit], robot: SkidSteerRobot, ground: str, law: str, gravity_mps2: float) -> Fit:
    """One fit of all drives; those that a limit or a poor fit spoils are left out, where there are others."""
    refused = [_refused(d) for d in drives]
    usable = [d for d, reason in zip(drives, refused, strict=True) if not reason] or list(drives)
    names, values, covariance, spread_between = _pooled(usable)
    load = robot.mass_kg.value * gravity_mps2 / len(robot.wheels.at_m.value)
    source = "log " + ", ".join((d.digest[:12] or d.name) for d in drives)
    blocks = _interval_width(drives)
    parameters = {n: _parameter(n, names, values, covariance, load, source, blocks) for n in _SLIP}
    if all(refused):
        reason = "; ".join(dict.fromkeys(refused))
        parameters = {n: FittedParameter(status=Status.NOT_EXCITED, source=source, note=reason) for n in _SLIP}
    elif sum(d.turned_rad for d in usable) < LEAST_TURN_RAD:
        parameters["c_lat_per_n"] = FittedParameter(status=Status.NOT_EXCITED, source=source, note="the robot hardly turned")
    parameters["mu"] = _mu(names, values, covariance, drives, source, blocks)
    parameters |= _tyres(usable, source, blocks)
    told = [n for n in names if n == "mass_kg" or parameters[n].value is not None]
    combinations = {} if all(refused) else _combinations(names, values, covariance, source, blocks)
    if parameters["c_lat_per_n"].note:
        combinations.pop("c_lat/c_long", None)
    rows = [names.index(n) for n in told]
    matrix = covariance[np.ix_(rows, rows)]
    return Fit(
        robot=robot,
        ground=ground,
        law=law,
        gravity_mps2=gravity_mps2,
        parameters=parameters,
        combinations=combinations,
        covariance=Covariance(names=told, matrix=[[float(c) for c in row] for row in matrix]) if told else None,
        drives=tuple(drives),
        identifiability=_sentences(parameters, combinations, drives, robot),
        advice=_advice(parameters, drives, robot),
        repeatability=spread_between,
        fitted_on=FittedOn(
            speed_mps=(min(d.speed_range_mps[0] for d in drives), max(d.speed_range_mps[1] for d in drives)),
            yaw_rate_radps=(min(d.yaw_rate_range_radps[0] for d in drives), max(d.yaw_rate_range_radps[1] for d in drives)),
        ),
        load_n=load,
        posterior=_draws(told, values[rows], matrix),
        notes=(*robot.doubts(), *_doubts(drives)),
    )


def _interval_width(drives: Sequence[DriveFit]) -> float:
    """Standard deviations to either side that hold 90 %: Student's, by the blocks that told the spread; where they only confirmed
    what the noise of all readings says, there is more behind it than few blocks."""
    least = FEWEST_COUNTED if any(d.inflation > 1.0 for d in drives) else FEWEST_CONFIRMED
    return quantile(max(least, sum(max(FEWEST_COUNTED, round(d.duration_s / BLOCK_S)) for d in drives)))


def told_by_draws(fit: Fit) -> Fit:
    """The fit of one drive with spreads, intervals and bounds from its draws; values and statuses stay the fit's.

    Quantiles are moved away from the value by Student's share: that blocks are few is no part of the draws.
    """
    posterior = fit.drives[0].posterior
    assert posterior is not None
    widened = _interval_width(fit.drives) / _ONE_SIDED
    draws = dict(posterior.draws)
    for label, powers in COMBINATIONS.items():
        if set(powers) <= set(draws):
            draws[label] = np.prod([draws[name] ** power for name, power in powers.items()], axis=0)
    told = [] if fit.covariance is None else [n for n in fit.covariance.names if n in draws]
    matrix = np.atleast_2d(np.cov([draws[n] for n in told])) if told else np.zeros((0, 0))
    parameters = {n: _by_draws(p, draws.get(n), widened) for n, p in fit.parameters.items()}
    combinations = {n: _by_draws(p, draws.get(n), widened) for n, p in fit.combinations.items()}
    return replace(
        fit,
        parameters=parameters,
        combinations=combinations,
        identifiability=_sentences(parameters, combinations, fit.drives, fit.robot),
        advice=_advice(parameters, fit.drives, fit.robot),
        covariance=Covariance(names=told, matrix=[[float(c) for c in row] for row in matrix]) if told else None,
        posterior={n: draws[n] for n in told},
        notes=(*fit.notes, *(f"{fit.drives[0].name}: {doubt}" for doubt in posterior.doubts)),
    )


def _by_draws(p: FittedParameter, draws: np.ndarray | None, widened: float) -> FittedParameter:
    if draws is None:
        return p
    low, high = (float(q) for q in np.quantile(draws, [1.0 - _TAIL, _TAIL]))
    if p.at_most is not None:
        return p.model_copy(update={"at_most": high})
    if p.value is None:
        return p
    interval = (min(p.value + widened * (low - p.value), p.value), max(p.value + widened * (high - p.value), p.value))
    return p.model_copy(update={"std": float(draws.std()), "interval_90": interval})


def _refused(d: DriveFit) -> str:
    """Why a drive's slip constants are not told, or nothing."""
    if d.outlying > HOPELESS_FIT:
        return f"residuals are {d.outlying:.1f} times what noise explains: the model does not describe the drive"
    if d.slid_s > MOST_SLIDING * d.duration_s:
        return (
            f"wheels slid during {100.0 * d.slid_s / d.duration_s:.0f} % of the drive, beyond Coulomb's limit: mu is told, slip "
            f"constants are not; accelerate and turn more gently"
        )
    return ""


def _tyres(drives: Sequence[DriveFit], source: str, width: float) -> dict[str, FittedParameter]:
    """Relaxation of the tyres, where a drive asked for it; a length that is not clearly one is left out."""
    told: dict[str, FittedParameter] = {}
    for name in RELAXATION:
        found = [n for d in drives for n in d.nuisances if n.name == name and n.value > 2.0 * NO_RELAXATION]
        if not found:
            continue
        weights = np.array([1.0 / max(n.std, 1e-12) ** 2 for n in found])
        value, std = float(weights @ [n.value for n in found] / weights.sum()), float(1.0 / np.sqrt(weights.sum()))
        if value > TOLD_FROM * std and (name in RELAXATION[:2] or told):
            interval = (max(0.0, value - width * std), value + width * std)
            told[name] = FittedParameter(value=value, std=std, interval_90=interval, status=Status.CONVERGED, source=source)
    return told


def _pooled(drives: Sequence[DriveFit]) -> tuple[list[str], np.ndarray, np.ndarray, dict[str, float]]:
    """Means weighted by what each drive knows; drives that differ by more than they say spread the answer (random effects).

    Mass, inertia, radius and centre of mass are the same in all drives: what their spread makes is no reason to differ, and no
    number of drives makes it smaller. It is taken out before and put back after.
    Reference  [DerSimonian1986]
    """
    first = max(drives, key=lambda drive: len(drive.names))
    names = list(first.names)
    if len(drives) == 1:
        return names, np.array(first.values), np.array(first.covariance), {}
    alike = [d for d in drives if list(d.names) == names]
    shared = np.mean([d.covariance - d.own_covariance for d in alike], axis=0)
    values, std, between = np.array(first.values), np.zeros(len(names)), {}
    for k, n in enumerate(names):
        told = [(d, d.names.index(n)) for d in drives if n in d.names]
        x = np.array([float(d.values[j]) for d, j in told])
        if n == "mass_kg":
            values[k] = x.mean()
            continue
        own = np.array([max(float(d.own_covariance[j, j]), 1e-4 * float(d.covariance[j, j])) for d, j in told])
        effect = _between(x, own)
        weight = 1.0 / (own + effect)
        values[k], std[k] = float(weight @ x / weight.sum()), np.sqrt(1.0 / float(weight.sum()))
        between[n] = float(np.std(x, ddof=1) / abs(values[k])) if len(x) > 1 else 0.0
    return names, values, _mean_correlation(alike) * np.outer(std, std) + shared, between


def _between(x: np.ndarray, variance: np.ndarray) -> float:
    """Variance between drives beyond what they say of themselves."""
    if len(x) < 2:
        return 0.0
    weight = 1.0 / variance
    excess = float(weight @ (x - weight @ x / weight.sum()) ** 2) - (len(x) - 1)
    return max(0.0, excess / float(weight.sum() - (weight**2).sum() / weight.sum()))


def _mean_correlation(drives: Sequence[DriveFit]) -> np.ndarray:
    """Of what belongs to each drive; what does not vary there correlates with nothing."""
    found = []
    for d in drives:
        std = np.sqrt(np.diag(d.own_covariance))
        scale = np.where(std > 1e-9 * np.sqrt(np.diag(d.covariance)), std, np.inf)
        found.append(d.own_covariance / np.outer(scale, scale))
    return np.asarray(np.mean(found, axis=0))


def _parameter(
    name: str, names: Sequence[str], values: np.ndarray, covariance: np.ndarray, load_n: float, source: str, width: float
) -> FittedParameter:
    """A slip constant: told, a bound, or not excited."""
    k = list(names).index(name)
    value, std = float(values[k]), float(np.sqrt(covariance[k, k]))
    if value <= 2.0 * LOWEST[name] or value < TOLD_FROM * std:
        highest = max(value, 0.0) + _ONE_SIDED * std
        if highest * load_n < LARGEST_SLIP:
            return FittedParameter(at_most=highest, status=Status.BOUND_ONLY, source=source)
        return FittedParameter(status=Status.NOT_EXCITED, source=source)
    interval = (value - width * std, value + width * std)
    status = Status.AT_BOUND if value > AT_BOUND_FROM * HIGHEST[name] else Status.CONVERGED
    return FittedParameter(value=value, std=std, interval_90=interval, status=status, source=source)


def _mu(
    names: Sequence[str], values: np.ndarray, covariance: np.ndarray, drives: Sequence[DriveFit], source: str, width: float
) -> FittedParameter:
    if "mu" not in names:
        most = max(d.most_grip_used for d in drives)
        is_sure = not any(d.doubtful_grip_s or d.is_grip_doubtful for d in drives)
        note = f"{'no wheel slid: ' if is_sure else ''}the largest grip that was used is a lower bound"
        return FittedParameter(at_least=most, status=Status.NOT_EXCITED, source=source, note=note)
    k = list(names).index("mu")
    value, std = float(values[k]), float(np.sqrt(covariance[k, k]))
    interval = (value - width * std, value + width * std)
    return FittedParameter(value=value, std=std, interval_90=interval, status=Status.CONVERGED, source=source)


def _combinations(
    names: Sequence[str], values: np.ndarray, covariance: np.ndarray, source: str, width: float
) -> dict[str, FittedParameter]:
    """Ratios and products that are told better than their factors."""
    names = list(names)
    found = {}
    for label, powers in COMBINATIONS.items():
        if not set(powers) <= set(names):
            continue
        rows = [names.index(n) for n in powers]
        x, exponents = values[rows], np.array(list(powers.values()))
        if (x <= 0.0).any():
            continue
        relative = float(np.sqrt(max(0.0, (exponents / x) @ covariance[np.ix_(rows, rows)] @ (exponents / x))))
        value = float(np.prod(x**exponents))
        if relative < WELL_TOLD:
            std = relative * value
            interval = (value - width * std, value + width * std)
            found[label] = FittedParameter(value=value, std=std, interval_90=interval, status=Status.CONVERGED, source=source)
    return found


def _sentences(
    parameters: Mapping[str, FittedParameter],
    combinations: Mapping[str, FittedParameter],
    drives: Sequence[DriveFit],
    robot: SkidSteerRobot,
) -> tuple[str, ...]:
    """What these drives determine and what not, in words."""
    c_long, c_lat, mu = parameters["c_long_per_n"], parameters["c_lat_per_n"], parameters["mu"]
    said = []
    if "c_lat/c_long" in combinations and c_long.value is None and c_lat.value is None:
        said.append(
            "only c_lat/c_long is determined by these runs; drive a straight speed step of 0.8 m/s or more to separate them"
        )
    elif c_long.note and c_long.value is None:
        said.append(f"c_long and c_lat are not told: {c_long.note}")
    else:
        if c_long.status is Status.NOT_EXCITED:
            said.append("c_long is not determined: no straight speed step is long or sharp enough")
        if c_lat.status is Status.NOT_EXCITED:
            said.append("c_lat is not determined: the robot hardly turned")
    for name, p in (("c_long", c_long), ("c_lat", c_lat)):
        if p.status is Status.BOUND_ONLY and p.at_most is not None:
            said.append(f"at least this grippy: {name} < {p.at_most:.3g} 1/N, 95 %; the sensors do not resolve the slip")
    if mu.status is Status.NOT_EXCITED and mu.at_least is not None:
        proven = f"; at least {mu.at_least:.2f} of the load was carried" if mu.at_least > LEAST_GRIP else ""
        is_sure = not any(d.doubtful_grip_s or d.is_grip_doubtful for d in drives)
        said.append(f"mu is not determined{': no wheel slid' if is_sure else ''}{proven}")
    for d in drives:
        if d.doubtful_grip_s:
            said.append(
                f"{d.doubtful_grip_s:.0f} s in which wheels would carry more than {TRUSTED_GRIP:g} of their load are not used: "
                f"they may have slid there; turn in wider arcs"
            )
    is_scale_exact = not any(n.name == "gyro_scale" for d in drives for n in d.nuisances)
    if c_lat.value is not None and c_long.value is not None and is_scale_exact:
        said.append(
            f"without a pose the gyro's scale and the track are taken as exact: 0.1 % of either changes c_lat / c_long by "
            f"{0.1 * (1.0 + c_lat.value / c_long.value * (robot.track_m / robot.wheelbase_m) ** 2):.1f} %, and c_long with it; "
            f"turn the robot by ten known turns and compare, or say how far the scale may be off (--gyro-scale-std)"
        )
    if not robot.mass_kg.std:
        said.append("the robot's mass has no spread in its file: the intervals contain none")
    inflation = max(d.inflation for d in drives)
    if inflation > 1.3:
        said.append(
            f"blocks of the drive disagree {inflation:.1f} times more than noise explains (a floor that changes, a tyre that "
            f"relaxes, a model that lacks something); the intervals are widened by that"
        )
    return tuple(said)


def _advice(parameters: Mapping[str, FittedParameter], drives: Sequence[DriveFit], robot: SkidSteerRobot) -> tuple[str, ...]:
    """How to drive better next time."""
    said = []
    c_long, c_lat = parameters["c_long_per_n"], parameters["c_lat_per_n"]
    if c_long.value is None or (c_long.std or 0.0) > 0.05 * c_long.value:
        said.append("drive more straight speed steps (0.2 to 1.0 m/s and back, both ways), or log a pose of 1 mm at 20 Hz")
    if c_lat.value is None:
        said.append("spin on the spot for 10 s, both ways")
    if (
        c_long.value is not None
        and robot.mass_kg.std
        and c_long.std
        and robot.mass_kg.std / robot.mass_kg.value > 0.7 * c_long.std / c_long.value
    ):
        share = 100.0 * robot.mass_kg.std / robot.mass_kg.value
        said.append(f"weigh the robot better: its mass is known to {share:.1f} %, and only mass times c_long is told by a drive")
    return tuple(said)


def _doubts(drives: Sequence[DriveFit]) -> tuple[str, ...]:
    """What a reader must know before believing: logs cut short, fits that failed, nuisances far from what was expected."""
    said = []
    for d in drives:
        if d.duration_s < d.log_s - 1.0:
            said.append(f"{d.name}: only the first {d.duration_s:.0f} s of {d.log_s:.0f} s are used; cut the log for others")
        if d.is_grip_doubtful:
            said.append(
                f"{d.name}: wheels would carry more than {TRUSTED_GRIP:g} of their load during most of the drive; if they slid, "
                f"the constants are wrong: do not use them, turn in wider arcs and accelerate more gently"
            )
        if not d.is_converged:
            said.append(f"{d.name}: the solver did not come to an end; do not use these constants, look at the residuals")
        if d.misfit > POOR_FIT:
            said.append(
                f"{d.name}: residuals are {d.misfit:.1f} times what noise explains; the model does not describe this drive"
            )
        for n in d.nuisances:
            expected = n.expected
            if n.prior_std and abs(n.value - expected) > FAR * n.prior_std:
                said.append(
                    f"{d.name}: {n.name} = {n.value:.3g} lies {abs(n.value - expected) / n.prior_std:.1f} expected spreads from "
                    f"{expected:.3g}; doubt the fit, and look at the residuals"
                )
    return tuple(said)


def _draws(names: Sequence[str], values: np.ndarray, covariance: np.ndarray, count: int = 2000) -> dict[str, np.ndarray]:
    """Gaussian draws for pictures and studies, the same each time."""
    if not len(names):
        return {}
    vary = np.random.default_rng(0).multivariate_normal(values, covariance, size=count, method="eigh")
    return {n: vary[:, k] for k, n in enumerate(names)}
