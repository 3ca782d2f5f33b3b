"""Which runs to drive, how fast and how often, for a wanted precision: manoeuvres chosen by what they tell per second."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp, inf, log
from pathlib import Path
from typing import Any

import numpy as np

from slipfit.calibration.plan_information import SLIP, Information, information_of
from slipfit.calibration.plan_manoeuvres import GRIP_SHARE, MARGIN_M, Floor, Manoeuvre, candidates, objection, swept_m
from slipfit.calibration.planned_drive import END_S, REST_S, Plan, Planned, Promise
from slipfit.calibration.run import CALIBRATED_LAWS
from slipfit.errors import ParameterError
from slipfit.library import Ground, Robot, SkidSteerRobot, find_ground, skid_steer_robot
from slipfit.simulation import Command, Scenario, simulate
from slipfit.simulation.scenario import Encoders, Imu, PoseSensor, Sensors
from slipfit.simulation.trajectory import Trajectory
from slipfit.twin import Twin, find_driver

#: Slip of a usual hard floor: c N, the constants of [Trimble2022] at the load of its robot (49 N a wheel); and its
#: friction, that of dry concrete in the library, rounded down.
USUAL_C_LONG_LOAD, USUAL_C_LAT_LOAD, USUAL_MU = 0.005 * 49.05, 0.05 * 49.05, 0.8

#: Speed steps that every plan has: one is no repetition.
FEWEST_STEPS = 2

#: How often a plan is driven as a whole and lengthened where parts promised too much.
MOST_ROUNDS = 4

#: A plan that cannot reach its aim ends where a second more gives less than this, as a share of the precision.
LEAST_GAIN_PER_S = 5e-4


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
    floor: Floor | str = Floor(6.0, 4.0),  # noqa: B008  # frozen
    precision: float | str = 0.03,
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
    floor : a record, or its sides in metres as "6x4"
    precision : a share, as 0.03 or "3%"
    ground : where the robot will drive; without wheel_slip constants it gives its friction alone
    guess_c_long_per_n, guess_c_lat_per_n : about what is expected; by default a hard floor's, scaled to the robot's load

    Examples
    --------
    >>> print(plan("p3at", precision=0.03).summary())  # doctest: +SKIP
    """
    driver = find_driver(robot)
    body = skid_steer_robot(driver.robot, "plan")
    floor, precision = _floor(floor), share_of(precision)
    guess = _guessed(body, driver.twin, ground, guess_c_long_per_n, guess_c_lat_per_n)
    if not 1e-4 <= precision <= 1.0:
        raise ParameterError(f"precision = {precision:g}; expected a share between 0.0001 and 1, as 0.03 for 3 %")
    if max_duration_s < 10.0:
        raise ParameterError(f"max_duration_s = {max_duration_s:g} s; a drive needs 10 s or more")
    planner = _Planner(body, guess, sensors or usual_sensors(), Floor(*sorted((floor.length_m, floor.width_m))[::-1]))
    return planner.plan(precision, max_speed_mps, max_duration_s)


def share_of(precision: float | str, *, where: str = "precision") -> float:
    """A share, told as a number or as text (3% or 0.03); `where` names it in sentences."""
    try:
        if isinstance(precision, str) and precision.strip().endswith("%"):
            return float(precision.strip()[:-1]) / 100.0
        return float(precision)
    except (TypeError, ValueError):
        raise ParameterError(f"{where} is '{precision}'; expected a share, as 3% or 0.03") from None


def _floor(floor: Floor | str) -> Floor:
    if isinstance(floor, str):
        return Floor.from_text(floor)
    if not isinstance(floor, Floor):
        raise ParameterError(f"floor is {floor!r}; expected length and width in metres as text, '6x4', or a Floor")
    return floor


def _guessed(
    robot: SkidSteerRobot, twin: Twin | None, ground: Ground | str | None, c_long: float | None, c_lat: float | None
) -> Ground:
    """The ground that the plan is made for."""
    if twin is not None and (ground is None or ground in twin.grounds):
        surface: Ground | None = twin.ground(ground if isinstance(ground, str) else None)
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
    robot: SkidSteerRobot
    ground: Ground
    sensors: Sensors
    floor: Floor

    def plan(self, precision: float, max_speed_mps: float | None, max_duration_s: float) -> Plan:
        choices, objections = self._choices(max_speed_mps)
        self._require(choices, objections)
        rest = self._driven([Command(for_s=REST_S + END_S, v_mps=0.0)])[1]
        aims = dict.fromkeys(SLIP, precision)
        room_s = max_duration_s - REST_S - END_S
        counts = self._first(choices, rest, aims, room_s)
        for _ in range(MOST_ROUNDS):
            counts = self._greedy(choices, counts, rest, aims, room_s)
            drive = self._record(choices, counts, precision)
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

    def _first(self, choices: Sequence[_Choice], rest: Information, aims: dict[str, float], room_s: float) -> list[int]:
        """The speed step that tells most of c_long by itself, twice, and the turn that tells most beside it. Every plan has them:
        else a constant may rest on what only seems known, as c_long on the yaw inertia when spins start."""

        def unsure_s(k: int) -> float:  # spreads fall with the root of time
            return choices[k].information.std(known=("mass_kg",))["c_long_per_n"] ** 2 * choices[k].manoeuvre.duration_s

        step = min((k for k, c in enumerate(choices) if c.manoeuvre.kind == "speed step"), key=unsure_s)
        steps_s = FEWEST_STEPS * choices[step].manoeuvre.duration_s
        told = rest + choices[step].information.times(FEWEST_STEPS)
        turns = [
            k for k, c in enumerate(choices) if c.manoeuvre.kind != "speed step" and c.manoeuvre.duration_s <= room_s - steps_s
        ]
        if not turns:
            shortest = min(c.manoeuvre.duration_s for c in choices if c.manoeuvre.kind != "speed step")
            raise ParameterError(
                f"the drive may last {room_s + REST_S + END_S:g} s; {FEWEST_STEPS} speed steps, a turn and rest take "
                f"{REST_S + END_S + steps_s + shortest:.0f} s, allow more (--max-duration-s)"
            )

        def missing_s(k: int) -> float:
            seconds = steps_s + choices[k].manoeuvre.duration_s
            return seconds * exp(2.0 * self._missing(told + choices[k].information, aims) / len(SLIP))

        turn = min(turns, key=missing_s)
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

    def _record(self, choices: Sequence[_Choice], counts: Sequence[int], precision: float) -> Plan:
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
