"""Records that are built in Python from wrong values raise our error, with the sentence that a file would get."""

import pytest

import slipfit as sf
from slipfit.library.robot import SpeedLoop


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: sf.Command(for_s=2), "Command: a command gives either v_mps"),
        (lambda: sf.Command(for_s=-1, v_mps=0.1), "Command: for_s = -1 s ends before it starts; expected more than 0 s"),
        (lambda: sf.Scenario(commands=[{"for_s": 1.0, "v_mp": 2.0}]), r"unknown key 'commands\[0\].v_mp'; did you mean 'v_mps'"),
        (lambda: SpeedLoop(kind="speed_loop"), "SpeedLoop: key 'torque_limit_nm' is missing"),
    ],
)
def test_wrong_values_are_one_sentence(build, sentence):
    with pytest.raises(sf.SlipfitError, match=sentence):
        build()


def test_a_file_is_told_the_path_to_its_wrong_value():
    data = {"schema": sf.Scenario.kind(), "commands": [{"for_s": 1.0, "v_mps": 0.1}, {"for_s": -1.0, "v_mps": 0.1}]}
    with pytest.raises(sf.SlipfitError, match=r"^drive.yaml: commands\[1\]: for_s = -1 s"):
        sf.Scenario.from_mapping(data, where="drive.yaml")
