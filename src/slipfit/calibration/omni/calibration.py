"""One calibration of an omnidirectional robot on one surface: constants, friction and slip map, each judged on the same runs.

Models, each with what the one before lacks:

    ideal        the robot's file, no slip
    one factor   every way shorter by the same share
    constants    radii, axle angles, centre distance
    friction     arctan friction of the rollers, steady: slip and turning from mu_T / mu_W, steepness, centre of mass
    slip map     smooth map over the direction of motion
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from slipfit.calibration.omni.balance import Contact
from slipfit.calibration.omni.constants import OmniConstants, fit_constants
from slipfit.calibration.omni.friction_fit import FEWEST_RUNS, OmniFriction, fit_friction
from slipfit.calibration.omni.runs import LEAST_WAY_M, OmniRun, dead_reckoned, omni_run_of_log, with_counts
from slipfit.calibration.omni.slip_map import SlipMap
from slipfit.calibration.omni.slip_map_fit import fit_slip_map
from slipfit.calibration.omni.steady import steady_part
from slipfit.errors import LogError
from slipfit.library import OmniRobot
from slipfit.library.json_record import JsonRecord
from slipfit.logs import DriveLog
from slipfit.twin import FittedParameter

#: A run that turns by more than this (rad) on average by its own wheels is no steady line: friction by balance leaves it out.
STRAIGHT_RAD = 0.35

#: Way of the body over that of its wheels that slip leaves (on a deep carpet less than half), and turning that it may add: so
#: many times what the wheels say, and this much (rad).
LEAST_RATIO, MOST_RATIO, MOST_TURN, TURN_RAD = 0.2, 2.0, 4.0, 0.7

IDEAL, ONE_FACTOR, CONSTANTS, FRICTION, SLIP_MAP = MODELS = ("ideal", "one factor", "constants", "friction", "slip map")


class PathModel(Protocol):
    """Poses (T, 3) that a model makes of a run, with the measured heading or its own."""

    def __call__(self, run: OmniRun, *, measured_heading: bool = False) -> np.ndarray: ...


@dataclass(frozen=True, slots=True)
class Score:
    """End errors of one model: medians over runs."""

    model: str
    with_heading_percent: float  # of the way, heading measured
    percent: float  # heading by the model too
    heading_deg: float


@dataclass(frozen=True, eq=False, slots=True)
class OmniCalibration(JsonRecord):
    """What was found on one surface, and how well it predicts."""

    schema: ClassVar[str] = "slipfit/omni_calibration/1"
    called: ClassVar[str] = "calibration of an omni robot"
    written_by: ClassVar[str] = "slipfit omni calibrate"

    robot: str
    surface: str
    slip_factor: float
    constants: OmniConstants
    friction: OmniFriction | None  # none where runs are not steady lines
    slip_map: SlipMap
    scores: tuple[Score, ...]
    judged_on: tuple[str, ...]
    is_held_out: bool

    def score(self, model: str) -> Score:
        """Of one model, by its name."""
        return next(score for score in self.scores if score.model == model)

    def summary(self) -> str:
        """Scores, then every part."""
        held = "not fitted" if self.is_held_out else "fitted too: name runs to hold out for a fair figure"
        rows = [
            f"{self.robot} on {self.surface}: end errors, medians of {len(self.judged_on)} runs ({held})",
            f"  {'model':<14}{'heading measured':>18}{'heading too':>14}{'heading error':>15}",
        ]
        for s in self.scores:
            rows.append(
                f"  {s.model:<14}{f'{s.with_heading_percent:.2f} %':>18}{f'{s.percent:.2f} %':>14}{f'{s.heading_deg:.1f}°':>15}"
            )
        parts = [self.constants.summary(), *([self.friction.summary()] if self.friction else []), self.slip_map.summary()]
        return "\n".join([*rows, *parts])

    def to_document(self) -> dict[str, Any]:
        """For --json and files."""
        return {
            "schema": self.schema,
            "robot": self.robot,
            "surface": self.surface,
            "slip_factor": self.slip_factor,
            "scores": [asdict(score) for score in self.scores],
            "judged_on": list(self.judged_on),
            "is_held_out": self.is_held_out,
            "constants": self.constants.to_document(),
            "friction": self.friction.to_document() if self.friction else None,
            "slip_map": self.slip_map.to_document(),
        }

    @classmethod
    def _of_document(cls, data: dict[str, Any], where: str) -> Self:
        return cls(
            robot=data["robot"],
            surface=data["surface"],
            slip_factor=float(data["slip_factor"]),
            constants=_constants(data["constants"]),
            friction=_friction(data["friction"]) if data["friction"] else None,
            slip_map=SlipMap.from_document(data["slip_map"], where=where),
            scores=tuple(Score(**score) for score in data["scores"]),
            judged_on=tuple(data["judged_on"]),
            is_held_out=bool(data["is_held_out"]),
        )


def _parameters(data: Any) -> dict[str, FittedParameter]:
    return {name: FittedParameter.model_validate(p) for name, p in data.items()}


def _constants(data: Any) -> OmniConstants:
    return OmniConstants(
        data["robot"], np.array(data["body_map"]), _parameters(data["parameters"]), data["scatter"], data["runs"]
    )


def _friction(data: Any) -> OmniFriction:
    return OmniFriction(
        robot=data["robot"],
        surface=data["surface"],
        contact=Contact(**data["contact"]),
        heading_offset_rad=data["heading_offset_rad"],
        parameters=_parameters(data["parameters"]),
        law_mu_w=data["law_mu_w"],
        scatter=data["scatter"],
        runs=data["runs"],
    )


def runs_of_logs(logs: Sequence[DriveLog], robot: OmniRobot, *, counts_per_turn: float | None = None) -> list[OmniRun]:
    """Every log as a run; ticks of unknown size are scaled to the wheel speeds of all logs."""
    counts = counts_per_turn or with_counts(logs, robot)
    return [omni_run_of_log(log, robot, counts_per_turn=counts) for log in logs]


def calibrate_omni(
    runs: Sequence[OmniRun], robot: OmniRobot, *, surface: str = "surface", held_out: Sequence[OmniRun] = ()
) -> OmniCalibration:
    """Constants, friction and slip map of a robot on one surface, judged on runs held out, else on those fitted."""
    require_units(runs, robot)
    constants, slip_map = fit_constants(runs, robot), fit_slip_map(runs, robot, surface=surface)
    factor = slip_factor(runs, robot)
    friction = fit_friction(runs, robot, surface=surface) if are_lines(runs, robot) else None
    judged = held_out or runs
    models = path_models(robot, factor, constants, friction, slip_map)
    scores = tuple(score_of(name, model, judged) for name, model in models.items())
    names = tuple(run.name for run in judged)
    return OmniCalibration(robot.name, surface, factor, constants, friction, slip_map, scores, names, bool(held_out))


def require_units(runs: Sequence[OmniRun], robot: OmniRobot) -> None:
    """Ways and turns that no slip explains are units: better no calibration than one of radii that nobody has."""
    rolled = [float(np.hypot(*run.ideal_motion(robot)[:, :2].T).sum()) for run in runs]
    ratios = [run.way_m[-1] / way for run, way in zip(runs, rolled, strict=True) if way > LEAST_WAY_M]
    ratio = float(np.median(ratios)) if ratios else 1.0
    if not LEAST_RATIO < ratio < MOST_RATIO:
        raise LogError(
            f"{runs[0].name} and others: poses go {ratio:.3g} times as far as the wheels of {robot.name} roll; expected "
            f"{LEAST_RATIO:g} to {MOST_RATIO:g}, as slip leaves it: check gear, counts per turn, units of time, angle and pose"
        )
    turned = np.median([abs(run.poses[-1, 2] - run.poses[0, 2]) for run in runs])
    by_wheels = np.median([abs(float(run.ideal_motion(robot)[:, 2].sum())) for run in runs])
    if turned > MOST_TURN * (by_wheels + TURN_RAD):
        raise LogError(
            f"{runs[0].name} and others: poses turn by {turned:.3g} rad where the wheels of {robot.name} say {by_wheels:.3g}; "
            f"expected no more than slip leaves: check the unit of the pose's yaw (degrees read as radians?)"
        )


def are_lines(runs: Sequence[OmniRun], robot: OmniRobot) -> bool:
    """Whether runs keep their wheel speeds and hardly turn by them, as the balance of friction takes them."""
    if sum(steady_part(run, robot) is not None for run in runs) < FEWEST_RUNS:
        return False
    turned = [abs(float(run.ideal_motion(robot)[:, 2].sum())) for run in runs]
    return float(np.median(turned)) < STRAIGHT_RAD


def slip_factor(runs: Sequence[OmniRun], robot: OmniRobot) -> float:
    """True over ideal ends, by least squares over all runs."""
    ideal = np.array([_ideal_path(run, robot)[-1, :2] - run.poses[0, :2] for run in runs])
    true = np.array([run.end_m for run in runs])
    return float((ideal * true).sum() / (ideal * ideal).sum())


def path_models(
    robot: OmniRobot, factor: float, constants: OmniConstants, friction: OmniFriction | None, slip_map: SlipMap
) -> dict[str, PathModel]:
    """Every model by its name."""

    def ideal(run: OmniRun, *, measured_heading: bool = False) -> np.ndarray:
        return _ideal_path(run, robot, measured_heading=measured_heading)

    def one_factor(run: OmniRun, *, measured_heading: bool = False) -> np.ndarray:
        return _ideal_path(run, robot, factor, measured_heading=measured_heading)

    def mapped(run: OmniRun, *, measured_heading: bool = False) -> np.ndarray:
        return slip_map.path(run, robot, measured_heading=measured_heading)

    models: dict[str, PathModel] = {IDEAL: ideal, ONE_FACTOR: one_factor, CONSTANTS: constants.path}
    if friction is not None:

        def rubbed(run: OmniRun, *, measured_heading: bool = False) -> np.ndarray:
            return friction.path(run, robot, measured_heading=measured_heading)

        models[FRICTION] = rubbed
    return models | {SLIP_MAP: mapped}


def _ideal_path(run: OmniRun, robot: OmniRobot, factor: float = 1.0, *, measured_heading: bool = False) -> np.ndarray:
    motion = run.ideal_motion(robot) * [factor, factor, 1.0]
    return dead_reckoned(run.poses[0], motion, heading_rad=run.poses[:, 2] if measured_heading else None)


def score_of(name: str, model: PathModel, runs: Sequence[OmniRun]) -> Score:
    """Medians of a model's end errors."""
    paths = [model(run) for run in runs]
    off = [abs(path[-1, 2] - run.poses[-1, 2]) for path, run in zip(paths, runs, strict=True)]
    going = [(path, run) for path, run in zip(paths, runs, strict=True) if run.way_m[-1] > LEAST_WAY_M]
    if not going:
        raise LogError(
            f"no run goes farther than {LEAST_WAY_M:g} m: an end error as a share of the way says nothing; hold out lines"
        )
    with_heading = [end_percent(model(run, measured_heading=True), run) for _, run in going]
    percent = [end_percent(path, run) for path, run in going]
    return Score(name, float(np.median(with_heading)), float(np.median(percent)), float(np.degrees(np.median(off))))


def end_percent(path: np.ndarray, run: OmniRun) -> float:
    """Distance of a path's end from the truth's, % of the way."""
    return float(100.0 * np.hypot(*(path[-1, :2] - run.poses[-1, :2])) / run.way_m[-1])
