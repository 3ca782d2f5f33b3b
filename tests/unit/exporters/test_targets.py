"""The one function of the front door: what it takes."""

import pytest

from slipfit.errors import ParameterError
from slipfit.exporters import export
from slipfit.library import find_robot
from unit.twin.twins import example


def test_the_path_of_a_twin_is_taken_in_its_place(tmp_path):
    example().save(tmp_path / "p3at.twin.yaml")
    assert export(str(tmp_path / "p3at.twin.yaml"), "gz").text == export(example(), "gz").text


def test_something_else_is_refused_with_a_sentence():
    with pytest.raises(ParameterError, match="twin is of type SkidSteerRobot; expected a Twin, or the path of its file"):
        export(find_robot("p3at"), "gz")
