"""Drive a plan on a motor controller: a command at a time at a steady rate, zero on every way out, and a log of all of it."""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType

import numpy as np

from slipfit.control import Mode, Rounder, Rounding, Scale, effect_of_rounding
from slipfit.drive import roboteq
from slipfit.drive.controller import Controller, open_port
from slipfit.drive.plan import DrivePlan
from slipfit.drive.record import Drive, Ending, Recorder
from slipfit.drive.simulated import BITS_PER_CHARACTER, SimulatedController, SimulatedPort
from slipfit.drive.simulated_motors import STEP_S, Motors, poses_of
from slipfit.errors import DriveError
from slipfit.logs import Channel, DriveLog
from slipfit.logs import channels as names
from slipfit.twin import Twin

#: The port that is none: a simulated controller behind a pseudo-terminal.
SIM = "sim"

#: Baud rates of a Roboteq AX, and of the simulated one.
USUAL_BAUD, SIM_BAUD = 9600, 115200

#: Share of the line that commands and counters may fill; the rest is for repetitions.
MOST_OF_THE_LINE = 0.8

#: After the stop the counters are read for this long, so that the log holds the robot coming to rest (s).
ROLL_OUT_S = 0.3

_SIGNALS = {"SIGINT": Ending.INTERRUPTED, "SIGTERM": Ending.TERMINATED, "SIGHUP": Ending.HUNG_UP}


@dataclass(frozen=True, slots=True)
class Settings:
    """How a plan is driven."""

    rate_hz: float = 50.0
    mode: Mode = Mode.MIXED
    rounding: Rounding = Rounding.HALF_EVEN
    baud: int | None = None  # 9600, or 115200 for sim
    framing: str = "7E1"
    stop_file: Path | None = None
    ground: str | None = None

    def __post_init__(self) -> None:
        slowest = 2.0 / roboteq.WATCHDOG_S
        if not slowest <= self.rate_hz <= 1000.0:
            raise DriveError(
                f"the rate is {self.rate_hz:g} Hz; expected {slowest:g} to 1000 Hz: below, the watchdog "
                f"stops the motors in between"
            )

    def baud_of(self, port: str) -> int:
        return self.baud or (SIM_BAUD if port == SIM else USUAL_BAUD)

    def counters_every(self, baud: int) -> int:
        """Counters are read with every so many commands: as often as the line carries, at least once a second."""
        carried = MOST_OF_THE_LINE * baud / BITS_PER_CHARACTER  # characters a second, each way
        told = self.rate_hz * 2.0 * (roboteq.COMMAND_LENGTH + roboteq.DONE_LENGTH)
        one_reading = 2.0 * (roboteq.QUERY_LENGTH + roboteq.COUNTER_LENGTH)
        if told + one_reading > carried:
            most = (carried - one_reading) / (2.0 * (roboteq.COMMAND_LENGTH + roboteq.DONE_LENGTH))
            raise DriveError(
                f"{self.rate_hz:g} commands a second do not fit {baud} baud; take at most {most:.0f} Hz, or a faster line"
            )
        return max(1, int(np.ceil(self.rate_hz * one_reading / (carried - told))))


def drive(plan: DrivePlan | Path | str, twin: Twin, port: str, settings: Settings | None = None) -> Drive:
    """Drive a plan. What is wrong before the first command raises; after it the record tells, with the log so far.

    Parameters
    ----------
    plan : a record, or the path of a CSV file or scenario
    twin : its powertrain gives setpoints; on `sim` it is also the robot that is driven
    port : a serial port, or `sim`
    """
    settings = settings or Settings()
    scale = Scale.of(twin, settings.ground)
    if not isinstance(plan, DrivePlan):
        plan = DrivePlan.load(plan, twin.robot, scale.effective_track_m)
    plan.check(twin.robot, scale)
    if settings.stop_file is not None and settings.stop_file.exists():
        raise DriveError(f"{settings.stop_file}: the stop file is already there; remove it before you drive")
    baud = settings.baud_of(port)
    every = settings.counters_every(baud)
    if port != SIM:
        return _drive(plan, twin, scale, port, port, baud, every, settings)
    ground = twin.ground(settings.ground)
    far = SimulatedController(Motors.of(twin, scale), mode=settings.mode, limits=scale.limits, watchdog_s=roboteq.WATCHDOG_S)
    with SimulatedPort(far, baud=baud) as simulated:
        done = _drive(plan, twin, scale, simulated.path, SIM, baud, every, settings)
        switched_on_ns = time.time_ns() - round(simulated.now_s * 1e9)
    return _with_truth(done, poses_of(far.motors, twin, scale, ground), switched_on_ns)


def _with_truth(done: Drive, poses: np.ndarray, switched_on_ns: int) -> Drive:
    """The drive with where the simulated robot was, every 10 ms."""
    every = round(0.01 / STEP_S)
    stamps = switched_on_ns + np.round(np.arange(len(poses))[::every] * STEP_S * 1e9).astype(np.int64)
    truth = Channel(names.POSE, stamps, np.ascontiguousarray(poses[::every]), names.POSE_COLUMNS)
    return replace(done, log=done.log.having(truth))


