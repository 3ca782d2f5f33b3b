"""`slipfit simulate --report`: a page of the drive, checked before the run and never over a file that exists."""

import json
from pathlib import Path

import pytest

SHORT = "schema: slipfit/scenario/2\nground: {surface: SURFACE}\ncommands:\n  - {for_s: 0.5, v_mps: 0.2}\n"


@pytest.mark.parametrize(("robot", "surface"), [("p3at", "lab_floor"), ("ohio_omni", "ohio_paper")])
def test_a_page_of_the_drive(slipfit, robot, surface):
    Path("short.yaml").write_text(SHORT.replace("SURFACE", surface))
    drive = ("simulate", robot, "--scenario", "short.yaml", "--report", "drive.html")
    result = slipfit(*drive, "--json")
    assert result.code == 0
    assert json.loads(result.out)["written"] == ["drive.html"]
    page = Path("drive.html").read_text(encoding="utf-8")
    assert f"<h1>{robot} on {surface}</h1>" in page
    assert len(page.encode()) < 6_000_000
    assert "wrote drive.html" in slipfit(*drive, "--force").out


def test_the_target_is_checked_before_the_run(refused):
    Path("drive.html").write_text("mine")
    assert "drive.html" in refused("simulate", "p3at", "--report", "drive.html", "-o", "drive.csv")
    assert "ends in .html" in refused("simulate", "p3at", "--report", "drive.pdf", "-o", "drive.csv")
    assert Path("drive.html").read_text() == "mine"
