"""What was driven: everything sent and read, as a drive log, and how it ended."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from slipfit.control import Mode, RoundingEffect, Scale
from slipfit.hardware.clock import SYSTEM_CLOCK, Clock
from slipfit.hardware.timeouts import ANSWER_S
from slipfit.logs import Channel, DriveLog
from slipfit.logs import channels as names


class Ending(StrEnum):
    """How a drive ended; the motors are at zero after each."""

    FINISHED = "finished"
    STOP_FILE = "stop_file"
    INTERRUPTED = "interrupted"
    TERMINATED = "terminated"
    HUNG_UP = "hung_up"
    FAILED = "failed"

    @property
    def sentence(self) -> str:
        """What the user reads."""
        return _SENTENCES[self]


_SENTENCES = {
    Ending.FINISHED: "the plan was driven to its end",
    Ending.STOP_FILE: "stopped by the stop file",
    Ending.INTERRUPTED: "stopped by Ctrl-C",
    Ending.TERMINATED: "stopped by a signal to end (SIGTERM)",
    Ending.HUNG_UP: "stopped because the terminal was closed (SIGHUP)",
    Ending.FAILED: "stopped by a failure",
}


@dataclass(frozen=True, eq=False, slots=True)
class Drive:
    """A drive on a controller: how it ended, its log, and what the link did."""

    plan: str
    port: str
    ending: Ending
    log: DriveLog
    planned_s: float
    driven_s: float
    acknowledged: int
    repeated: int
    left_out: int  # moments at which a command was due and the one before had not been answered
    is_stop_acknowledged: bool
    effect: RoundingEffect
    late_answers: int = 0  # answers that took more than timeouts.ANSWER_S
    longest_answer_s: float = 0.0  # the longest time to any answer, late or not
    late_readings: int = 0  # counter readings that are not in the log, because their answer was late
    problem: str = ""  # of an ending that failed

    @property
    def stop(self) -> str:
        """What became of the motors, as a clause."""
        if not self.log.channels:
            return "nothing was sent, the port was not opened"
        return "zero " + ("acknowledged" if self.is_stop_acknowledged else "not acknowledged: the watchdog stops the motors")

    @property
    def answers(self) -> str:
        """Whether the controller answered in time, as a clause."""
        if not self.late_answers:
            return f"none late (more than {ANSWER_S:g} s), the longest after {self.longest_answer_s:.3f} s"
        what = f"{self.late_answers} late (more than {ANSWER_S:g} s), the longest after {self.longest_answer_s:.3f} s"
        return what + (f"; {self.late_readings} late counter readings not logged" if self.late_readings else "")

    def summary(self) -> str:
        """A few lines for people."""
        rows = [
            f"{self.plan} on {self.port}: {self.ending.sentence}, {self.driven_s:.2f} s of {self.planned_s:.2f} s",
            f"  link     {self.acknowledged} commands acknowledged, {self.repeated} repeated, {self.left_out} moments left out",
            f"  answers  {self.answers}",
            f"  stop     {self.stop}",
            f"  effect   {self.effect.summary()}",
        ]
        return "\n".join([*rows, *([f"  problem  {self.problem}"] if self.problem else [])])

    def to_document(self) -> dict[str, Any]:
        """For --json."""
        return {
            "plan": self.plan,
            "port": self.port,
            "ending": self.ending.value,
            "planned_s": self.planned_s,
            "driven_s": self.driven_s,
            "acknowledged": self.acknowledged,
            "repeated": self.repeated,
            "left_out": self.left_out,
            "late_answers": self.late_answers,
            "longest_answer_s": self.longest_answer_s,
            "late_readings": self.late_readings,
            "is_stop_acknowledged": self.is_stop_acknowledged,
            "effect": self.effect.to_document(),
            "problem": self.problem,
            "channels": {c.name: len(c.stamps_ns) for c in self.log.channels.values()},
        }


@dataclass(slots=True)
class Recorder:
    """Takes notes during a drive. Times are those of the drive's clock, stamps go on from the time of day when it began."""

    scale: Scale
    mode: Mode
    counts_per_turn: tuple[float, float] | None  # of left and right
    clock: Clock = SYSTEM_CLOCK
    began_s: float = field(init=False)
    began_ns: int = field(init=False)
    late_readings: int = 0  # of counters, not logged
    wanted: tuple[float, float] = (0.0, 0.0)  # speed and yaw rate that the next channel values stand for
    _sent: list[tuple[float, ...]] = field(default_factory=list)
    _read: list[tuple[float, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.began_s, self.began_ns = self.clock.now_s(), self.clock.wall_ns()

    def sent(self, at_s: float, channels: tuple[int, int]) -> None:
        """Channel values that went out, acknowledged or not."""
        self._sent.append((at_s, *self.wanted, *channels, *self.scale.wheels_radps(*channels, self.mode)))

    def read(self, at_s: float, counters: tuple[int, int]) -> None:
        """Counters of left and right."""
        self._read.append((at_s, *counters))

    def stamps_ns(self, at_s: np.ndarray) -> np.ndarray:
        """Wall-clock stamps of monotonic times."""
        return self.began_ns + np.round((at_s - self.began_s) * 1e9).astype(np.int64)

    def log(self, about: str, notes: tuple[str, ...] = ()) -> DriveLog:
        """Everything so far."""
        made: list[Channel] = []
        if self._sent:
            sent = np.array(self._sent, dtype=float)
            stamps = self.stamps_ns(sent[:, 0])
            made.append(Channel(names.COMMANDS, stamps, sent[:, 5:7], names.rotation_columns(("speed",), 0)))
            made.append(Channel("plan", stamps, sent[:, 1:3], names.COMMAND_COLUMNS))
            made.append(Channel("setpoints", stamps, sent[:, 3:5], ("channel_1", "channel_2")))
        if self._read:
            read = np.array(self._read, dtype=float)
            stamps, counts = self.stamps_ns(read[:, 0]), read[:, 1:3]
            made.append(Channel("counters", stamps, counts, names.rotation_columns(("ticks",), 0)))
            if self.counts_per_turn:
                angles = counts * (2.0 * np.pi / np.array(self.counts_per_turn))
                made.append(Channel(names.ENCODERS, stamps, angles, names.rotation_columns(("angle",), 0)))
        return DriveLog({c.name: c for c in made}, about=about, notes=notes)
