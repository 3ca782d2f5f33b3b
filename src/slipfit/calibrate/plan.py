"""Which runs to drive, how fast and how often, for a wanted precision: manoeuvres chosen by what they tell per second."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product, zip_longest
from math import exp, inf, log
from pathlib import Path
from typing import Any

import numpy as np

from slipfit.calibrate.plan_information import SLIP, Information, information_of
from slipfit.calibrate.plan_manoeuvres import GRIP_SHARE, MARGIN_M, Floor, Manoeuvre, candidates, objection, swept_m
from slipfit.calibrate.run import CALIBRATED_LAWS
from slipfit.errors import ParameterError
from slipfit.library import Ground, Robot, find_ground
from slipfit.library.files import check_target, write_through
from slipfit.simulate import Command, Scenario, simulate
from slipfit.simulate.scenario import Encoders, GroundPlace, Imu, PoseSensor, Sensors
from slipfit.simulate.trajectory import Trajectory
from slipfit.twin import Twin, find_robot_or_twin

#: Rest at the beginning, where biases show, and at the end (s).
REST_S, END_S = 1.5, 1.0

#: Slip of a usual hard floor: c N, document 000's constants at the load of its robot (49 N a wheel); and its
#: friction, that of dry concrete in the library, rounded down.
USUAL_C_LONG_LOAD, USUAL_C_LAT_LOAD, USUAL_MU = 0.005 * 49.05, 0.05 * 49.05, 0.8

#: Speed steps that every plan has: one is no repetition.
FEWEST_STEPS = 2

#: Rows of a plan's table per second.
TABLE_HZ = 20.0

#: How often a plan is driven as a whole and lengthened where parts promised too much.
MOST_ROUNDS = 4

#: A plan that cannot reach its aim ends where a second more gives less than this, as a share of the precision.
LEAST_GAIN_PER_S = 5e-4


@dataclass(frozen=True, slots=True)
class Promise:
    """How precisely a constant will be known."""

    guess: float
    std: float  # as a fit will state it, with the spread of the robot's own numbers
    std_without_mass: float  # if the mass were known exactly
    scatter: float  # over repetitions of the drive by one and the same robot

    @property
    def relative(self) -> float:
        """What the plan is made for: the mass's share no drive can lower."""
        return self.std_without_mass / self.guess


@dataclass(frozen=True, slots=True)
class Planned:
    """A manoeuvre of a plan: how often, and what it asks of the ground."""

    manoeuvre: Manoeuvre
    repetitions: int
    grip_used: float  # largest |F|/N
    reason: str

    @property
    def duration_s(self) -> float:
        return self.repetitions * self.manoeuvre.duration_s


