"""Numbers that differ from run to run, as callers give them: checked once, for every kind of vehicle."""

from collections.abc import Mapping
from reprlib import repr as shown
from typing import Any

import numpy as np

from slipfit.errors import SimulationError
from slipfit.library.files import nearest
from slipfit.library.parameter import out_of_range

NO_ALIASES: Mapping[str, str] = {}


def checked_arrays(
    vary: Mapping[str, Any],
    known: Mapping[str, Any],
    bounds: Mapping[str, tuple[float, float]],
    short: Mapping[str, str] = NO_ALIASES,
) -> tuple[dict[str, Any], int]:
    """Arrays by name, one entry per run, and the number of runs (1 where nothing is varied).

    known  numbers of a run by name; `bounds` may name more, between which they may lie; `short` names accepted for them
    """
    if not isinstance(vary, Mapping):
        raise SimulationError(f"vary: found {shown(vary)}; expected arrays by name, as {{'mass_kg': [20.0, 30.0]}}")
    arrays: dict[str, Any] = {}
    for key, given in vary.items():
        name = short.get(key, key)
        if name not in known and name not in bounds:
            raise SimulationError(f"vary: there is no number '{key}' in this run; {nearest(key, {*known, *bounds})}")
        try:
            array = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise SimulationError(f"vary: {key} is {shown(given)}; expected one number per run") from None
        if array.ndim != 1 or not len(array):
            raise SimulationError(f"vary: {key} has shape {array.shape}; expected one number per run")
        finite = array[np.isfinite(array)]  # a NaN run is allowed: it gets its own status
        for value in (finite.min(initial=np.inf), finite.max(initial=-np.inf)):
            problem = out_of_range(name, float(value), *bounds.get(name, (-np.inf, np.inf))) if np.isfinite(value) else ""
            if problem:
                raise SimulationError(f"vary: {problem}")
        arrays[name] = array
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise SimulationError(f"vary: lengths differ ({lengths}); expected one number per run for each")
    return arrays, next(iter(lengths.values()), 1)


def is_no_number(vary: Mapping[str, Any], n: int) -> np.ndarray:
    """Which runs have a NaN among their numbers."""
    arrays = [np.broadcast_to(np.isnan(np.asarray(entry, dtype=float)), n) for entry in vary.values()]
    return np.any(arrays, axis=0) if arrays else np.zeros(n, dtype=bool)
