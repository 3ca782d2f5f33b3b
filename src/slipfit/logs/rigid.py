"""Rigid transforms, constant or over time, and measurements moved from a sensor's frame to the body's.

A transform from parent to child holds the child's origin in the parent's coordinates (`translation`) and the rotation that
takes vectors from the child's axes to the parent's (`quaternion`, unit, in the order x, y, z, w), as ROS TF does:

    p_parent = R p_child + t
"""

import typing
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from slipfit.logs.rotation import yaw_of


class Rigid(NamedTuple):
    """A constant transform: translation (3,) in meters, unit quaternion (4,) as x, y, z, w."""

    translation: np.ndarray
    quaternion: np.ndarray

    @classmethod
    def identity(cls) -> Self:
        """The transform between a frame and itself."""
        return cls(np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]))

    def then(self, other: "Rigid") -> "Rigid":
        """a->c of a->b (this one) and b->c (the other)."""
        return Rigid(*compose(*self, *other))

    def inverse(self) -> "Rigid":
        """child->parent of parent->child."""
        return Rigid(*invert(*self))

    def apply(self, points: np.ndarray) -> np.ndarray:
        """Points of the child frame in the parent's coordinates, shape (3,) or (N, 3)."""
        return np.asarray(_rotation(self.quaternion).apply(points) + self.translation)

    @property
    def yaw_rad(self) -> float:
        """Heading of the child's x axis in the parent."""
        return float(yaw_of(*self.quaternion))


@dataclass(frozen=True, eq=False, slots=True)
class TransformSeries:
    """A transform over time: stamps (N,) ascending, translation (N, 3), unit quaternion (N, 4) as x, y, z, w.

    `dropped_outside` counts the rows that were left out because a link of the chain has no messages before or after them,
    `dropped_in_gaps` those within a gap in the messages of a link.
    """

    stamps_ns: np.ndarray
    translation: np.ndarray
    quaternion: np.ndarray
    dropped_outside: int = 0
    dropped_in_gaps: int = 0

    def __len__(self) -> int:
        return len(self.stamps_ns)

    def then(self, other: Rigid) -> "TransformSeries":
        """a->c of a->b (this one) and the constant b->c."""
        translation, quaternion = compose(self.translation, self.quaternion, *other)
        return replace(self, translation=translation, quaternion=quaternion)

    def inverse(self) -> "TransformSeries":
        """child->parent of parent->child, row by row."""
        translation, quaternion = invert(self.translation, self.quaternion)
        return replace(self, translation=translation, quaternion=quaternion)

    def planar(self) -> np.ndarray:
        """x [m], y [m] and yaw [rad] in (-π, π] of each row, shape (N, 3)."""
        return np.column_stack([self.translation[:, :2], yaw_of(*self.quaternion.T)])


def compose(
    first_translation: np.ndarray, first_quaternion: np.ndarray, translation: np.ndarray, quaternion: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Translation and quaternion of the first transform followed by the second; each constant or one per row."""
    if not _count(first_quaternion) or not _count(quaternion):
        return np.empty((0, 3)), np.empty((0, 4))
    first = _rotation(first_quaternion)
    return first_translation + first.apply(translation), (first * _rotation(quaternion)).as_quat()


def invert(translation: np.ndarray, quaternion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Translation and quaternion of the inverse: -Rᵀ t and Rᵀ."""
    if not _count(quaternion):
        return translation, quaternion
    back = _rotation(quaternion).inv()
    return -back.apply(translation), back.as_quat()


def interpolate_rotation(first: np.ndarray, second: np.ndarray, fraction: np.ndarray) -> np.ndarray:
    """Spherical linear interpolation between quaternions (N, 4), row by row, at fractions (N,) from 0 to 1."""
    from scipy.spatial.transform import Rotation

    if not _count(first):
        return first
    start = _rotation(first)
    step = (start.inv() * _rotation(second)).as_rotvec()
    return np.asarray((start * Rotation.from_rotvec(fraction[:, None] * step)).as_quat())


def _count(quaternion: np.ndarray) -> int:
    return 1 if quaternion.ndim == 1 else len(quaternion)


def _rotation(quaternion: np.ndarray):  # type: ignore[no-untyped-def]  # scipy has no types
    from scipy.spatial.transform import Rotation  # here, because its import takes longer than most commands

    return Rotation.from_quat(quaternion)


# --- from a sensor's frame to the body's -----------------------------------------------------------------------------


@typing.overload
def to_body(poses: TransformSeries, sensor_to_body: Rigid) -> TransformSeries: ...
@typing.overload
def to_body(poses: np.ndarray, sensor_to_body: Rigid) -> np.ndarray: ...
def to_body(poses: TransformSeries | np.ndarray, sensor_to_body: Rigid) -> TransformSeries | np.ndarray:
    """Poses of the body's origin and axes from poses of a sensor (motion capture marker, GNSS antenna, lidar).

    `sensor_to_body` is `tree.static_between(sensor, body)`. A series is composed in 3D. Planar rows, shape (N, 3) with x, y,
    yaw of the sensor's x axis, are moved as if the body were level; a row without yaw (NaN) has no position of the body,
    because the direction of the lever arm is unknown.
    """
    if isinstance(poses, TransformSeries):
        return poses.then(sensor_to_body)
    mount = sensor_to_body.inverse()
    yaw = poses[:, 2] - mount.yaw_rad
    x, y = mount.translation[:2]
    moved = np.column_stack([poses[:, 0] - x * np.cos(yaw) + y * np.sin(yaw), poses[:, 1] - x * np.sin(yaw) - y * np.cos(yaw)])
    return np.column_stack([moved, np.arctan2(np.sin(yaw), np.cos(yaw))])


class ImuInBody(NamedTuple):
    """Measurements of an IMU along the body's axes, and where in the body it is mounted.

    The acceleration is still that of the IMU's place: the terms of the lever arm, dω/dt x r + ω x (ω x r), stay in it.
    """

    acceleration: np.ndarray
    angular_velocity: np.ndarray
    orientation: np.ndarray | None
    lever_arm_m: np.ndarray


def imu_in_body(
    acceleration: np.ndarray, angular_velocity: np.ndarray, orientation: np.ndarray | None, body_to_imu: Rigid
) -> ImuInBody:
    """Rotate what an IMU measured, (N, 3), (N, 3) and (N, 4) or None, to the body's axes.

    `body_to_imu` is `tree.static_between(body, imu)`; its translation is the lever arm. The orientation of the IMU in its
    reference frame becomes that of the body in the same reference frame.
    """
    mount = _rotation(body_to_imu.quaternion)
    turned = None
    if orientation is not None:
        turned = np.full(orientation.shape, np.nan)  # rows without an orientation stay without one
        known = np.isfinite(orientation).all(axis=1) & (np.abs(orientation).max(axis=1, initial=0.0) > 0.0)
        if known.any():
            turned[known] = (_rotation(orientation[known]) * mount.inv()).as_quat()
    matrix = mount.as_matrix().T
    return ImuInBody(acceleration @ matrix, angular_velocity @ matrix, turned, body_to_imu.translation)
