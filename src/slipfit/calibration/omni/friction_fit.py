"""Friction of a surface from steady runs: what the arctan law of the rollers explains of a robot's slip, and what stays open.

Each run, without its start and stop (`steady`), is taken as one steady motion: its wheels' mean speeds give a velocity by
`balance`, which moves the run's ideal motions along; residuals are its end (over its way) and its turn. The scale of the forces
comes from motor currents, where there are any:

    |i_n| = i_0 + mu_W m g |t_n| / K,        mu_W from the slope

Symbols    t torque that turns the wheel against its contact, over mu_W m g (m), by both forces of the contact ·
           K torque per ampere at the wheel · i_0 what the gear takes
Reference  derived in docs/howto/omni_calibrate.md
Valid for  runs that keep their wheel speeds, such as straight lines; gears without losses that grow with torque (else mu_W is at
           most what is found)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from slipfit.calibration.odometry.spreads import Estimate
from slipfit.calibration.omni.balance import Contact, Layout, Steady, steady_motion
from slipfit.calibration.omni.runs import OmniRun, dead_reckoned
from slipfit.calibration.omni.steady import steady_part, steady_wheel_speeds
from slipfit.calibration.spread import inverse_of
from slipfit.calibration.unknowns import Unknown
from slipfit.control.static_limit import NOT_A_LIMIT
from slipfit.errors import LogError, ParameterError
from slipfit.library import Ground, OmniRobot, Parameter
from slipfit.library.files import module_name
from slipfit.library.ground import STANDARD_GRAVITY
from slipfit.library.robot import DcMotor
from slipfit.twin import FittedParameter, Status

#: Expected errors of a run: its end as a share of its way, and its turn (rad). Only ratios matter.
END_SHARE, TURN_STD_RAD = 0.03, 0.05

#: Residuals beyond this many expected errors count less.
ROBUST_FROM = 1.0

#: Logarithms of ratio and steepness are told when runs make their standard deviation smaller than this.
TOLD_LOG = 0.35

#: A number that is expected beforehand is told where runs make its standard deviation less than this share of what it was.
TOLD_BELOW = 0.8

#: A logarithm this near to a bound sits on it.
NEAR_BOUND = 0.05

FEWEST_RUNS = 6

#: A limit is told when wheels held more than this share of it: below, the arctan is nearly straight.
NEAR_LIMIT = 0.5

#: 90 % of a normal distribution, to either side.
HALF_90 = 1.645


def _unknowns(robot: OmniRobot) -> tuple[Unknown, ...]:
    x, y, _ = robot.centre_of_mass_m.value
    return (
        Unknown("log_mu_ratio", math.log(0.3), 0.1, None, "mu_T over mu_W", "motion", lower=math.log(1e-3), upper=math.log(3.0)),
        Unknown(
            "log_steepness_s_per_m",
            math.log(20.0),
            0.1,
            None,
            "of the arctan",
            "motion",
            lower=math.log(0.5),
            upper=math.log(2000.0),
        ),
        Unknown("com_x_m", x, 0.001, 0.02, "centre of mass ahead", "motion", x),
        Unknown("com_y_m", y, 0.001, 0.02, "centre of mass to the left", "motion", y),
        Unknown("heading_offset_rad", 0.0, 0.005, 0.05, "truth's heading to the right of straight ahead", "sensors"),
    )


@dataclass(frozen=True, eq=False, slots=True)
class OmniFriction:
    """Coefficients of one surface, each with a spread or said not to be told."""

    robot: str
    surface: str
    contact: Contact
    heading_offset_rad: float
    parameters: dict[str, FittedParameter]
    law_mu_w: float | None  # what the law ends at, told or not; none without currents
    scatter: float  # of residuals over their expected errors
    runs: int

    def motions(self, runs: Sequence[OmniRun], robot: OmniRobot) -> list[np.ndarray]:
        """Body motions of the steps of each run, (T - 1, 3): ideal ones, turned and scaled as its steady motion is."""
        speeds = np.array([steady_wheel_speeds(run, robot) for run in runs])
        steady = steady_motion(Layout.of(robot), speeds, self.contact)
        return _moved(runs, robot, speeds, steady, self.heading_offset_rad)

    def path(self, run: OmniRun, robot: OmniRobot, *, measured_heading: bool = False) -> np.ndarray:
        """Poses (T, 3) from the run's true start."""
        (motion,) = self.motions([run], robot)
        return dead_reckoned(run.poses[0], motion, heading_rad=run.poses[:, 2] if measured_heading else None)

    def ground(self) -> Ground:
        """The surface as simulations take it, right within the forces that were driven; rigid parts are taken as rollers."""
        if self.law_mu_w is None:
            raise ParameterError(f"{self.surface}: no motor current tells the forces; measure friction by slipfit omni tilt")
        mu_w, note = self.law_mu_w, NOT_A_LIMIT
        values = {"mu_w": mu_w, "mu_t": mu_w * self.contact.mu_ratio}
        values |= {f"{name}_rigid": value for name, value in values.items()}
        values["steepness_s_per_m"] = self.contact.steepness_s_per_m
        source = self.parameters["mu_w"].source
        told = {name: {"value": value, "source": source, "note": note} for name, value in values.items()}
        about = f"{self.surface} under the wheels of {self.robot}, from {self.runs} runs"
        mapping = {"schema": Ground.kind(), "name": module_name(self.surface).lower(), "about": about, "law": "arctan"}
        return Ground.from_mapping(mapping | {"parameters": told}, where=self.surface)

    def summary(self) -> str:
        """A few lines of text."""
        rows = [
            f"{self.robot} on {self.surface}: arctan friction from {self.runs} runs, residuals {self.scatter:.2g} of expected"
        ]
        for name, p in self.parameters.items():
            note = f"  {p.note}" if p.note else ""
            rows.append(f"  {name:<20}{p.text()}  ({p.status.sentence}){note}")
        return "\n".join(rows)

    def to_document(self) -> dict[str, Any]:
        """For --json and files."""
        return {
            "robot": self.robot,
            "surface": self.surface,
            "scatter": self.scatter,
            "runs": self.runs,
            "contact": self.contact._asdict(),
            "law_mu_w": self.law_mu_w,
            "heading_offset_rad": self.heading_offset_rad,
            "parameters": {name: p.model_dump() for name, p in self.parameters.items()},
        }


