"""What a calibration found: constants with intervals, what stood in their way, and what the drives cannot tell."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from slipfit.calibration.posterior import Posterior
from slipfit.calibration.protocol import ProtocolResult
from slipfit.library import SkidSteerRobot
from slipfit.logs.inspection import Inspection
from slipfit.twin import (
    Covariance,
    FittedGround,
    FittedOn,
    FittedParameter,
    FittedPowertrain,
    LogOrigin,
    Provenance,
    SkidSteerTwin,
)
from slipfit.twin.fitted import Status


@dataclass(frozen=True, slots=True)
class Nuisance:
    """A number that had to be found along the way: a bias, a clock offset, a lever arm, the robot's own mass."""

    name: str  # ends in its unit
    value: float
    std: float
    prior_std: float | None  # None: the data alone decide
    about: str
    expected: float = 0.0

    def __str__(self) -> str:
        prior = "" if self.prior_std is None else f", expected to ± {self.prior_std:.2g}"
        return f"{self.name:<26}{self.value:>12.5g} ± {self.std:<10.2g}{self.about}{prior}"


@dataclass(frozen=True, eq=False, slots=True)
class Trace:
    """One measured signal beside the model's, at the sensor's own stamps."""

    name: str  # accel_x_mps2, accel_y_mps2, gyro_z_radps; pose_x_m, pose_y_m, pose_yaw_rad as motion from one pose to the next
    about: str
    time_s: np.ndarray  # since the drive's first encoder stamp
    measured: np.ndarray
    predicted: np.ndarray
    weight: np.ndarray  # 0 (not used: the wheels' motion is doubtful there) to 1
    whitened: np.ndarray  # residuals as the fit saw them: white with unit variance if the model holds
    noise_std: float

    @property
    def residual(self) -> np.ndarray:
        return np.asarray(self.measured - self.predicted)

    def autocorrelation(self, lags: int = 40) -> np.ndarray:
        """Of the whitened residuals, from lag 0 on: within ± 2 / sqrt(n) if the model holds."""
        r = self.whitened - self.whitened.mean()
        power = float(np.sum(r**2))
        count = min(lags, len(r) - 1)
        return np.array([np.sum(r[: len(r) - k] * r[k:]) / power for k in range(count + 1)]) if power > 0.0 else np.zeros(1)


@dataclass(frozen=True, eq=False, slots=True)
class DriveFit:
    """The fit of one drive: what it says by itself, before drives are pooled."""

    name: str
    digest: str
    duration_s: float
    names: tuple[str, ...]  # of the constants
    values: np.ndarray
    covariance: np.ndarray  # with the spread of the robot's own numbers in it
    own_covariance: np.ndarray  # as if these were known: what other drives of the same robot need not share
    nuisances: tuple[Nuisance, ...]
    traces: tuple[Trace, ...]
    misfit: float  # root mean square of the residuals over the sensors' own noise: 1 if that explains them
    inflation: float  # spread of blocks of the drive over what the supposed variances would give
    inspection: Inspection
    protocol: ProtocolResult | None
    most_grip_used: float  # largest |F|/N that the robot's own acceleration proves
    speed_range_mps: tuple[float, float]
    yaw_rate_range_radps: tuple[float, float]
    log_s: float = 0.0  # how long the encoders ran; more than duration_s where the log was cut
    is_converged: bool = True  # whether the solver came to an end by itself
    slid_s: float = 0.0  # how long wheels slid, where a limit was found
    turned_rad: float = np.inf  # how far the wheels turned the robot, both ways added, less what counts make
    outlying: float = 1.0  # root mean square of the residuals over the noise that they were given in the end
    doubtful_grip_s: float = 0.0  # of readings that were not used because wheels may have slid
    is_grip_doubtful: bool = False  # wheels may have slid, and without these readings too little is left
    odometry_m: np.ndarray = field(default_factory=lambda: np.empty((0, 3)))  # (T, 3) path by the model: time, x, y
    posterior: Posterior | None = None  # draws, where they were asked for


