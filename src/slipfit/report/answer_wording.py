"""What a calibration found, in words: the rows of the answer, the verdict, and the snippet for Gazebo."""

from collections.abc import Iterator
from dataclasses import dataclass
from xml.sax.saxutils import quoteattr

from slipfit.calibration.fit import Fit
from slipfit.contact import LAWS
from slipfit.logs.inspection import Severity
from slipfit.report.wording import listed, motion, number, percent, short, span, unit_of, with_spread
from slipfit.simulation.record import wheel_names
from slipfit.twin import FittedParameter, Status
from slipfit.twin.fitted_ground import factors

#: Residuals up to this many times the noise are the noise; beyond the second number the model is in doubt.
GOOD_MISFIT, DOUBTFUL_MISFIT = 1.25, 2.0

_LEVELS = {Status.CONVERGED: "good", Status.AT_BOUND: "doubt", Status.NOT_EXCITED: "caution", Status.BOUND_ONLY: "caution"}


@dataclass(frozen=True, slots=True)
class Answer:
    """One row: a value with its interval, or a sentence that says what is known instead."""

    name: str
    about: str
    unit: str
    value: str
    interval: str
    bound: str
    status: str
    level: str
    source: str
    note: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result in plain words; `level` is good, caution or doubt."""

    level: str
    lead: str
    lines: tuple[str, ...]


def answers(fit: Fit) -> list[Answer]:
    """Constants of the law, then combinations that the drives tell better."""
    law = LAWS[fit.law]
    rows = [
        _answer(name, p, unit_of(name), info.about if (info := law.parameter(name)) else "") for name, p in fit.parameters.items()
    ]
    return rows + [_answer(key, p, _unit_of_combination(key), "combination") for key, p in fit.combinations.items()]


def _answer(name: str, p: FittedParameter, unit: str, about: str) -> Answer:
    return Answer(
        name=short(name),
        about=about,
        unit=unit,
        value="" if p.value is None else with_spread(p.value, p.std),
        interval="" if p.interval_90 is None else span(*p.interval_90, p.std),
        bound="" if p.value is not None else bound_sentence(short(name), p, unit),
        status=p.status.sentence,
        level=_LEVELS[p.status],
        source=p.source,
        note=p.note,
    )


def bound_sentence(name: str, p: FittedParameter, unit: str) -> str:
    """What is known of a constant without a value."""
    unit = f" {unit}" if unit else ""
    least = "" if p.at_least is None else f"at least {number(p.at_least)}{unit}"
    most = "" if p.at_most is None else f"at most {number(p.at_most)}{unit}"
    if not least and not most:
        return "unknown"
    said = listed([part for part in (least, most) if part])
    grippy = (
        " The ground grips at least this well." if (name.startswith("c_") and most) or (name.startswith("mu") and least) else ""
    )
    return f"{name} is {said} (95 %).{grippy}"


def _unit_of_combination(key: str) -> str:
    """Of products and quotients: c is per newton, masses are kilograms, friction has none."""
    powers = {"kg": 0, "N": 0, "m²": 0}
    for name, power in factors(key).items():
        if name.startswith("c_"):
            powers["N"] -= power
        elif name.startswith(("mass", "yaw_inertia")):
            powers["kg"] += power
            powers["m²"] += power * name.startswith("yaw_inertia")
    above = " ".join(unit for unit, power in powers.items() if power > 0 for _ in range(power))
    below = " ".join(unit for unit, power in powers.items() if power < 0 for _ in range(-power))
    return f"{above or '1'}/{below}" if below else above


def validity(fit: Fit) -> str:
    """Where the constants hold."""
    driven = motion(fit.fitted_on.speed_mps, fit.fitted_on.yaw_rate_radps)
    return (
        f"Found at {driven}, with {number(fit.load_n)} N on each wheel on the mean. "
        f"With another payload c N stays the same, and c changes."
    )


def verdict(fit: Fit) -> Verdict:
    """How good this is, from statuses, misfit and findings."""
    misfit = max((d.misfit for d in fit.drives), default=1.0)
    open_errors = [
        f
        for d in fit.drives
        for f in d.inspection.findings
        if f.severity in (Severity.FATAL, Severity.ERROR) and not f.is_corrected
    ]
    found = {name: p for name, p in fit.parameters.items() if p.value is not None}
    missing = [name for name in fit.parameters if name not in found]
    is_doubtful = misfit > DOUBTFUL_MISFIT or open_errors or any(p.status is Status.AT_BOUND for p in found.values())
    level = "doubt" if is_doubtful or not found else "caution" if misfit > GOOD_MISFIT or missing else "good"
    return Verdict(level, _lead(found, missing), tuple(_verdict_lines(fit, misfit, len(open_errors), missing)))


def _lead(found: dict[str, FittedParameter], missing: list[str]) -> str:
    known = [f"{short(n)} to {percent(p.std / abs(p.value))}" for n, p in found.items() if p.std is not None and p.value]
    known += [short(n) for n, p in found.items() if p.std is None or not p.value]
    if not known:
        return "These drives give bounds, but no value."
    open_ones = f"; {listed([short(n) for n in missing])} stay{'s' if len(missing) == 1 else ''} open" if missing else ""
    return f"Known: {listed(known)}{open_ones}."


def _verdict_lines(fit: Fit, misfit: float, open_errors: int, missing: list[str]) -> Iterator[str]:
    if misfit <= GOOD_MISFIT:
        yield "The model explains the sensors about as well as their noise allows."
    elif misfit <= DOUBTFUL_MISFIT:
        yield f"Residuals are {misfit:.1f} times the noise: the model misses a little, and the intervals are widened for it."
    else:
        yield (
            f"Residuals are {misfit:.1f} times the noise: the model does not explain the drives. Look at the residuals before "
            f"using the constants."
        )
    for name, p in fit.parameters.items():
        if p.status is Status.AT_BOUND:
            yield f"{short(name)} {p.status.sentence}."
    for name in missing:
        p = fit.parameters[name]
        if p.at_least is not None or p.at_most is not None:
            yield bound_sentence(short(name), p, unit_of(name))
        else:
            yield f"{short(name)}: {p.status.sentence}."
    if open_errors:
        plural = "s" if open_errors > 1 else ""
        yield f"The inspection found {open_errors} error{plural} that could not be corrected: see the findings below."
    if fit.corrected:
        count = len(fit.corrected)
        yield f"{count} thing{'s were' if count > 1 else ' was'} corrected in the logs."


def sdf_snippet(fit: Fit) -> str:
    """The plugin block of Gazebo's wheel slip with these constants; empty where the law or the values do not allow it."""
    along, across = (fit.parameters.get(name) for name in ("c_long_per_n", "c_lat_per_n"))
    is_wheel_slip = fit.law.startswith("wheel_slip")
    if not is_wheel_slip or along is None or across is None or along.value is None or across.value is None:
        return ""
    wheels = fit.robot.wheels
    blocks = [
        f"  <wheel link_name={quoteattr(name.replace(' ', '_') + '_wheel')}>\n"
        f"    <slip_compliance_longitudinal>{along.value:.6g}</slip_compliance_longitudinal>\n"
        f"    <slip_compliance_lateral>{across.value:.6g}</slip_compliance_lateral>\n"
        f"    <wheel_normal_force>1</wheel_normal_force>\n"
        f"    <wheel_radius>{wheels.radius_m.value:g}</wheel_radius>\n"
        f"  </wheel>"
        for name in wheel_names(len(wheels.at_m.value))
    ]
    return "\n".join(['<plugin name="wheel_slip" filename="libWheelSlipPlugin.so">', *blocks, "</plugin>"])