@dataclass(frozen=True, eq=False, slots=True)
class Plan:
    """A drive that tells the slip constants to a wanted precision."""

    robot: Robot
    ground: Ground  # as guessed
    sensors: Sensors
    floor: Floor
    floor_used_m: tuple[float, float]  # with the margin around
    precision: float
    manoeuvres: tuple[Planned, ...]
    promises: dict[str, Promise]
    duration_s: float
    reasons: tuple[str, ...]

    @property
    def is_reached(self) -> bool:
        """Whether the wanted precision will be."""
        return all(p.relative <= self.precision for p in self.promises.values())

    @property
    def commands(self) -> list[Command]:
        """The whole drive: rest, manoeuvres by turns, rest."""
        rounds = zip_longest(*([p.manoeuvre] * p.repetitions for p in self.manoeuvres))
        driven = [c for turn in rounds for m in turn if m for c in m.commands]
        return [Command(for_s=REST_S, v_mps=0.0), *driven, Command(for_s=END_S, v_mps=0.0)]

    def to_scenario(self, seed: int = 0, surface: str | None = None) -> Scenario:
        """The drive as `simulate` runs it, with the sensors that the plan was made for."""
        return Scenario(
            about=f"Planned drive of {self.robot.name}: c_long and c_lat to {100.0 * self.precision:g} %",
            ground=GroundPlace(surface=surface or self.ground.name),
            commands=self.commands,
            sensors=self.sensors,
            seed=seed,
        )

    def save(self, path: Path | str, *, force: bool = False) -> list[Path]:
        """Write the scenario; a ground that is no name of the library goes into a file beside it. Gives what was written."""
        path = Path(path)
        check_target(path, force=force, formats=(".yaml", ".yml"))
        if not self.ground_file_name(path):
            self.to_scenario().save(path, force=force)
            return [path]
        beside = path.with_name(self.ground_file_name(path))
        check_target(beside, force=force)
        self.ground.save(beside, force=force)
        self.to_scenario(surface=beside.name).save(path, force=force)
        return [path, beside]

    def ground_file_name(self, path: Path) -> str:
        """plan.scenario.yaml -> plan.ground.yaml; empty where the library has the ground."""
        try:
            if find_ground(self.ground.name).values() == self.ground.values():
                return ""
        except ParameterError:
            pass
        return path.name.removesuffix(path.suffix).removesuffix(".scenario") + f".ground{path.suffix}"

    def table(self) -> np.ndarray:
        """time_s, v_mps, yaw_rate_radps at 20 Hz, (T, 3), for a robot's own player."""
        fine = _body_commands(self.commands)
        at_s = np.arange(int(np.floor(self.duration_s * TABLE_HZ)) + 1) / TABLE_HZ
        return np.column_stack([at_s, *(np.interp(at_s, fine[:, 0], fine[:, k]) for k in (1, 2))])

    def write_csv(self, path: Path | str, *, force: bool = False) -> None:
        """The table as a CSV file."""

        def write(temporary: Path) -> None:
            with temporary.open("w", newline="", encoding="utf-8") as file:
                rows = csv.writer(file, lineterminator="\n")
                rows.writerow(("time_s", "v_mps", "yaw_rate_radps"))
                rows.writerows([f"{entry:.6g}" for entry in row] for row in self.table())

        write_through(Path(path), write, force=force, formats=(".csv",))

    def summary(self) -> str:
        """A screen of text: what to drive, what it will tell, why."""
        aim = f"c_long and c_lat to {100.0 * self.precision:g} %"
        said = aim if self.is_reached else f"{aim} cannot be reached; this comes nearest"
        used = " x ".join(f"{side:.1f}" for side in self.floor_used_m)
        rows = [f"{self.robot.name} on {self.floor} of floor: {said}; {self.duration_s:.0f} s, {used} m of floor used"]
        rows += [f"  stand still for {REST_S:g} s first; repeat the manoeuvres by turns"]
        for p in self.manoeuvres:
            rows.append(
                f"  {p.repetitions:>2} x {p.manoeuvre.kind:<11}{p.manoeuvre.about}; {p.duration_s:.0f} s, grip {p.grip_used:.2f}"
            )
        for name, promise in self.promises.items():
            parts = (promise.std_without_mass, promise.std, promise.scatter)
            known, stated, repeated = (f"{100.0 * part / promise.guess:.2g} %" for part in parts)
            rows.append(
                f"  {name:<14}near {promise.guess:.4g}: ± {known} with an exact mass, ± {stated} with its spread, "
                f"± {repeated} from drive to drive"
            )
        return "\n".join([*rows, *(f"  {reason}" for reason in self.reasons)])

    def to_document(self) -> dict[str, Any]:
        """For --json."""
        return {
            "robot": self.robot.name,
            "ground": self.ground.to_mapping(),
            "sensors": self.sensors.model_dump(exclude_none=True),
            "floor_m": [self.floor.length_m, self.floor.width_m],
            "floor_used_m": list(self.floor_used_m),
            "precision": self.precision,
            "is_reached": self.is_reached,
            "duration_s": self.duration_s,
            "manoeuvres": [
                {
                    "kind": p.manoeuvre.kind,
                    "about": p.manoeuvre.about,
                    "repetitions": p.repetitions,
                    "duration_s": p.duration_s,
                    "grip_used": p.grip_used,
                    "reason": p.reason,
                }
                for p in self.manoeuvres
            ],
            "promises": {
                name: {
                    "guess": p.guess,
                    "std": p.std,
                    "std_without_mass": p.std_without_mass,
                    "scatter": p.scatter,
                    "relative": p.relative,
                }
                for name, p in self.promises.items()
            },
            "reasons": list(self.reasons),
        }


