"""A ladder's result as a ground of a twin: constants of wheel_slip, effective track and gain, chosen rung, odometry's noise."""

import numpy as np

from slipfit.calibration.ladder.comparison import Ladder
from slipfit.calibration.ladder.fit import FittedRung
from slipfit.calibration.ladder.odometry_noise import odometry_noise
from slipfit.contact import LAWS
from slipfit.errors import ParameterError
from slipfit.library import SkidSteerRobot, any_robot
from slipfit.library.ground import STANDARD_GRAVITY
from slipfit.logs.rims import GRID_S
from slipfit.twin import (
    Covariance,
    FittedGround,
    FittedKinematics,
    FittedOn,
    FittedParameter,
    LogOrigin,
    Provenance,
    SkidSteerTwin,
    Status,
)
from slipfit.twin.skid_steer import mean_load_n

#: The law whose constants a twin takes, and the rung that controllers can be told.
LAW, OF_CONTROLLERS = "wheel_slip", "track and gain"

#: Windows of this share of the horizon tell which acceleration the tyres carried, and the quantile of them that counts as proven.
CARRIED_OVER, PROVEN = 0.5, 0.95

#: Unknowns that are logarithms begin with this.
LOGARITHM = "log "


def with_ladder(twin: SkidSteerTwin | None, ladder: Ladder, ground: str) -> SkidSteerTwin:
    """The twin with this ground added, or in place of the one of that name; a new twin where there is none."""
    drive = ladder.drive
    origin = LogOrigin(name=drive.name, sha256=drive.digest)
    found, note = {ground: to_ground(ladder)}, f"ground {ground}: {_beside_the_law(ladder)}"
    truth = [f"{ground}: {drive.inspection.log.truth_line()}"]
    if twin is None:
        provenance = Provenance.now([origin], list(drive.inspection.corrections), [note], truth)
        data = SkidSteerTwin(robot=ladder.robot, grounds=found, provenance=provenance)
        return SkidSteerTwin.from_mapping(data.to_mapping(), where=f"the twin of {ladder.robot.name}")
    check_robot(twin, ladder.robot)
    old = twin.provenance
    logs = old.logs if origin in old.logs else [*old.logs, origin]
    corrected = list(drive.inspection.corrections)
    if len(logs) > 1:
        first = f"{old.logs[0].name}: " if len(old.logs) == 1 else ""
        corrected = [*(first + words for words in old.corrected), *(f"{drive.name}: {words}" for words in corrected)]
    notes = [words for words in old.notes if not words.startswith(f"ground {ground}: ")]
    truth = [*(words for words in old.truth if not words.startswith(f"{ground}: ")), *truth]
    provenance = Provenance.now(logs, list(dict.fromkeys(corrected)), [*notes, note], truth)
    data = twin.model_copy(update={"grounds": {**twin.grounds, **found}, "provenance": provenance})
    return SkidSteerTwin.from_mapping(data.to_mapping(), where=f"the twin of {twin.robot.name}")


def check_robot(twin: SkidSteerTwin | None, robot: SkidSteerRobot | str) -> None:
    """A twin is of one robot."""
    name = (any_robot(robot)).name
    if twin is not None and twin.robot.name != name:
        raise ParameterError(f"the twin is of {twin.robot.name}, the drive of {name}; expected one robot: start another twin")


def to_ground(ladder: Ladder) -> FittedGround:
    """Constants of wheel_slip, and the kinematics."""
    fit, source = ladder[LAW].fit, source_of(ladder)
    names = [p.name for p in LAWS[LAW].parameters if f"{LOGARITHM}{p.name}" in fit.names]
    parameters = {name: _law_constant(fit, name, source) for name in names}
    if not ladder[OF_CONTROLLERS].fit.tells("effective_track_m"):
        note = "wheels slide sideways in turns only, and this drive has too few"
        parameters["c_lat_per_n"] = FittedParameter(status=Status.NOT_EXCITED, source=source, note=note)
    if parameters["mu"].value is None:
        note = "grip never ran out, as far as this drive tells: the largest acceleration over gravity is a lower bound"
        parameters["mu"] = FittedParameter(at_least=proven_grip(ladder), status=Status.NOT_EXCITED, source=source, note=note)
    twist = ladder[OF_CONTROLLERS].fit.rung.twists(ladder.drive.rims, [ladder[OF_CONTROLLERS].fit.as_values()])[0]
    ground = FittedGround(
        about=f"from {ladder.drive.name}",
        law=LAW,
        parameters=parameters,
        covariance=_covariance(fit, [name for name, p in parameters.items() if p.status is Status.CONVERGED]),
        fitted_on=FittedOn(speed_mps=_range(twist[:, 0]), yaw_rate_radps=_range(twist[:, 2])),
        kinematics=kinematics(ladder),
    )
    return ground.model_copy(update={"load_n": mean_load_n(ladder.robot, ground)})


