"""slipfit estimate: what it prints, writes and refuses."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from slipfit.cli import app
from slipfit.errors import SlipfitError

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "estimate"))


@pytest.fixture(scope="module")
def run_file(tmp_path_factory):
    from side_drives import drive, log_of

    truth = drive(lambda t: (0.5 + 0.0 * t, 0.6 + 0.0 * t), lambda t: (0.1 + 0.0 * t, 0.2 + 0.0 * t, 0.0 * t), 12.0)
    path = tmp_path_factory.mktemp("estimate") / "run.mcap"
    log_of(truth, 1).save(path)
    return path


def test_slip_is_told_and_written(run_file, tmp_path):
    out, series, plot, page = (tmp_path / name for name in ("slip.json", "slip.mcap", "slip.png", "slip.html"))
    words = ["estimate", "husky", run_file, "--json", "-o", out, "--series", series, "--plot", plot, "--report", page]
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["slip"]["slip_left"]["median"] == pytest.approx(0.1, abs=0.03)
    assert found["slip"]["slip_right"]["median"] == pytest.approx(0.2, abs=0.03)
    assert all(path.exists() for path in (out, series, plot, page))


@pytest.mark.parametrize(
    ("more", "words"),
    [(["--pose-std-m", "0"], "pose_m"), (["--contact-area-m2", "0.1"], "contact-length-m"), (["-o", "slip.txt"], "json")],
)
def test_what_cannot_be_is_a_sentence(run_file, more, words):
    done = CliRunner().invoke(app, ["estimate", "husky", str(run_file), *more])
    assert isinstance(done.exception, SlipfitError)
    assert words in str(done.exception)
