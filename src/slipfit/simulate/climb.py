"""Tracked robots over obstacles and through soil: one climb, or thousands with numbers that differ."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Self

import numpy as np

from slipfit.contact.slip import slip_ratio
from slipfit.contact.soil import INFO as SOIL
from slipfit.contact.soil import soil as make_soil
from slipfit.contact.stiction import Stiction
from slipfit.errors import ParameterError, SimulationError
from slipfit.ground.blocks import FAR_BELOW_M, Corner, blocks
from slipfit.ground.ruts import rutted
from slipfit.kernels import Shared, as_batch, run_chunks
from slipfit.library import TrackedRobot, find_tracked_robot
from slipfit.library.files import check_target, write_through
from slipfit.simulate.climb_scenario import ClimbScenario, as_climb
from slipfit.simulate.vary import checked_arrays
from slipfit.vehicles import track_verdict, tracked
from slipfit.vehicles.rigid_body import Body6
from slipfit.vehicles.track_shape import Outline, track_tables

#: Commands are told and verdicts are reached this often, s.
_CONTROL_S = 0.01

#: Places in the soil that remember are squares of this side, m (half a segment), in windows of so many: longer than a robot.
_RUT_M, _RUT_WINDOW = 0.025, 64

#: A place beyond every goal, and a patience beyond every end.
_NEVER = 1e9

#: A step may be this share of the time in which a robot bounces on one hard contact by a radian: then halving it changes little.
_STEP_SHARE = 1.0

#: Progress that counts, m.
_GAIN_M = 0.005

Values = dict[str, Any]


class Verdict(Enum):
    """How a climb ended; the value is what the user reads."""

    CLIMBED = "The robot climbed the obstacle."
    SLIPPED = "The tracks slipped; the robot did not get on."
    TIPPED_BACKWARDS = "The robot tipped over backwards."
    TIPPED_OVER = "The robot tipped over."
    HIGH_CENTRED = "The robot is high-centred: its belly carries it, and the tracks do not reach."
    STUCK_IN_SOIL = "The robot is stuck in the soil."
    TIMED_OUT = "The time was over before the obstacle was climbed."
    FINISHED = "The drive reached its end."
    DIVERGED = "The numbers stopped being finite; check the robot's and the ground's constants of this run."


_BY_CODE = {
    track_verdict.CLIMBED: Verdict.CLIMBED,
    track_verdict.SLIPPED: Verdict.SLIPPED,
    track_verdict.TIPPED_BACKWARDS: Verdict.TIPPED_BACKWARDS,
    track_verdict.TIPPED_OVER: Verdict.TIPPED_OVER,
    track_verdict.HIGH_CENTRED: Verdict.HIGH_CENTRED,
    track_verdict.STUCK_IN_SOIL: Verdict.STUCK_IN_SOIL,
    track_verdict.TIMED_OUT: Verdict.TIMED_OUT,
    track_verdict.NOT_FINITE: Verdict.DIVERGED,
}


@dataclass(frozen=True, eq=False)
class ClimbTrajectory:
    """How a tracked robot moved: columns by name, (T,), of its centre of mass and belts; see docs/reference/files."""

    columns: dict[str, np.ndarray]
    verdict: Verdict
    margin: float
    stopped_at_s: float
    robot: str
    scenario: str
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    @property
    def pitch_up_rad(self) -> np.ndarray:
        """Elevation of the nose, (T,)."""
        w, x, y, z = (self.columns[name] for name in ("qw", "qx", "qy", "qz"))
        return np.asarray(np.arcsin(np.clip(2.0 * (x * z - w * y), -1.0, 1.0)))

    @property
    def heading_rad(self) -> np.ndarray:
        """Heading, without wrapping, (T,)."""
        w, x, y, z = (self.columns[name] for name in ("qw", "qx", "qy", "qz"))
        return np.unwrap(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))

    @property
    def slip(self) -> np.ndarray:
        """Slip of the two belts together against the motion of the centre of mass ahead, (T,)."""
        belts = 0.5 * (self.columns["belt_left_mps"] + self.columns["belt_right_mps"])
        return np.asarray(np.vectorize(slip_ratio, otypes=[float])(self.columns["vx_mps"], belts))

    def summary(self) -> str:
        """A screen of text."""
        t, c = self.columns["time_s"], self.columns
        rows = [f"{self.robot}, {self.scenario}: {t[-1]:.2f} s"]
        rows.append(f"  verdict  {self.verdict.value} ({self.stopped_at_s:.2f} s, margin {self.margin:+.3f})")
        rows.append(
            f"  place    {c['x_m'][-1]:.3f} m ahead, {c['z_m'][-1] - c['z_m'][0]:+.3f} m up, "
            f"heading {np.degrees(self.heading_rad[-1]):.1f}°"
        )
        rows.append(f"  nose     up to {np.degrees(self.pitch_up_rad.max()):.1f}° up")
        if np.nanmax(c["deepest_m"]) > 0.0:
            rows.append(f"  sinkage  up to {1e3 * c['deepest_m'].max():.1f} mm")
        rows.append(f"  drive    up to {np.abs([c['drive_left_n'], c['drive_right_n']]).max():.0f} N on a belt")
        rows += [f"  note     {note}" for note in self.notes]
        return "\n".join(rows)

    def save(self, path: Path | str, *, force: bool = False) -> None:
        """Write a .csv file whose first line tells verdict and origin."""
        path = Path(path)
        check_target(path, force=force, formats=(".csv",))
        about = {"robot": self.robot, "scenario": self.scenario, "verdict": self.verdict.name, "margin": self.margin,
                 "stopped_at_s": self.stopped_at_s, "notes": list(self.notes)}  # fmt: skip
        rows = np.column_stack(list(self.columns.values())).tolist()
        lines = [f"# {json.dumps(about)}", ",".join(self.columns), *(",".join(repr(v) for v in row) for row in rows)]
        write_through(path, lambda target: target.write_text("\n".join(lines) + "\n", encoding="utf-8"), force=force)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read what `save` wrote."""
        try:
            first, names, *rows = Path(path).read_text(encoding="utf-8").splitlines()
            about = json.loads(first.removeprefix("# "))
            table = np.array([[float(v) for v in row.split(",")] for row in rows])
            columns = dict(zip(names.split(","), table.T, strict=True))
            verdict = Verdict[about["verdict"]]
            return cls(
                columns, verdict, about["margin"], about["stopped_at_s"], about["robot"], about["scenario"], tuple(about["notes"])
            )
        except OSError as error:
            raise SimulationError(f"{path}: cannot be read ({error.strerror}); expected a climb that slipfit saved") from None
        except (ValueError, KeyError, UnicodeDecodeError):
            raise SimulationError(
                f"{path}: this is no climb that slipfit saved; expected a .csv file of `slipfit simulate -o`"
            ) from None


