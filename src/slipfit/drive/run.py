"""Drive a plan on a motor controller: a command at a time at a steady rate, zero on every way out, and a log of all of it."""

import contextlib
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from slipfit.control import Mode, Rounder, Rounding, RoundingEffect, Scale, effect_on
from slipfit.control.rounding import Told
from slipfit.drive import roboteq
from slipfit.drive.controller import Controller, check_framing, open_port
from slipfit.drive.plan import DrivePlan, within_protocol
from slipfit.drive.record import Drive, Ending, Recorder
from slipfit.drive.simulated import BITS_PER_CHARACTER, SimulatedController, SimulatedPort
from slipfit.drive.simulated_motors import STEP_S, Motors, poses_of
from slipfit.errors import DriveError
from slipfit.logs import Channel, DriveLog
from slipfit.logs import channels as names
from slipfit.signals import Asked, noted
from slipfit.twin import Twin

#: The port that is none: a simulated controller behind a pseudo-terminal.
SIM = "sim"

#: Baud rates of a Roboteq AX, and of the simulated one.
USUAL_BAUD, SIM_BAUD = 9600, 115200

#: The fastest line that operating systems have a name for (baud).
FASTEST_BAUD = 4_000_000

#: Share of the line that commands and counters may fill; the rest is for repetitions.
MOST_OF_THE_LINE = 0.8

#: After the stop the counters are read for this long, so that the log holds the robot coming to rest (s).
ROLL_OUT_S = 0.3

_ENDINGS = {"SIGINT": Ending.INTERRUPTED, "SIGTERM": Ending.TERMINATED, "SIGHUP": Ending.HUNG_UP}


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
        if self.baud is not None and not 0 < self.baud <= FASTEST_BAUD:
            raise DriveError(f"the line is to have {self.baud} baud; expected 1 to {FASTEST_BAUD}, a Roboteq AX has {USUAL_BAUD}")
        check_framing(self.framing)

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


def drive(
    plan: DrivePlan | Path | str, twin: Twin, port: str, settings: Settings | None = None, asked: Asked | None = None
) -> Drive:
    """Drive a plan. What is wrong before the first command raises; after it the record tells, with the log so far.

    Parameters
    ----------
    plan : a record, or the path of a CSV file or scenario
    twin : its powertrain gives setpoints; on `sim` it is also the robot that is driven
    port : a serial port, or `sim`
    asked : signals that the caller notes; else they are noted here, until the record is complete
    """
    if asked is None:
        with noted() as asked:
            return drive(plan, twin, port, settings, asked)
    settings = settings or Settings()
    plan, scale = prepare(plan, twin, port, settings)
    baud = settings.baud_of(port)
    every = settings.counters_every(baud)
    if port != SIM:
        return _drive(plan, twin, scale, port, port, baud, every, settings, asked)
    ground = twin.ground(settings.ground)
    far = SimulatedController(Motors.of(twin, scale), mode=settings.mode, limits=scale.limits, watchdog_s=roboteq.WATCHDOG_S)
    with SimulatedPort(far, baud=baud) as simulated:
        done = _drive(plan, twin, scale, simulated.path, SIM, baud, every, settings, asked)
        switched_on_ns = time.time_ns() - round(simulated.now_s * 1e9)
    if not done.log.channels:
        return done
    return _with_truth(done, poses_of(far.motors, twin, scale, ground), switched_on_ns)


def prepare(plan: DrivePlan | Path | str, twin: Twin, port: str, settings: Settings) -> tuple[DrivePlan, Scale]:
    """The plan and its setpoints, after every check that needs no port."""
    if settings.ground is not None or port == SIM:
        twin.ground(settings.ground)
    scale = within_protocol(Scale.of(twin, settings.ground))
    if not isinstance(plan, DrivePlan):
        plan = DrivePlan.load(plan, twin.robot, scale.effective_track_m)
    plan.check(twin.robot, scale)
    settings.counters_every(settings.baud_of(port))
    if settings.stop_file is not None and _is_there(settings.stop_file):
        raise DriveError(f"{settings.stop_file}: the stop file is already there; remove it before you drive")
    return plan, scale


