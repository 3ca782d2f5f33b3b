"""The published protocol [Trimble2022] beside the joint fit, and beside the truth where it is known."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from slipfit.calibration.fit import DriveFit, Fit
from slipfit.calibration.protocol import ProtocolResult, RunVerdict
from slipfit.logs.channels import POSE
from slipfit.report.calibration_figures import NINETY, Estimate, methods_figure
from slipfit.report.html import Panel
from slipfit.report.wording import number, percent, with_spread

C_LONG, C_LAT, RATIO = "c_long_per_n", "c_lat_per_n", "c_lat/c_long"

_METHODS = {"central": "central differences", "backward": "backward differences", "imu": "the IMU"}

#: Relative errors below this need no explanation.
WORTH_SAYING = 0.02

#: Sign of the error that each way makes (0: either), and its cause (docs/theory/wheel_slip_protocol).
_CAUSES = {
    "central": (-1.0, "noise of the differentiated pose inflates 1/(1 − a c m/n), which is convex, so the matched c falls"),
    "backward": (1.0, "backward differences lag behind the motion, and the lag reads as slip"),
    "imu": (0.0, "bias and noise of the accelerometer go into the distance as if they were motion"),
}


@dataclass(frozen=True, eq=False, slots=True)
class ProtocolSection:
    heads: list[str]
    rows: list[list[str]]
    sentences: list[str]
    panel: Panel | None
    runs: list[list[str]]


@dataclass(frozen=True, slots=True)
class _Said:
    """What one method says: value and standard deviation of each constant, and 90 % intervals where they are not Gaussian."""

    method: str
    kind: str  # fit, central, backward or imu
    c_long: tuple[float, float | None] | None
    ratio: tuple[float, float | None] | None
    c_lat: tuple[float, float | None] | None
    intervals_90: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def interval_90(self, name: str) -> tuple[float, float] | None:
        """The record's own interval where it has one, else the Gaussian's."""
        found = self.c_long if name == C_LONG else self.c_lat
        if name in self.intervals_90 or found is None or found[1] is None:
            return self.intervals_90.get(name)
        return found[0] - NINETY * found[1], found[0] + NINETY * found[1]

    def off(self, c_long: float | None) -> float | None:
        """How far c_long lies from another, relative to it."""
        return self.c_long[0] / c_long - 1.0 if self.c_long and c_long else None


def protocol_section(fit: Fit, truth: Mapping[str, float], others: Sequence[ProtocolResult]) -> ProtocolSection | None:
    """None where no drive had the protocol's tests."""
    done = [(d, d.protocol) for d in fit.drives if d.protocol]
    if not done and not others:
        return None
    several = len(fit.drives) > 1
    said = [_protocol_said(p, _label(p, d, several)) for d, p in done] + [
        _protocol_said(p, _label(p, None, several)) for p in others if all(_told(p) != _told(q) for _, q in done)
    ]
    everything = [_fit_said(fit), *said]
    reference = truth.get(C_LONG, everything[0].c_long[0] if everything[0].c_long else None)
    name = "truth" if C_LONG in truth else "joint fit"
    rows = [[s.method, _shown(s.c_long), _off(s.off(reference)), _shown(s.ratio), _shown(s.c_lat)] for s in everything]
    if truth:
        true_ratio = truth[C_LAT] / truth[C_LONG] if C_LAT in truth and truth.get(C_LONG) else None
        values = ["" if x is None else number(x) for x in (truth.get(C_LONG), true_ratio, truth.get(C_LAT))]
        rows.append(["truth", values[0], "", *values[1:]])
    heads = ["method", "c_long [1/N]", f"against the {name}", "c_lat / c_long", "c_lat [1/N]"]
    return ProtocolSection(heads, rows, list(_causes(said, reference, name)), _panel(everything, truth), list(_runs(done)))


def _told(result: ProtocolResult) -> tuple[str, float | None, float | None]:
    """By what a result is known again: the same numbers are not shown twice."""
    c_long, ratio = result.c_long_per_n, result.ratio
    return result.method, c_long.mean if c_long else None, ratio.mean if ratio else None


