"""slipfit omni limit and move: numbers of the published robot, files, and sentences."""

import json

import pytest

from slipfit.simulation import Scenario


def test_the_published_table_is_printed_saved_and_drawn(slipfit, tmp_path):
    asked = ("--ground", "ohio_paper", "-o", "limit.json", "--plot", "limit.png")
    result = slipfit("omni", "limit", "ohio_omni", *asked)
    assert result.code == 0, result.err
    assert "0.167053" in result.out  # F_e,max / (m g) along x, SPEC 3(b)
    assert json.loads((tmp_path / "limit.json").read_text())["push_n"][0] == pytest.approx(0.167053 * 3.0 * 9.81, rel=1e-5)
    assert (tmp_path / "limit.png").stat().st_size > 10_000
    assert slipfit("omni", "limit", "ohio_omni", *asked).code == 2


def test_a_move_says_what_it_saves(slipfit, tmp_path):
    asked = ("--ground", "ohio_paper", "--way-m", "0.4", "--speed", "0.5", "--scenario", "m.yaml", "--json")
    result = slipfit("omni", "move", "ohio_omni", *asked)
    assert result.code == 0, result.err
    document = json.loads(result.out)
    assert document["runs"]["quintic"]["slid_m"] < document["runs"]["step"]["slid_m"]
    assert Scenario.load(tmp_path / "m.yaml").commands[0].profile == "quintic"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("limit", "p3at", "--ground", "ohio_paper"), "p3at"),
        (("limit", "ohio_omni", "--ground", "lab_floor"), "which has no mu_w"),
        (("limit", "ohio_omni", "--ground", "ohio_paper", "--sector", "wood"), "expected roller or rigid"),
        (("limit", "ohio_omni", "--ground", "ohio_paper", "--moment-nm", "nan"), "expected a finite moment"),
        (("move", "ohio_omni", "--ground", "ohio_paper", "--speed", "0.5"), "a move is a way or a turn"),
    ],
)
def test_what_cannot_be_is_refused(refused, words, said):
    assert said in refused("omni", *words)
