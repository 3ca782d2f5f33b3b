"""What a drive would tell: Fisher information about everything that a fit looks for, by the fit's own Jacobian and weights.

    F = J^T J,    C = (F + P)^-1,    scatter = C F C

Symbols    J of the whitened residuals · P what is expected beforehand (1 / prior variance) · C the covariance that a fit would
           state · C F C how its answers scatter when one and the same robot repeats the drive
Valid for  residuals whose noise is what the sensors say: a model that lacks something scatters more
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from slipfit.calibration.first_look import NO_LIMIT
from slipfit.calibration.one_drive import FLOORS, Fitter
from slipfit.calibration.run import problem_of, unknowns_of
from slipfit.calibration.spread import inverse_of
from slipfit.calibration.unknowns import Unknown, started
from slipfit.calibration.weights import PoseNoise
from slipfit.library import Ground, SkidSteerRobot
from slipfit.logs import DriveLog
from slipfit.logs.inspection import Inspection
from slipfit.logs.wheel_motion import wheel_angles
from slipfit.simulation.scenario import Sensors

SLIP = ("c_long_per_n", "c_lat_per_n")

#: The constants are known to this factor before any drive: keeps the first choices finite.
KNOWN_TO_FACTOR = 10.0

#: Share of a step's variance that a fit at least lays on the step itself (`weights.pose_noise`).
_OF_STEP = 1e-3


@dataclass(frozen=True, eq=False, slots=True)
class Information:
    """F of a drive or of its parts, and the unknowns that its rows belong to."""

    unknowns: tuple[Unknown, ...]
    matrix: np.ndarray

    def __add__(self, other: "Information") -> "Information":
        return Information(self.unknowns, self.matrix + other.matrix)

    def times(self, count: int) -> "Information":
        return Information(self.unknowns, count * self.matrix)

    @property
    def names(self) -> list[str]:
        return [u.name for u in self.unknowns]

    def std(self, *, known: Sequence[str] = ()) -> dict[str, float]:
        """Standard deviation of each slip constant as a fit would state it; `known` are taken as exact."""
        kept = [j for j, name in enumerate(self.names) if name not in known]
        covariance = inverse_of((self.matrix + np.diag(self._prior()))[np.ix_(kept, kept)])
        names = [self.names[j] for j in kept]
        return {name: float(np.sqrt(covariance[names.index(name), names.index(name)])) for name in SLIP}

    def scatter(self) -> dict[str, float]:
        """Standard deviation of each slip constant over repetitions of the drive by one robot."""
        covariance = inverse_of(self.matrix + np.diag(self._prior()))
        repeated = covariance @ self.matrix @ covariance
        return {name: float(np.sqrt(repeated[self.names.index(name), self.names.index(name)])) for name in SLIP}

    def _prior(self) -> np.ndarray:
        widths = [u.prior_std or (KNOWN_TO_FACTOR * u.start if u.is_constant else np.inf) for u in self.unknowns]
        return np.array([1.0 / width**2 for width in widths])


def information_of(log: DriveLog, robot: SkidSteerRobot, ground: Ground, sensors: Sensors) -> Information:
    """Information in a drive that was simulated without noise: `sensors` say how noisy its readings would be."""
    wheels = wheel_angles(log, robot)
    problem = problem_of(log, robot, _without_limit(ground), wheels, Inspection(log, log))
    unknowns = started(unknowns_of(problem, robot), {name: ground.values()[name] for name in SLIP})
    point = np.array([u.start for u in unknowns])
    fitter = Fitter(problem, noise_of(sensors))
    jacobian = fitter.jacobian(unknowns, point, problem.bodies(unknowns, point[None])[0])
    return Information(tuple(unknowns), jacobian.T @ jacobian)


def _without_limit(ground: Ground) -> Ground:
    data = ground.to_mapping()
    return Ground.from_mapping(data | {"parameters": data["parameters"] | {"mu": NO_LIMIT}}, where="guessed ground")


def noise_of(sensors: Sensors) -> list[float | PoseNoise]:
    """Noise of every signal, in the order that a fit has them."""
    found: list[float | PoseNoise] = []
    if sensors.imu:
        accel = max(sensors.imu.accel_noise_mps2, FLOORS["accel"])
        found += [accel, accel, max(sensors.imu.gyro_noise_radps, FLOORS["gyro"])]
    if sensors.pose:
        noises = (sensors.pose.position_noise_m, sensors.pose.position_noise_m, sensors.pose.yaw_noise_rad)
        for noise, floor in zip(noises, (FLOORS["way"], FLOORS["way"], FLOORS["angle"]), strict=True):
            of_pose = max(noise, floor)
            found.append(PoseNoise(of_pose, max(np.sqrt(2.0 * _OF_STEP) * of_pose, floor)))
    return found
