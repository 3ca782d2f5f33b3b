"""The page of a study as a browser draws it: every figure has its traces, and examples of failures move when played."""

import pytest
from chromium import INSTALL, find_chromium, visit

from slipfit.report.study_report import write_study_report
from slipfit.study import prepare, run_study
from studies import CURVE, study

pytestmark = [pytest.mark.browser, pytest.mark.skipif(find_chromium() is None, reason=INSTALL)]

#: Traces that are given and drawn; then the outline of an example's robot before and after its button was pressed.
LOOK = """
  const figures = [...document.querySelectorAll(".plot")].map(plot => ({
    name: plot.id, given: plot.data.length, drawn: plot.querySelectorAll("g.trace").length}));
  const plot = document.getElementById("example-0");
  const outline = () => [...plot.querySelectorAll("g.trace path.js-line")].map(path => path.getAttribute("d")).join();
  const before = outline();
  const buttons = [...plot.querySelectorAll(".updatemenu-button")];
  for (const kind of ["mousedown", "mouseup", "click"]) buttons[0].dispatchEvent(new MouseEvent(kind, {bubbles: true}));
  await until(() => outline() !== before);
  const fetched = performance.getEntriesByType("resource").map(entry => entry.name);
  return {figures, buttons: buttons.map(button => button.textContent), moved: outline() !== before, fetched};
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    prepared = prepare(study(CURVE, stop={"half_width": 0.1, "at_most_runs": 3000}, sensitivity={"base_runs": 64}))
    write_study_report(run_study(prepared, folder / "s"), prepared, folder / "page.html")
    return visit(folder / "page.html", LOOK)


def test_every_figure_is_drawn(seen):
    names = [figure["name"] for figure in seen.answer["figures"]]
    assert names == ["curves", "outcomes", "sobol", "tornado", "example-0", "example-1"]
    assert all(figure["drawn"] >= figure["given"] > 0 for figure in seen.answer["figures"] if figure["name"] != "outcomes")


def test_an_example_moves_when_it_is_played(seen):
    assert seen.answer["buttons"] == ["▶ play", "❚❚ pause"]
    assert seen.answer["moved"]


def test_nothing_is_fetched_and_nothing_goes_wrong(seen):
    assert seen.answer["fetched"] == []
    assert seen.console == []
