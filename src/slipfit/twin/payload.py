"""What a payload changes: the body, and the slip constants, which belong to a load.

    m' = m + M,    r' = (m r + M p) / m',    I' = I + m M / m' |p - r|^2    (parallel axes, the payload as a point)
    c' = c N / N' = c m / m'

Symbols    m, r, I mass, centre of mass and moment of inertia of the robot · M, p payload and its place · N mean wheel load
Reference  [Trimble2022] section 1: the plugin divides its slip compliance by the wheel's load, so that c N belongs to the tyre
"""

from typing import Any

import numpy as np

from slipfit.errors import ParameterError
from slipfit.library import SkidSteerRobot
from slipfit.library.files import validated

#: Constants of laws that shrink as the load of a wheel grows.
PER_LOAD = ("c_long_per_n", "c_lat_per_n")


def loaded(robot: SkidSteerRobot, mass_kg: float, at_m: tuple[float, float, float] | None) -> SkidSteerRobot:
    """The robot with a point mass on it (or, below zero, taken off); in its centre of mass unless a place is given."""
    before = robot.mass_kg.value
    after = before + mass_kg
    if not np.isfinite(mass_kg) or after <= 0.0:
        raise ParameterError(f"payload: {mass_kg:g} kg on a robot of {before:g} kg; expected that some mass is left")
    com = np.array(robot.centre_of_mass_m.value)
    place = com if at_m is None else np.asarray(at_m, dtype=float)
    if place.shape != (3,) or not np.isfinite(place).all():
        raise ParameterError(f"payload: its place is {at_m}; expected x, y from the wheels' centre and the height, in metres")
    dx2, dy2, dz2 = (place - com) ** 2 * (before * mass_kg / after)
    data = robot.to_mapping()
    _put(data, "mass_kg", after)
    _put(data, "centre_of_mass_m", ((before * com + mass_kg * place) / after).tolist())
    for name, added in (("yaw", dx2 + dy2), ("roll", dy2 + dz2), ("pitch", dx2 + dz2)):
        key = f"{name}_inertia_kgm2"
        if key in data:
            _put(data, key, data[key]["value"] + float(added))
    return validated(SkidSteerRobot, data, where=f"{robot.name} with {mass_kg:g} kg of payload")


def _put(data: dict[str, Any], key: str, value: Any) -> None:
    """A new value; spread, source and note stay."""
    data[key] = {**data[key], "value": value}
