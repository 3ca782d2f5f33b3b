"""The twin: the contract between all stages. A calibration writes it, everything else reads it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from slipfit.contact import LAWS
from slipfit.errors import ParameterError
from slipfit.library import Ground, Robot
from slipfit.library.files import FileModel, NamedFile, nearest
from slipfit.twin.fitted import Covariance, FittedParameter
from slipfit.twin.fitted_ground import FittedGround, factors
from slipfit.twin.kinematics import FittedKinematics
from slipfit.twin.payload import PER_LOAD, loaded
from slipfit.twin.posterior import draw
from slipfit.twin.powertrain import FittedPowertrain

#: The robot's load per wheel may differ this much from the load of the constants before the summary speaks of it.
LOAD_TOLERANCE = 0.02

_SETPOINTS = {"controller": "units of the controller", "radps": "rad/s of the wheels"}


class LogOrigin(FileModel):
    """A log that a twin rests on; the digest is empty where there was no file."""

    name: str
    sha256: Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]


def _moment(given: Any) -> str:
    """A time as ISO 8601 in UTC; YAML reads an unquoted one as a date."""
    try:
        when = given if isinstance(given, datetime) else datetime.fromisoformat(given)
        when = when.astimezone(UTC) if when.tzinfo else when.replace(tzinfo=UTC)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"made is {str(given)[:40]!r}; expected a time such as 2026-11-15T20:00:00Z") from None
    return when.isoformat().replace("+00:00", "Z")


class Provenance(FileModel):
    """Where a twin comes from: version, time, logs, and what was corrected in them."""

    slipfit: str
    made: Annotated[str, BeforeValidator(_moment)]
    logs: list[LogOrigin] = Field(default_factory=list)
    corrected: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)

    @classmethod
    def now(cls, logs: list[LogOrigin], corrected: list[str], notes: list[str] | None = None) -> "Provenance":
        """Made by this version, now."""
        import slipfit

        made = datetime.now(UTC).replace(microsecond=0).isoformat()
        return cls(slipfit=slipfit.__version__, made=made, logs=logs, corrected=corrected, notes=notes or [])


GroundName = Annotated[str, Field(pattern=r"^[a-z0-9_\-]+$")]


class Twin(NamedFile):
    """A robot and the grounds it was calibrated on."""

    schema_: Literal["slipfit/twin/1"] = Field("slipfit/twin/1", alias="schema")
    robot: Robot
    grounds: Annotated[dict[GroundName, FittedGround], Field(min_length=1)]
    powertrain: FittedPowertrain | None = None
    provenance: Provenance

    @model_validator(mode="after")
    def _covariances_of_known_numbers(self) -> "Twin":
        of_robot = self.robot.parameters()
        for name, ground in self.grounds.items():
            for entry in ground.covariance.names if ground.covariance else ():
                if entry not in of_robot and entry not in ground.parameters:
                    known = {*of_robot, *ground.parameters}
                    raise ValueError(f"grounds.{name}.covariance.names: there is no number '{entry}'; {nearest(entry, known)}")
        return self

    # --- what simulations and studies take from it ------------------------------------------------------------------

    def ground_name(self, name: str | None = None) -> str:
        """The name of a ground; of the only one, where none is asked for."""
        names = ", ".join(self.grounds)
        if name is None:
            if len(self.grounds) > 1:
                raise ParameterError(f"the twin of {self.robot.name} has several grounds; choose one of {names}")
            return next(iter(self.grounds))
        if name not in self.grounds:
            raise ParameterError(f"the twin of {self.robot.name} has no ground '{name}'; it has {names}")
        return name

    def ground(self, name: str | None = None) -> Ground:
        """A ground for simulation. Constants that the drives do not tell are filled: by the law's default, or from their
        bounds; the note of each says so. One that nothing is known of is an error that names the manoeuvre to drive."""
        name = self.ground_name(name)
        return self.grounds[name].as_ground(name, where=f"the twin of {self.robot.name}, ground {name}")

    def draws(self, n: int, seed: int, ground: str | None = None) -> dict[str, np.ndarray]:
        """n draws of the constants, from covariance and spreads: `simulate_many(twin, scenario, twin.draws(...))`."""
        fitted = self.grounds[self.ground_name(ground)]
        return draw(fitted, LAWS[fitted.law], self.robot, n, seed)

    def with_payload(self, mass_kg: float, at_m: tuple[float, float, float] | None = None) -> "Twin":
        """The twin with a payload at [x, y, height]: mass, centre of mass and inertias by parallel axes, and slip constants
        of which c N stays (`slipfit.twin.payload`). Spreads, intervals and bounds go along; statuses and notes stay."""
        robot = loaded(self.robot, mass_kg, at_m)
        grounds = {name: _at_load_of(ground, self.robot, robot) for name, ground in self.grounds.items()}
        place = "its centre of mass" if at_m is None else f"[{', '.join(f'{c:g}' for c in at_m)}] m"
        note = f"payload of {mass_kg:g} kg at {place}: slip constants scaled by {_ratio(self.robot, robot):.6g}"
        provenance = self.provenance.model_copy(update={"notes": [*self.provenance.notes, note]})
        twin = self.model_copy(update={"robot": robot, "grounds": grounds, "provenance": provenance})
        return Twin.from_mapping(twin.to_mapping(), where=f"the twin of {robot.name} with {mass_kg:g} kg of payload")

    def with_parameter(
        self, name: str, fitted: FittedParameter, *, ground: str | None = None, log: LogOrigin | None = None, note: str = ""
    ) -> "Twin":
        """The twin with one constant of a ground replaced or added, from a log or by a note that says how."""
        chosen = self.ground_name(ground)
        grounds = {**self.grounds, chosen: self.grounds[chosen].with_parameter(name, fitted)}
        old = self.provenance
        logs = [*old.logs, log] if log and log not in old.logs else old.logs
        provenance = old.model_copy(update={"logs": logs, "notes": [*old.notes, note] if note else old.notes})
        return self.model_copy(update={"grounds": grounds, "provenance": provenance})

    def with_powertrain(self, found: FittedPowertrain, *, logs: list[LogOrigin] | None = None, note: str = "") -> "Twin":
        """The twin with odometer, speed and turning constants added, or in place of older ones."""
        old = self.provenance
        origins = [*old.logs, *(log for log in logs or [] if log not in old.logs)]
        provenance = old.model_copy(update={"logs": origins, "notes": [*old.notes, note] if note else old.notes})
        powertrain = found if self.powertrain is None else self.powertrain.merged(found)
        return self.model_copy(update={"powertrain": powertrain, "provenance": provenance})

    # --- files and text ---------------------------------------------------------------------------------------------

    def to_document(self) -> dict[str, Any]:
        """As in the file; with one ground its constants stand at the top too."""
        data = self.to_mapping()
        if len(self.grounds) == 1:
            data["parameters"] = data["grounds"][self.ground_name()]["parameters"]
        return data

    def summary(self) -> str:
        """A screen of text: robot, constants with intervals and what they mean, where all of it comes from."""
        r = self.robot
        rows = [
            f"twin of {r.name}: {r.about}",
            f"  {r.mass_kg.value:g} kg, track {r.track_m:g} m, wheelbase {r.wheelbase_m:g} m",
        ]
        for name, ground in self.grounds.items():
            rows += _ground_rows(name, ground, mean_load_n(r, ground))
        if self.powertrain:
            rows += [f"powertrain, setpoints in {_SETPOINTS[self.powertrain.setpoint_unit]}"]
            rows += _parameter_rows(dict(self.powertrain.parameters()))
        return "\n".join([*rows, *_provenance_rows(self.provenance)])


def mean_load_n(robot: Robot, ground: FittedGround) -> float:
    """Mean load of a wheel on level ground."""
    return robot.mass_kg.value * ground.gravity_mps2.value / len(robot.wheels.at_m.value)


def _ratio(before: Robot, after: Robot) -> float:
    return before.mass_kg.value / after.mass_kg.value


def _at_load_of(ground: FittedGround, before: Robot, after: Robot) -> FittedGround:
    """The constants as they are under the heavier robot."""
    ratio = _ratio(before, after)
    parameters = {name: p.scaled(ratio) if name in PER_LOAD else p for name, p in ground.parameters.items()}
    inertia = after.yaw_inertia_kgm2.value / before.yaw_inertia_kgm2.value
    grows = {"mass": 1.0 / ratio, "mass_kg": 1.0 / ratio, "yaw_inertia": inertia, "yaw_inertia_kgm2": inertia}
    grows |= dict.fromkeys((n for p in LAWS[ground.law].parameters if p.name in PER_LOAD for n in (p.name, p.alias) if n), ratio)
    combinations = {
        key: p.scaled(float(np.prod([grows.get(name, 1.0) ** power for name, power in factors(key).items()])))
        for key, p in ground.combinations.items()
    }
    return ground.model_copy(
        update={
            "parameters": parameters,
            "combinations": combinations,
            "covariance": ground.covariance and _covariance_at_load(ground, ground.covariance, before, after),
            "load_n": None if ground.load_n is None else ground.load_n / ratio,
        }
    )


def _covariance_at_load(ground: FittedGround, covariance: Covariance, before: Robot, after: Robot) -> Covariance:
    """J P J^T with c' = c m / (m + M): the errors of c shrink, and an error of the mass moves c' too."""
    ratio, heavy = _ratio(before, after), after.mass_kg.value
    jacobian = np.eye(len(covariance.names))
    for k, name in enumerate(covariance.names):
        if name in PER_LOAD:
            jacobian[k, k] = ratio
            if "mass_kg" in covariance.names:
                c = ground.parameters[name].value or 0.0
                jacobian[k, covariance.names.index("mass_kg")] = c * (1.0 - ratio) / heavy
    matrix = jacobian @ covariance.array @ jacobian.T
    return covariance.model_copy(update={"matrix": (0.5 * (matrix + matrix.T)).tolist()})


def _parameter_rows(parameters: dict[str, FittedParameter]) -> Iterator[str]:
    for name, p in parameters.items():
        note = f"; {p.note}" if p.note else ""
        yield f"  {name:<17} {p.text():<52}  {p.status.sentence} ({p.source}){note}"


def _ground_rows(name: str, ground: FittedGround, load_n: float) -> Iterator[str]:
    about = f": {ground.about}" if ground.about else ""
    yield f"ground {name}{about}"
    yield f"  law {ground.law}: {LAWS[ground.law].formula}"
    yield from _parameter_rows(ground.parameters)
    yield from _parameter_rows(ground.combinations)
    if ground.kinematics:
        yield from _kinematics_rows(ground.kinematics)
    if ground.fitted_on:
        low, high = ground.fitted_on.speed_mps
        slow, fast = ground.fitted_on.yaw_rate_radps
        yield f"  found at {low:.3g} to {high:.3g} m/s and {slow:.3g} to {fast:.3g} rad/s"
    if ground.load_n is not None and abs(ground.load_n / load_n - 1.0) > LOAD_TOLERANCE:
        yield (
            f"  the constants hold at {ground.load_n:.4g} N per wheel, the robot has {load_n:.4g} N: its mass was changed by "
            f"hand; with_payload changes both"
        )


def _kinematics_rows(found: FittedKinematics) -> Iterator[str]:
    yield f"  kinematics: the simplest model that predicts as well as the best is {found.rung}"
    yield from _parameter_rows(found.parameters())
    noise = found.odometry_noise
    if noise:
        left = (("ahead", noise.ahead_m, "m"), ("to the left", noise.left_m, "m"), ("heading", noise.heading_rad, "rad"))
        told = ", ".join(f"{std:.3g} {unit} {where}" for where, std, unit in left if std is not None)
        yield f"  odometry with these is off by {told} after {noise.horizon_s:g} s (standard deviations)"


def _provenance_rows(provenance: Provenance) -> Iterator[str]:
    yield f"made {provenance.made} by slipfit {provenance.slipfit}"
    for log in provenance.logs:
        yield f"  log {log.name}" + (f", sha256 {log.sha256[:12]}" if log.sha256 else "")
    if provenance.corrected:
        yield f"  corrected: {', '.join(provenance.corrected)}"
    for note in provenance.notes:
        yield f"  note: {note}"
