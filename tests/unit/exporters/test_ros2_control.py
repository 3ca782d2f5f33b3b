"""diff_drive_controller's parameters: multipliers by closed form, intervals from the twin."""

import pytest
import yaml

from known_twins import known_twin
from robots import six_wheeled
from slipfit.errors import ExportError
from slipfit.exporters import Settings, export
from slipfit.twin import Twin
from unit.twin.twins import example, mapping


def controller(twin, **options):
    return yaml.safe_load(export(twin, "ros2-control", **options).text)["diff_drive_controller"]["ros__parameters"]


@pytest.mark.parametrize(("name", "b", "l"), [("p3at", 0.201, 0.125), ("husky", 0.2775, 0.256), ("jackal", 0.1878, 0.131)])
@pytest.mark.parametrize("ratio", [2.0, 10.0, 50.0])
def test_multiplier_is_the_spins(name, b, l, ratio):
    """SPEC section 1: omega_t / omega = 1 + (l^2 / b^2)(c_long / c_lat), half track b, half wheelbase l of the robots."""
    found = controller(known_twin(name, 0.005, 0.005 * ratio))
    assert found["wheel_separation_multiplier"] == pytest.approx(1.0 + l**2 / (b**2 * ratio), abs=1e-6)
    assert found["wheel_separation"] == pytest.approx(2.0 * b)
    assert found["left_wheel_radius_multiplier"] == found["right_wheel_radius_multiplier"] == 1.0


def test_the_documents_number():
    """SPEC section 1: omega 0.962765 rad/s at omega_t = 1 for the official model."""
    assert 1.0 / controller(known_twin())["wheel_separation_multiplier"] == pytest.approx(0.962765, abs=1e-6)


def test_six_wheels():
    """Derived: the balance of three axles has the mean square of their distances, (0.25^2 + 0 + 0.25^2) / 3."""
    found = controller(known_twin(six_wheeled()))
    assert found["wheel_separation_multiplier"] == pytest.approx(1.0 + 0.25**2 * 2 / 3 / (0.201**2 * 10.0), abs=1e-6)
    assert found["left_wheel_names"] == [f"{axle}_left_wheel_joint" for axle in ("front", "middle", "rear")]


def multiplier(ratio):
    return 1.0 + 0.125**2 / (0.201**2 * ratio)


def interval(text):
    line = next(row for row in text.splitlines() if "wheel_separation_multiplier" in row)
    return [float(word) for word in line.split("90 %: ")[1].split(" to ")]


def test_interval_comes_from_the_ratio_that_the_drives_tell():
    """The twin has c_lat/c_long = 10.08 +- 0.05: 1.645 of it on both sides hold 90 %."""
    low, high = interval(export(example(), "ros2-control").text)
    assert (low, high) == pytest.approx((multiplier(10.08 + 0.08225), multiplier(10.08 - 0.08225)), abs=1e-4)


def test_interval_comes_from_the_covariance_otherwise():
    """By the delta method: var ln(ratio) = (s_a / a)^2 + (s_b / b)^2 - 2 cov / (a b)."""
    data = mapping()
    data["grounds"]["lab_floor"]["combinations"] = {}
    low, high = interval(export(Twin.from_mapping(data, where="x"), "ros2-control").text)
    ratio = 0.0501 / 0.00497
    spread = ratio * (1.21e-8 / 0.00497**2 + 1.69e-6 / 0.0501**2 - 2e-8 / (0.00497 * 0.0501)) ** 0.5
    assert (low, high) == pytest.approx((multiplier(ratio + 1.645 * spread), multiplier(ratio - 1.645 * spread)), abs=2e-4)


def test_no_spread_is_said():
    done = export(known_twin(), "ros2-control")
    assert "the twin has no spread" in done.text
    assert "interval" in [entry.what for entry in done.ledger.entries]


def test_joint_names_of_the_user():
    names = {"front_left": "fl: joint", "front_right": "fr", "rear_left": "rl", "rear_right": "rr"}
    found = controller(known_twin(), settings=Settings(wheels=names))
    assert found["left_wheel_names"] == ["fl: joint", "rl"]
    assert found["right_wheel_names"] == ["fr", "rr"]


