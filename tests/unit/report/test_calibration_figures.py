"""Figures show the records' own numbers, few enough points, and are what Plotly understands."""

from base64 import b64decode
from dataclasses import replace

import numpy as np
import pytest

from slipfit.report.calibration_figures import (
    Estimate,
    fit_figure,
    methods_figure,
    pairs_figure,
    path_figure,
    repeatability_figure,
    residual_figure,
    whiteness_figure,
)
from slipfit.report.decimate import envelope, unused_spans
from slipfit.report.protocol_section import protocol_section
from slipfit.report.wording import listed, motion, number, percent, short, unit_of, with_spread, with_unit
from unit.report.fits import NAMES, TRUTH, example_drive, example_fit

FULL_TRUTH = {"c_long_per_n": TRUTH["c_long"], "c_lat_per_n": TRUTH["c_lat"]}


@pytest.fixture(scope="module")
def drive():
    return example_drive(0, 20.0)


def array(entry):
    """What the page's script unpacks."""
    return np.frombuffer(b64decode(entry["bdata"]), "<f4")


def titles(figure):
    return [note["text"] for note in figure["layout"]["annotations"]]


def all_figures(drive):
    fit = example_fit(drives=3, duration_s=5.0)
    return {
        "fit": fit_figure(drive),
        "residuals": residual_figure(drive),
        "whiteness": whiteness_figure(drive),
        "path": path_figure(drive),
        "pairs": pairs_figure(fit.posterior, FULL_TRUTH),
        "repeats": repeatability_figure(fit, NAMES),
        "methods": methods_figure({"c_long_per_n": [Estimate("a", 1.0, (0.9, 1.2)), Estimate("b", 2.0)]}, FULL_TRUTH),
    }


def test_plotly_knows_every_entry(drive):
    """Its own classes refuse unknown names and values that do not fit."""
    from plotly.graph_objects import Figure

    for name, figure in all_figures(drive).items():
        assert len(Figure(figure).data) == len(figure["data"]) >= 1, name


def test_measured_and_model_share_a_row_for_each_signal(drive):
    figure = fit_figure(drive)
    assert titles(figure)[0] == "accel_x: acceleration ahead"
    assert [t["name"] for t in figure["data"]] == ["measured", "model"] * 4
    assert figure["layout"]["yaxis"]["title"]["text"] == "m/s²"
    assert figure["layout"]["xaxis4"]["title"]["text"] == "time [s]"
    assert {figure["layout"][f"xaxis{k}"]["matches"] for k in (2, 3, 4)} == {"x"}
    for k, trace in enumerate(drive.traces):
        for values, shown in ((trace.measured, figure["data"][2 * k]), (trace.predicted, figure["data"][2 * k + 1])):
            assert array(shown["x"]) == pytest.approx(trace.time_s, abs=1e-5)  # single precision of 20 s
            assert array(shown["y"]) == pytest.approx(values, rel=1e-6, abs=1e-7)


def test_unused_stretches_are_shaded(drive):
    """`example_drive` leaves out what lies between 50 and 53 % of each signal; samples come every 10 or 50 ms."""
    shapes = fit_figure(drive)["layout"]["shapes"]
    assert [s["xref"] for s in shapes] == ["x", "x2", "x3", "x4"]
    for shape in shapes:
        assert (shape["x0"], shape["x1"]) == pytest.approx((10.0, 10.6), abs=0.06)


def test_residuals_are_measured_minus_model_with_twice_the_noise(drive):
    figure = residual_figure(drive)
    assert array(figure["data"][0]["y"]) == pytest.approx(drive.traces[0].measured - drive.traces[0].predicted, abs=1e-6)
    lines = [s["y0"] for s in figure["layout"]["shapes"] if s["type"] == "line" and s["yref"] == "y"]
    assert lines == [-0.1, 0.1]


def test_what_was_not_used_does_not_flatten_the_rest(drive):
    """A bump of 50 m/s² while the drive is not used: the row's height stays that of the noise of .05."""
    trace = drive.traces[0]
    bumped = replace(trace, measured=np.where(trace.weight == 0.0, 50.0, trace.measured))
    low, high = residual_figure(replace(drive, traces=(bumped,)))["layout"]["yaxis"]["range"]
    assert 0.15 < high < 0.4
    assert low == -high


