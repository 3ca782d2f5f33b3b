"""What makes a robot or a ground impossible, and the examples of the documentation."""

import pytest
import yaml

from robots import changed, ground_with
from slipfit.errors import ParameterError
from slipfit.library import Ground, Robot

#: The robot file that the documentation shows: a Pioneer 3-AT in ten lines.
P3AT = """\
schema: slipfit/robot/1
name: p3at
about: Pioneer 3-AT, four-wheel skid-steer
drive: skid_steer
mass_kg: {value: 20.0, std: 0.2, source: gazebo_models pioneer3at}
yaw_inertia_kgm2: {value: 0.755, std: 0.05, source: gazebo_models pioneer3at}
centre_of_mass_m: [0.0, 0.0, 0.16]          # from the wheels' centre, x forward, y left, height above ground
wheels:                                      # front-left, front-right, rear-left, rear-right
  radius_m: 0.11
  width_m: 0.075
  at_m: [[0.125, 0.201], [0.125, -0.201], [-0.125, 0.201], [-0.125, -0.201]]
  spin_inertia_kgm2: 0.0091
powertrain: {kind: speed_loop, torque_limit_nm: 2.0}
"""


def test_the_documented_robot_says_what_its_file_says():
    """Half track 0.201 m, half wheelbase 0.125 m."""
    robot = Robot.from_mapping(yaml.safe_load(P3AT), where="example")
    assert (robot.track_m, robot.wheelbase_m) == pytest.approx((0.402, 0.25))
    assert (robot.mass_kg.value, robot.mass_kg.std, robot.mass_kg.source) == (20.0, 0.2, "gazebo_models pioneer3at")
    assert (robot.wheels.radius_m.source, robot.wheels.radius_m.std) == ("assumed", None)
    assert {"mass_kg", "radius_m", "torque_limit_nm"} <= robot.parameters().keys()
    assert "20 ± 0.2" in robot.summary()


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"mass_kg": -3}, "mass_kg = -3 kg lies outside"),
        ({"wheels__radius_m": 110}, "if you meant millimetres, write 0.11"),
        ({"centre_of_mass_m": [0.2, 0.0, 0.1]}, "outside the wheels; the robot would tip over"),
        ({"centre_of_mass_m": [0.0, 0.0, 0.0]}, "expected a height above the ground"),
        ({"centre_of_mass_m": [0.0, 0.0]}, "expected 3 numbers"),
        ({"centre_of_mass_m": [0.0, 0.0, float("nan")]}, "is not a number"),
        ({"centre_of_mass_m": {"value": [0.0, 0.0, 0.1], "std": -1}}, "std of centre_of_mass_m is -1"),
        ({"wheels__at_m": [[0.1, 0.2], [0.1, -0.2]]}, "2 wheels"),
        ({"wheels__at_m": [[0.1, 0.2], [0.1, -0.2], [-0.1, 0.2]]}, "3 wheels"),
        ({"wheels__at_m": [[0.1, -0.2], [0.1, 0.2], [-0.1, -0.2], [-0.1, 0.2]]}, r"left wheel \(y > 0\)"),
        ({"wheels__at_m": [[-0.1, 0.2], [-0.1, -0.2], [0.1, 0.2], [0.1, -0.2]]}, "from front to rear"),
        ({"wheels__at_m": [[0.1, 0.2], [0.1, -0.2], [-0.1, 0.3], [-0.1, -0.3]]}, "different track"),
        ({"wheels__at_m": 3}, "expected a list"),
        ({"name": "My Robot"}, "name: found 'My Robot'"),
        ({"drive": "ackermann"}, "skid_steer"),
    ],
)
def test_a_robot_that_cannot_be_is_refused(changes, complaint):
    with pytest.raises(ParameterError, match=f"changed robot: .*{complaint}"):
        changed("p3at", **changes)


@pytest.mark.parametrize("yaw", [0.906, 0.9])
def test_a_moment_of_inertia_may_reach_the_sum_of_the_others(yaw):
    """A flat plate has I_z = I_x + I_y; P3AT: 0.426 + 0.480 = 0.906 kg m²."""
    assert changed("p3at", yaw_inertia_kgm2=yaw).yaw_inertia_kgm2.value == yaw


@pytest.mark.parametrize(
    ("changes", "largest"),
    [
        ({"yaw_inertia_kgm2": 0.907}, "yaw_inertia_kgm2"),
        ({"roll_inertia_kgm2": 1.24}, "roll_inertia_kgm2"),
        ({"pitch_inertia_kgm2": 1.19}, "pitch_inertia_kgm2"),
    ],
)
def test_no_moment_of_inertia_exceeds_the_sum_of_the_others(changes, largest):
    """Triangle inequality: moments are sums of squares; P3AT has 0.426, 0.480, 0.755 kg m²."""
    with pytest.raises(ParameterError, match=f"{largest} = .* is more than the other two"):
        changed("p3at", **changes)


# --- grounds ---------------------------------------------------------------------------------------------------------


def ground(**changes):
    data = {"schema": Ground.kind(), "name": "x", "law": "coulomb", "parameters": {"mu_long": 0.5}}
    return Ground.from_mapping(data | changes, where="ground")


def test_short_names_are_understood_everywhere():
    """DESIGN: c_long and c_lat are accepted."""
    given = {"c_long": 0.005, "c_lat": 0.05, "mu": 1.0}
    assert ground(law="wheel_slip", parameters=given).values() == {"c_long_per_n": 0.005, "c_lat_per_n": 0.05, "mu": 1.0}


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"law": "colomb"}, "law: there is no law 'colomb'; did you mean 'coulomb'"),
        ({"parameters": {}}, "parameters.mu_long is missing"),
        ({"parameters": {"mu_lng": 0.5}}, "parameters.mu_lng: the law coulomb has no such constant; did you mean 'mu_long'"),
        ({"parameters": {"mu_long": -0.5}}, "parameters.mu_long: mu_long = -0.5 lies outside"),
        ({"parameters": {"mu": 0.5, "mu_long": 0.5}}, "given twice"),
        ({"parameters": {"mu": {1: 2, "a": 3}}}, "unknown entry"),
        ({"parameters": {"mu": True}}, "expected a number"),
        ({"parameters": [0.5]}, r"parameters: found \[0.5\]; expected keys and values"),
        ({"gravity_mps2": -9.81}, "gravity_mps2 = -9.81 m/s² lies outside"),
    ],
)
def test_a_ground_that_cannot_be_is_refused(changes, complaint):
    with pytest.raises(ParameterError, match=f"ground: .*{complaint}"):
        ground(**changes)


def test_a_ground_on_the_moon_keeps_its_gravity_in_its_file():
    moon = Ground.from_mapping(ground_with("coulomb").to_mapping() | {"gravity_mps2": 1.62}, where="moon")
    assert Ground.from_mapping(moon.to_mapping(), where="again").gravity_mps2.value == 1.62
