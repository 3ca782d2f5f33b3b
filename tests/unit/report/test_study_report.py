"""The page of a study begins with its answer in sentences."""

import re
from colorsys import rgb_to_hsv
from dataclasses import replace
from importlib.resources import files

import pytest

from slipfit.report.study_figures import _ENDS, draw_study
from slipfit.report.study_report import headlines, study_page
from slipfit.study import prepare, run_study
from slipfit.study.result import number_text
from studies import CURVE, study


@pytest.fixture(scope="module")
def along_heights(tmp_path_factory):
    prepared = prepare(study(CURVE, stop={"runs": 3600}, sensitivity={"base_runs": 64}))
    return prepared, run_study(prepared, tmp_path_factory.mktemp("study") / "s")


def test_the_height_of_even_chances_is_told_first(along_heights):
    """SPEC 5: the largest step for a friction of .6, the mean, is 120.2 mm; 200 runs a point and a probit tell it to 3 mm."""
    _, answer = along_heights
    lines = headlines(answer)
    (height,) = re.findall(r"0\.5 at (\d\.\d+)", lines[0])
    assert float(height) == pytest.approx(0.1202, abs=0.003)
    assert "what decides most is curb.height_m" in lines[1]
    assert lines[2].startswith("most failures: ")


def test_points_that_do_not_tell_the_slope_give_no_interval(along_heights):
    """12 of 20, then 9 and 11 in turn: any slope is chance, and so is where P is 0.5. JSON knows no infinity."""
    _, answer = along_heights
    successes = [12, *([9, 11] * len(answer.points))]
    points = [replace(p, runs=20, successes=k, probability=k / 20) for p, k in zip(answer.points, successes, strict=False)]
    flat = replace(answer, points=tuple(points))
    assert "(no interval: the points do not tell the slope" in headlines(flat)[0]
    assert "(no interval: the points do not tell the slope, probit)" in flat.summary()
    assert flat.to_document()["curves"][0]["probit"]["where"]["0.5"][1:] == [None, None]


def test_the_page_shows_sentences_before_numbers(along_heights):
    prepared, answer = along_heights
    page = study_page(answer, prepared)
    assert page.index("P(climbed) is 0.9 at") < page.index("Sobol indices of curb.height_m")


def test_titles_of_the_picture_lie_within_it(along_heights):
    """As Matplotlib lays it out, with names of inputs as long as they come: `centre_of_mass_height_m` and longer."""
    _, answer = along_heights
    long = tuple(replace(swing, name=f"{swing.name}_{'x' * 12}") for swing in answer.tornado)
    for changed in (answer, replace(answer, indices=(), tornado=long)):
        figure = draw_study(changed)
        figure.draw_without_rendering()
        for axes in figure.axes:
            title = axes._left_title.get_window_extent()
            assert axes._left_title.get_text()
            assert title.x1 < figure.bbox.x1


def test_ways_to_end_have_colours_that_differ():
    """Greys beside each other are one colour to the eye: the first four ends have hues, on white and on black pages."""
    style = (files("slipfit.report") / "templates" / "page.css").read_text(encoding="utf-8")
    for name in ("blue", "orange", "purple", "yellow"):
        for colour in re.findall(rf"--{name}: #(\w{{6}})", style):
            r, g, b = (int(colour[k : k + 2], 16) / 255 for k in (0, 2, 4))
            assert rgb_to_hsv(r, g, b)[1] > 0.35
    assert _ENDS[:4] == tuple(f"var(--{name})" for name in ("blue", "orange", "purple", "yellow"))


def test_ways_to_fail_are_columns_and_inputs_rows(along_heights):
    """A page is long rather than wide: a study of soil has ten inputs."""
    prepared, answer = along_heights
    page = study_page(answer, prepared)
    heads = re.findall(r'<th scope="col">(.*?)</th>', page[page.index('id="failures"') :])
    assert heads == ["", *(mode.words for mode in answer.modes)]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1570.4, "1570"), (-1180000.0, "-1180000"), (0.01234, "0.0123"), (1.2345e-7, "1.23e-7"), (3.2e9, "3.2e9"), (0.0, "0"),
        (999.9, "1000"), (12.0, "12"),
    ],
)  # fmt: skip
def test_numbers_are_written_for_people(number, text):
    """By hand, three digits."""
    assert number_text(number) == text


def test_without_a_design_p_is_told_with_its_interval(tmp_path):
    answer = run_study(prepare(study(stop={"runs": 64})), tmp_path / "s")
    assert re.match(r"P\(climbed\) = [\d.]+, 90 % interval [\d.]+ to [\d.]+", headlines(answer)[0])
