"""Slip over time as a picture: ratios with 90 % bands, slip angle, velocities, probability of being stuck."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from slipfit.estimation.friction import FrictionEstimate
from slipfit.estimation.record import SlipEstimate
from slipfit.report.figures import BLUE, GREEN, GREY, ORANGE, _tidy

#: Bands reach this many standard deviations to either side: 90 %.
REACH = 1.645

_COLOURS = (BLUE, ORANGE, GREEN)


def draw_estimate(estimate: SlipEstimate, friction: FrictionEstimate | None = None) -> Figure:
    """Four rows that share their time axis, five with friction; where a slip is held its line is grey."""
    e = estimate
    rows = 5 if friction else 4
    figure = Figure(figsize=(11, 2.3 * rows), layout="constrained")
    figure.suptitle(f"slip of {e.robot}, {e.name[:90]}", fontsize=11, fontweight="bold")
    axes = figure.subplots(rows, 1, sharex=True)
    pair = (0, 1, 2) if e.is_omni else (0, 1)
    for k in pair:
        _draw(axes[0], e, k)
    axes[0].legend(frameon=False, fontsize=8, ncols=3)
    _tidy(axes[0], "", "slip ratio", "slip, 90 % bands; grey where it is held because nothing tells it")
    if e.is_omni:
        axes[1].plot(e.time_s, e.slip_velocity[:, 0], color=BLUE, label="ahead [m/s]")
        axes[1].plot(e.time_s, e.slip_velocity[:, 1], color=ORANGE, label="aside [m/s]")
        axes[1].legend(frameon=False, fontsize=8)
        _tidy(axes[1], "", "m/s", "slip velocity")
    else:
        _draw(axes[1], e, 2)
        _tidy(axes[1], "", "rad", "slip angle")
    for column, colour, name in zip(
        e.velocity.T, (BLUE, GREEN, ORANGE), ("ahead [m/s]", "left [m/s]", "yaw rate [rad/s]"), strict=True
    ):
        axes[2].plot(e.time_s, column, color=colour, linewidth=1.0, label=name)
    axes[2].legend(frameon=False, fontsize=8, ncols=3)
    _tidy(axes[2], "", "m/s, rad/s", "velocity of the body")
    axes[3].plot(e.time_s, e.stuck, color=ORANGE)
    for alarm in e.alarms_s:
        axes[3].axvline(alarm, color=BLUE, linestyle=":")
    axes[3].set_ylim(-0.05, 1.05)
    _tidy(axes[3], "", "probability", "stuck; dotted: alarms")
    if friction:
        _draw_friction(axes[4], friction)
    axes[-1].set_xlabel("time [s]")
    return figure


def _draw(axes: Any, e: SlipEstimate, k: int) -> None:
    colour, told = _COLOURS[k], e.is_told[:, k]
    value, reach = e.slip[:, k], REACH * np.where(told, e.slip_std[:, k], 0.0)
    axes.plot(e.time_s, np.where(told, np.nan, value), color=GREY, linewidth=1.0)
    axes.plot(e.time_s, np.where(told, value, np.nan), color=colour, linewidth=1.2, label=e.slip_names[k].replace("_", " "))
    axes.fill_between(e.time_s, value - reach, value + reach, where=told, color=colour, alpha=0.2, linewidth=0)


def _draw_friction(axes: Any, friction: FrictionEstimate) -> None:
    for k, (name, colour) in enumerate((("mu_rolling", BLUE), ("mu_lateral", ORANGE))):
        label: str | None = name.replace("mu_", "")
        for piece in friction.pieces:
            if piece.told[k]:
                low, high = piece.interval_90(name)
                axes.plot([piece.from_s, piece.to_s], [piece.values[k]] * 2, color=colour, label=label)
                axes.fill_between([piece.from_s, piece.to_s], low, high, color=colour, alpha=0.2, linewidth=0)
                label = None
    axes.legend(frameon=False, fontsize=8)
    _tidy(axes, "", "coefficient", "friction, 90 % intervals")
