"""The page of a climb as a browser plays it: it starts by itself, pauses, and the line in the curves goes along."""

import pytest
from chromium import INSTALL, find_chromium, visit

from slipfit.library import find_robot
from slipfit.report.climb_report import write_climb_report
from slipfit.simulation import simulate
from slipfit.simulation.scenario import find_scenario

pytestmark = [pytest.mark.browser, pytest.mark.skipif(find_chromium() is None, reason=INSTALL)]

PLAY = """
  const view = document.getElementById("side-view"), curves = document.getElementById("over-time");
  const look = () => ({time: Number(view._fullLayout._currentFrame), line: curves.querySelector(".now").getBoundingClientRect().x,
                       robot: view.data.find(trace => trace.name === "right track").x[0]});
  await until(() => look().time > 0.1);
  const began = look();
  await until(() => look().time > began.time + 0.1);
  view.querySelectorAll(".updatemenu-button")[1].dispatchEvent(new MouseEvent("click", {bubbles: true}));
  await pictures(5);
  const paused = look();
  await pictures(20);
  const still = look();
  const fetched = performance.getEntriesByType("resource").map(entry => entry.name);
  return {began, paused, still, fetched};
"""


def test_a_climb_plays_when_its_page_opens(tmp_path):
    robot, scenario, page = find_robot("packbot"), find_scenario("curb_117mm"), tmp_path / "climb.html"
    write_climb_report(simulate(robot, scenario), robot, scenario, page)
    seen = visit(page, PLAY)
    assert seen.console == []
    began, paused, still = (seen.answer[key] for key in ("began", "paused", "still"))
    assert seen.answer["fetched"] == []
    assert 0.1 < began["time"] < paused["time"]
    assert began["line"] < paused["line"]
    assert began["robot"] < paused["robot"]
    assert still == paused
