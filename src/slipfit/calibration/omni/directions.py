"""Shapes over the direction of motion: smooth functions of where a body goes and how much of that is turning.

A body motion (dx, dy, l dpsi) has a size n and a direction (X, Y, Z) on a sphere. Slip without memory and without a speed of
its own depends on the direction alone, so that every shape is n times a function on that sphere, here with c = X + iY:

    degree 0    1                        degree 1    c, Z
    degree 2    c Z, (3 Z^2 - 1)/2       degree 3    c^2 Z, c (5 Z^2 - 1)/2, Z (5 Z^2 - 3)/2
    degree m >= 2    c^m

On the equator, where nothing turns, c^m is the Fourier series over the travel direction; off it they are the spherical harmonics
up to degree 3 with the sectoral ones of higher degrees, up to factors. Ways are complex, dx + i dy, and take the shapes and
their conjugates with complex weights; turns are real and take real and imaginary parts. `order` is the power of c.

Symbols    l length that makes turns comparable with ways: mean distance of the wheels · n sqrt(dx^2 + dy^2 + l^2 dpsi^2)
Reference  derived in docs/howto/omni_calibrate.md
"""

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import uniform_filter1d

#: The highest degree over the travel direction: a robot's wheels repeat after a third of a turn, five of those are 15.
HIGHEST_DEGREE = 15

#: Directions are told from motions averaged over this long (s): single counts would make them by chance.
SMOOTHED_S = 0.7

#: Speeds beyond this many half spans from the middle of what was fitted count as at that distance.
FARTHEST_SPEED = 1.2

#: Degree and order of the shapes, and which of them have a conjugate of their own.
_DEGREES = np.array([0, 1, 1, 2, 2, 3, 3, 3, *range(2, HIGHEST_DEGREE + 1)])
_ORDERS = np.array([0, 1, 0, 1, 0, 2, 1, 0, *range(2, HIGHEST_DEGREE + 1)])
_TURNING = _ORDERS > 0


@dataclass(frozen=True, slots=True)
class Shapes:
    """Which shapes there are: the length l, and where speeds were seen at more than one level their middle and half span."""

    length_m: float
    speed_mps: float = 0.0
    speed_span_mps: float = 0.0  # 0: shapes do not depend on speed

    @property
    def speed_terms(self) -> int:
        return 3 if self.speed_span_mps > 0.0 else 1

    @property
    def way_roughness(self) -> np.ndarray:
        """Of every shape of ways: how often it varies round the travel direction, seen along it; 0 up to degree 1.

        Seen so, a shape of order m varies m - 1 times: the same slip whatever the direction is of order 1, and smooth.
        """
        degree, order = _both(_DEGREES), np.concatenate([_ORDERS, -_ORDERS[_TURNING]])
        return self._each_speed(np.where(degree <= 1, 0, np.maximum(np.abs(order - 1), degree - 1)))

    @property
    def turn_roughness(self) -> np.ndarray:
        """Of every shape of turns."""
        degree = _both(_DEGREES)
        return self._each_speed(np.where(degree <= 1, 0, degree))

    @property
    def speed_orders(self) -> np.ndarray:
        """Order in speed of every shape, of ways and turns alike."""
        return np.asarray(np.repeat(np.arange(self.speed_terms), len(_both(_DEGREES))))

    def _each_speed(self, of_directions: np.ndarray) -> np.ndarray:
        return np.asarray(np.tile(of_directions, self.speed_terms))

    def of_steps(self, motion: np.ndarray, step_s: float) -> tuple[np.ndarray, np.ndarray]:
        """Shapes of ways (complex) and of turns (real) of every step, (T, shapes), from ideal body motions (T, 3)."""
        width = min(len(motion), max(1, round(SMOOTHED_S / step_s)))
        smooth = uniform_filter1d(motion, width, axis=0, mode="nearest")
        return self._with_speed(smooth, np.linalg.norm(self._scaled(smooth), axis=1) / step_s)

    def of_velocities(self, velocity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same of ideal body velocities (T, 3), each by itself."""
        return self._with_speed(velocity, np.linalg.norm(self._scaled(velocity), axis=1))

    def of_directions(self, motion: np.ndarray, speed_mps: float | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The same of single motions, (T, 3), at one speed."""
        return self._with_speed(motion, np.full(len(motion), self.speed_mps if speed_mps is None else speed_mps))

    def _scaled(self, motion: np.ndarray) -> np.ndarray:
        return np.asarray(motion * [1.0, 1.0, self.length_m])

    def _with_speed(self, motion: np.ndarray, speed_mps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        shapes = over_directions(self._scaled(motion))
        ways = np.hstack([shapes, shapes[:, _TURNING].conj()])
        turns = np.hstack([shapes.real, shapes[:, _TURNING].imag])
        if self.speed_terms == 1:
            return ways, turns
        s = np.clip((speed_mps - self.speed_mps) / self.speed_span_mps, -FARTHEST_SPEED, FARTHEST_SPEED)[:, None]
        levels = (np.ones_like(s), s, 1.5 * s * s - 0.5)
        return np.hstack([level * ways for level in levels]), np.hstack([level * turns for level in levels])


def _both(of_shapes: np.ndarray) -> np.ndarray:
    """Entries of the shapes, then those of their conjugates (ways) or imaginary parts (turns)."""
    return np.concatenate([of_shapes, of_shapes[_TURNING]])


def over_directions(scaled: np.ndarray) -> np.ndarray:
    """Every shape of motions (T, 3) whose turns are scaled to metres: (T, shapes), complex."""
    size = np.linalg.norm(scaled, axis=1)
    x, y, z = np.divide(scaled, size[:, None], out=np.zeros_like(scaled), where=size[:, None] > 0.0).T
    c, one = x + 1j * y, np.ones_like(x)
    low = [one, c, z, c * z, 1.5 * z * z - 0.5, c * c * z, 0.5 * c * (5.0 * z * z - 1.0), 0.5 * z * (5.0 * z * z - 3.0)]
    return np.asarray(np.column_stack([*low, *(c**m for m in range(2, HIGHEST_DEGREE + 1))]) * size[:, None])
