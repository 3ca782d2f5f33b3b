"""What the witnesses of a drive say, one below the other: yaw rates, speeds, accelerations."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from slipfit.library import SkidSteerRobot
from slipfit.logs.inspection import Inspection
from slipfit.logs.inspection.signals import Sums, inertial_of, origin_ns, seen_of, wheels_of
from slipfit.report.figures import BLUE, GREEN, GREY, ORANGE, _tidy

#: Rates are means over this long, or over two periods of a slow sensor: what the eye can follow.
SPAN_S = 0.1


def draw_inspection(inspection: Inspection, robot: SkidSteerRobot) -> Figure:
    """The corrected log: what each sensor says about turning, going ahead and speeding up; gaps and wheel lift shaded."""
    log = inspection.corrected
    origin = origin_ns(log)
    wheels, inertial, seen = wheels_of(log, robot, origin), inertial_of(log, origin), seen_of(log, origin)
    figure = Figure(figsize=(11, 7.5), layout="constrained")
    turning, going, pushing = figure.subplots(3, 1, sharex=True)
    if wheels is not None:
        time_s, sides = _rates(wheels)
        turning.plot(time_s, (sides[:, 1] - sides[:, 0]) / robot.track_m, color=GREY, label="wheels, if nothing slipped")
        going.plot(time_s, sides.mean(axis=1), color=GREY, label="wheels")
        if len(time_s) > 3:
            pushing.plot(time_s, np.gradient(sides.mean(axis=1), time_s), color=GREY, label="wheels")
    if inertial is not None:
        time_s, rates = _rates(inertial)
        turning.plot(time_s, rates[:, 0], color=ORANGE, label="gyro")
        pushing.plot(time_s, rates[:, 1], color=ORANGE, label="accelerometer, ahead")
        pushing.plot(time_s, rates[:, 2], color=BLUE, linewidth=0.8, label="accelerometer, left")
    if seen is not None:
        time_s, rates = _rates(seen)
        turning.plot(time_s, rates[:, 0], color=GREEN, label="pose", linestyle="--")
        going.plot(time_s, rates[:, 1], color=GREEN, label="pose", linestyle="--")
    _tidy(turning, "", "yaw rate [rad/s]", _title(inspection))
    _tidy(going, "", "speed ahead [m/s]")
    _tidy(pushing, "time [s]", "acceleration [m/s²]")
    for axes in (turning, going, pushing):
        _shade(axes, inspection, [s for s in (wheels, inertial, seen) if s is not None])
        if axes.get_legend_handles_labels()[0]:
            axes.margins(y=0.12)  # room for the legend
            axes.legend(frameon=False, fontsize=8, ncols=3, loc="best")
    return figure


def _title(inspection: Inspection) -> str:
    done = "; ".join(inspection.corrections) or "nothing had to be corrected"
    name = inspection.log.source or inspection.log.about
    return f"{name}: {done}"[:120]


def _rates(sums: Sums) -> tuple[np.ndarray, np.ndarray]:
    """Middle of spans and mean rates of every column there; NaN where the sensor did not see."""
    edges = np.arange(sums.time_s[0], sums.time_s[-1], max(SPAN_S, 2.0 * sums.period_s))
    rates = np.diff(sums.at(edges), axis=0) / np.diff(edges)[:, None]
    rates[~sums.is_whole(edges)] = np.nan
    return 0.5 * (edges[1:] + edges[:-1]), rates


def _shade(axes: Any, inspection: Inspection, sensors: list[Sums]) -> None:
    for begin, end in inspection.lifted_s:
        axes.axvspan(begin - 0.02, end + 0.02, color=ORANGE, alpha=0.35, linewidth=0, label="_lift")
    for sums in sensors:
        for k in np.flatnonzero(np.diff(sums.torn_s) > 0.0)[:500]:
            axes.axvspan(sums.time_s[k], sums.time_s[k + 1], color=GREY, alpha=0.12, linewidth=0, label="_gap")
