"""How far a robot is from tipping over."""

from itertools import pairwise

import numpy as np

#: Less than this is felt by robots that fly, and by none that drives on the Moon.
_FLYING_MPS2 = 0.3


def tip_over_margin(supports_m: np.ndarray, centre_of_mass_m: tuple[float, float, float], felt_mps2: np.ndarray) -> np.ndarray:
    """Angle (rad) by which the force that a robot feels could still turn before it points past an edge of its supports, (T,).

        margin = min over edges of  atan(d / h) - atan(-f . e / f_z)

    d distance of the edge from below the centre of mass, h its height, e outward normal of the edge, f specific force in the
    body's axes. Edges are those of the convex hull of wheels and casters. Zero where a robot begins to lift off; NaN where a
    robot flies.

    Reference  force-angle measure, [Papadopoulos1996]
    Valid for  planes; on uneven ground with the wheels' contacts near their place in the plane
    """
    x, y, height = centre_of_mass_m
    fx, fy, fz = felt_mps2.T
    leans = []
    with np.errstate(invalid="ignore"):
        for ex, ey, reach in support_edges(supports_m).T:
            d = reach - ex * x - ey * y
            leans.append(np.arctan(d / height) - np.arctan2(-(ex * fx + ey * fy), fz))
    return np.where(np.hypot(np.hypot(fx, fy), fz) > _FLYING_MPS2, np.min(leans, axis=0), np.nan)


def support_edges(supports_m: np.ndarray) -> np.ndarray:
    """Outward normals (x, y) of the edges of the area between supports, and their distances from the origin (m), (3, edges)."""
    corners = convex_hull(supports_m)
    edges = []
    for start, end in pairwise([*corners, corners[0]]):
        ex, ey = _outward(end - start)
        edges.append((ex, ey, ex * start[0] + ey * start[1]))
    return np.array(edges).T


def convex_hull(places_m: np.ndarray) -> np.ndarray:
    """Corners of the smallest convex area with all places in it, counter-clockwise, (n, 2): Andrew's monotone chain."""
    places = sorted(map(tuple, np.asarray(places_m, dtype=float)[:, :2].tolist()))
    return np.array(_chain(places)[:-1] + _chain(places[::-1])[:-1])


def _chain(places: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The half of the hull on the right-hand side of the way from the first place to the last."""
    chain: list[tuple[float, float]] = []
    for x, y in places:
        while len(chain) > 1 and _turn(chain[-2], chain[-1], (x, y)) <= 0.0:
            chain.pop()
        chain.append((x, y))
    return chain


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    """Twice the area of a triangle; positive counter-clockwise."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _outward(along: np.ndarray) -> tuple[float, float]:
    """Unit normal to the right of an edge."""
    length = float(np.hypot(*along))
    return float(along[1]) / length, -float(along[0]) / length
