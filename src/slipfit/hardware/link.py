"""Lines to a controller and its answers. An answer belongs to the line whose echo came before it, however late both are.

A Roboteq AX does not number its answers, and `+` is the same for all commands. But it echoes every line, in order, before it
answers. So the host keeps the lines whose echo has not come: an echo belongs to the oldest of them with the same text, and
lines sent before that one were lost.
"""

import contextlib
import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slipfit.errors import DriveError
from slipfit.hardware import roboteq
from slipfit.hardware.clock import Clock
from slipfit.hardware.port import PORT_ERRORS, reason
from slipfit.hardware.timeouts import ANSWER_S, QUIET_S, SETTLE_S, WAKE_POLL_S

if TYPE_CHECKING:
    import serial

#: Lines that wait for their echo, at most; far more than are ever under way.
_MOST_OPEN = 64

#: So many characters of an unexpected answer are kept for the error message.
_KEPT = 64


@dataclass(eq=False, slots=True)
class Question:
    """A line to the controller, sent once or more, and what came back."""

    line: bytes
    asked_s: float = 0.0  # when it was first sent
    copies: int = 0
    refusals: int = 0
    answer: str | None = None
    delay_s: float = 0.0  # from the first copy to the answer

    @property
    def text(self) -> str:
        return self.line.decode("ascii").strip()

    def fits(self, word: str) -> bool:
        """Whether a word can be the answer: a counter for a query, + for a command."""
        return roboteq.counter_value(word) is not None if self.text.startswith("?") else word == roboteq.DONE


class Link:
    """An open port, what was sent, and which answers are due."""

    def __init__(self, port: "serial.Serial", clock: Clock) -> None:
        self.port, self.clock, self.name = port, clock, str(port.port)
        self.repeated = self.late_answers = self.watchdog_stops = 0
        self.longest_answer_s = 0.0
        self.spoke_s = clock.now_s()
        self.is_gone = False
        self.heard = bytearray()  # since the last question, for error messages
        self._buffer = bytearray()
        self._unechoed: deque[Question] = deque(maxlen=_MOST_OPEN)  # one entry per copy
        self._echoed: Question | None = None

    def wake_up(self) -> None:
        """Into RS232 mode, and past whatever a controller says on that occasion."""
        with self._vanishing():
            self.port.write(roboteq.WAKE_UP)
            self.spoke_s = begin_s = heard_s = self.clock.now_s()
            while self.clock.now_s() - heard_s < QUIET_S and self.clock.now_s() - begin_s < SETTLE_S:
                if self.port.in_waiting:
                    self.heard += self.port.read(self.port.in_waiting)
                    heard_s = self.clock.now_s()
                self.clock.sleep(WAKE_POLL_S)
            self.port.reset_input_buffer()

    def ask(
        self, line: bytes, *, sends: int, patience_s: float, sent: Callable[[], None], is_over: Callable[[], bool]
    ) -> Question:
        """Send a line, again while it is not answered, and wait for the answer until `patience_s` after it was first sent.

        `sent` is called after every copy; `is_over` ends the wait for an answer that is late. A question without an answer in
        time has none.
        """
        self.heard.clear()
        question = Question(line)
        while question.answer is None and question.copies < sends and not (question.copies and is_over()):
            self._send(question)
            sent()
            is_last = question.copies == sends
            self.listen(question, question.asked_s + (patience_s if is_last else question.copies * ANSWER_S), is_over)
        return question

    def listen(self, question: Question, until_s: float, is_over: Callable[[], bool] = lambda: False) -> None:
        """Until a question is answered, or every copy refused, or a time is over."""
        refusals = question.refusals

        def is_given_up() -> bool:  # an answer that is in time is not missed
            return self.clock.now_s() > question.asked_s + ANSWER_S and is_over()

        with self._vanishing():
            while question.answer is None and (word := self._word(until_s, is_given_up)) is not None:
                self._take(word)
                if question.refusals > refusals and question.refusals >= question.copies:
                    return

    def look(self) -> None:
        """Take what has come, without waiting: a W of the watchdog is known before the next line is sent."""
        with self._vanishing():
            while (word := self._word(-math.inf, lambda: True)) is not None:
                self._take(word)

    def write_blindly(self, lines: bytes) -> None:
        """Characters whose answers nobody waits for."""
        with contextlib.suppress(*PORT_ERRORS):
            self.port.write(lines)
            self.port.flush()

    def close(self) -> None:
        with contextlib.suppress(*PORT_ERRORS):
            self.port.close()

    def _send(self, question: Question) -> None:
        with self._vanishing():
            self.port.write(question.line)
        self.spoke_s = self.clock.now_s()
        if not question.copies:
            question.asked_s = self.spoke_s
        self.repeated += question.copies > 0
        question.copies += 1
        self._unechoed.append(question)

    def _take(self, word: str) -> None:
        """A word from the controller: W, an echo, or the answer to the line that was echoed last."""
        if word == roboteq.STOPPED_BY_WATCHDOG:
            self.watchdog_stops += 1
        elif (found := self._whose_echo(word)) is not None:
            self._echoed = found
        elif (question := self._echoed) is not None and word == roboteq.NOT_UNDERSTOOD:
            question.refusals += 1
            self._echoed = None
        elif question is not None and question.fits(word):
            self._echoed = None
            if question.answer is None:
                self._answered(question, word)

    def _answered(self, question: Question, word: str) -> None:
        question.answer, question.delay_s = word, self.clock.now_s() - question.asked_s
        if question.delay_s > ANSWER_S:
            self.late_answers += 1
        self.longest_answer_s = max(self.longest_answer_s, question.delay_s)

    def _whose_echo(self, word: str) -> Question | None:
        """The oldest line with this echo. A piece of a lost line may stand before it, without an end of its own."""
        for k, question in enumerate(self._unechoed):
            if word.endswith(question.text):
                for _ in range(k + 1):  # the controller answers in order: what is older was lost
                    self._unechoed.popleft()
                return question
        return None

    def _word(self, until_s: float, is_given_up: Callable[[], bool]) -> str | None:
        """The next word. +, - and W are whole by themselves; others end with a carriage return. None when the time is over."""
        while True:
            del self._buffer[: len(self._buffer) - len(self._buffer.lstrip(b"\r\n"))]
            if bytes(self._buffer[:1]) in (b"+", b"-", b"W"):
                return chr(self._buffer.pop(0))
            end = self._buffer.find(roboteq.END)
            if end >= 0:
                word = self._buffer[:end].decode("ascii", "replace")
                del self._buffer[: end + 1]
                return word
            is_time_up = self.clock.now_s() >= until_s or is_given_up()
            if is_time_up and not self.port.in_waiting:  # a busy machine may look late at what came in time
                return None
            got = self.port.read(1)
            got += self.port.read(self.port.in_waiting) if got else b""
            self._buffer += got
            self.heard += got[: max(0, _KEPT - len(self.heard))]

    @contextlib.contextmanager
    def _vanishing(self) -> Iterator[None]:
        """What the operating system says of a port that went away, as a sentence."""
        if self.is_gone:
            raise DriveError(f"{self.name}: the port is gone")
        try:
            yield
        except PORT_ERRORS as error:
            is_full = "timeout" in str(error).lower()
            self.is_gone = not is_full
            what = "takes no more characters" if is_full else f"the port vanished ({reason(error)})"
            raise DriveError(f"{self.name}: {what}; check cable and supply") from None