def usual_sensors(
    *,
    imu_noise_mps2: float = 0.05,
    imu_bias_mps2: float = 0.02,
    gyro_noise_radps: float = 0.002,
    rate_hz: float = 100.0,
    counts_per_turn: int = 4096,
    pose_noise_m: float | None = None,
    pose_rate_hz: float = 20.0,
) -> Sensors:
    """IMU and encoders, and a pose where its noise is given; its heading is as good as 2 mrad per mm."""
    imu = Imu(rate_hz=rate_hz, accel_noise_mps2=imu_noise_mps2, accel_bias_mps2=imu_bias_mps2, gyro_noise_radps=gyro_noise_radps)
    encoders = Encoders(rate_hz=rate_hz, counts_per_turn=counts_per_turn)
    if pose_noise_m is None:
        return Sensors(imu=imu, encoders=encoders)
    pose = PoseSensor(rate_hz=pose_rate_hz, position_noise_m=pose_noise_m, yaw_noise_rad=2.0 * pose_noise_m)
    return Sensors(imu=imu, encoders=encoders, pose=pose)


def plan(
    robot: Robot | Twin | str | Path,
    *,
    floor: Floor = Floor(6.0, 4.0),  # noqa: B008  # frozen
    precision: float = 0.03,
    sensors: Sensors | None = None,
    ground: Ground | str | None = None,
    guess_c_long_per_n: float | None = None,
    guess_c_lat_per_n: float | None = None,
    max_speed_mps: float | None = None,
    max_duration_s: float = 120.0,
) -> Plan:
    """Choose what to drive so that a fit finds c_long and c_lat to a relative standard deviation.

    Candidates are simulated on the guessed ground; those that leave the floor, use more than 0.7 mu of the load as grip, unload
    a wheel or ask for more torque than there is are left out. Of the others the one with the largest gain per second is added
    until the aim is reached. The promise is that of the whole drive, computed as the fit computes its own.

    Parameters
    ----------
    robot : a record, a name of the library or a file; a twin brings its ground as the guess
    ground : where the robot will drive; without wheel_slip constants it gives its friction alone
    guess_c_long_per_n, guess_c_lat_per_n : about what is expected; by default a hard floor's, scaled to the robot's load

    Examples
    --------
    >>> print(plan("p3at", precision=0.03).summary())  # doctest: +SKIP
    """
    chosen = find_robot_or_twin(robot) if isinstance(robot, str | Path) else robot
    body = chosen.robot if isinstance(chosen, Twin) else chosen
    guess = _guessed(chosen, ground, guess_c_long_per_n, guess_c_lat_per_n)
    if not 1e-4 <= precision <= 1.0:
        raise ParameterError(f"precision = {precision:g}; expected a share between 0.0001 and 1, as 0.03 for 3 %")
    if max_duration_s < 10.0:
        raise ParameterError(f"max_duration_s = {max_duration_s:g} s; a drive needs 10 s or more")
    planner = _Planner(body, guess, sensors or usual_sensors(), Floor(*sorted((floor.length_m, floor.width_m))[::-1]))
    return planner.plan(precision, max_speed_mps, max_duration_s)