def proven_grip(ladder: Ladder) -> float | None:
    """Acceleration towards the centre of curves over gravity, speed times yaw rate by the wheels, that lasted for a while: the
    mean over windows that nearly all others stay below. None where the robot does not turn while it drives."""
    windows, fit = ladder.drive.windows, ladder[OF_CONTROLLERS].fit
    twist = fit.rung.twists(ladder.drive.rims, [fit.as_values()])[0]
    summed = np.concatenate([[0.0], np.cumsum(np.abs(twist[:, 0] * twist[:, 2]) * GRID_S)])
    used = windows.is_trusted & (windows.share == CARRIED_OVER)
    if not used.any():
        return None
    first, last = (np.clip(np.round(t[used] / GRID_S).astype(int), 0, len(twist)) for t in (windows.from_s, windows.to_s))
    proven = float(np.quantile((summed[last] - summed[first]) / np.maximum((last - first) * GRID_S, GRID_S), PROVEN))
    return proven / STANDARD_GRAVITY.value if proven > 0.0 else None


def kinematics(ladder: Ladder) -> FittedKinematics:
    """Effective track and gain with the noise of odometry that uses them, and the chosen rung's numbers."""
    plain, source = ladder[OF_CONTROLLERS], source_of(ladder)
    track, gain = (_number(plain.fit, name, source) for name in ("effective_track_m", "gain"))
    chosen = ladder.chosen.fit
    return FittedKinematics(
        track_m=ladder.robot.track_m,
        effective_track_m=track,
        gain=gain,
        rung=ladder.chosen.name,
        numbers={name.removeprefix(LOGARITHM): _part_of_a_model(chosen, name, source) for name in chosen.names},
        odometry_noise=odometry_noise(plain, ladder.drive, ladder.horizon_s),
    )


def source_of(ladder: Ladder) -> str:
    """How numbers name the drive that they come from."""
    return f"log {ladder.drive.digest[:12]}" if ladder.drive.digest else f"log {ladder.drive.name}"


def _beside_the_law(ladder: Ladder) -> str:
    """What else the law's rung found, which a simulation takes from the robot's file."""
    fit, (x, y, _) = ladder[LAW].fit, ladder.robot.centre_of_mass_m.value
    found_x, found_y = (fit.value(f"centre_of_mass_{axis}_m") for axis in "xy")
    return (
        f"{LAW} was found with wheels of {fit.value('gain'):.3g} times the radius of the robot's file, and the centre of "
        f"mass at [{found_x:.3g}, {found_y:.3g}] m instead of [{x:g}, {y:g}] m"
    )


def _number(fit: FittedRung, name: str, source: str) -> FittedParameter:
    """A number that stands for itself; without a value where the drive did not tell it."""
    unknown = next(u for u in fit.unknowns if u.name == name)
    if not fit.tells(name):
        return FittedParameter(status=Status.NOT_EXCITED, source=source, note=unknown.about)
    return _part_of_a_model(fit, name, source)


def _part_of_a_model(fit: FittedRung, name: str, source: str) -> FittedParameter:
    """A number that a model needs, told or held by what was expected. Of a logarithm the number itself: the interval's ends
    carry over, the spread by the derivative."""
    unknown = next(u for u in fit.unknowns if u.name == name)
    value, std, ends = fit.value(name), fit.std(name), fit.interval_90(name)
    if name.startswith(LOGARITHM):
        value, ends = float(np.exp(value)), (float(np.exp(ends[0])), float(np.exp(ends[1])))
        std *= value
    note = "" if name.startswith(LOGARITHM) else unknown.about
    note += "; hardly told by the drive" if not fit.tells(name) else ""
    is_at_bound = not unknown.lower + 1e-6 < fit.value(name) < unknown.upper - 1e-6
    status = Status.AT_BOUND if is_at_bound else Status.CONVERGED
    return FittedParameter(value=value, std=std, interval_90=ends, status=status, source=source, note=note)


def _law_constant(fit: FittedRung, name: str, source: str) -> FittedParameter:
    """The same within the law's range."""
    found, law = _number(fit, f"{LOGARITHM}{name}", source), LAWS[LAW].parameter(name)
    if found.value is None or law is None or law.lower <= found.value <= law.upper:
        return found
    return FittedParameter(
        value=float(np.clip(found.value, law.lower, law.upper)),
        status=Status.AT_BOUND,
        source=source,
        note=f"found {found.value:.4g}",
    )


def _covariance(fit: FittedRung, names: list[str]) -> Covariance | None:
    """Of the constants themselves: J P J with the derivatives of the exponential."""
    if not names:
        return None
    at = [fit.names.index(f"{LOGARITHM}{name}") for name in names]
    slopes = np.exp(fit.values[at])
    matrix = slopes[:, None] * fit.covariance[np.ix_(at, at)] * slopes
    return Covariance(names=names, matrix=(0.5 * (matrix + matrix.T)).tolist())


def _range(values: np.ndarray) -> tuple[float, float]:
    return float(values.min()), float(values.max())