def test_autocorrelation_has_the_band_of_white_noise(drive):
    """± 2 / sqrt(n), n = 2000; a first-order memory of 0.6 has autocorrelation 0.6 at lag 1 and 0.36 at lag 2."""
    figure = whiteness_figure(drive)
    band = next(s for s in figure["layout"]["shapes"] if s["yref"] == "y2")
    assert (band["y0"], band["y1"]) == pytest.approx((-2.0 / np.sqrt(2000), 2.0 / np.sqrt(2000)))
    memories = {t["yaxis"]: array(t["y"]) for t in figure["data"] if t["name"] == "autocorrelation"}
    assert np.abs(memories["y2"]).mean() < 2.0 / np.sqrt(2000)
    assert memories["y4"][:2] == pytest.approx([0.6, 0.36], abs=4.0 / np.sqrt(2000))


def test_histograms_have_the_area_of_the_gaussian_beside_them(drive):
    """Both are densities: area 1."""
    bars, line = whiteness_figure(drive)["data"][:2]
    step = np.diff(array(bars["x"])[:2])[0]
    assert array(bars["y"]).sum() * step == pytest.approx(1.0, rel=1e-5)
    assert np.trapezoid(array(line["y"]), array(line["x"])) == pytest.approx(1.0, abs=1e-3)


def test_pairs_show_the_constants_that_vary_slip_first():
    """Mass was known exactly in this one: nothing to draw. Three constants make three histograms and three clouds."""
    draws = np.random.default_rng(1).normal(size=(4000, 3))
    posterior = {"mass_kg": draws[:, 0], "mu": draws[:, 1], "c_long_per_n": draws[:, 2]}
    figure = pairs_figure(posterior, {"mu": 0.5})
    assert [t["type"] for t in figure["data"]] == ["bar", "scatter", "bar", "scatter", "scatter", "bar"]
    bottom = [figure["layout"][f"xaxis{k}"]["title"]["text"] for k in (4, 5, 6)]
    assert bottom == ["c_long [1/N]", "mu", "mass [kg]"]
    assert len(array(figure["data"][1]["x"])) <= 2000
    assert pairs_figure({"mass_kg": np.full(100, 20.0)}, {}) is None
    assert len(pairs_figure(posterior | {"mass_kg": np.full(4000, 20.0)}, {})["data"]) == 3


def test_repeatability_shows_ninety_per_cent_of_each_drive():
    """Of a short drive 8 blocks tell the spread: Student's table has 1.895 for 95 % and 7 degrees of freedom. The pooled interval
    is the band."""
    fit = example_fit(drives=3, duration_s=2.0)
    figure = repeatability_figure(fit, NAMES)
    dots = figure["data"][0]
    assert array(dots["y"]) == pytest.approx([d.values[0] for d in fit.drives], rel=1e-6)
    assert dots["error_y"]["array"] == pytest.approx([1.895 * np.sqrt(3.6e-8)] * 3, rel=1e-3)
    band = next(s for s in figure["layout"]["shapes"] if s["type"] == "rect")
    assert (band["y0"], band["y1"]) == (0.00479, 0.00515)


def test_methods_are_drawn_with_the_intervals_of_the_records():
    """Not with the Gaussian's of their deviation: 0.0011 below and 0.0019 above stay so."""
    found = [Estimate("joint fit", 0.005, (0.0039, 0.0069)), Estimate("other", 0.006)]
    bars = methods_figure({"c_long_per_n": found}, {})["data"][0]["error_x"]
    assert bars["arrayminus"] == pytest.approx([0.0011, 0.0])
    assert bars["array"] == pytest.approx([0.0019, 0.0])
    section = protocol_section(example_fit(drives=1, duration_s=5.0), {}, ())
    bars = section.panel.figure["data"][0]["error_x"]  # of the fit: 0.00497 within (0.00479, 0.00515)
    assert (bars["arrayminus"][0], bars["array"][0]) == pytest.approx((0.00018, 0.00018))


def test_labels_of_methods_have_room_for_their_lines():
    """A line of 12 px type takes some 15 px; the labels of six drives with long names stand one above the other."""
    long = [Estimate(f"published, central differences, 20 Hz, 2026-11-16_yard_run_with_payload_{k}.mcap", 1.0) for k in range(6)]
    figure = methods_figure({"c_long_per_n": long}, {})
    low, high = figure["layout"]["yaxis"]["domain"]
    drawn_px = (high - low) * (figure["layout"]["height"] - sum(figure["layout"]["margin"][side] for side in "tb"))
    lines = sum(label.count("<br>") + 1 for label in figure["data"][0]["y"])
    assert drawn_px >= 15 * lines


