"""Drive a plan on a motor controller: a command at a time at a steady rate, zero on every way out, and a log of all of it."""

import contextlib
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from slipfit.control import Mode, Rounder, Rounding, RoundingEffect, Scale, effect_on
from slipfit.control.rounding import Told
from slipfit.errors import DriveError
from slipfit.hardware import roboteq
from slipfit.hardware.controller import AskedToEnd, Controller
from slipfit.hardware.plan import DrivePlan, within_protocol
from slipfit.hardware.port import Port, SerialPort, check_framing
from slipfit.hardware.record import Drive, Ending, Recorder
from slipfit.hardware.simulated import BITS_PER_CHARACTER, SimulatedController, SimulatedPort
from slipfit.hardware.simulated_motors import STEP_S, Motors, poses_of
from slipfit.hardware.timeouts import ANSWER_S, ROLL_OUT_S
from slipfit.logs import Channel, DriveLog
from slipfit.logs import channels as names
from slipfit.signals import Asked, noted
from slipfit.twin import SkidSteerTwin

#: The port that is none: a simulated controller behind a pseudo-terminal.
SIM = "sim"

#: Baud rates of a Roboteq AX, and of the simulated one.
USUAL_BAUD, SIM_BAUD = 9600, 115200

#: The fastest line that operating systems have a name for (baud).
FASTEST_BAUD = 4_000_000

#: Share of the line that commands and counters may fill; the rest is for repetitions.
MOST_OF_THE_LINE = 0.8

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
    plan: DrivePlan | Path | str,
    twin: SkidSteerTwin,
    port: str | Port,
    settings: Settings | None = None,
    asked: Asked | None = None,
) -> Drive:
    """Drive a plan. What is wrong before the first command raises; after it the record tells, with the log so far.

    Parameters
    ----------
    plan : a record, or the path of a CSV file or scenario
    twin : its powertrain gives setpoints; on `sim` it is also the robot that is driven
    port : name of a serial port, or `sim`; or a `Port`, which has a clock of its own
    asked : signals that the caller notes; else they are noted here, until the record is complete
    """
    if asked is None:
        with noted() as asked:
            return drive(plan, twin, port, settings, asked)
    settings = settings or Settings()
    name = port if isinstance(port, str) else port.name
    plan, scale = prepare(plan, twin, name, settings)
    if name != SIM:
        return _drive(plan, twin, scale, SerialPort(port) if isinstance(port, str) else port, name, settings, asked)
    ground = twin.ground(settings.ground)
    far = SimulatedController(Motors.of(twin, scale), mode=settings.mode, limits=scale.limits, watchdog_s=roboteq.WATCHDOG_S)
    with SimulatedPort(far, baud=settings.baud_of(SIM)) as simulated:
        done = _drive(plan, twin, scale, simulated, SIM, settings, asked)
        switched_on_ns = simulated.clock.wall_ns() - round(simulated.now_s * 1e9)
    if not done.log.channels:
        return done
    return _with_truth(done, poses_of(far.motors, twin, scale, ground), switched_on_ns)


def prepare(plan: DrivePlan | Path | str, twin: SkidSteerTwin, port: str, settings: Settings) -> tuple[DrivePlan, Scale]:
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


