"""What driven paths tell, as constants of a twin: radii become metres per count, one of the tracks the effective one."""

import math

from slipfit.twin import FittedParameter, FittedPowertrain, Side


def powertrain_of_paths(
    radius_left_m: FittedParameter,
    radius_right_m: FittedParameter,
    track_m: FittedParameter,
    counts_per_turn: tuple[float, float] | None,
) -> FittedPowertrain:
    """Radii and track of a calibration; without counts per turn (left, right) a twin cannot hold the radii."""
    radii = (radius_left_m, radius_right_m)
    if counts_per_turn is None:
        return FittedPowertrain(effective_track_m=track_m)
    left, right = (
        Side(metres_per_count=radius.scaled(2.0 * math.pi / counts))
        for radius, counts in zip(radii, counts_per_turn, strict=True)
    )
    return FittedPowertrain(effective_track_m=track_m, left=left, right=right)