def foreseen_effect(plan: DrivePlan, scale: Scale, settings: Settings) -> RoundingEffect:
    """What whole setpoints will do to a plan, at the moments at which they are sent."""
    rounder = Rounder(scale, settings.mode, settings.rounding)
    return effect_on(plan.sent(rounder, settings.rate_hz), rounder)


def _is_there(stop_file: Path) -> bool:
    """Whether the stop file has appeared; one that cannot be looked for stops nothing, and is refused."""
    try:
        return stop_file.exists()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise DriveError(f"the stop file {stop_file} cannot be looked for ({why}); give another that can") from None


def _with_truth(done: Drive, poses: np.ndarray, switched_on_ns: int) -> Drive:
    """The drive with where the simulated robot was, every 10 ms."""
    every = round(0.01 / STEP_S)
    stamps = switched_on_ns + np.round(np.arange(len(poses))[::every] * STEP_S * 1e9).astype(np.int64)
    truth = Channel(names.POSE, stamps, np.ascontiguousarray(poses[::every]), names.POSE_COLUMNS)
    return replace(done, log=done.log.having(truth))


def _drive(
    plan: DrivePlan, twin: Twin, scale: Scale, path: str, port: str, baud: int, every: int, settings: Settings, asked: Asked
) -> Drive:
    power = twin.powertrain
    recorder = Recorder(scale, settings.mode, power.turn_counts_both if power else None)
    rounder = Rounder(scale, settings.mode, settings.rounding)
    if asked.first:  # before the port is opened: nothing shall move
        log, ending = DriveLog({}, about=f"drive of {plan.name} on {port}"), _ENDINGS[asked.first]
        none = effect_on((), rounder)
        return Drive(plan.name, port, ending, log, plan.duration_s, 0.0, 0, 0, 0, is_stop_acknowledged=False, effect=none)
    problem, stop_heard, late, driven_s = "", False, 0, 0.0
    with Controller(open_port(path, baud=baud, framing=settings.framing), note=recorder.sent) as controller:
        run = _Run(plan, controller, recorder, rounder, settings, every, asked)
        try:
            ending = run.to_the_end()
        except DriveError as error:
            ending, problem = Ending.FAILED, str(error)
        finally:
            recorder.wanted = 0.0, 0.0
            stop_heard = controller.stop()
        late, driven_s = run.late, run.driven_s
        if stop_heard:
            _roll_out(controller, recorder, settings.rate_hz / every)
    log = _log(recorder, plan, port, ending, settings, "" if stop_heard else "the last setpoints were not acknowledged")
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
        effect=effect_on(run.sent, rounder),
        problem=problem,
    )


def _log(recorder: Recorder, plan: DrivePlan, port: str, ending: Ending, settings: Settings, doubt: str) -> DriveLog:
    notes = (
        f"commands are the wheel speeds that whole setpoints mean, by {settings.rounding.value} in {settings.mode.value} mode",
        f"ended: {ending.sentence}",
    )
    return recorder.log(f"drive of {plan.name} on {port}", (*notes, doubt) if doubt else notes)


@dataclass(slots=True)
class _Run:
    """The loop: commands at a steady rate until the plan, or somebody, ends it."""

    plan: DrivePlan
    controller: Controller
    recorder: Recorder
    rounder: Rounder
    settings: Settings
    every: int
    asked: Asked
    late: int = 0
    driven_s: float = 0.0
    sent: list[tuple[tuple[float, float], Told]] = field(default_factory=list)

    def to_the_end(self) -> Ending:
        period_s, tick, planned_s = 1.0 / self.settings.rate_hz, 0, 0.0
        begin_s = before_s = time.monotonic()
        progress = 1.0
        while True:
            now_s = time.monotonic()
            planned_s += (now_s - before_s) * progress
            before_s, self.driven_s = now_s, now_s - begin_s
            self.controller.check_watchdog()
            if planned_s >= self.plan.duration_s:
                return Ending.FINISHED
            if (ending := self._stopped()) is not None:
                return ending
            self.recorder.wanted = wanted = self.plan.at(planned_s)
            told = self.rounder(*wanted)
            self.controller.tell(told.first, told.second)
            self.sent.append((wanted, told))
            progress = told.progress
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
        if self.asked.first:
            return _ENDINGS[self.asked.first]
        file = self.settings.stop_file
        return Ending.STOP_FILE if file is not None and _is_there(file) else None


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
