"""A twin as constants for a driver of Roboteq AX controllers: setpoints per m/s and rad/s, counts per metre, limits.

    left, right = g (v -+ omega E / 2),    channel 1 = (left + right) / 2,    channel 2 = (right - left) / 2

so that with gains g_l and g_r and a = E / 2

    channel 1 = (g_r + g_l) / 2 v + a (g_r - g_l) / 2 omega,    channel 2 = (g_r - g_l) / 2 v + a (g_r + g_l) / 2 omega.

Symbols    g setpoint per m/s of a side · E effective track
Reference  [Haas2009] eq. (2) and section 3; gains of their own for left and right derived above
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from slipfit.control import Rounding, Scale
from slipfit.errors import ExportError, ParameterError
from slipfit.exporters.ledger import Entry, Ledger, heading, ledger
from slipfit.exporters.origin import origin
from slipfit.exporters.record import Export, Settings
from slipfit.twin import FittedParameter, Side, SkidSteerTwin

TARGET = "roboteq"
ABOUT = "constants for a driver of Roboteq AX controllers"

_NORMAL_90 = 1.645  # standard deviations on either side that hold 90 %

#: The serial port of a Roboteq AX as it is usually set, and its watchdog, [RoboteqAX3500] p. 142.
_PORT = ("  baud: 9600", '  framing: "7E1"', "  watchdog_s: 1.0  # the motors stop after this long without a character")

#: Of a side, as the twin names them: what a driver may want to know beside the gains.
_DYNAMICS = ("dead_band_setpoint", "saturation_radps", "lag_s", "second_lag_s", "delay_s")


@dataclass(frozen=True, slots=True)
class _Number:
    """A number of the file with its relative standard deviation, where the twin tells one."""

    value: float
    relative_std: float | None

    def row(self, key: str, unit: str) -> str:
        if self.relative_std is None:
            return f"{key}: {self.value:.8g}  # {unit}, the twin has no spread"
        reach = _NORMAL_90 * self.relative_std * abs(self.value)
        return f"{key}: {self.value:.8g}  # {unit}, 90 %: {self.value - reach:.6g} to {self.value + reach:.6g}"


def export_roboteq(twin: SkidSteerTwin, ground: str | None = None, settings: Settings | None = None) -> Export:
    """The YAML file; intervals stand as comments beside the numbers."""
    name = twin.ground_name(ground)
    try:
        scale = Scale.of(twin, name)
    except ParameterError as error:
        raise ExportError(str(error)) from None
    book = _entries(twin, scale)
    low, high = scale.limits
    rows = [
        *(f"# {line}".rstrip() for line in heading(origin(twin, name, ABOUT), book)),
        "roboteq:",
        *_PORT,
        "  mode: mixed  # channel 1 translation, channel 2 rotation; counter-clockwise is positive",
        f"  setpoint_limits: [{low:g}, {high:g}]  # of a side; beyond, both sides are shifted and their difference is kept",
        f"  rounding: {Rounding.HALF_EVEN.value}  # to whole setpoints, a half to the even one",
        f"  {_track(twin, scale).row('effective_track_m', 'm')}",
        *_channels(twin, scale),
        *(f"  {row}" for side in ("left", "right") for row in _side(twin, scale, side)),
    ]
    text = "\n".join(rows) + "\n"
    return Export(TARGET, twin.robot.name, name, ".yaml", text.encode("ascii", "replace").decode("ascii"), book)


def _channels(twin: SkidSteerTwin, scale: Scale) -> Iterator[str]:
    """What each channel is told for 1 m/s and for 1 rad/s; a difference between the sides couples them."""
    left, right = (_gain(twin, scale, side) for side in ("left", "right"))
    track = _track(twin, scale)
    mean, half = 0.5 * (right.value + left.value), 0.5 * (right.value - left.value)
    has_spread = left.relative_std is not None and right.relative_std is not None
    gain = _Number(mean, _mean_spread(twin, left.value, right.value) / mean if has_spread else None)
    turn = _Number(
        0.5 * track.value * mean,
        _hypot(gain.relative_std, track.relative_std) if has_spread and track.relative_std is not None else None,
    )
    yield "  channel_1:"
    yield f"    {gain.row('per_mps', 'setpoint for 1 m/s ahead')}"
    yield f"    per_radps: {0.5 * track.value * half:.8g}  # left and right differ by this much"
    yield "  channel_2:"
    yield f"    per_mps: {half:.8g}"
    yield f"    {turn.row('per_radps', 'setpoint for 1 rad/s to the left')}"


def _mean_spread(twin: SkidSteerTwin, left: float, right: float) -> float:
    """Standard deviation of the mean gain: speeds were timed side by side, tape or diameter are one error of both radii."""
    assert twin.powertrain
    sides = ((twin.powertrain.left, left), (twin.powertrain.right, right))
    own = [gain * (_relative(side.setpoint_per_radps) or 0.0) for side, gain in sides if side.setpoint_per_radps]
    shared = [gain * (_of_radius(twin, side) or 0.0) for side, gain in sides]
    return 0.5 * _hypot(_hypot(*own), sum(shared))


def _side(twin: SkidSteerTwin, scale: Scale, side: str) -> Iterator[str]:
    assert twin.powertrain
    constants = getattr(twin.powertrain, side)
    yield f"{side}:"
    yield f"  {_gain(twin, scale, side).row('setpoint_per_mps', 'of the rim')}"
    counted = constants.metres_per_count
    if counted is not None and counted.value:
        yield f"  {_Number(1.0 / counted.value, _relative(counted)).row('counts_per_metre', 'rolled')}"
    for key in _DYNAMICS:
        found = getattr(constants, key)
        if found is not None and found.value is not None:
            yield f"  {key}: {found.value:.8g}  # {found.text().replace('±', '+-')}"


def _gain(twin: SkidSteerTwin, scale: Scale, side: str) -> _Number:
    """Setpoint per m/s: per rad/s of the wheel over its radius, whose spread is that of metres per count."""
    assert twin.powertrain
    constants = getattr(twin.powertrain, side)
    told = _relative(constants.setpoint_per_radps)
    known = scale.left if side == "left" else scale.right
    return _Number(known.setpoint_per_mps, None if told is None else _hypot(told, _of_radius(twin, constants)))


def _of_radius(twin: SkidSteerTwin, side: Side) -> float | None:
    """Relative standard deviation of a side's radius."""
    radius = twin.robot.wheels.radius_m
    return _relative(side.metres_per_count) if side.metres_per_count is not None else (radius.std or 0.0) / radius.value


