"""How a robot's rims and slip make its motion, as the filter takes it: for two sides, for rotation centres, for omni robots.

Of two sides with track B the twist follows from rim speeds w and slip velocities s (s_y = -v, across):

    u = ((w_l - s_l) + (w_r - s_r)) / 2,    v = -s_y,    r = ((w_r - s_r) - (w_l - s_l)) / B

An omni robot's three slips are those of its body: what the wheels say of (u, v, r) less what the body does.

Reference  [Hackett2011] kinematics with slip, with the yaw rate r/B of the corrected erratum; docs/theory/estimation
"""

from dataclasses import dataclass

import numpy as np

from slipfit.errors import ParameterError
from slipfit.estimate.settings import FilterSettings
from slipfit.library import OmniRobot, Robot
from slipfit.twin import FittedGround, Twin
from slipfit.vehicles.kinematic import IcrDrive, body_velocity
from slipfit.vehicles.omni_kinematics import body_map
from slipfit.vehicles.slip_filter import PSI, N, Q, RotationCentres, SlipVelocities

#: What a motion can be asked to estimate.
FORMULATIONS = ("slip", "centres")

#: Rotation centres stay this share of the track away from the middle.
LEAST_ARM = 0.05


@dataclass(frozen=True, eq=False, slots=True)
class Motion:
    """What turns rims into motion. `expected` is the twin's: None where nothing is known but geometry."""

    model: SlipVelocities | RotationCentres
    track_m: float  # of two sides; zero of an omni robot
    expected: IcrDrive | None = None
    twist_of_wheels: np.ndarray | None = None  # (3, n) of an omni robot
    arm_m: float = 0.0  # of an omni robot: turns count at it

    @property
    def is_omni(self) -> bool:
        return self.twist_of_wheels is not None

    @property
    def is_centres(self) -> bool:
        return isinstance(self.model, RotationCentres)

    def inputs(self, rims_mps: np.ndarray) -> np.ndarray:
        """(n, 9) for the kernel, from rim speeds (n, 2) of left and right, or of an omni robot's wheels-as-a-body (n, 3)."""
        rows = np.zeros((len(rims_mps), 9))
        if self.is_omni:
            rows[:, :3] = rims_mps
            rows[:, 3:6] = rims_mps
            rows[:, 5] *= self.arm_m
            return rows
        rows[:, :2] = rows[:, 3:5] = rims_mps
        rows[:, 5] = 0.5 * (rims_mps[:, 0] + rims_mps[:, 1])
        if self.is_centres:
            rows[:, 6:9] = self.first_slip()
        elif self.expected is not None:
            rows[:, 6:9] = self.expected_slip(rims_mps)
        return rows

    def expected_slip(self, rims_mps: np.ndarray) -> np.ndarray:
        """Slip velocities that the twin's kinematics say, (n, 3)."""
        assert self.expected is not None
        left, right = rims_mps[:, 0], rims_mps[:, 1]
        u, v, r = body_velocity(self.expected, left, right)
        turning = 0.5 * self.track_m * r
        return np.column_stack([left - (u - turning), right - (u + turning), -v])

    def first_slip(self) -> np.ndarray:
        """Slip before any reading: none, or the rotation centres of twin or track."""
        if not self.is_centres:
            return np.zeros(3)
        if self.expected is not None:
            return np.array([self.expected.y_left, self.expected.y_right, self.expected.x])
        return np.array([0.5 * self.track_m, -0.5 * self.track_m, 0.0])

    def first_covariance(self, settings: FilterSettings, inputs: np.ndarray, *, gyro: bool, accelerometer: bool) -> np.ndarray:
        """Before any reading; sensors that are not there have no bias."""
        cov = np.zeros((N, N))
        cov[0, 0] = cov[1, 1] = settings.pose_m**2
        cov[PSI, PSI] = settings.pose_rad**2
        for j in range(3):
            slip = settings.first_slip_mps**2 + (settings.first_slip * inputs[3 + j]) ** 2
            cov[Q + j, Q + j] = settings.first_centre_m**2 if self.is_centres else slip
        cov[6, 6] = settings.gyro_bias_radps**2 if gyro else 0.0
        cov[7, 7] = cov[8, 8] = settings.accel_bias_mps2**2 if accelerometer else 0.0
        return cov