def _guessed(chosen: Robot | Twin, ground: Ground | str | None, c_long: float | None, c_lat: float | None) -> Ground:
    """The ground that the plan is made for."""
    robot = chosen.robot if isinstance(chosen, Twin) else chosen
    if isinstance(chosen, Twin) and (ground is None or ground in chosen.grounds):
        surface: Ground | None = chosen.ground(ground if isinstance(ground, str) else None)
    else:
        surface = find_ground(ground) if isinstance(ground, str) else ground
    is_known = surface is not None and surface.law in CALIBRATED_LAWS
    if surface is not None and is_known and c_long is None and c_lat is None:
        return surface
    gravity = surface.gravity_mps2.value if surface else 9.81
    load_n = robot.mass_kg.value * gravity / len(robot.wheels.at_m.value)
    values = surface.values() if surface else {}
    mu = min((v for name, v in values.items() if name.startswith("mu")), default=USUAL_MU)
    data = {
        "schema": Ground.kind(),
        "name": f"guess_{surface.name}" if surface else "guess",
        "about": "What a plan was made for: guessed constants",
        "law": surface.law if surface is not None and is_known else "wheel_slip",
        "gravity_mps2": gravity,
        "parameters": {
            "c_long_per_n": c_long or (values["c_long_per_n"] if is_known else USUAL_C_LONG_LOAD / load_n),
            "c_lat_per_n": c_lat or (values["c_lat_per_n"] if is_known else USUAL_C_LAT_LOAD / load_n),
            "mu": mu,
        },
    }
    return Ground.from_mapping(data, where="guess")


@dataclass(frozen=True, eq=False, slots=True)
class _Choice:
    """A manoeuvre that may be driven, and what one of it tells."""

    manoeuvre: Manoeuvre
    information: Information
    grip_used: float


