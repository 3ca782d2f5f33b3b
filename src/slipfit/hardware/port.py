"""Serial ports: opening one for us alone, and what the operating system says if that fails."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from slipfit.errors import DriveError
from slipfit.hardware import roboteq
from slipfit.hardware.clock import SYSTEM_CLOCK, Clock
from slipfit.hardware.timeouts import READ_S

if TYPE_CHECKING:
    import serial

try:
    from termios import error as _TerminalError
except ImportError:  # Windows
    _TerminalError = OSError  # type: ignore[assignment, misc]

#: What the serial stack raises for a port in trouble. pyserial lets errors of termios through, which are no OSErrors.
PORT_ERRORS = (OSError, _TerminalError)

#: Errors of the operating system on opening a port, by number.
_BUSY, _MISSING, _FORBIDDEN = (11, 16), (2, 6), (1, 13)


class Port(Protocol):
    """Where a controller is: a name for messages, the clock that its time goes by, and how to open it."""

    @property
    def name(self) -> str: ...

    @property
    def clock(self) -> Clock: ...

    def open(self, *, baud: int, framing: str) -> "serial.Serial": ...


@dataclass(frozen=True, slots=True)
class SerialPort:
    """A port of this machine, by the operating system's name."""

    name: str
    clock: Clock = SYSTEM_CLOCK

    def open(self, *, baud: int, framing: str) -> "serial.Serial":
        return open_port(self.name, baud=baud, framing=framing)


def open_port(port: str, *, baud: int, framing: str = "7E1") -> "serial.Serial":
    """A serial port for us alone; a second process finds it taken."""
    try:
        import serial
    except ImportError:
        raise DriveError("pyserial is not installed; install it with: pip install 'slipfit[drive]'") from None
    check_framing(framing)
    try:
        return serial.Serial(
            port,
            baudrate=baud,
            bytesize=int(framing[0]),
            parity=framing[1],
            stopbits=int(framing[2]),
            timeout=READ_S,
            # pyserial raises after this time even if every character went out, as when the machine was busy meanwhile
            write_timeout=roboteq.WATCHDOG_S,
            exclusive=True,
        )
    except (*PORT_ERRORS, ValueError) as error:  # SerialException is an OSError
        raise DriveError(f"{port}: {_why_not_open(error)}") from None


def check_framing(framing: str) -> None:
    """Refuse what a Roboteq does not speak."""
    if framing not in ("7E1", "8N1"):
        raise DriveError(f"framing is '{framing}'; expected 7E1 (Roboteq AX) or 8N1")


def _why_not_open(error: Exception) -> str:
    number = getattr(error, "errno", None)
    if number in _BUSY:
        return "is used by another process; end that one first"
    if number in _MISSING:
        return "there is no such port; plug the controller in, or give another (sim for a simulated one)"
    if number in _FORBIDDEN:
        return "may not be opened by this user; on Linux add them to the group dialout"
    return f"cannot be opened ({reason(error)}); expected a serial port"


def reason(error: Exception) -> str:
    """What the operating system says; an error of termios is a number and its text."""
    text = str(error.args[-1] if error.args and not isinstance(error, OSError) else error)
    return (text.splitlines() or [type(error).__name__])[0]
