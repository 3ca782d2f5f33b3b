"""How fast tracks turn a robot: measured yaw rates against those that three models predict."""

import numpy as np
from matplotlib.figure import Figure

from slipfit.calibration.track_slip import TrackComparison, TrackPredictions
from slipfit.report.figures import BLUE, GREEN, GREY, ORANGE, _tidy

_COLOURS = {"ideal": ORANGE, "constant track": BLUE, "per-track slip": GREEN}


def draw_tracks(comparison: TrackComparison, predicted: TrackPredictions) -> Figure:
    """One pair of axes for each model; on the line both are equal."""
    figure = Figure(figsize=(11.0, 4.0), layout="constrained")
    measured = predicted.measured[:, 1]
    ends = np.array([measured.min(), measured.max()])
    for axes, (model, told) in zip(figure.subplots(1, 3, sharex=True, sharey=True), predicted.by_model.items(), strict=True):
        axes.plot(ends, ends, color=GREY, linewidth=1.0)
        axes.plot(measured, told[:, 1], ".", color=_COLOURS[model], markersize=4.5, alpha=0.6)
        error = 1e3 * comparison[model].yaw_rate_radps
        _tidy(axes, "measured yaw rate [rad/s]", "predicted yaw rate [rad/s]", f"{model}: RMS error {error:.3g} mrad/s")
    return figure
