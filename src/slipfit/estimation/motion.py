"""How a robot's rims and slip make its motion, as the filter takes it: for two sides, for rotation centres, for omni robots.

Of two sides with track B the twist follows from rim speeds w and slip velocities s (s_y = -v, across):

    u = ((w_l - s_l) + (w_r - s_r)) / 2,    v = -s_y,    r = ((w_r - s_r) - (w_l - s_l)) / B

An omni robot's three slips are those of its body: what the wheels say of (u, v, r) less what the body does.

Reference  [Hackett2011] kinematics with slip, with the yaw rate r/B of the corrected erratum; docs/theory/estimation
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from slipfit.errors import ParameterError
from slipfit.estimation.settings import FilterSettings
from slipfit.library import OmniRobot, Robot, SkidSteerRobot, omni_robot, skid_steer_robot
from slipfit.twin import Driver, FittedGround, Twin, find_driver
from slipfit.vehicles.kinematic import IcrDrive, body_velocity
from slipfit.vehicles.omni_kinematics import body_map
from slipfit.vehicles.slip_filter import INPUTS, LAGGED_SPEED, N, Q, SlipNoise
from slipfit.vehicles.slip_motion import RotationCentres, SlipVelocities

#: What a motion can be asked to estimate.
FORMULATIONS = ("slip", "centres")

#: Rotation centres stay this share of the track away from the middle.
LEAST_ARM = 0.05


#: Rims of two sides do not tell the motion across, so that no jump of theirs is told wrongly there; what is left is that tyres
#: which need traction hold less across. Of 0, 1/4, 1/2 and 1 the least with which `benchmarks/estimate_nees.py` is honest.
ACROSS_SHARE = 0.25

#: What an omni robot's body does, (n, 3), when its wheels turn as for a body velocity (n, 3): a slip map's `velocity`.
BodyMotion = Callable[[np.ndarray], np.ndarray]

#: No IMU is mounted farther from its robot's middle (m).
FARTHEST_IMU_M = 20.0


@dataclass(frozen=True, eq=False, slots=True)
class Motion:
    """What turns rims into motion. `expected` is the twin's: None where nothing is known but geometry."""

    model: SlipVelocities | RotationCentres
    track_m: float  # of two sides; zero of an omni robot
    expected: IcrDrive | None = None
    twist_of_wheels: np.ndarray | None = None  # (3, n) of an omni robot
    arm_m: float = 0.0  # of an omni robot: turns count at it
    expected_motion: BodyMotion | None = None  # of an omni robot
    is_heard_ahead: bool = True  # a sensor tells how far the robot gets, as no IMU does

    @property
    def is_omni(self) -> bool:
        return self.twist_of_wheels is not None

    @property
    def is_expecting(self) -> bool:
        """Whether something says which slip to expect."""
        return self.expected is not None or self.expected_motion is not None

    @property
    def is_ahead_told(self) -> bool:
        """Whether a sensor tells how far the robot gets, or something says which slip to expect."""
        return self.is_heard_ahead or self.is_expecting or self.is_centres

    @property
    def length_m(self) -> float:
        """What turns count at: the track, or an omni robot's arm."""
        return self.arm_m if self.is_omni else self.track_m

    @property
    def is_centres(self) -> bool:
        return isinstance(self.model, RotationCentres)

    def inputs(self, rims_mps: np.ndarray) -> np.ndarray:
        """(n, INPUTS) for the kernel, from rim speeds (n, 2) of left and right, or of an omni robot's wheels-as-a-body (n, 3);
        speeds are told as if they had always been so (`slip_filter.run` fills in how they changed).

        A slip belongs to the speed of its own side. With a gyro alone it belongs to both sides' mean: else ratios that stay while
        turns change would be told by the gyro, and with them the way ahead, of which it says nothing.
        """
        rows = np.zeros((len(rims_mps), INPUTS))
        if self.is_omni:
            rows[:, :3] = rims_mps
            rows[:, 3:6] = rims_mps
            rows[:, 5] *= self.arm_m
            rows[:, LAGGED_SPEED : LAGGED_SPEED + 3] = rows[:, 3:6]
            if self.expected_motion is not None:
                rows[:, 6:9] = rims_mps - self.expected_motion(rims_mps)
            return rows
        rows[:, :2] = rows[:, 3:5] = rims_mps
        if not self.is_ahead_told:
            rows[:, 3:5] = np.abs(rims_mps).mean(axis=1)[:, None]
        rows[:, 5] = 0.5 * (rims_mps[:, 0] + rims_mps[:, 1])
        rows[:, LAGGED_SPEED : LAGGED_SPEED + 3] = rows[:, 3:6]
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

    def noise(self, settings: FilterSettings, *, gyro: bool, accelerometer: bool) -> SlipNoise:
        """As the kernel takes it; sensors that are not there have no bias that moves."""
        noise = settings.noise(is_centres=self.is_centres, is_expecting=self.is_expecting)
        noise.change[2] *= 1.0 if self.is_omni else ACROSS_SHARE**2
        if self.is_omni:  # the slip of a turn is in rad/s
            for variance in (noise.floor, noise.share, noise.change):
                variance[2] /= self.arm_m**2
        return noise._replace(gyro_bias=noise.gyro_bias if gyro else 0.0, accel_bias=noise.accel_bias if accelerometer else 0.0)

    def first_covariance(
        self, settings: FilterSettings, inputs: np.ndarray, pose_std: np.ndarray, *, gyro: bool, accelerometer: bool
    ) -> np.ndarray:
        """Before any reading; sensors that are not there have no bias."""
        cov = np.zeros((N, N))
        cov[range(3), range(3)] = pose_std**2
        for j in range(3):
            slip = settings.first_slip_mps**2 + (settings.first_slip * inputs[3 + j]) ** 2
            if self.is_omni and j == 2:  # a turn's slip is in rad/s
                slip /= self.arm_m**2
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