@dataclass(frozen=True, eq=False, slots=True)
class _Planner:
    robot: Robot
    ground: Ground
    sensors: Sensors
    floor: Floor

    def plan(self, precision: float, max_speed_mps: float | None, max_duration_s: float) -> Plan:
        choices, objections = self._choices(max_speed_mps)
        self._require(choices, objections)
        rest = self._driven([Command(for_s=REST_S + END_S, v_mps=0.0)])[1]
        aims = dict.fromkeys(SLIP, precision)
        counts = self._first(choices, rest, aims)
        room_s = max_duration_s - REST_S - END_S
        for _ in range(MOST_ROUNDS):
            counts = self._greedy(choices, counts, rest, aims, room_s)
            drive = self._record(choices, counts, precision, objections)
            trajectory, whole = self._driven(drive.commands)
            drive = self._promised(drive, trajectory, whole, objections)
            if drive.is_reached or sum(p.duration_s for p in drive.manoeuvres) > 0.97 * room_s:
                break
            parts = _sum(rest, choices, counts).std(known=("mass_kg",))
            # The whole told less than its parts promised: aim higher by as much, and a little more.
            aims = {
                name: 0.98 * precision * parts[name] / drive.promises[name].std_without_mass
                if p.relative > precision
                else aims[name]
                for name, p in drive.promises.items()
            }
        return drive

    def _choices(self, max_speed_mps: float | None) -> tuple[list[_Choice], dict[str, str]]:
        """Manoeuvres that may be driven; and for each kind of which none may, the first objection."""
        mu = self.ground.values().get("mu", inf)
        choices: list[_Choice] = []
        objections: dict[str, str] = {}
        for manoeuvre in candidates(self.robot, self.ground, self.floor, mu, max_speed_mps):
            commands = [Command(for_s=0.5, v_mps=0.0), *manoeuvre.commands, Command(for_s=0.3, v_mps=0.0)]
            trajectory = simulate(self.robot, self._scenario(commands, Sensors()), ground=self.ground)
            against = objection(trajectory, self.robot, self.floor, mu)
            if against:
                objections.setdefault(manoeuvre.kind, against)
                continue
            choices.append(_Choice(manoeuvre, self._driven(commands)[1], trajectory.largest_grip_used))
        return choices, {kind: why for kind, why in objections.items() if kind not in {c.manoeuvre.kind for c in choices}}

    def _require(self, choices: Sequence[_Choice], objections: dict[str, str]) -> None:
        kinds = {c.manoeuvre.kind for c in choices}
        if "speed step" not in kinds or not kinds & {"spin", "arc"}:
            missing = ["speed step"] if "speed step" not in kinds else ["spin", "arc"]
            why = "; ".join(f"a {kind} {objections.get(kind, 'finds no room')}" for kind in missing)
            raise ParameterError(
                f"{self.robot.name} on {self.floor} of floor: no {' or '.join(missing)} can be planned ({why}); take a larger "
                f"floor, or guess the ground better (--ground, --guess-c-long, --guess-c-lat)"
            )

    def _scenario(self, commands: Sequence[Command], sensors: Sensors) -> Scenario:
        return Scenario(commands=list(commands), sensors=sensors)

    def _driven(self, commands: Sequence[Command]) -> tuple[Trajectory, Information]:
        """A drive without noise, and what it would tell."""
        silent: dict[str, Any] = {}
        if self.sensors.imu:
            quiet = {"accel_noise_mps2": 0.0, "accel_bias_mps2": 0.0, "gyro_noise_radps": 0.0}
            silent["imu"] = self.sensors.imu.model_copy(update=quiet)
        if self.sensors.pose:
            silent["pose"] = self.sensors.pose.model_copy(update={"position_noise_m": 0.0, "yaw_noise_rad": 0.0})
        scenario = self._scenario(commands, self.sensors.model_copy(update=silent))
        trajectory = simulate(self.robot, scenario, ground=self.ground)
        return trajectory, information_of(trajectory.readings, self.robot, self.ground, self.sensors)

    def _first(self, choices: Sequence[_Choice], rest: Information, aims: dict[str, float]) -> list[int]:
        """The pair of a speed step, twice, and a turn that tells most per second. Every plan has one: without it a constant may
        rest on something that only seems known, as c_long on the yaw inertia when spins start."""
        steps = [k for k, c in enumerate(choices) if c.manoeuvre.kind == "speed step"]
        turns = [k for k, c in enumerate(choices) if c.manoeuvre.kind != "speed step"]

        def missing_s(pair: tuple[int, int]) -> float:
            step, turn = (choices[k] for k in pair)
            told = rest + step.information.times(FEWEST_STEPS) + turn.information
            seconds = FEWEST_STEPS * step.manoeuvre.duration_s + turn.manoeuvre.duration_s
            return seconds * exp(2.0 * self._missing(told, aims) / len(SLIP))  # spreads fall with the root of time

        step, turn = min(product(steps, turns), key=missing_s)
        return [FEWEST_STEPS if k == step else 1 if k == turn else 0 for k in range(len(choices))]

    def _greedy(
        self, choices: Sequence[_Choice], counts: Sequence[int], rest: Information, aims: dict[str, float], room_s: float
    ) -> list[int]:
        """Add the manoeuvre with the largest gain per second until every aim is met or the time is up."""
        counts, told = list(counts), _sum(rest, choices, counts)
        left_s = room_s - sum(n * c.manoeuvre.duration_s for n, c in zip(counts, choices, strict=True))
        missing = self._missing(told, aims)
        while missing > 0.0:
            gains = [
                (missing - self._missing(told + c.information, aims)) / c.manoeuvre.duration_s
                if c.manoeuvre.duration_s <= left_s
                else -inf
                for c in choices
            ]
            best = int(np.argmax(gains))
            if gains[best] < LEAST_GAIN_PER_S:
                break
            counts[best] += 1
            told = told + choices[best].information
            left_s -= choices[best].manoeuvre.duration_s
            missing = self._missing(told, aims)
        return counts

    def _missing(self, told: Information, aims: dict[str, float]) -> float:
        """How far from the aims, as the sum of logarithms: a tenth of either constant's spread counts the same."""
        std = told.std(known=("mass_kg",))
        values = self.ground.values()
        return sum(max(0.0, log(std[name] / values[name] / aims[name])) for name in SLIP)

    def _record(self, choices: Sequence[_Choice], counts: Sequence[int], precision: float, objections: dict[str, str]) -> Plan:
        planned = tuple(
            Planned(c.manoeuvre, n, c.grip_used, _reason(c, self.ground)) for n, c in zip(counts, choices, strict=True) if n
        )
        drive = Plan(self.robot, self.ground, self.sensors, self.floor, (0.0, 0.0), precision, planned, {}, 0.0, ())
        return replace(drive, duration_s=sum(command.for_s for command in drive.commands))

    def _promised(self, drive: Plan, trajectory: Trajectory, whole: Information, objections: dict[str, str]) -> Plan:
        stated, exact, repeated = whole.std(), whole.std(known=("mass_kg",)), whole.scatter()
        values = self.ground.values()
        promises = {name: Promise(values[name], stated[name], exact[name], repeated[name]) for name in SLIP}
        length, width = swept_m(trajectory, self.robot)
        used = (length + 2.0 * MARGIN_M, width + 2.0 * MARGIN_M)
        drive = replace(drive, promises=promises, floor_used_m=used)
        return replace(drive, reasons=tuple(_reasons(drive, objections)))


