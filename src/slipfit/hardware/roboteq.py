"""The language of Roboteq's AX controllers on their RS232 port, as we speak it: pure text, no port.

    !Ann !ann    channel 1 forward, reverse; nn two hexadecimal digits, 00 to 7F
    !Bnn !bnn    channel 2
    ?Q0 ?Q1      counters of encoders 1 and 2 since they were last cleared
    W            unasked for, once a second: the watchdog stopped the motors, nothing was heard for a second

Lines end with a carriage return. Every character is echoed; then comes + (done), - (not understood), or a counter. A counter is
32 bits, two's complement, in hexadecimal without the leading digits that only repeat its sign.

Reference  [RoboteqAX3500] pp. 142 (echo, watchdog, commands), 159 (counters), 167-168 (their format, Table 33);
           values 00 to 7F and mixed mode in the same firmware's [RoboteqAX2550] p. 139
"""

import re

from slipfit.errors import DriveError

END = b"\r"

#: Largest channel value, in either direction.
LARGEST = 127

#: The watchdog stops the motors after this long without a character (s).
WATCHDOG_S = 1.0

DONE, NOT_UNDERSTOOD, STOPPED_BY_WATCHDOG = "+", "-", "W"

#: Characters per command, sent and echoed; per acknowledgement; per counter query, and the longest counter, each with its end.
COMMAND_LENGTH, DONE_LENGTH, QUERY_LENGTH, COUNTER_LENGTH = 5, 2, 4, 9

#: So many carriage returns take a controller from radio or analog control to RS232.
WAKE_UP = END * 10

_CHANNELS = {1: "A", 2: "B"}
_COMMAND = re.compile(r"!([AaBb])([0-7][0-9A-Fa-f])")
_COUNTER = re.compile(r"[0-9A-Fa-f]{1,8}")


def command(channel: int, value: int) -> bytes:
    """The line that sets a channel: command(1, -63) is !a3F."""
    if channel not in _CHANNELS or abs(value) > LARGEST:
        raise DriveError(f"channel {channel} cannot be told {value}; expected channel 1 or 2 and -{LARGEST} to {LARGEST}")
    letter = _CHANNELS[channel]
    return f"!{letter if value >= 0 else letter.lower()}{abs(value):02X}".encode("ascii") + END


def counter_query(encoder: int) -> bytes:
    """The line that asks for a counter, encoder 1 or 2."""
    return f"?Q{encoder - 1}".encode("ascii") + END


def read_command(line: str) -> tuple[int, int] | None:
    """Channel and value of a command line; None if it is none."""
    found = _COMMAND.fullmatch(line)
    if not found:
        return None
    value = int(found[2], 16)
    return ("AB".index(found[1].upper()) + 1, value if found[1].isupper() else -value)


def counter_text(count: int) -> str:
    """A counter as the controller writes it: +250 is 0FA, -235 is F15."""
    text = f"{count & 0xFFFFFFFF:08X}"
    sign = "0" if count >= 0 else "F"
    short = text.lstrip(sign) or text[-1]
    is_clear = (short[0] >= "8") == (count < 0)
    return short if is_clear else sign + short


def counter_value(text: str) -> int | None:
    """The number behind a counter's text: padded with 0 or F by its first digit; None if it is no counter."""
    if not _COUNTER.fullmatch(text):
        return None
    number = int(text.rjust(8, "F" if text[0].upper() >= "8" else "0"), 16)
    return number - (1 << 32) if number >= 1 << 31 else number


def unwrapped(before: int, reading: int) -> int:
    """The counter that goes on from `before` when 32 bits now read `reading`."""
    step = (reading - before) & 0xFFFFFFFF
    return before + (step - (1 << 32) if step >= 1 << 31 else step)