def test_other_laws_are_refused():
    data = known_twin().to_mapping()
    data["grounds"] = {"f": {"law": "coulomb", "parameters": {"mu": {"value": 0.8, "status": "converged", "source": "x"}}}}
    with pytest.raises(ExportError, match="has the law coulomb; ros2-control can be written for wheel_slip"):
        export(Twin.from_mapping(data, where="x"), "ros2-control")


def gripping(mu, law="wheel_slip", robot="p3at", std=None):
    """c_long 0.001 and c_lat 0.002 1/N: a P3AT's spin would ask 261 N of each wheel, across."""
    data = known_twin(robot, 0.001, 0.002).to_mapping()
    found = {"status": "converged", "source": "x"}
    ground = data["grounds"]["floor"]
    ground["law"] = law
    ground["parameters"]["mu"] = {"value": mu, **({"std": std} if std else {}), **found}
    return Twin.from_mapping(data, where="x")


def test_sliding_wheels_make_the_robot_turn_better():
    """Closed form: across mu N slides, along the balance b F_long = l mu N holds, so 1 - 1/m = c_long l mu N / b; the twin's own
    simulator turns with 1.0186."""
    done = export(gripping(0.6), "ros2-control")
    load_n = 20.0 * 9.81 / 4.0
    expected = 1.0 / (1.0 - 0.001 * 0.125 * 0.6 * load_n / 0.201)
    assert expected == pytest.approx(1.0186, abs=5e-5)
    assert controller(gripping(0.6))["wheel_separation_multiplier"] == pytest.approx(expected, abs=1e-6)
    told = {entry.what: entry.why for entry in done.ledger.entries}
    assert "would ask 261 N of a wheel, mu N = 29.4 N" in told["Coulomb's limit"]
    assert "1.1934" in told["Coulomb's limit"]


def test_interval_of_sliding_wheels_follows_mu():
    """d m / d mu of the closed form, 1.645 standard deviations on both sides."""
    low, high = interval(export(gripping(0.6, std=0.02), "ros2-control").text)
    slope = 0.001 * 0.125 * 20.0 * 9.81 / 4.0 / 0.201
    ends = [1.0 / (1.0 - slope * (0.6 + sign * 1.645 * 0.02)) for sign in (-1.0, 1.0)]
    assert (low, high) == pytest.approx(ends, abs=2e-4)


def test_a_cone_slides_in_both_directions_at_once():
    """Equal loads, equal forces: a cone scales both forces of every wheel alike, and the balance is that of slip alone."""
    done = export(gripping(0.6, "wheel_slip_cone"), "ros2-control")
    found = yaml.safe_load(done.text)["diff_drive_controller"]["ros__parameters"]
    assert found["wheel_separation_multiplier"] == pytest.approx(1.0 + 0.125**2 * 0.5 / 0.201**2, abs=1e-6)
    assert "Coulomb's limit" in [entry.what for entry in done.ledger.entries]


def test_wheels_that_hold_are_not_spoken_of():
    done = export(gripping(6.0), "ros2-control")
    assert "Coulomb's limit" not in [entry.what for entry in done.ledger.entries]


def test_centre_of_mass_is_measured_from_the_wheels_centre():
    """Wheels and centre of mass moved together by 0.1 m are the same robot; the centre alone is 0.02 m away."""
    for shift, told in ((0.1, None), (0.12, "0.02, 0.0 m beside the wheels' centre")):
        data = known_twin().to_mapping()
        robot = data["robot"]
        places = robot["wheels"]["at_m"]
        places = places["value"] if isinstance(places, dict) else places
        robot["wheels"]["at_m"] = [[x + 0.1, y] for x, y in places]
        robot["centre_of_mass_m"] = [shift, 0.0, 0.152]
        entries = export(Twin.from_mapping(data, where="x"), "ros2-control").ledger.entries
        why = next((entry.why for entry in entries if entry.what == "centre of mass"), None)
        assert (why is None) == (told is None)
        assert told is None or told in why