def _label(result: ProtocolResult, drive: DriveFit | None, several: bool) -> str:
    how = _METHODS.get(result.method, result.method)
    if drive and result.method != "imu" and POSE in drive.inspection.corrected:
        how += f", {drive.inspection.corrected[POSE].rate_hz:.0f} Hz"
    return f"published, {how}" + (f", {drive.name}" if drive and several else "")


def _off(off: float | None) -> str:
    return "" if off is None else f"{'+' if off > 0.0 else '−'}{percent(abs(off))}"


def _protocol_said(result: ProtocolResult, label: str) -> _Said:
    c_long = (result.c_long_per_n.mean, result.c_long_std_per_n) if result.c_long_per_n else None
    ratio = (result.ratio.mean, result.ratio.std_of_mean) if result.ratio else None
    c_lat = (result.c_lat_per_n, result.c_lat_std_per_n) if result.c_lat_per_n is not None else None
    return _Said(label, result.method, c_long, ratio, c_lat)


def _fit_said(fit: Fit) -> _Said:
    everything = {**fit.parameters, **fit.combinations}
    found = {name: (p.value, p.std) for name, p in everything.items() if p.value is not None}
    intervals = {name: p.interval_90 for name, p in fit.parameters.items() if p.interval_90 is not None}
    return _Said("joint fit (this report)", "fit", found.get(C_LONG), found.get(RATIO), found.get(C_LAT), intervals)


def _shown(found: tuple[float, float | None] | None) -> str:
    return "not found" if found is None else with_spread(*found)


def _causes(said: Sequence[_Said], reference: float | None, name: str) -> Iterator[str]:
    """Why the published method reads c_long wrong, once for each way of differentiating that does."""
    for kind, (sign, cause) in _CAUSES.items():
        offs = [off for s in said if s.kind == kind and (off := _surprising(s, reference)) and sign * off >= 0.0]
        if offs:
            worst = max(offs, key=abs)
            side = "above" if worst > 0.0 else "below"
            yield f"By {_METHODS[kind]} c_long comes out {percent(abs(worst))} {side} the {name}: {cause}."


def _surprising(said: _Said, reference: float | None) -> float | None:
    """The relative error of c_long where it is worth saying and beyond the method's own interval."""
    off = said.off(reference)
    if off is None or said.c_long is None or reference is None:
        return None
    own = NINETY * (said.c_long[1] or 0.0) / abs(reference)
    return off if abs(off) > max(WORTH_SAYING, own) else None


def _panel(everything: Sequence[_Said], truth: Mapping[str, float]) -> Panel | None:
    estimates = {
        name: [
            Estimate(s.method, found[0], s.interval_90(name))
            for s in everything
            if (found := s.c_long if name == C_LONG else s.c_lat)
        ]
        for name in (C_LONG, C_LAT)
    }
    shown = {name: found for name, found in estimates.items() if found}
    if not shown:
        return None
    caption = "Slip constants by method, with 90 % intervals where it has one; the published protocol's are from repeated runs."
    return Panel("methods", methods_figure(shown, truth), caption + (" The dashed green line is the truth." if truth else ""))


def _runs(done: Sequence[tuple[DriveFit, ProtocolResult]]) -> Iterator[list[str]]:
    for drive, result in done:
        for step in result.steps:
            found = (
                ""
                if step.result is None or step.result.c_long_per_n is None
                else f"c_long {number(step.result.c_long_per_n)} 1/N"
            )
            yield [drive.name, step.manoeuvre.summary(), found, _verdict(step.verdict)]
        for spin in result.spins:
            found = "" if spin.ratio is None else f"c_lat / c_long {number(spin.ratio)} at {spin.yaw_rate_radps:.4f} rad/s"
            yield [drive.name, spin.manoeuvre.summary(), found, _verdict(spin.verdict)]


def _verdict(verdict: RunVerdict) -> str:
    return verdict.value if verdict is RunVerdict.USED else f"rejected: {verdict.value}"
