"""Plans from files: what is read, and what a robot refuses."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from controllers import controlled_twin
from slipfit.control import Scale
from slipfit.errors import DriveError
from slipfit.hardware import DrivePlan
from slipfit.simulation import Scenario

TWIN = controlled_twin()
SCALE = Scale.of(TWIN)


def load(path):
    return DrivePlan.load(path, TWIN.robot, SCALE.effective_track_m)


def csv(folder, *rows, header="time_s,v_mps,yaw_rate_radps"):
    path = folder / "plan.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def test_csv_is_linear_in_between(tmp_path):
    plan = load(csv(tmp_path, "0,0,0", "2,1,0.5", "3,1,0.5"))
    assert plan.duration_s == 3.0
    assert plan.at(1.0) == (0.5, 0.25)
    assert plan.at(2.5) == (1.0, 0.5)


def test_scenario_has_steps_and_ramps(tmp_path):
    """Body velocities are what the robot shall do; wheel speeds are kept, whatever track turns them into a yaw rate."""
    commands = [
        {"for_s": 1.0, "v_mps": 0.3, "yaw_rate_radps": 0.2},
        {"for_s": 1.0, "v_mps": 0.0, "profile": "linear", "ramp_s": 1.0},
        {"for_s": 1.0, "wheels_radps": [1.0, 2.0]},
    ]
    Scenario(commands=commands).save(tmp_path / "s.yaml")
    plan = load(tmp_path / "s.yaml")
    assert plan.duration_s == pytest.approx(3.0)
    assert plan.at(0.5) == pytest.approx((0.3, 0.2))
    assert plan.at(1.5) == pytest.approx((0.15, 0.1), abs=1e-3)
    rims = SCALE.rims_mps(*plan.at(2.5))
    assert np.array(rims) / 0.152 == pytest.approx([1.0, 2.0])


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (["0,0,0"], "the plan has 1 rows; expected two or more"),
        (["1,0,0", "2,0,0"], "the plan starts at 1 s; expected 0 s"),
        (["0,0,0", "2,0,0", "1,0,0"], "row 3 is at 1 s, after one at 2 s"),
        (["0,0,0", "1,,0"], "row 2 holds an empty or endless number"),
        (["0,0,0", "1,inf,0"], "row 2 holds an empty or endless number"),
        (["0,0,0", "1,fast,0"], "expected a number"),
        (["0,0,0", "0,0,0"], "the plan lasts 0 s"),
    ],
)
def test_bad_rows(tmp_path, rows, sentence):
    with pytest.raises(DriveError, match=sentence):
        load(csv(tmp_path, *rows))


def test_other_columns_and_no_file(tmp_path):
    with pytest.raises(DriveError, match="a plan has the columns time_s, v_mps, yaw_rate_radps"):
        load(csv(tmp_path, "0,0,0", "1,0,0", header="t,v,w"))
    with pytest.raises(DriveError, match="there is no such file; write one with slipfit plan"):
        load(Path("nowhere.csv"))


def test_scenarios_that_cannot_be_driven(tmp_path):
    Scenario(commands=[{"for_s": 1.0, "v_mps": 0.3}], start={"v_mps": 0.3}).save(tmp_path / "s.yaml")
    with pytest.raises(DriveError, match="starts at speed"):
        load(tmp_path / "s.yaml")
    Scenario(commands=[{"for_s": 1.0, "wheels_v": [1.0, 1.0]}]).save(tmp_path / "v.yaml")
    with pytest.raises(DriveError, match=r"commands\[0\] gives voltages"):
        load(tmp_path / "v.yaml")


@pytest.mark.parametrize(
    ("v", "rate", "sentence"),
    [
        (1.4, 1.0, "the right setpoint would be 146.7; the controller takes -126 to 127. Plan slower"),
        (1.55, 0.0, "atrv_jr drives 1.54 m/s at most"),
    ],
)
def test_beyond_the_limits(v, rate, sentence):
    """81.579 setpoints per m/s and 32.5 per rad/s: 1.4 x 81.579 + 32.5 = 146.7. Document 001's Table 1 gives 1.54 m/s."""
    plan = DrivePlan("p.csv", np.array([0.0, 1.0]), np.array([0.0, v]), np.array([0.0, rate]))
    with pytest.raises(DriveError, match=rf"p\.csv: at 1 s the plan asks for .*{sentence}"):
        plan.check(TWIN.robot, SCALE)


def test_beyond_what_the_protocol_can_say():
    """7F is 127: a twin whose limits are wider does not make 1.52 x 81.579 + 32.5 x .2 = 130.5 sayable."""
    wide = replace(SCALE, limits=(-200.0, 200.0))
    plan = DrivePlan("p.csv", np.array([0.0, 1.0]), np.array([0.0, 1.52]), np.array([0.0, 0.2]))
    with pytest.raises(DriveError, match=r"the right setpoint would be 130\.5; the controller takes -127 to 127"):
        plan.check(TWIN.robot, wide)


def test_a_turn_that_only_its_slip_makes_too_fast_says_so():
    """32.5 setpoints per rad/s by (T^2 + B^2) / T = .797 m; .5 m would be 20.4. 4.5 rad/s: 146.2 against 91.8 of 126."""
    plan = DrivePlan("p.csv", np.array([0.0, 1.0]), np.zeros(2), np.array([0.0, 4.5]))
    with pytest.raises(DriveError) as refused:
        plan.check(TWIN.robot, SCALE)
    sentence = str(refused.value)
    assert "turns take 1.59 times the wheel speeds that 0.5 m between the wheels would, because they slip in turns" in sentence
    assert sentence.endswith("on the spot 3.88 rad/s at most")  # 126 / 32.5
    plan = DrivePlan("p.csv", np.array([0.0, 1.0]), np.zeros(2), np.array([0.0, 7.0]))  # too fast with either
    with pytest.raises(DriveError, match=r"left setpoint would be -227\.5; the controller takes -126 to 127\. Plan slower"):
        plan.check(TWIN.robot, SCALE)
