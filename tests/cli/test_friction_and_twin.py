"""slipfit friction and slipfit twin: what a user types and reads."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from slipfit.logs import Channel, DriveLog
from slipfit.twin import Twin
from unit.twin.twins import example


def test_tilt_prints_and_goes_into_a_twin(slipfit):
    example().save("a.twin.yaml")
    angles = [part for angle in ("31.2", "30.8", "31.5") for part in ("--angle-deg", angle)]
    result = slipfit("friction", "tilt", *angles, "--into", "a.twin.yaml", "-o", "b.twin.yaml", "--json")
    document = json.loads(result.out)
    mean = np.mean(np.tan(np.radians([31.2, 30.8, 31.5])))
    assert document["parameters"]["mu"]["value"] == pytest.approx(mean)
    assert document["kind"] == "static"
    assert Twin.load("b.twin.yaml").ground().values()["mu"] == pytest.approx(mean)
    assert "static friction by tilt" in slipfit("friction", "tilt", *angles).out


@pytest.mark.parametrize(
    ("arguments", "mu"),
    [
        (["pull", "--force-n", "98.1", "--force-std-n", "1", "--robot", "p3at"], 0.5),
        (["pull", "--force-n", "98.1", "--force-std-n", "1", "--mass-kg", "10", "--mass-std-kg", "0.1"], 1.0),
        (["stall", "--robot", "p3at", "--torque-nm", "10.791", "--torque-std-nm", "0.1"], 0.5),
        (["stall", "--robot", "p3at", "--torque-constant-nm-per-a", "0.5", "--current-a", "21.582", "--current-std-a", "1"], 0.5),
        (["braking", "--speed-mps", "1", "--distance-m", "0.101937", "--distance-std-m", "0.002"], 0.5),
    ],
)
def test_typed_readings(slipfit, arguments, mu):
    """F/(m g), tau/(R m g), v²/(2 g d) with g = 9.81."""
    result = slipfit("friction", *arguments, "--json")
    assert (result.code, result.said) == (0, [])
    assert json.loads(result.out)["mu"]["value"] == pytest.approx(mu, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.csv", "speed_mps,distance_m\n1,0.10\n1.2,0.15\n"),
        ("r.yaml", "speed_mps: [1, 1.2]\ndistance_m: [0.10, 0.15]\n"),
    ],
)
def test_tables_of_readings(slipfit, name, text):
    Path(name).write_text(text)
    document = json.loads(slipfit("friction", "braking", "--readings", name, "--json").out)
    assert [r["mu"] for r in document["readings"]] == pytest.approx([1 / (2 * 9.81 * 0.1), 1.44 / (2 * 9.81 * 0.15)])


def test_a_log_on_disk(slipfit):
    """A table tilted to 10 degrees and no sliding: mu is at least tan 10°."""
    t = np.arange(0.0, 6.0, 0.01)
    theta = np.radians(np.clip(2.0 * (t - 1.0), 0.0, None))
    zero = np.zeros_like(t)
    values = np.column_stack([9.81 * np.sin(theta), zero, 9.81 * np.cos(theta), zero, zero, zero])
    names = tuple(f"{kind}_{axis}_{unit}" for kind, unit in (("accel", "mps2"), ("gyro", "radps")) for axis in "xyz")
    DriveLog({"imu": Channel("imu", (t * 1e9).astype(np.int64), values, names)}).save("tilt.mcap")
    document = json.loads(slipfit("friction", "tilt", "--log", "tilt.mcap", "--json").out)
    assert document["mu"]["status"] == "not_excited"
    assert document["mu"]["at_least"] == pytest.approx(math.tan(math.radians(9.98)), rel=0.03)
    assert document["logs"][0]["name"] == "tilt.mcap"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tilt"], "give --angle-deg, --readings FILE or --log FILE"),
        (["tilt", "--angle-deg", "-3"], "-3 degrees"),
        (["tilt", "--angle-deg", "85"], "at most 80"),
        (["tilt", "--angle-deg", "30"], "one reading has no scatter"),
        (["tilt", "--angle-deg", "30", "--log", "x.mcap"], "exclude each other"),
        (["tilt", "--log", "x.mcap"], "x.mcap: there is no such file"),
        (["tilt", "--readings", "x.csv"], "x.csv: there is no such file"),
        (["tilt", "--readings", "x.txt"], "expected .csv or .yaml"),
        (["tilt", "--angle-deg", "30", "--angle-deg", "31", "-o", "x.yaml"], "--into is missing"),
        (["pull", "--force-n", "95"], "give --robot or --mass-kg"),
        (["pull", "--force-n", "95", "--mass-kg", "-1"], "mass_kg = -1 kg"),
        (["stall", "--current-a", "3", "--robot", "p3at"], "no torque constant"),
        (["stall", "--current-a", "3"], "Give --robot"),
        (["braking", "--speed-mps", "1", "--distance-m", "0"], "a distance of 0 m"),
        (["braking", "--speed-mps", "1"], "--speed-mps and --distance-m"),
        (["braking", "--speed-mps", "1", "--distance-m", "1", "--slope-deg", "70"], "--slope-deg = 70"),
    ],
)
def test_bad_input_is_one_sentence(refused, arguments, said):
    assert said in refused("friction", *arguments)


def test_a_twin_is_shown_loaded_and_simulated(slipfit, refused):
    example().save("a.twin.yaml")
    assert "0.00497 ± 0.00011" in slipfit("twin", "a.twin.yaml").out
    result = slipfit("twin", "a.twin.yaml", "--payload-kg", "5", "--at", "0.05,0,0.3", "-o", "b.twin.yaml", "--json")
    assert json.loads(result.out)["parameters"]["c_long_per_n"]["value"] == pytest.approx(0.8 * 0.00497)
    assert Twin.load("b.twin.yaml").robot.mass_kg.value == 25.0
    assert slipfit("simulate", "a.twin.yaml").out.startswith("p3at on lab_floor")
    assert "exists already" in refused("twin", "a.twin.yaml", "--payload-kg", "5", "-o", "b.twin.yaml")
    assert "three numbers" in refused("twin", "a.twin.yaml", "--payload-kg", "5", "--at", "1,2")
    assert "--out needs a payload" in refused("twin", "a.twin.yaml", "-o", "c.yaml")
    text = Path("a.twin.yaml").read_text().replace("status: not_excited", "status: not_exited")
    Path("bad.yaml").write_text(text)
    assert "bad.yaml: grounds.lab_floor.parameters.mu.status" in refused("simulate", "bad.yaml")


def test_a_twin_with_several_grounds_lists_them(slipfit, refused):
    data = example().to_mapping()
    data["grounds"] = {"yard": data["grounds"]["lab_floor"], "road": data["grounds"]["lab_floor"]}
    Twin.from_mapping(data, where="x").save("two.twin.yaml")
    line = refused("simulate", "two.twin.yaml")
    assert "two.twin.yaml: " in line
    assert "yard, road" in line
    assert slipfit("simulate", "two.twin.yaml", "--ground", "road").out.startswith("p3at on road")
