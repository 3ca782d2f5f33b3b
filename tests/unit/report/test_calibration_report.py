"""The report says what the fit holds: every number, bound, finding and sentence, in one file that loads nothing."""

import json
import re
from dataclasses import replace
from html import unescape
from xml.etree import ElementTree

import numpy as np
import pytest

from slipfit.errors import ParameterError
from slipfit.logs.inspection import Finding, Severity
from slipfit.logs.inspection.record import NO_REMEDY
from slipfit.report.answer_wording import answers, bound_sentence, sdf_snippet, verdict
from slipfit.report.calibration_report import MOST_DRIVES, report_html, write_report
from slipfit.twin import FittedParameter, Status
from unit.report.fits import TRUTH, example_drive, example_fit, example_protocol

BOUND = FittedParameter(at_most=0.0006, status=Status.BOUND_ONLY, source="log 9f3c12")


@pytest.fixture(scope="module")
def fit():
    return example_fit()


@pytest.fixture(scope="module")
def html(fit):
    return report_html(fit, truth=TRUTH)


def markup(html):
    """The page without its scripts: what stands there before anything is drawn."""
    return re.sub(r"<script[^>]*>.*?</script>", "", html, flags=re.DOTALL)


def words(html):
    """What a reader reads."""
    text = re.sub(r"<style>.*?</style>", "", markup(html), flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", text)).split())


def figures(html):
    """Data of all figures, by name."""
    found = re.findall(r'<script type="application/json" data-for="([^"]+)">(.*?)</script>', html, flags=re.DOTALL)
    return {name: json.loads(text) for name, text in found}


def with_parameter(fit, name, parameter):
    return replace(fit, parameters={**fit.parameters, name: parameter}, covariance=None)


# --- the page -------------------------------------------------------------------------------------------------------


def test_sections_come_in_the_order_of_a_readers_questions(html):
    found = re.findall(r"<h[12]>(.*?)</h[12]>", markup(html))
    assert [unescape(title) for title in found] == [
        "p3at on lab_floor",
        "The answer",
        "Fit over data",
        "Residuals",
        "How sure, and what goes together",
        "Beside the published protocol [Trimble2022]",
        "Found along the way",
        "What was corrected, and what was found in the logs",
        "What these drives cannot tell",
        "How to drive better",
        "Repeatability between drives",
        "Provenance",
    ]


def test_everything_that_the_fit_says_is_there(html, fit):
    text = words(html)
    said = [*fit.identifiability, *fit.advice, *fit.notes, *fit.corrected]
    said += [f.found for d in fit.drives for f in d.inspection.findings]
    said += [n.about for d in fit.drives for n in d.nuisances]
    said += [d.name for d in fit.drives] + [d.digest for d in fit.drives]
    assert not [sentence for sentence in said if " ".join(sentence.split()) not in text]


def test_a_finding_shows_its_remedy_unless_it_was_corrected(html):
    text = words(html)
    assert "warning pose gap: 0.8 s without a pose at 31.2 s look at the network" in text
    assert "turns against the wheels (correlation -0.99) corrected" in text
    assert "mount it z up" not in text


def test_a_finding_that_needs_no_remedy_shows_a_dash(fit):
    drive = fit.drives[0]
    rate = Finding(Severity.INFO, "imu", "rate", "100 Hz", NO_REMEDY)
    drive = replace(drive, inspection=replace(drive.inspection, findings=(rate,)))
    assert "info imu rate: 100 Hz – " in words(report_html(replace(fit, drives=(drive,))))


def test_the_page_loads_nothing(html):
    """No address in any attribute, and the browser is told to refuse whatever a library might ask for."""
    assert not re.findall(r'(?:src|href|action|srcset)\s*=\s*["\']?\s*(?!#)[^"\'\s>]+', markup(html))
    assert not re.findall(r"@import|url\(", markup(html))
    assert "default-src 'none'" in unescape(html)
    assert html.count("plotly.js v") == 1


def test_text_of_users_is_escaped(fit):
    evil = '</script><script>alert("x")</script>'
    drives = tuple(replace(d, name=f"{evil}{k}") for k, d in enumerate(fit.drives))
    html = report_html(replace(fit, drives=drives, notes=(evil,)))
    assert "alert(" not in markup(html)[: markup(html).index("<body>")]
    assert evil not in html
    assert evil in words(html)


def test_a_long_log_stays_below_eight_megabytes():
    """Six drives of a minute and a half, four signals each, three of them at 100 Hz: more than the page has points for."""
    fit = example_fit(drives=6, duration_s=90.0)
    assert len(report_html(fit).encode()) < 8e6


def test_of_many_drives_those_that_fit_worst_are_drawn(fit):
    short = example_drive(0, 2.0)
    drives = tuple(replace(short, name=f"run_{k}", misfit=1.0 + 0.1 * k) for k in range(MOST_DRIVES + 2))
    html = report_html(replace(fit, drives=drives))
    drawn = re.findall(r"Measured and model, (run_\d+)\.</figcaption>", html)
    assert drawn == [f"run_{k}" for k in range(2, MOST_DRIVES + 2)]
    assert f"Of {MOST_DRIVES + 2} drives the {MOST_DRIVES} that fit worst are drawn." in words(html)


def test_it_is_written_once_and_only_as_html(fit, tmp_path):
    path = tmp_path / "report.html"
    write_report(fit, path)
    with pytest.raises(ParameterError, match="exists already"):
        write_report(fit, path)
    write_report(fit, path, force=True)
    with pytest.raises(ParameterError, match=r"ends in \.html"):
        write_report(fit, tmp_path / "report.pdf")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_a_fit_with_next_to_nothing_has_a_page_too(fit):
    """One drive without signals, posterior, protocol, nuisances, findings; bounds instead of values."""
    drive = fit.drives[0]
    bare = replace(
        drive,
        traces=(),
        nuisances=(),
        protocol=None,
        odometry_m=np.empty((0, 3)),
        inspection=replace(drive.inspection, findings=(), corrections=()),
    )
    unknown = FittedParameter(status=Status.NOT_EXCITED, source="log 9f3c12")
    html = report_html(
        replace(
            fit,
            drives=(bare,),
            parameters={"c_long_per_n": BOUND, "c_lat_per_n": unknown},
            combinations={},
            covariance=None,
            posterior={},
            repeatability={},
            identifiability=(),
            advice=(),
            notes=(),
        )
    )
    text = words(html)
    assert figures(html) == {}
    assert "These drives give bounds, but no value." in text
    assert "For Gazebo" not in text
    assert "Repeatability between drives" not in text
    assert "Nothing had to be corrected." in text


def test_residuals_that_are_not_finite_do_not_break_the_page(fit):
    """A sensor that failed half way: its NaN are left out, and JSON has no NaN."""
    drive = fit.drives[0]
    trace = drive.traces[0]
    half = np.where(trace.time_s < 30.0, trace.measured, np.nan)
    broken = replace(drive, traces=(replace(trace, measured=half),), covariance=np.full((2, 2), np.nan))
    html = report_html(replace(fit, drives=(broken, fit.drives[1])))
    assert "NaN" not in "".join(map(json.dumps, figures(html).values()))
    assert len(figures(html)["fit-1"]["data"]) == 2


def test_numbers_found_along_the_way_stand_side_by_side(html):
    """One row each, one column for each of the three drives."""
    text = words(html)
    assert "clock_offset [s] 0.03120 ± 0.00060 0.03120 ± 0.00060 0.03120 ± 0.00060 ± 0.1 IMU behind the encoders" in text
    assert "accel_bias_x [m/s²] 0.02140 ± 0.00090" in text


# --- the answer -----------------------------------------------------------------------------------------------------


def test_values_intervals_and_units_are_those_of_the_fit(fit):
    """Numbers as example_fit gives them, with two digits of the spread."""
    rows = {row.name: row for row in answers(fit)}
    assert (rows["c_long"].value, rows["c_long"].interval, rows["c_long"].unit) == (
        "0.00497 ± 0.00011",
        "0.00479 to 0.00515",
        "1/N",
    )
    assert (rows["c_lat"].value, rows["c_lat"].interval) == ("0.0501 ± 0.0013", "0.0480 to 0.0522")
    assert (rows["c_lat/c_long"].value, rows["c_lat/c_long"].unit) == ("10.080 ± 0.090", "")
    assert (rows["mass*c_long"].value, rows["mass*c_long"].unit) == ("0.0994 ± 0.0018", "kg/N")


def test_a_bound_is_a_sentence(fit):
    rows = {row.name: row for row in answers(fit)}
    assert rows["mu"].value == ""
    assert rows["mu"].bound == "mu is at least 0.29 (95 %). The ground grips at least this well."
    assert bound_sentence("c_long", BOUND, "1/N") == "c_long is at most 0.0006 1/N (95 %). The ground grips at least this well."


def test_the_verdict_speaks_of_what_is_known_and_what_is_not(fit):
    """0.00011 / 0.00497 = 2.2 %, 0.0013 / 0.0501 = 2.6 %."""
    said = verdict(fit)
    assert (said.level, said.lead) == ("caution", "Known: c_long to 2.2 % and c_lat to 2.6 %; mu stays open.")
    mu = FittedParameter(value=0.61, std=0.02, interval_90=(0.577, 0.643), status=Status.CONVERGED, source="pull test")
    assert verdict(with_parameter(fit, "mu", mu)).level == "good"


@pytest.mark.parametrize(("misfit", "level"), [(1.04, "good"), (1.6, "caution"), (3.0, "doubt")])
def test_the_worst_drives_misfit_rules_the_verdict(fit, misfit, level):
    known = {name: p for name, p in fit.parameters.items() if p.value is not None}
    drives = (fit.drives[0], replace(fit.drives[1], misfit=misfit))
    assert verdict(replace(fit, parameters=known, drives=drives)).level == level


def test_an_error_that_stayed_in_the_log_puts_the_result_in_doubt(fit):
    drive = fit.drives[0]
    finding = Finding(Severity.ERROR, "imu", "frozen", "the same value for 20 s", "check the cable")
    drive = replace(drive, inspection=replace(drive.inspection, findings=(finding,)))
    said = verdict(replace(fit, drives=(drive,)))
    assert said.level == "doubt"
    assert "The inspection found 1 error that could not be corrected: see the findings below." in said.lines


def test_the_snippet_is_what_gazebo_reads(fit):
    """ENGINES: elements of the wheel slip plugin; wheel_normal_force 1 makes compliance equal c; the P3AT's radius is 0.11 m."""
    plugin = ElementTree.fromstring(sdf_snippet(fit))
    wheels = plugin.findall("wheel")
    assert [w.get("link_name") for w in wheels] == [
        f"{place}_wheel" for place in ("front_left", "front_right", "rear_left", "rear_right")
    ]
    for wheel in wheels:
        assert {child.tag: float(child.text) for child in wheel} == {
            "slip_compliance_longitudinal": 0.00497,
            "slip_compliance_lateral": 0.0501,
            "wheel_normal_force": 1.0,
            "wheel_radius": 0.11,
        }


def test_no_snippet_without_both_values(fit):
    assert sdf_snippet(with_parameter(fit, "c_long_per_n", BOUND)) == ""
    assert sdf_snippet(replace(fit, law="coulomb_viscous")) == ""


# --- document 000 beside it -----------------------------------------------------------------------------------------


def test_the_differentiation_error_of_document_000_stands_beside_the_truth(html):
    """SPEC section 1: .0039 by 20 Hz central differences with 5 mm of noise where .005 is true, 22 % low, by Jensen."""
    text = words(html)
    assert "joint fit (this report) 0.00497 ± 0.00011 −0.6 % 10.080 ± 0.090 0.0501 ± 0.0013" in text
    assert "published, central differences, 20 Hz, yard_run_01.mcap 0.00390 ± 0.00023 −22 % 9.960 ± 0.035" in text
    assert "By central differences c_long comes out 22 % below the truth: noise" in text
    assert "rejected: wheels left the ground; accelerate more gently" in text


def test_an_error_within_the_methods_own_spread_is_not_explained(fit):
    """.0048 with .0012 from run to run is 4 % low by chance as much as by noise of the pose."""
    found = example_protocol()
    near = replace(found, c_long_per_n=replace(found.c_long_per_n, mean=0.0048, repeatability=0.0012))
    text = words(report_html(replace(fit, drives=(replace(fit.drives[0], protocol=near),)), truth=TRUTH))
    assert "−4.0 %" in text
    assert "convex" not in text


def test_without_the_truth_it_is_compared_with_the_fit(fit):
    """.0039 / .00497 - 1 = -21.5 %."""
    text = words(report_html(fit))
    assert "against the joint fit" in text
    assert "−22 %" in text
    assert "below the truth" not in text


def test_further_results_of_the_protocol_can_be_shown(fit):
    """ENGINES: the IMU taken at its word reads .0011 where .005 is true, 78 % low."""
    found = example_protocol()
    other = replace(found, method="imu", c_long_per_n=replace(found.c_long_per_n, mean=0.0011))
    text = words(report_html(replace(fit, drives=fit.drives[:1]), truth=TRUTH, protocols=[other]))
    assert "published, the IMU 0.00110 ±" in text
    assert "By the IMU c_long comes out 78 % below the truth: bias and noise" in text


def test_the_same_result_of_the_protocol_is_shown_once(fit):
    one = replace(fit, drives=fit.drives[:1])
    twice = report_html(one, truth=TRUTH, protocols=[example_protocol()])
    assert words(twice).count("published, ") == words(report_html(one, truth=TRUTH)).count("published, ")


def test_the_truth_is_drawn_where_it_is_known(html):
    """A rule at .005 in c_long's panel, and at .05 in c_lat's."""
    shapes = figures(html)["methods"]["layout"]["shapes"]
    assert [shape["x0"] for shape in shapes] == [0.005, 0.05]