def fit_friction(
    runs: Sequence[OmniRun], robot: OmniRobot, *, surface: str = "surface", gravity_mps2: float = STANDARD_GRAVITY.value
) -> OmniFriction:
    """mu_T / mu_W, steepness and centre of mass from six runs or more; mu_W too where motors tell their currents."""
    driven = len(runs)
    runs = [part for run in runs if (part := steady_part(run, robot)) is not None]
    if len(runs) < FEWEST_RUNS:
        raise LogError(
            f"friction by runs: {driven} runs, {len(runs)} of them with a steady part; expected {FEWEST_RUNS} or more, in "
            "different directions, seconds long at one speed"
        )
    unknowns = _unknowns(robot)
    prior = [u for u in unknowns if u.prior_std]

    def residuals(z: np.ndarray) -> np.ndarray:
        at = dict(zip((u.name for u in unknowns), z, strict=True))
        priors = [(at[u.name] - u.expected) / (u.prior_std or 1.0) for u in prior]
        return np.concatenate([_residuals(runs, robot, _contact(at), at["heading_offset_rad"]), priors])

    start, (low, high) = np.array([u.start for u in unknowns]), np.array([u.bounds() for u in unknowns]).T
    found = least_squares(
        residuals,
        start,
        bounds=(low, high),
        loss="soft_l1",
        f_scale=ROBUST_FROM,
        x_scale=[u.scale for u in unknowns],
        max_nfev=60,
    )
    data = found.fun[: len(found.fun) - len(prior)]
    scatter = max(0.1, float(np.sqrt(np.mean(np.minimum(data**2, 9.0)))))
    rows, precision = found.jac[: len(data)], np.diag([1.0 / u.prior_std**2 if u.prior_std else 0.0 for u in unknowns])
    covariance = inverse_of(rows.T @ rows / scatter**2 + precision)  # the prior is known by itself: no scatter scales it
    at = dict(zip((u.name for u in unknowns), map(float, found.x), strict=True))
    contact = _contact(at)
    source = f"{len(runs)} runs on {surface}"
    parameters = _told(unknowns, found.x, np.sqrt(np.diag(covariance)), source)
    steady = steady_motion(Layout.of(robot), _mean_speeds(runs), contact)
    parameters["mu_w"], limit = mu_by_currents(
        runs, robot, steady, source, steepness=parameters["steepness_s_per_m"], gravity_mps2=gravity_mps2
    )
    parameters["mu_t"] = _product(parameters["mu_w"], parameters["mu_ratio"], source)
    for name in ("rigid_fraction", "phase_sectors"):
        parameters[name] = FittedParameter(
            status=Status.NOT_EXCITED,
            source=source,
            note="means over whole runs do not tell sectors: take the robot's drawing, or tilt tests",
        )
    return OmniFriction(robot.name, surface, contact, at["heading_offset_rad"], parameters, limit, scatter, len(runs))


