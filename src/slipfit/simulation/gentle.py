"""Moves that keep wheels from slipping: speed profiles scaled to the static limit, and what they save.

A robot on omni wheels goes a way L in a direction, or turns by an angle on the spot: it speeds up over T_1, goes at speed V, and
brakes over T_2. With accelerations within a share of the limits a_1 and a_2 (`control.static_limit`),

    T_i = k V / (share a_i),    L = V (T_1 / 2 + T + T_2 / 2)

where k is the largest slope of the profile: 1 for a trapezoid of speed, 15/8 for the quintic 10 s³ - 15 s⁴ + 6 s⁵. A way that is
too short for V lowers V until T = 0.

Reference  [Williams2002] section 6 proposes the limit for planning; the profiles' slopes are derived in docs/theory/omni
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from slipfit.control.static_limit import Footing, largest_acceleration
from slipfit.errors import ParameterError
from slipfit.library import Ground, OmniRobot
from slipfit.library.files import write_json
from slipfit.simulation.omni_slip import roller_slip
from slipfit.simulation.run import simulate
from slipfit.simulation.scenario import Command, Scenario
from slipfit.simulation.trajectory import Trajectory

#: Largest slope of each profile, of a change of 1 within 1.
STEEPEST = {"linear": 1.0, "quintic": 1.875}

#: Share of the limit that is used: friction near its limit needs sliding, an arctangent's at 0.8 about 3 mm/s.
SHARE = 0.8

#: How long a robot is watched after its wheels have stopped (s).
REST_S = 1.0


@dataclass(frozen=True, slots=True)
class GentleMove:
    """One way or turn, from rest to rest. Ways are in metres along `direction_rad`, turns in radians."""

    is_turn: bool
    direction_rad: float
    way: float
    speed: float
    profile: str
    share: float
    speed_up: float  # limits, m/s² or rad/s²
    brake: float
    ramp_up_s: float
    steady_s: float
    ramp_down_s: float

    @property
    def duration_s(self) -> float:
        return self.ramp_up_s + self.steady_s + self.ramp_down_s

    def commands(self, *, at_once: bool = False) -> list[Command]:
        """For a scenario; or the same way at the same speed with steps, which wheels cannot follow without slipping."""
        moving = self._command(self.way / self.speed if at_once else self.ramp_up_s + self.steady_s, 1.0)
        ends = self._command(REST_S if at_once else self.ramp_down_s + REST_S, 0.0)
        if at_once:
            return [moving, ends]
        up, down = ({"profile": self.profile, "ramp_s": ramp} for ramp in (self.ramp_up_s, self.ramp_down_s))
        return [moving.model_copy(update=up), ends.model_copy(update=down)]

    def _command(self, for_s: float, times: float) -> Command:
        if self.is_turn:
            return Command(for_s=for_s, yaw_rate_radps=times * self.speed)
        c, s = np.cos(self.direction_rad), np.sin(self.direction_rad)
        return Command(for_s=for_s, v_mps=float(times * self.speed * c), vy_mps=float(times * self.speed * s))

    def summary(self) -> str:
        unit = "rad" if self.is_turn else "m"
        towards = "" if self.is_turn else f" towards {np.degrees(self.direction_rad):.0f}°"
        return (
            f"{self.way:g} {unit}{towards} in {self.duration_s:.2f} s, {self.profile}: {self.ramp_up_s:.3f} s up to "
            f"{self.speed:.3f} {unit}/s, {self.steady_s:.3f} s steady, {self.ramp_down_s:.3f} s down; limits "
            f"{self.speed_up:.3f} and {self.brake:.3f} {unit}/s², of which {self.share:.0%} are used"
        )


def gentle_move(
    robot: OmniRobot,
    ground: Ground,
    *,
    way_m: float | None = None,
    direction_rad: float = 0.0,
    turn_rad: float | None = None,
    speed: float,
    profile: str = "quintic",
    share: float = SHARE,
) -> GentleMove:
    """The fastest such move within a share of the limit.

    Parameters
    ----------
    way_m, turn_rad : one of them; a turn's sign is its sense
    speed : at most, m/s or rad/s
    """
    is_turn = turn_rad is not None
    if (way_m is None) == (turn_rad is None):
        raise ParameterError("a move is a way or a turn; give one of way_m (--way-m) and turn_rad (--turn-deg)")
    if profile not in STEEPEST:
        raise ParameterError(f"profile = '{profile}'; expected linear (a trapezoid of speed) or quintic")
    way = float(turn_rad if turn_rad is not None else way_m or 0.0)
    if not (np.isfinite(way) and way != 0.0 and (is_turn or way > 0.0)):
        raise ParameterError(
            f"{'turn_rad' if is_turn else 'way_m'} = {way:g}; expected {'a turn' if is_turn else 'a way above 0'}"
        )
    if not (np.isfinite(speed) and speed > 0.0 and 0.0 < share <= 1.0):
        raise ParameterError(f"speed = {speed:g}, share = {share:g}; expected a speed above 0 and a share of the limit up to 1")
    footing = Footing.of(robot, ground)
    motion = (0.0, 0.0, np.sign(way)) if is_turn else (np.cos(direction_rad), np.sin(direction_rad), 0.0)
    up, down = largest_acceleration(footing, motion), largest_acceleration(footing, motion, is_braking=True)
    if not (up > 0.0 and down > 0.0):
        raise ParameterError(
            f"{robot.name} on {ground.name}: its wheels slip, or its motors are too weak, before the rollers turn in this "
            f"direction; no move goes without slip"
        )
    per_speed = STEEPEST[profile] * np.array([1.0 / (share * up), 1.0 / (share * down)])  # seconds per unit of speed
    size = abs(way)
    reached = min(speed, float(np.sqrt(2.0 * size / per_speed.sum())))
    ramps = per_speed * reached
    steady = max(0.0, size / reached - 0.5 * float(ramps.sum()))
    return GentleMove(
        is_turn, direction_rad, way, float(np.copysign(reached, way)), profile, share, up, down, float(ramps[0]), steady,
        float(ramps[1]),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class SavedSlip:
    """The same move with steps and with profiles, each simulated."""

    robot: str
    ground: str
    moves: dict[str, GentleMove]  # by profile
    runs: dict[str, Trajectory]  # "step" and the profiles
    slid_m: dict[str, float]  # mean over wheels of the way that rollers slid along their axes
    place_error_m: dict[str, float]  # against where the wheels say the robot is: motors that lag do no harm
    heading_error_rad: dict[str, float]
    missed: dict[str, float]  # the end against the goal, m or rad: slip, and motors that do not follow

    @property
    def is_turn(self) -> bool:
        return next(iter(self.moves.values())).is_turn

    def summary(self) -> str:
        rows = [f"{self.robot} on {self.ground}:", *(f"  {move.summary()}" for move in self.moves.values())]
        rows.append(f"  {'':<10}{'wheels slid':>14}{'odometry off':>15}{'heading off':>16}{'missed goal':>14}{'duration':>11}")
        for name, run in self.runs.items():
            missed = f"{self.missed[name]:.4f} rad" if self.is_turn else f"{1e3 * self.missed[name]:.1f} mm"
            rows.append(
                f"  {name:<10}{1e3 * self.slid_m[name]:>11.2f} mm{1e3 * self.place_error_m[name]:>12.2f} mm"
                f"{self.heading_error_rad[name]:>12.4f} rad{missed:>14}{run.time_s[-1] - REST_S:>9.2f} s"
            )
        rows.append("  wheels slid: mean over wheels, along their rollers' axes; odometry: where the wheels say the robot ends")
        return "\n".join(rows)

    def to_document(self) -> dict[str, Any]:
        return {
            "robot": self.robot,
            "ground": self.ground,
            "runs": {
                name: {
                    "slid_m": self.slid_m[name],
                    "place_error_m": self.place_error_m[name],
                    "heading_error_rad": self.heading_error_rad[name],
                    "missed": self.missed[name],
                    "duration_s": float(run.time_s[-1]) - REST_S,
                    "commands": [
                        command.model_dump(exclude_none=True)
                        for command in next(iter(self.moves.values())).commands(at_once=True)
                    ]
                    if name not in self.moves
                    else [command.model_dump(exclude_none=True) for command in self.moves[name].commands()],
                }
                for name, run in self.runs.items()
            },
        }

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """As JSON."""
        write_json(Path(path), self.to_document(), force=force)


def saved_slip(robot: OmniRobot, ground: Ground, moves: dict[str, GentleMove], *, step_s: float = 0.00025) -> SavedSlip:
    """Drive a move's profiles and its steps, and say how far wheels slid and where the robot ended."""
    first = next(iter(moves.values()))
    commands = {"step": first.commands(at_once=True)} | {name: move.commands() for name, move in moves.items()}
    runs = {
        name: simulate(robot, Scenario(commands=told, step_s=step_s, record_s=0.005), ground=ground)
        for name, told in commands.items()
    }
    slid, place, heading, missed = {}, {}, {}, {}
    goal = first.way * np.exp(1j * first.direction_rad)
    for name, run in runs.items():
        slip = roller_slip(run, robot)[:, :, 0]
        slid[name] = float(np.mean(np.abs(slip[1:]).sum(axis=0)) * (run.time_s[1] - run.time_s[0]))
        x, y, turned = _by_wheels(run, robot)
        place[name] = float(np.hypot(run.x_m[-1] - x, run.y_m[-1] - y))
        heading[name] = float(run.heading_rad[-1] - turned)
        short = run.heading_rad[-1] - first.way if first.is_turn else run.x_m[-1] + 1j * run.y_m[-1] - goal
        missed[name] = float(abs(short))
    return SavedSlip(robot.name, ground.name, moves, runs, slid, place, heading, missed)


def _by_wheels(run: Trajectory, robot: OmniRobot) -> tuple[float, float, float]:
    """Where the robot ends if no wheel slips: odometry of the wheels' speeds, each record's with the heading of its middle."""
    twist = run.wheel_speed_radps[1:] @ np.linalg.pinv(robot.wheel_map()).T * np.diff(run.time_s)[:, None]
    heading = np.cumsum(twist[:, 2]) - 0.5 * twist[:, 2]
    c, s = np.cos(heading), np.sin(heading)
    return (
        float((c * twist[:, 0] - s * twist[:, 1]).sum()),
        float((s * twist[:, 0] + c * twist[:, 1]).sum()),
        float(twist[:, 2].sum()),
    )