@dataclass(frozen=True, eq=False, slots=True)
class Fit:
    """A calibration: its constants, how sure they are, and everything a reader needs to believe them."""

    robot: SkidSteerRobot
    ground: str
    law: str
    gravity_mps2: float
    parameters: Mapping[str, FittedParameter]
    combinations: Mapping[str, FittedParameter]
    covariance: Covariance | None
    drives: tuple[DriveFit, ...]
    identifiability: tuple[str, ...]  # sentences
    advice: tuple[str, ...]  # how to drive better
    repeatability: Mapping[str, float]  # relative spread between drives, by constant; empty with one drive
    fitted_on: FittedOn
    load_n: float
    posterior: Mapping[str, np.ndarray]  # draws by constant
    notes: tuple[str, ...] = ()
    powertrain: FittedPowertrain | None = None  # where the logs have commands beside wheel speeds

    @property
    def corrected(self) -> list[str]:
        """What was corrected in the logs, with the drive's name where there are several."""
        several = len(self.drives) > 1
        return [f"{d.name}: {c}" if several else c for d in self.drives for c in d.inspection.corrections]

    @property
    def truth(self) -> list[str]:
        """Which pose served as truth in each drive, and why."""
        return [d.inspection.log.truth_line(named=len(self.drives) > 1) for d in self.drives]

    def __getitem__(self, name: str) -> FittedParameter:
        """A constant by its name or short name: fit["c_long"]."""
        return self.to_ground().parameter(name)

    def to_ground(self) -> FittedGround:
        """The ground as a twin holds it."""
        return FittedGround(
            law=self.law,
            parameters=dict(self.parameters),
            combinations=dict(self.combinations),
            covariance=self.covariance,
            fitted_on=self.fitted_on,
            load_n=self.load_n,
            gravity_mps2=self.gravity_mps2,
        )

    def to_twin(self) -> SkidSteerTwin:
        """What calibrate writes and everything else reads."""
        logs = [LogOrigin(name=d.name, sha256=d.digest) for d in self.drives]
        provenance = Provenance.now(logs, self.corrected, list(self.notes), self.truth)
        grounds = {self.ground: self.to_ground()}
        return SkidSteerTwin(robot=self.robot, grounds=grounds, powertrain=self.powertrain, provenance=provenance)

    def to_document(self) -> dict[str, Any]:
        """For --json: the twin's records, and what belongs to the fit alone."""
        return self.to_twin().to_document() | {
            "identifiability": list(self.identifiability),
            "advice": list(self.advice),
            "repeatability": dict(self.repeatability),
            "drives": [_document(d) for d in self.drives],
        }

    def summary(self) -> str:
        """A screen of text."""
        rows = [f"{self.robot.name} on {self.ground}, law {self.law}: {_drives(self.drives)}"]
        shown = {**self.parameters, **self.combinations}
        wide = max(16, *(len(name) + 2 for name in shown)) if shown else 16
        rows += [f"  {name:<{wide}}{_shown(p)}" for name, p in shown.items()]
        rows += [f"  {line}" for line in self.identifiability]
        rows += [f"  truth: {line}" for line in self.truth]
        if self.corrected:
            rows.append(f"  corrected: {'; '.join(self.corrected)}")
        for name, relative in self.repeatability.items():
            rows.append(f"  {name} differs by {100.0 * relative:.1f} % from drive to drive (standard deviation)")
        rows += [f"  note: {note}" for note in self.notes]
        return "\n".join([*rows, *(f"  to do better: {line}" for line in self.advice)])


def _drives(drives: tuple[DriveFit, ...]) -> str:
    seconds = sum(d.duration_s for d in drives)
    return f"{len(drives)} drive{'s' * (len(drives) > 1)}, {seconds:.0f} s"


def _shown(p: FittedParameter) -> str:
    if p.value is not None and p.interval_90 is not None:
        low, high = p.interval_90
        tail = "" if p.status is Status.CONVERGED else f"  ({p.status.sentence})"
        return f"{p.value:.5g} ± {p.std or 0.0:.2g}   90 % in {low:.5g} to {high:.5g}{tail}"
    bounds = [
        f"at least {p.at_least:.3g}" if p.at_least is not None else "",
        f"at most {p.at_most:.3g}" if p.at_most is not None else "",
    ]
    said = " and ".join(b for b in bounds if b)
    return f"{said + ', 95 %' if said else 'unknown'}   ({p.status.sentence})"


def _document(d: DriveFit) -> dict[str, Any]:
    return {
        "log": d.name,
        "sha256": d.digest,
        "duration_s": d.duration_s,
        "misfit": d.misfit,
        "inflation": d.inflation,
        "most_grip_used": d.most_grip_used,
        "slid_s": d.slid_s,
        "doubtful_grip_s": d.doubtful_grip_s,
        "constants": {
            n: {"value": float(v), "std": float(s)}
            for n, v, s in zip(d.names, d.values, np.sqrt(np.diag(d.covariance)), strict=True)
        },
        "nuisances": {n.name: {"value": n.value, "std": n.std, "about": n.about} for n in d.nuisances},
        "truth": d.inspection.log.truth_document(),
        "findings": d.inspection.to_document().get("findings", []),
        "protocol": d.protocol.to_document() if d.protocol else None,
        "posterior": d.posterior.to_document() if d.posterior else None,
    }