@dataclass(frozen=True, eq=False)
class ClimbBatch:
    """Many climbs: verdict and margin of each, and what they recorded, (runs, records, columns)."""

    codes: np.ndarray  # (runs,), as in vehicles.track_verdict
    margin: np.ndarray  # (runs,): above zero where climbed, below elsewhere
    stopped_at_s: np.ndarray
    deepest_m: np.ndarray  # deepest sinkage
    records: np.ndarray
    time_s: np.ndarray
    varied: Mapping[str, np.ndarray]
    robot: str
    scenario: str
    has_goal: bool
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """How each run ended."""
        found = [_BY_CODE[code] for code in self.codes.tolist()]
        return tuple(Verdict.FINISHED if v is Verdict.TIMED_OUT and not self.has_goal else v for v in found)

    @property
    def has_climbed(self) -> np.ndarray:
        """Which runs climbed, (runs,)."""
        return np.asarray(self.codes == track_verdict.CLIMBED)

    def run(self, i: int) -> ClimbTrajectory:
        """One run as a trajectory, up to its verdict."""
        until = int(np.searchsorted(self.time_s, self.stopped_at_s[i] * (1.0 + 1e-12), side="right"))
        columns = {"time_s": self.time_s[:until]}
        columns |= {name: self.records[i, :until, k] for k, name in enumerate(tracked.TRACK_COLUMNS)}
        return ClimbTrajectory(
            columns, self.verdicts[i], float(self.margin[i]), float(self.stopped_at_s[i]), self.robot, self.scenario, self.notes
        )

    def summary(self) -> str:
        """A few lines for people."""
        rows = [f"{len(self)} climbs of {self.robot}, {self.scenario}"]
        found = self.verdicts
        rows += [f"  {found.count(verdict):>6}  {verdict.value}" for verdict in dict.fromkeys(found)]
        return "\n".join(rows)