def _drive(plan: DrivePlan, twin: Twin, scale: Scale, path: str, port: str, baud: int, every: int, settings: Settings) -> Drive:
    power = twin.powertrain
    turn = power.counts_per_turn.value if power and power.counts_per_turn else None
    recorder = Recorder(scale, settings.mode, turn)
    problem, stop_heard, late, driven_s = "", False, 0, 0.0
    with _signals() as asked, Controller(open_port(path, baud=baud, framing=settings.framing)) as controller:
        run = _Run(plan, controller, recorder, Rounder(scale, settings.mode, settings.rounding), settings, every, asked)
        try:
            ending = run.to_the_end()
        except DriveError as error:
            ending, problem = Ending.FAILED, str(error)
        finally:
            stop_heard = controller.stop()
        late, driven_s = run.late, run.driven_s
        if stop_heard:
            _roll_out(controller, recorder, settings.rate_hz / every)
    effect = effect_of_rounding(scale, plan.v_mps, plan.yaw_rate_radps, settings.mode, settings.rounding)
    log = _log(recorder, plan, port, ending, settings)
    return Drive(
        plan=plan.name,
        port=port,
        ending=ending,
        log=log,
        planned_s=plan.duration_s,
        driven_s=driven_s,
        acknowledged=controller.acknowledged,
        repeated=controller.repeated,
        late=late,
        is_stop_acknowledged=stop_heard,
        effect=effect,
        problem=problem,
    )


def _log(recorder: Recorder, plan: DrivePlan, port: str, ending: Ending, settings: Settings) -> DriveLog:
    notes = (
        f"commands are the wheel speeds that whole setpoints mean, by {settings.rounding.value} in {settings.mode.value} mode",
        f"ended: {ending.sentence}",
    )
    return recorder.log(f"drive of {plan.name} on {port}", notes)


@dataclass(slots=True)
class _Run:
    """The loop: commands at a steady rate until the plan, or somebody, ends it."""

    plan: DrivePlan
    controller: Controller
    recorder: Recorder
    rounder: Rounder
    settings: Settings
    every: int
    asked: "_Asked"
    late: int = 0
    driven_s: float = 0.0

    def to_the_end(self) -> Ending:
        period_s, tick, planned_s = 1.0 / self.settings.rate_hz, 0, 0.0
        begin_s = before_s = time.monotonic()
        progress = 1.0
        while True:
            now_s = time.monotonic()
            planned_s += (now_s - before_s) * progress
            before_s, self.driven_s = now_s, now_s - begin_s
            if planned_s >= self.plan.duration_s:
                return Ending.FINISHED
            if (ending := self._stopped()) is not None:
                return ending
            wanted = self.plan.at(planned_s)
            told = self.rounder(*wanted)
            self.controller.command(1, told.first)
            self.controller.command(2, told.second)
            progress = told.progress
            self.recorder.sent(now_s, wanted, told)
            if tick % self.every == 0:
                _read(self.controller, self.recorder)
            tick += 1
            due_s = begin_s + tick * period_s
            missed = int(max(0.0, time.monotonic() - due_s) / period_s)
            self.late, tick = self.late + missed, tick + missed
            left_s = min(begin_s + tick * period_s - time.monotonic(), (self.plan.duration_s - planned_s) / progress)
            if left_s > 0.0:
                time.sleep(left_s)

    def _stopped(self) -> Ending | None:
        if self.asked.ending is not None:
            return self.asked.ending
        file = self.settings.stop_file
        return Ending.STOP_FILE if file is not None and file.exists() else None


def _read(controller: Controller, recorder: Recorder) -> None:
    """Counters, stamped in the middle between question and answer."""
    asked_s = time.monotonic()
    counters = controller.counters()
    recorder.read(0.5 * (asked_s + time.monotonic()), counters)


def _roll_out(controller: Controller, recorder: Recorder, rate_hz: float) -> None:
    """Counters while the robot comes to rest; a link that is lost now does no harm."""
    end_s = time.monotonic() + ROLL_OUT_S
    with contextlib.suppress(DriveError):
        while time.monotonic() < end_s:
            _read(controller, recorder)
            time.sleep(min(1.0 / rate_hz, ROLL_OUT_S))


@dataclass(slots=True)
class _Asked:
    """What signals asked for."""

    ending: Ending | None = None


@contextlib.contextmanager
def _signals() -> Iterator[_Asked]:
    """Ctrl-C, SIGTERM and SIGHUP ask the loop to end, instead of tearing it apart in the middle of a command."""
    asked = _Asked()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def ask(number: int, frame: FrameType | None) -> None:
        asked.ending = _SIGNALS[signal.Signals(number).name]

    before = {number: signal.signal(number, ask) for name in _SIGNALS if (number := getattr(signal, name, None)) is not None}
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
