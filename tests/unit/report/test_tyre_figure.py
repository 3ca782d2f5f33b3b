"""Pictures of friction curves: what is handed to them."""

import sys
from pathlib import Path

import numpy as np
import pytest

from slipfit.calibration.tyre import fit_tyre
from slipfit.contact import CURVES, LAWS
from slipfit.report.tyre_figure import draw_law_comparison, draw_tyre_fit

sys.path.insert(0, str(Path(__file__).parents[1] / "calibration" / "tyre"))
from made_up_forces import forces


def test_the_families_are_compared_with_one_peak():
    """Document 003's figure 5: five curves over slip, here with the peak .8 at slip .2."""
    figure = draw_law_comparison()
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("resultant slip S [-]", "friction coefficient mu [-]")
    assert [line.get_label() for line in axes.lines] == list(CURVES)
    for line in axes.lines:
        slip, mu = line.get_xdata(), line.get_ydata()
        assert (slip[mu.argmax()], mu.max()) == (pytest.approx(0.2, abs=0.003), pytest.approx(0.8, abs=1e-4))


def test_every_law_is_drawn_below():
    shown = [axes.get_title("left") for axes in draw_law_comparison().axes[1:] if axes.get_visible()]
    assert shown == list(LAWS)


def test_a_fit_is_drawn_with_its_band_its_forces_and_its_errors():
    data = forces("dugoff", LAWS["dugoff"].example, np.linspace(-0.5, 0.5, 11), angles_rad=(0.0, 0.1))
    fit = fit_tyre(data, ["dugoff"])
    curve, errors, along, across = draw_tyre_fit(fit, data).axes
    assert curve.lines[-1].get_ydata() == pytest.approx(fit.friction)
    assert curve.lines[0].get_xdata() == pytest.approx(data.resultant_slip)
    assert [label.get_text() for label in errors.get_yticklabels()] == sorted(
        ["dugoff", "flexible"], key=lambda name: -next(c for c in fit.candidates if c.name == name).total_n
    )
    assert along.lines[1].get_xdata() == pytest.approx(data.along_n)
    assert (along.get_xlabel(), across.get_xlabel()) == ("measured force along [N]", "measured force across [N]")
