"""Grousers of robots' wheels on soil: drives against the single wheel, and how close they must stand."""

import numpy as np
import pytest

from slipfit.contact.soil import soil, wheel_on_soil
from slipfit.errors import ParameterError, SimulationError
from slipfit.library import Robot, find_ground, find_robot
from slipfit.simulation import Scenario, simulate
from slipfit.simulation.grousers import fewest_grousers, spacing_note
from soil_drives import drive

STANDING = Scenario(commands=[{"for_s": 0.02, "v_mps": 0.0}])


def husky(**wheels):
    """The library's robot with other wheels."""
    data = find_robot("husky").to_mapping()
    return Robot.from_mapping(data | {"wheels": data["wheels"] | wheels}, where="husky.yaml")


def test_a_drive_pulls_as_the_single_wheel_with_grousers():
    """Up a slope of 3 degrees at a steady speed the four pulls of `wheel_on_soil`, with `grouser_m`, carry the robot: their sum
    is its weight along the slope, to 1 % of the load as on the level (the robot still settles a little), and the same for
    sinkage and torque of front and rear wheels. The rear ones drive in the rut of the front ones."""
    robot, slope, height = husky(grouser_height_m=0.02, grouser_count=48), 0.05, 0.02
    scenario = Scenario(commands=[{"for_s": 10.0, "v_mps": 0.3}], ground={"slope_rad": slope})
    motion = drive(robot, scenario, in_lanes=True).run(0)
    load, slip = motion.load_n[-100:].mean(axis=0), motion.slip[-100:].mean(axis=0)
    wheel = {"radius_m": robot.wheels.radius_m.value, "width_m": robot.wheels.width_m.value, "grouser_m": height}
    sand = soil(**find_ground("dry_sand").values())
    front = wheel_on_soil(sand, slip=slip[0], load_n=load[0], **wheel)
    rear = wheel_on_soil(sand, slip=slip[2], load_n=load[2], rut_m=front.sinkage_m, rut_slip=slip[0], **wheel)
    weight = robot.mass_kg.value * 9.81
    assert 2.0 * float(front.pull_n + rear.pull_n) == pytest.approx(weight * np.sin(slope), abs=0.01 * weight)
    for number, found in ((0, front), (2, rear)):
        assert motion.sinkage_m[-100:, number].mean() == pytest.approx(float(found.sinkage_m), rel=0.01)
        at_tips = float(found.torque_nm) / (wheel["radius_m"] + height)
        assert motion.force_x_n[-100:, number].mean() == pytest.approx(at_tips, rel=0.02, abs=0.3)
    assert motion.notes == ()


def test_grousers_are_a_larger_wheel_below_a_higher_robot():
    """By the model: R and h are told only together, and the robot stands h higher, so that its body is where it was above the
    hubs. In plain Python, some steps."""
    data = find_robot("husky").to_mapping()
    x, y, z = find_robot("husky").centre_of_mass_m.value
    larger = data | {"centre_of_mass_m": [x, y, z + 0.02], "wheels": data["wheels"] | {"radius_m": 0.1851}}
    with_grousers = drive(husky(grouser_height_m=0.02), STANDING).run(0)
    plain = drive(Robot.from_mapping(larger, where="larger.yaml"), STANDING).run(0)
    for name in ("sinkage_m", "load_n", "rim_mps", "pitch_rad", "tip_over_margin_rad"):
        assert getattr(with_grousers, name) == pytest.approx(getattr(plain, name), rel=1e-12)


def test_grousers_of_other_grounds_are_not_varied():
    """On hard ground they have no effect, and to vary them would promise one; their number has none anywhere."""
    robot = husky(grouser_height_m=0.02, grouser_count=24)
    for ground, name in (("lab_floor", "grouser_height_m"), ("dry_sand", "grouser_count")):
        with pytest.raises(SimulationError, match=name):
            drive(robot, STANDING, ground, vary={name: np.array([0.01, 0.02])})


@pytest.mark.parametrize(
    ("height_m", "sinkage_m", "slip", "count"),
    [
        # Tips 0.12, rim 0.10 on its bottom line (a = R): sqrt(0.0144 - 0.01) = 0.066332; 2 pi 0.12 / 0.066332 = 11.37.
        (0.02, 0.02, 0.0, 12),
        # a = 0.08: sqrt(0.0144 - 0.0064) - sqrt(0.01 - 0.0064) = 0.089443 - 0.06 = 0.029443; 25.6, and half of it at slip 0.5.
        (0.02, 0.04, 0.0, 26),
        (0.02, 0.04, 0.5, 13),
    ],
)
def test_how_many_grousers_are_enough(height_m, sinkage_m, slip, count):
    """By hand from the two circles and the surface."""
    assert fewest_grousers(0.1, height_m, sinkage_m, slip) == count


def test_too_few_grousers_are_told():
    deep, rolling = np.full((5, 4), 0.04), np.zeros((5, 4))
    assert "needs 26 or more" in spacing_note(0.1, 0.02, 25, deep, rolling)
    assert spacing_note(0.1, 0.02, 26, deep, rolling) == ""
    assert "4 grousers stand too far apart" in drive(husky(grouser_height_m=0.01, grouser_count=4), STANDING).run(0).summary()


@pytest.mark.parametrize(
    ("wheels", "said"),
    [
        ({"grouser_height_m": 0.2}, "is not less than the wheel's radius_m of 0.1651 m"),
        ({"grouser_height_m": 20.0}, "if you meant millimetres, write 0.02"),
        ({"grouser_height_m": -0.01}, "lies outside"),
        ({"grouser_count": 24}, "grouser_count is given without grouser_height_m"),
        ({"grouser_height_m": 0.02, "grouser_count": 24.5}, "expected a whole number"),
    ],
)
def test_grousers_that_cannot_be(wheels, said):
    with pytest.raises(ParameterError, match=said):
        husky(**wheels)


def test_simulate_takes_them_from_the_file():
    """On a hard floor they change nothing: it is `radius_m` that rolls there."""
    scenario = Scenario(commands=[{"for_s": 0.1, "v_mps": 0.3}])
    with_grousers, plain = (simulate(robot, scenario, ground="lab_floor") for robot in (husky(grouser_height_m=0.02), husky()))
    assert (with_grousers.x_m == plain.x_m).all()
