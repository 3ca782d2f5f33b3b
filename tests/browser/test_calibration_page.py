"""The report as a browser draws it: every figure has its traces, nothing is asked from outside, nothing goes wrong."""

from dataclasses import replace

import pytest
from chromium import INSTALL, find_chromium, take_picture, visit

from slipfit.report.calibration_report import write_report
from unit.report.fits import TRUTH, example_fit

pytestmark = [pytest.mark.browser, pytest.mark.skipif(find_chromium() is None, reason=INSTALL)]

#: Of every figure: traces that its data hold, drawn groups, groups with a shape in them, buttons; and what the page fetched.
LOOK = """
  const look = plot => {
    const drawn = [...plot.querySelectorAll("g.trace")];
    return {
      name: plot.id, given: plot.data.length, drawn: drawn.length,
      shaped: drawn.filter(g => [...g.querySelectorAll("path")].some(p => (p.getAttribute("d") || "").length > 4)).length,
      tools: [...plot.querySelectorAll(".modebar-btn")].map(button => button.dataset.title).join("; "),
    };
  };
  const figures = [...document.querySelectorAll(".plot")].map(look);
  const fetched = performance.getEntriesByType("resource").map(entry => entry.name);
"""

#: A drag on the second row of a fit, then a double click on the residuals below.
ZOOM = """
  const range = (name, axis) => document.getElementById(name)._fullLayout[axis].range.map(t => Math.round(t * 1000) / 1000);
  const zoomed = {};
  await Plotly.relayout("fit-1", {"xaxis2.range[0]": 2, "xaxis2.range[1]": 5});
  await until(() => range("residuals-1", "xaxis4")[0] === 2);
  for (const name of ["fit-1", "residuals-1"]) zoomed[name] = ["xaxis", "xaxis4"].map(axis => range(name, axis));
  const other = range("fit-2", "xaxis");
  await Plotly.relayout("residuals-1", {"xaxis.autorange": true});
  await until(() => range("fit-1", "xaxis3")[1] > 9);
  const released = range("fit-1", "xaxis3");
"""

#: Colour of the page's text and of a figure's, on the screen and on paper; the figure's width there, and on the screen again.
INKS = """
  const figure = document.getElementById("fit-1"), widths = [];
  const width = () => figure.querySelector("svg").getBoundingClientRect().width;
  const inks = () => {
    widths.push(width());
    return [getComputedStyle(document.body).color, figure._fullLayout.font.color];
  };
  const onScreen = inks();
  dispatchEvent(new Event("beforeprint"));
  await until(() => figure._fullLayout.font.color !== onScreen[1] && width() < widths[0]);
  await pictures(20);
  const onPaper = inks(), folded = document.querySelectorAll("details:not([open])").length;
  dispatchEvent(new Event("afterprint"));
  await until(() => figure._fullLayout.font.color === onScreen[1] && width() === widths[0]);
  await pictures(20);
  inks();
"""

DARK = "--blink-settings=preferredColorScheme=0"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    fit = example_fit(drives=2, duration_s=10.0)
    first, second = fit.drives
    write_report(replace(fit, drives=(first, replace(second, traces=second.traces[:1]))), path, truth=TRUTH)
    return path


@pytest.fixture(scope="module")
def seen(page):
    """One visit, in dark mode, for several questions."""
    return visit(
        page,
        LOOK + ZOOM + INKS + "return {figures, fetched, zoomed, other, released, onScreen, onPaper, folded, widths};",
        DARK,
    )


def test_every_figure_is_drawn_and_the_console_stays_silent(seen):
    """Two drives with fit, residuals, whiteness and path; pairs, methods and repeatability: eleven figures."""
    assert seen.console == []
    figures = seen.answer["figures"]
    assert len(figures) == 11
    for figure in figures:
        assert figure["given"] >= 1, figure
        assert figure["drawn"] == figure["shaped"] == figure["given"], figure