def _track(twin: SkidSteerTwin, scale: Scale) -> _Number:
    found = twin.powertrain.effective_track_m if twin.powertrain else None
    is_told = found is not None and found.value is not None
    return _Number(scale.effective_track_m, _relative(found) if found is not None and is_told else None)


def _relative(p: FittedParameter) -> float | None:
    """Relative standard deviation, from the spread or the interval."""
    if not p.value:
        return None
    if p.std:
        return p.std / abs(p.value)
    if p.interval_90 is not None:
        return 0.5 * (p.interval_90[1] - p.interval_90[0]) / _NORMAL_90 / abs(p.value)
    return None


def _hypot(*parts: float | None) -> float:
    return math.hypot(*(part or 0.0 for part in parts))


def _entries(twin: SkidSteerTwin, scale: Scale) -> Ledger:
    assert twin.powertrain
    sides = {"left": twin.powertrain.left, "right": twin.powertrain.right}
    silent = [name for name, side in sides.items() if side.metres_per_count is None or not side.metres_per_count.value]
    late = any(side.value("lag_s", 0.0) or side.value("delay_s", 0.0) for side in sides.values())
    own_track = scale.track_source.startswith("powertrain")
    coarse = 0.5 / min(side.setpoint_per_mps for side in (scale.left, scale.right))
    return ledger(
        Entry(
            "slip",
            "the controller has none; the effective track stands for it, on this floor and in slow turns",
            "calibrate and export anew for another floor or load",
        ),
        Entry(
            "whole setpoints",
            f"a side is told to within {1000.0 * coarse:.2g} mm/s: slow circles get another radius",
            "slipfit drive --dry-run tells how far; --rounding dither or best_pair",
        ),
        None if own_track else Entry("effective track", f"from {scale.track_source.replace('²', '^2')}", "fit it from a log"),
        Entry("counts per metre", f"the twin has none for {' and '.join(silent)}", "mark a turn of the wheel and count")
        if silent
        else None,
        Entry("lag and delay", "written for the driver's use; the controller does not make up for them") if late else None,
    )
