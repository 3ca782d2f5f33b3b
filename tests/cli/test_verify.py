"""slipfit verify: what a user types and reads."""

import json
from pathlib import Path

import pytest

from known_twins import known_twin


@pytest.fixture
def twin(slipfit):
    known_twin().save("p3at.twin.yaml")
    return "p3at.twin.yaml"


def test_a_missing_engine_is_a_sentence(refused, twin, monkeypatch):
    from slipfit.engines.mujoco_engine import MuJoCo

    monkeypatch.setattr(MuJoCo, "problem", lambda self: "MuJoCo is not installed; install it with: pip install mujoco")
    assert "pip install mujoco" in refused("verify", twin, "--engine", "mujoco")


def test_bad_requests(refused, twin):
    assert "there is no engine 'odd'" in refused("verify", twin, "--engine", "odd")
    assert "-o goes with --tune" in refused("verify", twin, "-o", "x.sdf")
    assert "--within-percent is -1" in refused("verify", twin, "--within-percent", "-1")
    assert "--tune goes without" in refused("verify", twin, "--tune", "--report", "x.html")
    assert "--tune finds step" in refused("verify", twin, "--engine", "ode", "--tune", "--kp-n-per-m", "1e5")
    Path("taken.html").write_text("mine")
    assert "taken.html" in refused("verify", twin, "--report", "taken.html")


@pytest.mark.engine
@pytest.mark.parametrize(("engine", "name", "taken"), [("ode", "t.sdf", "t.sdf"), ("mujoco", "t.xml", "t_updater.py")])
def test_tune_refuses_a_taken_name_before_it_searches(refused, twin, monkeypatch, engine, name, taken):
    def search(*arguments, **more):
        raise AssertionError("searched")

    monkeypatch.setattr("slipfit.verification.tune.tune", search)
    Path(taken).write_text("mine")
    assert f"{taken}: exists already" in refused("verify", twin, "--engine", engine, "--tune", "-o", name)


@pytest.mark.engine
def test_report_picture_and_json(slipfit, twin):
    result = slipfit("verify", twin, "--engine", "ode", "--report", "r.html", "--plot", "p.png", "--json")
    assert result.code == 0
    document = json.loads(result.out)
    (found,) = document["verifications"]
    assert found["agrees"]
    assert found["free_drive"]["share"] < 0.01
    assert found["spin"]["c_lat_over_c_long"]["found"] == pytest.approx(10.0, abs=0.005)
    assert document["written"] == ["r.html", "p.png"]
    page = Path("r.html").read_text(encoding="utf-8")
    assert "agrees with the twin" in page
    assert "verify-apart" in page
    assert Path("p.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.engine
def test_own_model_that_lost_fdir1_is_told(slipfit, twin):
    assert slipfit("export", twin, "--to", "gazebo-classic", "--world", "-o", "own.sdf").code == 0
    text = Path("own.sdf").read_text()
    Path("own.sdf").write_text(text.replace("<fdir1>0 0 1</fdir1>", ""))
    result = slipfit("verify", twin, "--engine", "ode", "--model", "own.sdf")
    assert result.code == 1
    assert "there is no <fdir1>" in result.out
    assert "change: <fdir1>" in result.out


@pytest.mark.engine
def test_a_model_that_is_no_model_is_refused(slipfit, twin):
    Path("own.sdf").write_text("<sdf version='1.7'><model")
    result = slipfit("verify", twin, "--engine", "ode", "--model", "own.sdf")
    assert result.code == 2
    assert "not valid XML" in result.err
    result = slipfit("verify", twin, "--engine", "ode", "--model", "own.xml")
    assert result.code == 2
    assert "ode reads .sdf files" in result.err
    result = slipfit("verify", twin, "--engine", "ode", "--model", "own.urdf")
    assert result.code == 2
    assert "gz sdf -p own.urdf > own.sdf" in result.err
