"""Constants for a Roboteq driver: document 001's numbers come out of its powertrain, with intervals."""

import math

import pytest
import yaml

from controllers import K2, TYRE_M, controlled_twin, found, powertrain
from known_twins import known_twin
from slipfit.control import Mode, Scale
from slipfit.errors import ExportError
from slipfit.exporters import export
from slipfit.twin.powertrain import FittedPowertrain


def constants(twin):
    return yaml.safe_load(export(twin, "roboteq").text)["roboteq"]


def test_constants_of_the_document():
    """SPEC 2: k2 / d = 24.8 / .304 per m/s, 32.5 per rad/s, 44000 counts per pi d, limits -126 and 127."""
    found = constants(controlled_twin())
    assert found["channel_1"] == {"per_mps": pytest.approx(K2 / TYRE_M), "per_radps": 0}
    assert found["channel_2"] == {"per_mps": 0, "per_radps": pytest.approx(32.5)}
    assert found["setpoint_limits"] == [-126, 127]
    assert found["left"]["counts_per_metre"] == pytest.approx(1.0 / 2.17055e-5, rel=1e-5)
    assert found["watchdog_s"] == 1.0
    assert found["rounding"] == "half_even"
    assert found["framing"] == "7E1"


@pytest.mark.parametrize(("v", "rate"), [(0.3, 0.0), (0.0, 0.5), (-0.2, 0.4)])
def test_channels_drive_sides_of_different_gain(v, rate):
    """The two rows of the file, applied by hand, are what the driver sends."""
    twin = controlled_twin(right_gain=1.03)
    found = constants(twin)
    told = [found[c]["per_mps"] * v + found[c]["per_radps"] * rate for c in ("channel_1", "channel_2")]
    assert told == pytest.approx(Scale.of(twin).channels(v, rate, Mode.MIXED), rel=1e-6, abs=1e-6)


def test_intervals_stand_beside_the_numbers():
    """12.4 +- 0.1 setpoints per rad/s, divided by a radius without spread: 1.645 x 0.1 / .152 on either side of 81.579."""
    text = export(controlled_twin(), "roboteq").text
    line = next(row for row in text.splitlines() if "setpoint_per_mps" in row)
    low, high = map(float, line.split("90 %: ")[1].split(" to "))
    assert (low, high) == pytest.approx((81.579 - 1.0822, 81.579 + 1.0822), abs=2e-3)
    assert "effective_track_m: 0.79677419  # m, the twin has no spread" in text
    assert text.isascii()


def test_sides_share_the_error_of_their_diameter():
    """Two gains of 0.1 / 12.4 each by itself, over radii with 1 % in common: sqrt(0.00806^2 / 2 + 0.01^2) of the mean."""
    power = powertrain()
    sides = {
        name: side.model_copy(update={"metres_per_count": found(side.metres_per_count.value, 0.01 * side.metres_per_count.value)})
        for name, side in (("left", power.left), ("right", power.right))
    }
    text = export(controlled_twin().with_powertrain(power.model_copy(update=sides)), "roboteq").text
    line = next(row for row in text.splitlines() if "per_mps" in row and "ahead" in row)
    low, high = map(float, line.split("90 %: ")[1].split(" to "))
    share = math.sqrt((0.1 / 12.4) ** 2 / 2 + 0.01**2)
    assert 0.5 * (high - low) == pytest.approx(1.645 * share * K2 / TYRE_M, rel=1e-3)


def test_ledger_tells_what_was_put_in_place():
    told = {entry.what for entry in export(controlled_twin(lag_s=0.1), "roboteq").ledger.entries}
    assert told == {"slip", "whole setpoints", "lag and delay"}
    bare = powertrain()
    sides = {name: bare.left.model_copy(update={"metres_per_count": None}) for name in ("left", "right")}
    bare = FittedPowertrain(**sides)
    told = {entry.what for entry in export(known_twin().with_powertrain(bare), "roboteq").ledger.entries}
    assert told == {"slip", "whole setpoints", "effective track", "counts per metre"}


def test_a_twin_without_speed_constants_is_refused():
    with pytest.raises(ExportError, match="has no powertrain; find its odometer and speed constants with slipfit odometry"):
        export(known_twin(), "roboteq")