def _contact(at: dict[str, float]) -> Contact:
    return Contact(math.exp(at["log_mu_ratio"]), math.exp(at["log_steepness_s_per_m"]), at["com_x_m"], at["com_y_m"])


def _mean_speeds(runs: Sequence[OmniRun]) -> np.ndarray:
    return np.array([run.wheels_rad[-1] / run.duration_s for run in runs])


def _ratios(
    runs: Sequence[OmniRun], robot: OmniRobot, speeds: np.ndarray, steady: Steady, heading_offset_rad: float
) -> tuple[np.ndarray, np.ndarray]:
    """Of each run with its steady wheel speeds: true over ideal way as a complex number, and its turn (rad)."""
    ideal = speeds @ np.linalg.pinv(robot.wheel_map()).T
    way = (steady.motion[:, 0] + 1j * steady.motion[:, 1]) / (ideal[:, 0] + 1j * ideal[:, 1])
    driven_s = np.linalg.norm([run.wheels_rad[-1] for run in runs], axis=1) / np.linalg.norm(speeds, axis=1)
    return way * np.exp(1j * heading_offset_rad), steady.motion[:, 2] * driven_s


def _moved(
    runs: Sequence[OmniRun], robot: OmniRobot, speeds: np.ndarray, steady: Steady, heading_offset_rad: float
) -> list[np.ndarray]:
    motions = []
    for run, way, turn in zip(runs, *_ratios(runs, robot, speeds, steady, heading_offset_rad), strict=True):
        ideal = run.ideal_motion(robot)
        moved = way * (ideal[:, 0] + 1j * ideal[:, 1])
        share = np.abs(moved) / np.abs(moved).sum()
        motions.append(np.column_stack([moved.real, moved.imag, turn * share]))
    return motions


def _residuals(runs: Sequence[OmniRun], robot: OmniRobot, contact: Contact, heading_offset_rad: float) -> np.ndarray:
    """Of steady parts: ends with the measured heading, along x and y over their ways, and turns, each over its expected error."""
    speeds = _mean_speeds(runs)
    ways, turns = _ratios(runs, robot, speeds, steady_motion(Layout.of(robot), speeds, contact), heading_offset_rad)
    ends = np.array([run.end_m @ [1.0, 1j] for run in runs])
    ideal = np.array([_ideal_end(run, robot) for run in runs])
    missed = (ways * ideal - ends) / np.array([run.way_m[-1] for run in runs]) / END_SHARE
    turned = (turns - [run.turned_rad for run in runs]) / TURN_STD_RAD
    return np.concatenate([missed.real, missed.imag, turned])


def _ideal_end(run: OmniRun, robot: OmniRobot) -> complex:
    ideal, heading = run.ideal_motion(robot), run.poses[:, 2]
    return complex(np.exp(0.5j * (heading[1:] + heading[:-1])) @ (ideal[:, 0] + 1j * ideal[:, 1]))


def _told(unknowns: Sequence[Unknown], values: np.ndarray, stds: np.ndarray, source: str) -> dict[str, FittedParameter]:
    found = {}
    for u, value, std in zip(unknowns, values, stds, strict=True):
        low, high = u.bounds()
        name = u.name.removeprefix("log_")
        if u.prior_std and std > TOLD_BELOW * u.prior_std:
            found[name] = FittedParameter(status=Status.NOT_EXCITED, source=source, note=f"{u.about}: the runs do not tell it")
        elif not u.name.startswith("log_"):
            found[name] = signed(float(value), float(std), source, u.about)
        elif min(value - low, high - value) < NEAR_BOUND:
            bound = {"at_most" if value - low < high - value else "at_least": math.exp(value)}
            note = f"{u.about}: the runs are the same beyond this"
            found[name] = FittedParameter(status=Status.BOUND_ONLY, source=source, note=note, **bound)
        elif std > TOLD_LOG:
            found[name] = FittedParameter(
                status=Status.NOT_EXCITED, source=source, note=f"{u.about}: only its product with another is told"
            )
        else:
            half = HALF_90 * std
            found[name] = FittedParameter(
                value=math.exp(value),
                std=math.exp(value) * std,
                interval_90=(math.exp(value - half), math.exp(value + half)),
                status=Status.CONVERGED,
                source=source,
                note=u.about,
            )
    return found


