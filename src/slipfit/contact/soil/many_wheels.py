"""Many wheel states at once, for fits, plots and tables: `wheel_on_soil`."""

from typing import Any, NamedTuple

import numpy as np

from slipfit.contact.soil.constants import Soil
from slipfit.contact.soil.wheel import DEEPEST_SHARE, Place, Rim, sinkage_of, steady_wheel
from slipfit.errors import ParameterError
from slipfit.kernels import as_batch, at, compiled

#: A load counts as carried when no more than this share of it is missing: far more than the search leaves.
_CARRIED = 1e-6

#: Least and largest numbers, and their words.
_LARGEST = float(np.finfo(float).max)
_POSITIVE = (float(np.finfo(float).tiny), _LARGEST, "a finite number above 0")
_AT_LEAST_ZERO = (0.0, _LARGEST, "a finite number, 0 or more")
_DOWN = (0.0, _LARGEST, "a finite number, 0 or more: sinkage counts downwards from the untouched surface")
_AHEAD = (-0.5 * np.pi, 0.5 * np.pi, "an angle within ±1.5708 rad (90 degrees) of the rolling direction")
_SLIPS = (-1.0 - 1e-9, 1.0 + 1e-9, "a slip ratio from -1 (locked) to 1 (spinning on the spot), not percent")


class WheelStates(NamedTuple):
    """What `wheel_on_soil` gives, arrays of the states' shape. Forces act on the wheel."""

    sinkage_m: np.ndarray
    load_n: np.ndarray
    pull_n: np.ndarray  # drawbar pull
    lateral_n: np.ndarray  # against the lateral velocity: negative for a wheel that moves to its left
    torque_nm: np.ndarray


@compiled
def _fill(soils, rims, places, depth, slip, tan_angle, load, out):
    for i in range(len(slip)):
        soil, rim, place = at(soils, i), at(rims, i), at(places, i)
        z = depth[i]
        if not np.isnan(load[i]):
            z = sinkage_of(soil, rim, place, load[i], slip[i], tan_angle[i])
        found = steady_wheel(soil, rim, place, z, slip[i], tan_angle[i])
        out[0, i], out[1, i], out[2, i], out[3, i], out[4, i] = z, found.load, found.pull, found.lateral, found.torque


def wheel_on_soil(
    soil: Soil,
    *,
    radius_m: Any,
    width_m: Any,
    slip: Any,
    sinkage_m: Any = None,
    load_n: Any = None,
    slip_angle_rad: Any = 0.0,
    grouser_m: Any = 0.0,
    rut_m: Any = 0.0,
    rut_slip: Any = 0.0,
    keep_stuck: bool = False,
) -> WheelStates:
    """Forces on rigid wheels that roll steadily on soil; any argument may be an array, they are broadcast.

    Parameters
    ----------
    soil : from `contact.soil.soil`, its numbers may be arrays of the states' shape
    slip : ratio, driving positive, -1 (locked) to 1 (spinning on the spot)
    sinkage_m, load_n : give one; the sinkage that carries the load is looked for. Where the soil does not carry it before the
        axle touches (98 % of the radius, grousers included) all of the result is NaN, and so it is for deeper sinkages
    slip_angle_rad : angle of the wheel's velocity from its rolling direction, to the left; within a right angle
    rut_m, rut_slip : deepest sinkage and largest slip that the place has seen, 0 for untouched soil
    keep_stuck : give wheels that are not carried, or deeper, with the forces at 98 % of the radius instead of NaN; for searches,
        which need a number

    Sizes and loads must be finite and positive, sinkages not negative, slips within -1 and 1 (`ParameterError`); NaN gives NaN.
    """
    if (sinkage_m is None) == (load_n is None):
        raise ParameterError("give either sinkage_m or load_n of the wheel; the other one is found")
    _check(radius_m=radius_m, width_m=width_m, load_n=load_n)
    _check(_AT_LEAST_ZERO, grouser_m=grouser_m, rut_m=rut_m)
    _check(_SLIPS, slip=slip, rut_slip=rut_slip)
    _check(_DOWN, sinkage_m=sinkage_m)
    _check(_AHEAD, slip_angle_rad=slip_angle_rad)
    nothing = np.nan
    given = [
        slip, nothing if sinkage_m is None else sinkage_m, nothing if load_n is None else load_n, np.tan(slip_angle_rad),
        np.asarray(radius_m) + grouser_m, width_m, rut_m, rut_slip, *soil,
    ]  # fmt: skip
    arrays = np.broadcast_arrays(*(np.asarray(entry, dtype=float) for entry in given))
    shape, n = arrays[0].shape, arrays[0].size
    flat: list[Any] = [array.ravel() for array in arrays]
    batch = as_batch(Soil(*flat[8:]), n)
    out = np.empty((5, n))
    slips, depth, load, angle = (np.ascontiguousarray(array) for array in flat[:4])
    deepest = DEEPEST_SHARE * flat[4]
    is_deeper = depth > (1.0 + 1e-9) * deepest
    depth = np.where(is_deeper, deepest, depth)
    _fill(batch, as_batch(Rim(*flat[4:6]), n), as_batch(Place(*flat[6:8]), n), depth, slips, angle, load, out)
    inputs = [flat[1] if load_n is None else flat[2], *flat[:1], *flat[3:]]
    out[:, np.isnan(inputs).any(axis=0)] = np.nan
    if load_n is not None and not keep_stuck:
        out[:, out[1] < (1.0 - _CARRIED) * load] = np.nan
    if not keep_stuck:
        out[:, is_deeper] = np.nan
    return WheelStates(*(row.reshape(shape) for row in out))


def _check(allowed: tuple[float, float, str] = _POSITIVE, /, **given: Any) -> None:
    """Numbers that are given lie between two bounds; NaN passes."""
    lower, upper, expected = allowed
    for name, value in given.items():
        if value is not None:
            values = np.asarray(value, dtype=float)
            wrong = values[(values < lower) | (values > upper)]
            if wrong.size:
                raise ParameterError(f"{name} = {wrong.flat[0]:g}; expected {expected}")