def _drive(plan: DrivePlan, twin: SkidSteerTwin, scale: Scale, port: Port, name: str, settings: Settings, asked: Asked) -> Drive:
    power = twin.powertrain
    recorder = Recorder(scale, settings.mode, power.turn_counts_both if power else None, port.clock)
    rounder = Rounder(scale, settings.mode, settings.rounding)
    if asked.first:  # before the port is opened: nothing shall move
        log, ending = DriveLog({}, about=f"drive of {plan.name} on {name}"), _ENDINGS[asked.first]
        none = effect_on((), rounder)
        return Drive(plan.name, name, ending, log, plan.duration_s, 0.0, 0, 0, 0, is_stop_acknowledged=False, effect=none)
    baud = settings.baud_of(name)
    every = settings.counters_every(baud)
    problem, stop_heard = "", False
    stopped = _Stopped(settings.stop_file, asked)
    opened = port.open(baud=baud, framing=settings.framing)
    with Controller(opened, clock=port.clock, note=recorder.sent, is_asked_to_end=lambda: stopped() is not None) as controller:
        run = _Run(plan, controller, recorder, rounder, settings.rate_hz, every, stopped)
        try:
            ending = run.to_the_end()
        except AskedToEnd:
            ending = stopped() or Ending.FAILED
        except DriveError as error:
            ending, problem = Ending.FAILED, str(error)
        finally:
            recorder.wanted = 0.0, 0.0
            stop_heard = controller.stop()
        if stop_heard:
            _roll_out(controller, recorder, settings.rate_hz / every)
    link = controller.link
    notes = ["the last setpoints were not acknowledged"] * (not stop_heard)
    if link.late_answers:
        notes.append(f"late answers (more than {ANSWER_S:g} s): {link.late_answers}, the longest {link.longest_answer_s:.3f} s")
    return Drive(
        plan=plan.name,
        port=name,
        ending=ending,
        log=_log(recorder, plan, name, ending, settings, notes),
        planned_s=plan.duration_s,
        driven_s=run.driven_s,
        acknowledged=controller.acknowledged,
        repeated=link.repeated,
        left_out=run.left_out,
        is_stop_acknowledged=stop_heard,
        effect=effect_on(run.sent, rounder),
        late_answers=link.late_answers,
        longest_answer_s=link.longest_answer_s,
        late_readings=recorder.late_readings,
        problem=problem,
    )


def _log(recorder: Recorder, plan: DrivePlan, port: str, ending: Ending, settings: Settings, more: list[str]) -> DriveLog:
    notes = (
        f"commands are the wheel speeds that whole setpoints mean, by {settings.rounding.value} in {settings.mode.value} mode",
        f"ended: {ending.sentence}",
    )
    return recorder.log(f"drive of {plan.name} on {port}", (*notes, *more))


@dataclass(frozen=True, slots=True)
class _Stopped:
    """Whether a signal or the stop file asks to end, and which."""

    stop_file: Path | None
    asked: Asked

    def __call__(self) -> Ending | None:
        if self.asked.first:
            return _ENDINGS[self.asked.first]
        return Ending.STOP_FILE if self.stop_file is not None and _is_there(self.stop_file) else None


@dataclass(slots=True)
class _Run:
    """The loop: commands at a steady rate until the plan, or somebody, ends it."""

    plan: DrivePlan
    controller: Controller
    recorder: Recorder
    rounder: Rounder
    rate_hz: float
    every: int
    stopped: _Stopped
    left_out: int = 0
    driven_s: float = 0.0
    sent: list[tuple[tuple[float, float], Told]] = field(default_factory=list)

    def to_the_end(self) -> Ending:
        clock, period_s = self.controller.clock, 1.0 / self.rate_hz
        tick, planned_s, progress = 0, 0.0, 1.0
        begin_s = before_s = clock.now_s()
        while True:
            now_s = clock.now_s()
            planned_s += (now_s - before_s) * progress
            before_s, self.driven_s = now_s, now_s - begin_s
            self.controller.check_watchdog()
            if planned_s >= self.plan.duration_s:
                return Ending.FINISHED
            if (ending := self.stopped()) is not None:
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
            missed = int(max(0.0, clock.now_s() - due_s) / period_s)
            self.left_out, tick = self.left_out + missed, tick + missed
            left_s = min(begin_s + tick * period_s - clock.now_s(), (self.plan.duration_s - planned_s) / progress)
            if left_s > 0.0:
                clock.sleep(left_s)


def _read(controller: Controller, recorder: Recorder) -> None:
    """Counters, stamped in the middle between question and answer. A late reading may be of any moment in between, and is not
    logged: at 1 m/s half a second would be half a meter."""
    asked_s, late_before = controller.clock.now_s(), controller.link.late_answers
    counters = controller.counters()
    if controller.link.late_answers > late_before:
        recorder.late_readings += 1
    else:
        recorder.read(0.5 * (asked_s + controller.clock.now_s()), counters)


def _roll_out(controller: Controller, recorder: Recorder, rate_hz: float) -> None:
    """Counters while the robot comes to rest; a link that is lost now does no harm."""
    clock = controller.clock
    end_s = clock.now_s() + ROLL_OUT_S
    with contextlib.suppress(DriveError):
        while clock.now_s() < end_s:
            _read(controller, recorder)
            clock.sleep(min(1.0 / rate_hz, ROLL_OUT_S))