def test_labels_of_a_closed_path_do_not_lie_over_each_other(drive):
    open_path = np.column_stack([np.arange(50.0), np.linspace(0.0, 3.0, 50), np.zeros(50)])
    turn = np.linspace(0.0, 6.2, 50)
    closed = np.column_stack([np.arange(50.0), np.cos(turn), np.sin(turn)])
    labels = [path_figure(replace(drive, odometry_m=path))["data"][1]["text"] for path in (open_path, closed)]
    assert labels == [["start", "end"], ["", "start and end"]]


def test_names_of_users_are_not_markup():
    fit = example_fit(drives=2, duration_s=2.0)
    fit = replace(fit, drives=tuple(replace(d, name=f"<b>{k}</b>") for k, d in enumerate(fit.drives)))
    assert repeatability_figure(fit, NAMES)["data"][0]["x"] == ["&lt;b&gt;0&lt;/b&gt;", "&lt;b&gt;1&lt;/b&gt;"]


# --- few points that look the same ----------------------------------------------------------------------------------


def test_a_long_signal_keeps_its_spikes_and_its_ends():
    """A spike of one sample in a hundred thousand would vanish if every twenty-fifth were taken."""
    time_s = np.arange(100_000) / 1000.0
    values = np.sin(time_s)
    values[[31_337, 70_001]] = 9.0, -9.0
    x, y = envelope(time_s, values, 4000)
    assert len(x) <= 4002
    assert (y.max(), y.min()) == (9.0, -9.0)
    assert (x[0], x[-1]) == pytest.approx((0.0, time_s[-1]))
    assert (np.diff(x) > 0.0).all()
    assert np.interp(50.0, x, y) == pytest.approx(np.sin(50.0), abs=0.05)  # a bin is 50 ms long


def test_lines_break_where_the_sensor_paused():
    time_s = np.concatenate([np.arange(100), np.arange(200, 300)]) / 10.0
    x, y = envelope(time_s, np.ones(200))
    assert np.flatnonzero(np.isnan(y)).tolist() == [100]
    x, y = envelope(time_s, np.ones(200), most=40)
    assert np.isnan(y).sum() == 1
    before, after = x[: np.flatnonzero(np.isnan(y))[0]], x[np.flatnonzero(np.isnan(y))[0] + 1 :]
    assert before.max() < 10.0 < 20.0 <= after.min()


def test_short_and_empty_signals_pass():
    assert [len(part) for part in envelope(np.empty(0), np.empty(0))] == [0, 0]
    assert [part.tolist() for part in envelope(np.array([1.0]), np.array([2.0]))] == [[1.0], [2.0]]
    assert [len(part) for part in envelope(np.array([1.0, 2.0]), np.array([np.nan, np.nan]))] == [0, 0]


def test_unused_stretches_that_nearly_touch_are_one():
    time_s = np.arange(1000.0)
    weight = np.ones(1000)
    weight[100:200] = weight[201:300] = weight[600:700] = 0.0
    weight[-1] = 0.2
    assert unused_spans(time_s, weight) == [(100.0, 300.0), (600.0, 700.0), (999.0, 999.0)]
    assert unused_spans(np.empty(0), np.empty(0)) == []


# --- words ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "std", "shown"),
    [
        (0.00497, 0.00011, "0.00497 ± 0.00011"),
        (20.03, 0.19, "20.03 ± 0.19"),
        (1234.5, 67.0, "1234 ± 67"),
        (0.0, 0.0009, "0.00000 ± 0.00090"),
        (0.61, None, "0.61"),
        (float("nan"), None, "unknown"),
    ],
)
def test_a_number_has_two_digits_of_its_spread(value, std, shown):
    assert with_spread(value, std) == shown


def test_odd_spreads_do_not_stop_a_page():
    assert number(1.5, float("inf")) == "1.5"
    assert number(1.5, 0.0) == "1.5"
    assert number(1.5e-12, 1e-13) == "1.5e-12"


def test_units_come_out_of_names():
    assert [unit_of(n) for n in ("c_long_per_n", "accel_x_mps2", "gyro_z_radps", "mass_kg", "mu")] == [
        "1/N",
        "m/s²",
        "rad/s",
        "kg",
        "",
    ]
    assert (short("c_long_per_n"), with_unit("pose_x_m"), with_unit("mu")) == ("c_long", "pose_x [m]", "mu")
    assert motion((-0.001, 1.004), (-0.5, 0.25)) == "0.00 to 1.00 m/s and -0.50 to 0.25 rad/s"
    assert [percent(p) for p in (0.022, 0.215, 0.0004, 1.4)] == ["2.2 %", "22 %", "0.04 %", "140 %"]
    assert [listed(w) for w in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
