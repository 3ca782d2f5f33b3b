"""slipfit tyre fit, and the picture of the laws."""

import json

import numpy as np
import pytest

from slipfit.contact import LAWS, curve
from slipfit.library import Ground

MAP = """schema: slipfit/tyre_columns/1
slip: {column: kappa, unit: percent}
load_n: 50
force_along: fx
repeat: run
"""


def rows(noise=0.01, runs=2):
    """A braking and driving sweep of a known curve (Kiencke and Daiss, slope 12, peak .8 at .2), slip in percent."""
    draw, slips = np.random.default_rng(3), np.linspace(-0.6, 0.6, 25)
    lines = ["kappa,fx,run"]
    for run in range(runs):
        mu = np.sign(slips) * curve("kiencke_daiss", LAWS["kiencke_daiss"].example, slips)
        force = 50.0 * (mu + noise * draw.standard_normal(len(slips)))
        lines += [f"{100.0 * s:.6g},{f:.6g},{run}" for s, f in zip(slips, force, strict=True)]
    return "\n".join(lines) + "\n"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "forces.csv").write_text(rows())
    (tmp_path / "map.yaml").write_text(MAP)
    return tmp_path


COMMAND = ("tyre", "fit", "forces.csv", "--columns", "map.yaml", "--law", "kiencke_daiss")


def test_a_sweep_becomes_a_ground_that_simulate_reads(slipfit, files):
    """The curve's constants come back within 5 %: forty-odd readings with 1 % noise."""
    result = slipfit(*COMMAND, "-o", "my_tyre.yaml", "--plot", "fit.svg", "--save", "fit.json", "--json")
    document = json.loads(result.out)
    assert result.code == 0
    assert document["parameters"]["mu"]["value"] == pytest.approx(0.8, rel=0.05)
    assert document["written"] == ["fit.svg", "my_tyre.yaml", "fit.json"]
    assert Ground.load(files / "my_tyre.yaml").values()["initial_slope"] == pytest.approx(12.0, rel=0.05)
    assert slipfit("simulate", "p3at", "--ground", "my_tyre.yaml").code == 0


def test_the_text_has_the_curve_and_its_peers(slipfit, files):
    text = slipfit(*COMMAND, "--law", "dugoff").out
    for words in ("law kiencke_daiss", "mu over slip, with its 90 % band", "flexible", "dugoff", "<- chosen"):
        assert words in text


@pytest.mark.parametrize(
    ("find", "replace", "words"),
    [
        (
            "{column: kappa, unit: percent}",
            "kappa",
            "slip reaches 60; expected between -2 and 2; if it is in percent, write scale: 0.01",
        ),
        ("load_n: 50\n", "", "found no load; expected the column `load`, or `load_n`"),
        ("column: kappa", "column: kapa", "there is no column 'kapa'"),
        ("force_along: fx", "force_along: {column: fx, scale: -1}", "force_along drives the slip instead of opposing it"),
    ],
)
def test_maps_that_do_not_fit_are_refused(refused, files, find, replace, words):
    (files / "map.yaml").write_text(MAP.replace(find, replace))
    assert words in refused(*COMMAND)


def test_too_few_rows_are_refused(refused, files):
    (files / "forces.csv").write_text("\n".join(rows().splitlines()[:4]) + "\n")
    assert "3 rows; expected 6 or more" in refused(*COMMAND)


def test_an_existing_file_is_kept(refused, files):
    (files / "my_tyre.yaml").write_text("mine")
    assert "exists already" in refused(*COMMAND, "-o", "my_tyre.yaml")


def test_a_law_without_a_curve_is_refused(refused, files):
    assert "law 'coulomb' has no friction curve over slip" in refused(*COMMAND[:-1], "coulomb")
