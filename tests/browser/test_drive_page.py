"""The report of a drive as a browser plays it: the robot moves, stops, goes where a curve is clicked; the console is silent."""

import pytest
from chromium import INSTALL, find_chromium, visit

from slipfit.library import find_ground, find_robot
from slipfit.report.drive_report import write_drive_report
from slipfit.simulation import Scenario, simulate

pytestmark = [pytest.mark.browser, pytest.mark.skipif(find_chromium() is None, reason=INSTALL)]

#: Place of the robot in the drawing, and of the line in the curves, before and after play, pause, a click on a curve.
PLAY = """
  const view = document.getElementById("top-view"), curves = document.getElementById("over-time");
  const press = k => view.querySelectorAll(".updatemenu-button")[k].dispatchEvent(new MouseEvent("click", {bubbles: true}));
  const look = () => ({
    body: view.querySelectorAll(".xy .scatterlayer .trace")[2].querySelector("path.js-fill").getAttribute("d"),
    time: Number(view._fullLayout._currentFrame), step: view._fullLayout.sliders[0].active,
    line: curves.querySelector(".now").getBoundingClientRect().x,
  });
  const begin = look();
  press(0);
  await until(() => look().step > 1);
  press(1);
  await pictures(5);
  const paused = look();
  await pictures(20);
  const still = look();
  curves.emit("plotly_click", {points: [{x: 0.75}]});
  await until(() => look().time > 0.7);
  const clicked = look();
  const at = curves.getBoundingClientRect().x + curves._fullLayout.xaxis._offset + curves._fullLayout.xaxis.l2p(clicked.time);
  const fetched = performance.getEntriesByType("resource").map(entry => entry.name);
  return {begin, paused, still, clicked, at, fetched};
"""

ASLANT = Scenario(ground={"surface": "ohio_carpet"}, step_s=0.0005, commands=[{"for_s": 1.0, "v_mps": 0.2, "vy_mps": 0.1}])
TURN = Scenario(commands=[{"for_s": 1.0, "v_mps": 0.5, "yaw_rate_radps": 1.0}])


@pytest.mark.parametrize(
    ("robot", "scenario"), [(find_robot("ohio_omni"), ASLANT), (find_robot("p3at"), TURN)], ids=["omni", "skid_steer"]
)
def test_play_moves_the_robot(robot, scenario, tmp_path):
    page = tmp_path / "drive.html"
    trajectory = simulate(robot, scenario)
    write_drive_report(trajectory, robot, find_ground(trajectory.ground), scenario, page)
    seen = visit(page, PLAY)
    assert seen.console == []
    found = seen.answer
    assert found["fetched"] == []
    begin, paused, still, clicked = (found[key] for key in ("begin", "paused", "still", "clicked"))
    assert paused["body"] != begin["body"]
    assert paused["time"] > 0.0
    assert paused["step"] > begin["step"] == 0
    assert paused["line"] > begin["line"]
    assert still == paused
    assert clicked["time"] == pytest.approx(0.75, abs=0.01)
    assert clicked["line"] == pytest.approx(found["at"], abs=1.0)
