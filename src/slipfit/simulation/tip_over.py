"""How far a robot is from tipping over."""

import numpy as np

#: Less than this is felt by robots that fly, and by none that drives on the Moon.
_FLYING_MPS2 = 0.3


def tip_over_margin(at_m: np.ndarray, centre_of_mass_m: tuple[float, float, float], felt_mps2: np.ndarray) -> np.ndarray:
    """Angle (rad) by which the force that a robot feels could still turn before it points past an edge of its wheels, (T,).

        margin = min over edges of  atan(d / h) - atan(-f . e / f_z)

    d distance of the edge from below the centre of mass, h its height, e outward normal of the edge, f specific force in the
    body's axes. Zero where a robot begins to lift off that edge's opposite wheels; NaN where a robot flies.

    Reference  force-angle measure, [Papadopoulos1996], for edges along the body's axes
    Valid for  wheels at the corners of a rectangle; on uneven ground with the wheels' contacts near their place in the plane
    """
    x, y, height = centre_of_mass_m
    fx, fy, fz = felt_mps2.T
    edges = (
        (at_m[:, 0].max() - x, 1.0, 0.0),
        (x - at_m[:, 0].min(), -1.0, 0.0),
        (at_m[:, 1].max() - y, 0.0, 1.0),
        (y - at_m[:, 1].min(), 0.0, -1.0),
    )
    with np.errstate(invalid="ignore"):
        leans = [np.arctan(d / height) - np.arctan2(-(ex * fx + ey * fy), fz) for d, ex, ey in edges]
    return np.where(np.hypot(np.hypot(fx, fy), fz) > _FLYING_MPS2, np.min(leans, axis=0), np.nan)