def _sum(rest: Information, choices: Sequence[_Choice], counts: Sequence[int]) -> Information:
    total = rest
    for n, c in zip(counts, choices, strict=True):
        total = total + c.information.times(n)
    return total


def _reason(choice: _Choice, ground: Ground) -> str:
    """What one of a manoeuvre tells by itself, about which constant most."""
    std, values = choice.information.std(known=("mass_kg",)), ground.values()
    best = min(SLIP, key=lambda name: std[name] / values[name])
    return f"one of it tells {best} to {100.0 * std[best] / values[best]:.2g} %"


def _reasons(drive: Plan, objections: dict[str, str]) -> list[str]:
    said = [f"no {kind}: it {why}" if not why.startswith("a wheel") else f"no {kind}: {why}" for kind, why in objections.items()]
    mu = drive.ground.values().get("mu", inf)
    most = max((p.grip_used for p in drive.manoeuvres), default=0.0)
    said.append(f"grip stays below {GRIP_SHARE:g} mu: {most:.2f} of the load is used, mu is taken as {mu:g}")
    c_long = drive.promises["c_long_per_n"]
    share = (drive.robot.mass_kg.std or 0.0) / drive.robot.mass_kg.value
    if share and c_long.std > 1.1 * c_long.std_without_mass:
        said.append(
            f"only mass times c_long shows in a drive: the mass is known to {100.0 * share:.1f} %, and no repetition betters that"
        )
    if not drive.is_reached:
        said.append("to do better: a larger floor, a quieter IMU, a pose of 1 mm, or a longer drive (--max-duration-s)")
    if any(drive.floor_used_m[k] > side for k, side in enumerate((drive.floor.length_m, drive.floor.width_m))):
        said.append("the drive as a whole drifts off the floor: put the robot back to its place between manoeuvres")
    return said


def _body_commands(commands: Sequence[Command], step_s: float = 0.01) -> np.ndarray:
    """time, v and yaw rate as commanded, with ramps, every 10 ms."""
    from slipfit.simulate.commands import quintic

    rows, before, begin = [(0.0, 0.0, 0.0)], np.zeros(2), 0.0
    for command in commands:
        after = np.array([command.v_mps or 0.0, command.yaw_rate_radps or 0.0])
        for k in range(1, round(command.for_s / step_s) + 1):
            share = min(1.0, k * step_s / command.ramp) if command.ramp else 1.0
            at = before + (after - before) * (float(quintic(np.array(share))) if command.profile == "quintic" else share)
            rows.append((begin + k * step_s, float(at[0]), float(at[1])))
        before, begin = after, begin + command.for_s
    return np.array(rows)