def signed(value: float, std: float, source: str, note: str, *, reach: float = HALF_90) -> FittedParameter:
    """A number that may have either sign; its interval reaches so many standard deviations to either side."""
    interval = (value - reach * std, value + reach * std)
    return FittedParameter(value=value, std=std, interval_90=interval, status=Status.CONVERGED, source=source, note=note)


def mu_by_currents(
    runs: Sequence[OmniRun],
    robot: OmniRobot,
    steady: Steady,
    source: str,
    *,
    steepness: FittedParameter,
    gravity_mps2: float = STANDARD_GRAVITY.value,
) -> tuple[FittedParameter, float | None]:
    """mu_W by the slope of motor currents over the wheels' torques in the balance; both are magnitudes.

    Where forces grow with slip all along, their limit is out of sight: mu_W is at least what the wheels held. The second number
    is what the law would end at in any case: with it, forces are right within what was driven.
    """
    seen = [k for k, run in enumerate(runs) if run.currents_a is not None]
    if len(seen) < FEWEST_RUNS or not isinstance(robot.powertrain, DcMotor):
        note = "the scale of the forces: needs motor currents and a torque constant, or tilt tests"
        return FittedParameter(status=Status.NOT_EXCITED, source=source, note=note), None
    torques = np.abs(steady.wheel_torques_m[seen]).ravel()
    currents = np.concatenate([np.asarray(runs[k].currents_a) for k in seen])
    rows = np.column_stack([np.ones_like(torques), torques])
    (_, slope), residual, *_ = np.linalg.lstsq(rows, currents, rcond=None)
    spread = (
        math.sqrt(float(residual[0]) / (len(currents) - 2) * float(np.linalg.inv(rows.T @ rows)[1, 1]))
        if len(residual)
        else math.inf
    )
    per_ampere: Parameter = robot.powertrain.torque_constant_nm_per_a
    weight = robot.mass_kg.value * gravity_mps2
    share = math.hypot((robot.mass_kg.std or 0.0) / robot.mass_kg.value, (per_ampere.std or 0.0) / per_ampere.value)
    if not slope > 2.0 * spread:
        note = "motor currents do not follow the forces of the balance"
        return FittedParameter(status=Status.NOT_EXCITED, source=source, note=note), None
    note = "by motor currents, gears taken as without losses; mass and torque constant as the robot's file has them"
    is_told = steepness.value is not None
    share = math.hypot(share, (steepness.std or 0.0) / steepness.value) if steepness.value else share  # currents tell mu_W k
    found = Estimate(float(slope), spread).times(per_ampere.value / weight, share)
    held = float(np.abs(steady.grip_forces).max()) * len(robot.at_m)  # over an even share of the weight
    if is_told and held > NEAR_LIMIT:
        return found.fitted(source, f"{note}; wheels held up to {100.0 * held:.0f} % of it"), found.value
    at_least = held * max(0.0, found.value - HALF_90 * found.std)
    note = f"{note}; wheels held up to {100.0 * held:.0f} % of what the law would end at: no limit in sight"
    return FittedParameter(status=Status.NOT_EXCITED, at_least=at_least, source=source, note=note), found.value


def _product(mu_w: FittedParameter, ratio: FittedParameter, source: str) -> FittedParameter:
    if mu_w.value is None or ratio.value is None:
        return FittedParameter(status=Status.NOT_EXCITED, source=source, note="needs both mu_w and mu_ratio")
    relative = (ratio.std or 0.0) / ratio.value
    return Estimate(mu_w.value, mu_w.std or 0.0).times(ratio.value, relative).fitted(source, "mu_w times mu_ratio")
