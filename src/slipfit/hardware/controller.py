"""A motor controller on a serial port: one question at a time, each answered before the next; zero on every way out."""

import contextlib
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Self

from slipfit.errors import DriveError
from slipfit.hardware import roboteq
from slipfit.hardware.clock import SYSTEM_CLOCK, Clock
from slipfit.hardware.link import Link, Question
from slipfit.hardware.timeouts import ANSWER_S, SENDS

if TYPE_CHECKING:
    import serial


class AskedToEnd(DriveError):
    """Somebody asked to end the drive while an answer was late."""


class Controller:
    """A Roboteq AX on an open port. Use it in a `with` block: leaving it sets both channels to zero and closes the port.

    An answer that comes before the controller's watchdog time is late at most; without one until then the link is lost, and
    from then on only zeros are sent, whatever answers come later.

    `note` hears of every pair of channel values that went out, zeros included, acknowledged or not: when (by the clock, s) and
    what. `is_asked_to_end` is looked at while an answer is late.
    """

    def __init__(
        self,
        port: "serial.Serial",
        *,
        clock: Clock = SYSTEM_CLOCK,
        note: Callable[[float, tuple[int, int]], None] | None = None,
        is_asked_to_end: Callable[[], bool] = lambda: False,
    ) -> None:
        self.clock, self.note, self.is_asked_to_end = clock, note, is_asked_to_end
        self.link = Link(port, clock)
        self.name = self.link.name
        self.acknowledged = 0
        self._counters = [0, 0]
        self._channels = [0, 0]
        self._commands_out = self._stops_before = 0
        self._is_entered = self._was_stopped = False
        self._end = ""  # why no more setpoints are sent

    def __enter__(self) -> Self:
        try:
            self.link.wake_up()
            with self._noting():
                self.command(1, 0)
                self.command(2, 0)
            self._is_entered = True
            self._stops_before = self.link.watchdog_stops  # a controller that nobody talked to barks, and rightly so
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._leave()

    def tell(self, first: int, second: int) -> None:
        """Set both channels in mid-drive; returns when the controller has acknowledged them and its watchdog kept quiet."""
        with self._noting():
            for channel, value in ((1, first), (2, second)):
                self.check_watchdog()
                self.command(channel, value)
        self.check_watchdog()

    def command(self, channel: int, value: int) -> None:
        """Set a channel; returns when the controller has acknowledged it."""
        self._was_stopped = False
        self._check_answer(self._set(channel, value, patience_s=roboteq.WATCHDOG_S, is_over=self._is_over))

    def check_watchdog(self) -> None:
        """Refuse to go on after the watchdog stopped the motors, or must have: a robot that stands does not start by itself."""
        if self._end:
            raise DriveError(self._end)
        silent_s = self.clock.now_s() - self.link.spoke_s
        if silent_s >= roboteq.WATCHDOG_S:
            raise self._given_up(
                f"nothing was sent for {silent_s:.1f} s, the computer stood still; after {roboteq.WATCHDOG_S:g} s "
                f"the controller's watchdog stops the motors, and a robot that stands is not set moving again"
            )
        self.link.look()
        if self.link.watchdog_stops > self._stops_before:
            raise self._given_up(
                f"the controller says W, its watchdog stopped the motors in mid-drive; expected no gap of "
                f"{roboteq.WATCHDOG_S:g} s between commands: check the link and the load of the computer"
            )

    def counters(self) -> tuple[int, int]:
        """Counters of encoders 1 and 2, which go on beyond 32 bits."""
        for k in (0, 1):
            question = self._ask(roboteq.counter_query(k + 1), patience_s=roboteq.WATCHDOG_S, is_over=self._is_over)
            reading = roboteq.counter_value(self._check_answer(question))
            assert reading is not None
            self._counters[k] = roboteq.unwrapped(self._counters[k], reading)
        return self._counters[0], self._counters[1]

    def stop(self) -> bool:
        """Both channels to zero, whatever happened before; whether the controller acknowledged it within the watchdog's time."""
        zeros: list[Question] = []
        with self._noting():
            for channel in (1, 2):  # the second is not kept waiting by a late answer to the first
                with contextlib.suppress(DriveError):
                    zeros.append(self._set(channel, 0, patience_s=self._sends * ANSWER_S))
        if any(zero.answer is None for zero in zeros):  # acknowledgements are late or lost, commands may still arrive
            self.link.write_blindly((roboteq.command(1, 0) + roboteq.command(2, 0)) * 3)
            acknowledged = sum(zero.answer is not None for zero in zeros)
            with contextlib.suppress(DriveError):
                for zero in zeros:
                    self.link.listen(zero, zero.asked_s + roboteq.WATCHDOG_S)
            self.acknowledged += sum(zero.answer is not None for zero in zeros) - acknowledged
        self._was_stopped = True
        return len(zeros) == 2 and all(zero.answer is not None for zero in zeros)

    # --- below the questions ------------------------------------------------------------------------------------------

    @property
    def _sends(self) -> int:
        """On a link that was lost a line goes out once: each character that arrives puts off the watchdog."""
        return 1 if self._end else SENDS

    def _is_over(self) -> bool:
        """Whether somebody asked to end; the first zeros, before anything moves, are waited for all the same."""
        return self._is_entered and self.is_asked_to_end()

    def _leave(self) -> None:
        if not self._was_stopped:
            self.stop()
        self.link.close()

    @contextlib.contextmanager
    def _noting(self) -> Iterator[None]:
        """What goes out within this block is noted, with the time of its beginning."""
        begin_s, out_before = self.clock.now_s(), self._commands_out
        try:
            yield
        finally:
            if self.note and self._commands_out > out_before:
                self.note(begin_s, (self._channels[0], self._channels[1]))

    def _set(self, channel: int, value: int, *, patience_s: float, is_over: Callable[[], bool] = lambda: False) -> Question:
        def sent() -> None:
            self._commands_out += 1
            self._channels[channel - 1] = value

        question = self._ask(roboteq.command(channel, value), patience_s=patience_s, is_over=is_over, sent=sent)
        self.acknowledged += question.answer is not None
        return question

    def _ask(
        self, line: bytes, *, patience_s: float, is_over: Callable[[], bool], sent: Callable[[], None] = lambda: None
    ) -> Question:
        return self.link.ask(line, sends=self._sends, patience_s=patience_s, sent=sent, is_over=is_over)

    def _check_answer(self, question: Question) -> str:
        """The answer, if it came before the watchdog's time. One after it counts no more, even if we only looked late."""
        if question.answer is not None and question.delay_s < roboteq.WATCHDOG_S:
            return question.answer
        is_refused = question.refusals >= question.copies
        if self._is_over() and not is_refused and self.clock.now_s() - question.asked_s < roboteq.WATCHDOG_S:
            raise AskedToEnd(f"{self.name}: asked to end while the answer to '{question.text}' was late")
        raise self._given_up(self._complaint(question, is_refused))

    def _given_up(self, why: str) -> DriveError:
        """The error that ends the drive; from now on only zeros are sent."""
        self._end = f"{self.name}: {why}"
        return DriveError(self._end)

    def _complaint(self, question: Question, is_refused: bool) -> str:
        asked, copies, port = question.text, question.copies, self.link.port
        settings = f"{port.baudrate} baud {port.bytesize}{port.parity}{port.stopbits:g}"
        if is_refused:
            return f"the controller does not understand '{asked}' (answer '-', {copies} times); expected a Roboteq AX"
        if question.answer is not None:
            return (
                f"the answer to '{asked}' came after {question.delay_s:.1f} s; expected it within the {roboteq.WATCHDOG_S:g} s "
                f"of the controller's watchdog: check the link and the load of the computer"
            )
        if self.link.heard.strip(b"W\r\n"):  # more than its watchdog
            return (
                f"answers {bytes(self.link.heard[:24])!r} to '{asked}'; expected its echo and an answer: check baud rate and "
                f"framing ({settings}), and that a Roboteq AX is connected"
            )
        return (
            f"no answer to '{asked}' within {roboteq.WATCHDOG_S:g} s, sent {copies} times; expected its echo and an answer: is "
            f"the controller on, in RS232 mode, and at {settings}?"
        )