def sides(track_m: float, expected: IcrDrive | None = None, *, formulation: str = "slip") -> Motion:
    """Of a robot that is driven by its left and its right side: skid-steer or tracked."""
    if formulation not in FORMULATIONS:
        raise ParameterError(f"formulation is '{formulation}'; expected {' or '.join(FORMULATIONS)}")
    if not (np.isfinite(track_m) and track_m > 0.0):
        raise ParameterError(f"the track is {track_m:g} m; expected a length above zero")
    if formulation == "centres":
        gains = (1.0, 1.0) if expected is None else (expected.gain_left, expected.gain_right)
        return Motion(RotationCentres(LEAST_ARM * track_m, *gains), track_m, expected)
    into = np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0], [-1.0 / track_m, 1.0 / track_m, 0.0]])
    return Motion(SlipVelocities(into), track_m, expected)


def omni(robot: OmniRobot) -> Motion:
    """Of a robot on omni or mecanum wheels."""
    into = body_map(robot.at_m, robot.rolling_rad, robot.roller_rad, robot.radii_m)
    return Motion(SlipVelocities(np.eye(3)), 0.0, twist_of_wheels=into, arm_m=float(np.hypot(*robot.at_m.T).mean()))


def motion_of(driver: Twin | Robot | OmniRobot, *, ground: str | None = None, formulation: str = "slip") -> Motion:
    """Of a twin, with what it expects of slip; of a robot, by geometry alone."""
    if isinstance(driver, OmniRobot):
        if formulation != "slip":
            raise ParameterError(
                f"{driver.name} has omni wheels, which have no rotation centres of sides; leave out '{formulation}'"
            )
        return omni(driver)
    robot = driver.robot if isinstance(driver, Twin) else driver
    if not hasattr(robot, "track_m"):
        raise ParameterError(
            f"{getattr(robot, 'name', 'this robot')} is no skid-steer, tracked or omni robot: it has no left and right side; "
            f"expected a twin of one of these"
        )
    expected = None
    if isinstance(driver, Twin):
        expected = expected_kinematics(driver.grounds[driver.ground_name(ground)], robot)
    return sides(robot.track_m, expected, formulation=formulation)


def expected_kinematics(ground: FittedGround, robot: Robot) -> IcrDrive | None:
    """What a fitted ground says of motion without forces: its rung's rotation centres, its effective track, or what the two slip
    constants of wheel_slip give in steady turns; None where it says nothing.

        T_eff = T (1 + l^2 c_long / (b^2 c_lat))

    Symbols    l, b root mean square distance of the wheels ahead of and beside their middle · T track
    Reference  [Trimble2022] eq. (3), solved for the yaw rate
    """
    found = ground.kinematics
    if found is not None:
        numbers = {name: p.value for name, p in found.numbers.items() if p.value is not None}
        names = ("y_left_m", "y_right_m", "x_m", "gain_left", "gain_right")
        if all(name in numbers for name in names):
            return IcrDrive(*(numbers[name] for name in names))
        track, gain = found.effective_track_m.value, found.gain.value
        if track is not None:
            return IcrDrive(0.5 * track, -0.5 * track, 0.0, gain or 1.0, gain or 1.0)
    along, across = (ground.parameters.get(name) for name in ("c_long_per_n", "c_lat_per_n"))
    if ground.law == "wheel_slip" and along and across and along.value and across.value:
        at = np.array(robot.wheels.at_m.value)
        l2, b2 = np.mean((at - at.mean(axis=0)) ** 2, axis=0)
        half = 0.5 * robot.track_m * (1.0 + float(l2 / b2) * along.value / across.value)
        return IcrDrive(half, -half, 0.0, 1.0, 1.0)
    return None