def simulate_climb(robot: TrackedRobot | str | Path, scenario: ClimbScenario | Mapping[str, Any] | str | Path) -> ClimbTrajectory:
    """Drive a tracked robot through a climb.

    Parameters
    ----------
    robot : a record, a name of the library, or the path of a file
    scenario : a record, what a climb's file holds, a name of the library, or the path of a file

    Examples
    --------
    >>> climb = simulate_climb("packbot", "curb_163mm")
    """
    return climb_many(robot, scenario, {}).run(0)


def climb_many(
    robot: TrackedRobot | str | Path,
    scenario: ClimbScenario | Mapping[str, Any] | str | Path,
    vary: Mapping[str, Any],
    *,
    ends_only: bool = False,
    workers: int | None = None,
) -> ClimbBatch:
    """The same climb many times on all cores, with numbers that differ from run to run; results do not depend on `workers`.

    vary : arrays by name (height_m, edge_radius_m, mu_static, speed_mps, yaw_rad, flipper_angle_rad, mass_kg, soil constants,
        ...), one entry per run; a wrong name tells the right ones
    ends_only : record only start and end of each run
    """
    robot = robot if isinstance(robot, TrackedRobot) else find_tracked_robot(robot)
    climb = as_climb(dict(scenario) if isinstance(scenario, Mapping) else scenario)
    if workers is not None and workers < 1:
        raise SimulationError(f"workers = {workers}; expected 1 or more, or None for all cores")
    values, n = _varied(robot, climb, vary)
    notes = _reachable(robot, climb, values)
    _check_step(robot, climb, values)
    dt = climb.step_s
    hold = max(1, round(_CONTROL_S / dt))
    steps = hold * max(1, int(np.ceil(climb.duration_s / (hold * dt) * (1.0 - 1e-12))))
    every = steps if ends_only else min(steps, hold * max(1, round(climb.record_s / (hold * dt))))
    steps += -steps % every
    batch = as_batch(_runs(robot, climb, values, n, hold * dt, steps // hold), n)
    out, status = np.empty((n, steps // every + 1, len(tracked.TRACK_COLUMNS))), np.empty(n)

    def chunk(lo: int, hi: int) -> None:
        # One run fills its registers with segments side by side, eight runs with each other.
        drive = tracked.one_by_one if n == 1 else tracked.in_lanes
        drive(batch, lo, hi, hold, every, dt, out, status)

    run_chunks(chunk, n, workers=workers)
    last = {name: out[:, -1, k] for k, name in enumerate(tracked.TRACK_COLUMNS)}
    return ClimbBatch(
        codes=status,
        margin=last["margin"],
        stopped_at_s=last["stopped_at_s"],
        deepest_m=last["deepest_m"],
        records=out,
        time_s=np.arange(out.shape[1]) * every * dt,
        varied={name: np.asarray(entry) for name, entry in vary.items()},
        robot=robot.name,
        scenario=climb.about or "climb",
        has_goal=climb.obstacle.kind != "none",
        notes=notes,
    )


# --- numbers --------------------------------------------------------------------------------------------------------------------


def climb_numbers(robot: TrackedRobot, climb: ClimbScenario) -> Values:
    """Every number of a run that can be varied, by its name."""
    static, dynamic = climb.friction()
    x, _, height = robot.centre_of_mass_m.value
    own = {name: p.value for name, p in robot.parameters().items() if name != "segments"}
    if climb.flipper_angle_rad is not None and robot.flippers:
        own["flipper_angle_rad"] = climb.flipper_angle_rad
    obstacle = climb.obstacle
    return {
        **own,
        "centre_of_mass_x_m": x,
        "centre_of_mass_height_m": height,
        "mu_static": static,
        "mu_dynamic": dynamic,
        "fading_speed_mps": climb.fading_speed_mps,
        **climb.soil_values(),
        **{name: getattr(obstacle, name) for name in ("height_m", "edge_radius_m", "yaw_rad", "grip", "distance_m")},
        "speed_mps": climb.speed_mps,
        "gravity_mps2": climb.gravity_mps2,
    }


def climb_bounds(robot: TrackedRobot, climb: ClimbScenario) -> dict[str, tuple[float, float]]:
    found = {name: (p.lower_bound, p.upper_bound) for name, p in robot.parameters().items()}
    found |= {p.name: (p.lower, p.upper) for p in SOIL.parameters}
    half = 0.5 * robot.wheelbase_m
    return found | {
        "centre_of_mass_x_m": (-half, half),
        "centre_of_mass_height_m": (1e-6, 10.0),
        "mu_static": (1e-6, 5.0),
        "mu_dynamic": (1e-6, 5.0),
        "height_m": (0.0, 10.0),
        "edge_radius_m": (0.0, 10.0),
        "yaw_rad": (-1.5, 1.5),
        "grip": (1e-6, 10.0),
        "distance_m": (0.0, 10.0),
        "speed_mps": (-10.0, 10.0),
        "gravity_mps2": (0.1, 30.0),
    }


def _varied(robot: TrackedRobot, climb: ClimbScenario, vary: Mapping[str, Any]) -> tuple[Values, int]:
    values = climb_numbers(robot, climb)
    arrays, n = checked_arrays(vary, values, climb_bounds(robot, climb))
    if "mu_static" in arrays and "mu_dynamic" not in arrays:  # what slides keeps its share of what holds
        arrays["mu_dynamic"] = arrays["mu_static"] * (values["mu_dynamic"] / values["mu_static"])
    return values | arrays, n


def _reachable(robot: TrackedRobot, climb: ClimbScenario, v: Values) -> tuple[str, ...]:
    """A curb that nothing of the robot reaches is refused; one higher than the robot is told of."""
    if climb.obstacle.kind not in ("curb", "stairs"):
        return ()
    height, top = float(np.nanmax(v["height_m"])), float(np.max(2.0 * np.asarray(v["sprocket_radius_m"])))
    reach = top + (float(np.max(v["flipper_length_m"])) if robot.flippers else 0.0)
    if height > reach:
        raise ParameterError(
            f"obstacle.height_m = {height:g} m: the {climb.obstacle.kind} is higher than {robot.name} reaches ({reach:.3g} m); "
            f"expected a step that its tracks or flippers can touch from above"
        )
    if height > top:
        return (f"the {climb.obstacle.kind} of {height:.3g} m is higher than the robot's tracks ({top:.3g} m)",)
    return ()


def longest_step_s(robot: TrackedRobot, v: Values | None = None) -> float:
    """The longest step for the robot's hard contacts: the time in which half of it bounces on one of them by a radian."""
    v = {name: p.value for name, p in robot.parameters().items()} | {"gravity_mps2": 9.81} | (v or {})
    mass, p = np.asarray(v["mass_kg"], dtype=float), np.asarray(v["contact_exponent"], dtype=float)
    stiffness = np.asarray(v["contact_stiffness_n_per_m_p"], dtype=float)
    dent = (0.25 * mass * v["gravity_mps2"] / stiffness) ** (1.0 / p)
    return float(_STEP_SHARE * np.min(np.sqrt(0.5 * mass / (p * stiffness * dent ** (p - 1.0)))))


def _check_step(robot: TrackedRobot, climb: ClimbScenario, v: Values) -> None:
    longest = longest_step_s(robot, v)
    if climb.step_s > longest:
        raise ParameterError(
            f"step_s = {climb.step_s:g} s is too long for a contact stiffness of "
            f"{float(np.max(v['contact_stiffness_n_per_m_p'])):.3g} N/m^p under {float(np.min(v['mass_kg'])):.3g} kg; take "
            f"at most {longest:.2g} s, or a softer contact"
        )


# --- tuples ---------------------------------------------------------------------------------------------------------------------


def _outline(robot: TrackedRobot, v: Values) -> Outline:
    own = {name: v[name] for name in Outline._fields if name in v}
    ahead = 0.5 * np.asarray(v["axle_distance_m"]) + v["centre_of_mass_x_m"]
    return Outline(**own, radius_m=v["sprocket_radius_m"], mass_ahead_m=ahead, mass_above_m=v["centre_of_mass_height_m"])


def obstacle_corners(climb: ClimbScenario, v: Values, first_m: Any) -> tuple[list[Corner], Any, float]:
    """Corners of the obstacle that begins at a place along the profile; the place its far side lies at; height of the base."""
    o, height, radius, grip = climb.obstacle, v["height_m"], v["edge_radius_m"], v["grip"]
    if o.kind == "curb":
        return [Corner(first_m, height, radius_m=radius, grip=grip)], first_m + np.asarray(radius), 0.0
    if o.kind == "stairs":
        corners = [
            Corner(first_m + k * o.run_m, (k + 1) * np.asarray(height), radius_m=radius, grip=grip) for k in range(o.steps)
        ]
        return corners, first_m + (o.steps - 1) * o.run_m + np.asarray(radius), 0.0
    if o.kind == "ramp":
        top = first_m + np.asarray(height) / np.tan(o.slope_rad)
        return [Corner(top, height, rise_rad=o.slope_rad, radius_m=radius, grip=grip)], top, 0.0
    if o.kind == "ditch":
        near = Corner(first_m, 0.0, rise_rad=0.0, onward_rad=-0.5 * np.pi, radius_m=radius)
        return [near, Corner(first_m + o.run_m, 0.0, radius_m=radius, grip=grip)], first_m + o.run_m + np.asarray(radius), 1.0
    return [], _NEVER, 0.0


def _ground(robot: TrackedRobot, climb: ClimbScenario, v: Values, n: int, has_soil: bool) -> Any:
    front = 0.5 * np.asarray(v["axle_distance_m"]) + v["sprocket_radius_m"] + v.get("cleat_height_m", 0.0)
    first = front + v["distance_m"]
    corners, far, is_ditch = obstacle_corners(climb, v, first)
    if is_ditch and has_soil:
        raise ParameterError("obstacle.kind is ditch, and there is soil; ditches are simulated on hard ground only")
    base: Any = -np.asarray(v["height_m"]) if is_ditch else FAR_BELOW_M if has_soil else 0.0
    return blocks(
        corners, n, gravity_mps2=v["gravity_mps2"], yaw_rad=v["yaw_rad"], base_m=base, soil_m=0.0 if has_soil else FAR_BELOW_M,
        soil_to_m=(first if corners else _NEVER) if has_soil else FAR_BELOW_M, goal_m=far,
    )  # fmt: skip


def static_sinkage_m(robot: TrackedRobot, v: Values, soil: Any) -> Any:
    """Sinkage of the level robot's belts at rest, their underside alone bearing; negative where it stands on its cleats."""
    area = 2.0 * np.asarray(v["axle_distance_m"]) * v["belt_width_m"]
    share, cleat = v.get("cleat_share", 0.0), v.get("cleat_height_m", 0.0) * (1.0 - 0.5 * np.asarray(v.get("cleat_taper", 0.0)))
    constant = np.maximum(np.asarray(soil.cohesive) / v["belt_width_m"] + soil.frictional, 1e-9)
    weight = np.asarray(v["mass_kg"]) * v["gravity_mps2"]
    low, high = -cleat + 0.0 * weight * constant, 1.0 + 0.0 * weight * constant
    for _ in range(60):
        middle = 0.5 * (low + high)
        plain, deep = np.maximum(middle, 0.0), np.maximum(middle + cleat, 0.0)
        carried = area * constant * ((1.0 - share) * plain**soil.exponent + share * deep**soil.exponent)
        low, high = np.where(carried < weight, middle, low), np.where(carried < weight, high, middle)
    return np.minimum(0.5 * (low + high), soil.layer)


def _runs(robot: TrackedRobot, climb: ClimbScenario, v: Values, n: int, control_s: float, periods: int) -> Any:
    outline, has_soil = _outline(robot, v), climb.soil is not None
    soil_names = [p.name for p in SOIL.parameters]
    # On hard ground the soil lies far below: one compiled kernel serves both.
    constants = {name: v[name] for name in soil_names if name in v} if has_soil else dict(SOIL.example)
    soil = make_soil(**constants, gravity_mps2=v["gravity_mps2"])
    ground = _ground(robot, climb, v, n, has_soil)
    height: Any = np.asarray(v["centre_of_mass_height_m"])
    z = height - static_sinkage_m(robot, v, soil) if has_soil else height + v.get("cleat_height_m", 0.0)
    radius: Any = np.asarray(v["sprocket_radius_m"])
    has_ramp = climb.ramp_s > 0.0 and not climb.starts_rolling
    since = (np.arange(periods) + 1.0) * control_s
    ramp = np.minimum(1.0, since / climb.ramp_s) if has_ramp else np.ones(periods)
    turning = climb.yaw_rate_radps * 0.5 * robot.track_m
    unit = climb.speed_mps if climb.speed_mps else 1.0
    speeds = np.column_stack([(climb.speed_mps - turning) / unit * ramp, (climb.speed_mps + turning) / unit * ramp])
    factor = v["speed_mps"] if climb.speed_mps else 1.0
    has_goal = climb.obstacle.kind != "none"
    goal: Any = np.asarray(ground.goal) + 0.5 * radius if has_goal else _NEVER
    rules = track_verdict.Rules(
        goal, climb.patience_s if has_goal else _NEVER, _GAIN_M,
        0.0 if climb.starts_rolling else climb.ramp_s,
    )  # fmt: skip
    return tracked.TrackedRuns(
        body=Body6(v["mass_kg"], v["roll_inertia_kgm2"], v["pitch_inertia_kgm2"], v["yaw_inertia_kgm2"], 0.0, 0.0, height),
        tables=track_tables(
            outline, round(robot.tracks.segments.value), n, has_flippers=robot.flippers is not None,
            has_belly=robot.belly is not None,
        ),
        hard=tracked.HardContact(
            v["contact_stiffness_n_per_m_p"], v["contact_exponent"], v["contact_damping_n_s_per_m"], v["damping_full_at_m"]
        ),
        law=Stiction(v["mu_static"], v["mu_dynamic"], v["fading_speed_mps"]),
        soil=soil,
        belt=tracked.Belt(
            np.asarray(v["sprocket_inertia_kgm2"]) / radius**2 + v["belt_mass_kg"], np.asarray(v["torque_limit_nm"]) / radius,
            v["speed_gain_n_s_per_m"], v["integral_gain_n_per_m"], v["derivative_gain_kg"], v["belt_tension_n"],
            v["belt_loss_share"], v["belt_loss_n_s_per_m"],
        ),
        ground=rutted(ground, _RUT_M, _RUT_WINDOW),
        begin=tracked.Begin(
            v["centre_of_mass_x_m"], 0.0, z, 0.0, 0.0, factor * climb.speed_mps / unit if climb.starts_rolling else 0.0
        ),
        told=tracked.Told(factor, Shared(speeds.ravel())),
        rules=rules,
    )  # fmt: skip