def omni(robot: OmniRobot, expected: BodyMotion | None = None) -> Motion:
    """Of a robot on omni or mecanum wheels."""
    into = body_map(robot.at_m, robot.rolling_rad, robot.roller_rad, robot.radii_m)
    arm_m = float(np.hypot(*robot.at_m.T).mean())
    return Motion(SlipVelocities(np.eye(3)), 0.0, twist_of_wheels=into, arm_m=arm_m, expected_motion=expected)


def motion_of(
    driver: Driver | Twin | Robot | str | Path,
    *,
    ground: str | None = None,
    formulation: str = "slip",
    effective_track_m: float | None = None,
    expected: BodyMotion | None = None,
    imu_at_m: tuple[float, float] | None = None,
) -> Motion:
    """Of a twin, with what it expects of slip; of a robot, by geometry and what else is given.

    Parameters
    ----------
    effective_track_m : track by which a robot with two sides turns as it does, where no twin says so
    expected : motion of an omni robot's body for what its wheels say, as a slip map knows it
    imu_at_m : place of the IMU, ahead and to the left of the wheels' centre; None takes the robot file's, or the centre
    """
    driver = find_driver(driver)
    robot, twin = driver.robot.as_wheeled(), driver.twin
    place = _imu_place(robot, imu_at_m)
    if not robot.has_sides:
        if formulation != "slip" or effective_track_m is not None:
            asked = f"'{formulation}'" if formulation != "slip" else "effective_track_m"
            raise ParameterError(f"{robot.name} has omni wheels, which have no rotation centres of sides; leave out {asked}")
        return _with_imu(omni(omni_robot(robot), expected), place)
    if expected is not None:
        raise ParameterError(f"{robot.name} has a left and a right side; a slip map belongs to omni robots, leave it out")
    if ground is not None and twin is None:
        raise ParameterError(f"ground '{ground}' is given with the robot {robot.name}; grounds belong to twins, leave it out")
    known = None if twin is None else expected_kinematics(twin.grounds[twin.ground_name(ground)], skid_steer_robot(robot))
    if effective_track_m is not None:
        if not (np.isfinite(effective_track_m) and effective_track_m > 0.0):
            raise ParameterError(f"effective_track_m is {effective_track_m:g}; expected a length above zero")
        known = IcrDrive(0.5 * effective_track_m, -0.5 * effective_track_m, 0.0, 1.0, 1.0)
    return _with_imu(sides(robot.track_m, known, formulation=formulation), place)


def _imu_place(robot: SkidSteerRobot | OmniRobot, given: tuple[float, float] | None) -> tuple[float, float]:
    if given is None:
        return (0.0, 0.0) if robot.imu_at_m is None else (robot.imu_at_m.value[0], robot.imu_at_m.value[1])
    if len(given) != 2 or not all(abs(float(place)) < FARTHEST_IMU_M for place in given):
        raise ParameterError(
            f"imu_at_m is {given}; expected metres ahead and to the left of the wheels' centre, such as 0.2 -0.1, "
            f"each below {FARTHEST_IMU_M:g} m"
        )
    return float(given[0]), float(given[1])


def _with_imu(motion: Motion, place: tuple[float, float]) -> Motion:
    return replace(motion, model=motion.model._replace(imu_ahead=float(place[0]), imu_left=float(place[1])))


def expected_kinematics(ground: FittedGround, robot: SkidSteerRobot) -> IcrDrive | None:
    """What a fitted ground says of motion without forces: its rung's rotation centres, its effective track, or what the two slip
    constants of wheel_slip give in steady turns; None where it says nothing.

        T_eff = T (1 + l^2 c_long / (b^2 c_lat))

    Symbols    l, b root mean square distance of the wheels ahead of and beside their middle · T track
    Reference  [Trimble2022] eq. (3), solved for the yaw rate
    """
    found = ground.kinematics
    if found is not None:
        numbers = {name: p.value for name, p in found.numbers.items() if p.value is not None}
        numbers = {"x_m": 0.0} | numbers  # steady states of tracks do not tell it
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