def test_nothing_is_fetched_and_nothing_sent_away(seen):
    """Plotly would offer to upload a chart unless told not to."""
    assert seen.answer["fetched"] == []
    tools = {figure["tools"] for figure in seen.answer["figures"]}
    assert all("Zoom" in tool for tool in tools)
    assert not [tool for tool in tools if "share" in tool.lower() or "cloud" in tool.lower()]


def test_zoom_of_the_fit_zooms_the_residuals_of_the_same_drive(seen):
    """All rows follow, the second drive (10 s) stays as it is, and a double click lets go of both."""
    zoomed = seen.answer["zoomed"]
    assert zoomed["fit-1"] == zoomed["residuals-1"] == [[2, 5], [2, 5]]
    assert seen.answer["other"][1] > 9
    assert seen.answer["released"][1] > 9


def test_figures_follow_the_page_into_the_dark_and_onto_paper(seen):
    """Ink of the style sheet: #e4e8eb on dark, #1d2329 on paper. On paper nothing stays folded, and A4 less margins of 1 cm
    is 19 cm wide, 718 px of 1/96 inch."""
    assert seen.answer["onScreen"] == ["rgb(228, 232, 235)", "#e4e8eb"]
    assert seen.answer["onPaper"] == ["rgb(29, 35, 41)", "#1d2329"]
    assert seen.answer["folded"] == 0
    before, on_paper, after = seen.answer["widths"]
    assert on_paper < 718
    assert before == after > 718


def test_a_phone_shows_it_without_sideways_scrolling(page):
    """390 px, a common phone."""
    probe = """
      const right = () => Math.max(...[...document.querySelectorAll(".plot svg")].map(svg => svg.getBoundingClientRect().right));
      await until(() => right() <= innerWidth);
      return [innerWidth, document.documentElement.scrollWidth, right()];
    """
    inner, scroll, furthest = visit(page, probe, width_px=390, height_px=800).answer
    assert inner == 390
    assert scroll <= 390
    assert furthest <= 390


def test_text_of_users_is_never_run(tmp_path):
    """A log's name may hold anything: it is shown as it is, in tables and in figures."""
    evil = "</script><img src=x onerror=\"console.error('run')\"><b>run.mcap"
    fit = example_fit(drives=2, duration_s=5.0)
    drives = tuple(replace(d, name=f"{evil}{k}", traces=d.traces[:1]) for k, d in enumerate(fit.drives))
    fit = replace(fit, drives=drives, posterior={}, advice=(evil,))
    path = tmp_path / "report.html"
    write_report(fit, path)
    probe = """
      return [document.querySelectorAll("img").length, document.querySelector("#advice li").textContent,
              document.getElementById("repeats").querySelectorAll("img, b").length,
              document.getElementById("repeats").textContent.includes("<b>run.mcap1")];
    """
    seen = visit(path, probe)
    assert seen.answer == [0, evil, 0, True]
    assert seen.console == []


def test_the_browser_would_have_told(tmp_path):
    """The silence above means something: an error is heard, and an attempt to load from outside is seen."""
    path = tmp_path / "bad.html"
    path.write_text(
        "<!DOCTYPE html><html><head><script>document.documentElement.dataset.drawn = 1;</script>"
        "<script src='https://example.org/lib.js'></script></head><body><script>undefinedFunction();</script></body></html>",
        encoding="utf-8",
    )
    told = visit(path, LOOK + "return fetched;")
    assert "undefinedFunction" in " ".join(told.console)
    assert told.answer == ["https://example.org/lib.js"]


def test_a_picture_can_be_taken(tmp_path):
    """Of the asked size; a PNG's width and height stand in bytes 16 to 24."""
    (tmp_path / "page.html").write_text("<!DOCTYPE html><p>slip</p>", encoding="utf-8")
    take_picture(tmp_path / "page.html", tmp_path / "shot.png", 900, 700)
    head = (tmp_path / "shot.png").read_bytes()[:24]
    assert (int.from_bytes(head[16:20]), int.from_bytes(head[20:24])) == (900, 700)
