"""The controller's language: the manual's own examples, and any number there and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipfit.errors import DriveError
from slipfit.hardware import roboteq

#: AX3500 manual, p. 168, Table 33: counter, text.
TABLE_33 = [(5, "5"), (250, "0FA"), (-6, "A"), (-235, "F15"), (91_011_186, "56CB872"), (-7_986_091, "862455")]

counters = st.integers(-(2**31), 2**31 - 1)


@pytest.mark.parametrize(("count", "text"), TABLE_33)
def test_counters_of_the_manual(count, text):
    assert roboteq.counter_text(count) == text
    assert roboteq.counter_value(text) == count


@given(counters)
def test_counters_come_back(count):
    text = roboteq.counter_text(count)
    assert 1 <= len(text) <= 8
    assert roboteq.counter_value(text) == count


@pytest.mark.parametrize("text", ["", "G", "123456789", "+", "12 "])
def test_what_is_no_counter(text):
    assert roboteq.counter_value(text) is None


def test_commands_of_the_manual():
    """AX2550 manual, p. 139: !A00 channel 1 to 0, !B7F channel 2 full forward, !a3F channel 1 half reverse; two digits always."""
    assert roboteq.command(1, 0) == b"!A00\r"
    assert roboteq.command(2, 127) == b"!B7F\r"
    assert roboteq.command(1, -63) == b"!a3F\r"
    assert roboteq.command(1, -5) == b"!a05\r"
    assert roboteq.read_command("!a5") is None


@given(st.sampled_from([1, 2]), st.integers(-127, 127))
def test_commands_come_back(channel, value):
    assert roboteq.read_command(roboteq.command(channel, value).decode().strip()) == (channel, value)


@pytest.mark.parametrize(("channel", "value"), [(1, 128), (2, -128), (3, 0)])
def test_what_cannot_be_told(channel, value):
    with pytest.raises(DriveError, match=f"channel {channel} cannot be told {value}"):
        roboteq.command(channel, value)


@given(counters, st.integers(-(2**31) + 1, 2**31 - 1))
def test_counters_go_on_beyond_32_bits(before, step):
    """The controller counts modulo 2^32; a step of less than half of that is told apart."""
    reading = roboteq.counter_value(f"{(before + step) & 0xFFFFFFFF:08X}")
    assert roboteq.unwrapped(before, reading) == before + step
