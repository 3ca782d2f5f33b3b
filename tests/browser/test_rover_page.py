"""The report of a rover's drive in a browser: the scene is drawn by WebGL, all figures are there, nothing is fetched."""

import pytest
from chromium import INSTALL, find_chromium, visit

from slipfit.library import find_ground, find_robot
from slipfit.report.rover_report import write_rover_report
from slipfit.simulation import Scenario, simulate

pytestmark = [pytest.mark.browser, pytest.mark.skipif(find_chromium() is None, reason=INSTALL)]

LOOK = """
  const scene = document.getElementById("scene"), shown = scene._fullLayout.scene;
  const curves = document.getElementById("over-time"), energy = document.getElementById("energy-time");
  await Plotly.relayout(curves, {"xaxis.range": [0.2, 0.8]});
  await until(() => energy.layout.xaxis.range?.[0] === 0.2);
  return {
    drawn: Number(document.documentElement.dataset.drawn),
    size: [scene.querySelector("canvas").width, scene.querySelector("canvas").height],
    traces: scene._fullData.map(trace => trace.name), hasNoGl: scene.textContent.includes("WebGL is not supported"),
    heights: shown.zaxis.range, energyFrom: energy.layout.xaxis.range[0], verdict: document.querySelector(".verdict").className,
    fetched: performance.getEntriesByType("resource").map(entry => entry.name),
  };
"""

#: What a browser without a graphics card says about itself, not about the page.
OF_THE_BROWSER = ("WebGL", "Canvas2D")

UPHILL = Scenario(
    ground={"surface": "rover_tyre", "slope_rad": 0.35},
    step_s=0.0005,
    route={"waypoints_m": [(0.6, 0.2), (1.0, 0.0)], "speed_mps": 0.3, "at_most_s": 8.0},
)


def test_the_scene_is_drawn_and_time_axes_are_linked(tmp_path):
    robot, page = find_robot("lynxmotion_4wd3"), tmp_path / "rover.html"
    drive = simulate(robot, UPHILL)
    write_rover_report(drive, robot, find_ground("rover_tyre"), UPHILL, page)
    seen = visit(page, LOOK, "--enable-unsafe-swiftshader")
    assert [line for line in seen.console if not any(word in line for word in OF_THE_BROWSER)] == []
    found = seen.answer
    assert found["drawn"] == 4
    assert not found["hasNoGl"]
    assert min(found["size"]) > 300
    assert found["traces"] == ["ground", "path", "reached within", "waypoints", "start", "end"]
    assert found["heights"][1] > drive.world_xyz_m()[-1, 2]
    assert found["energyFrom"] == pytest.approx(0.2)
    assert found["verdict"] == "verdict good"
    assert found["fetched"] == []
