"""From latitude, longitude and altitude to metres east and north of a first fix."""

import numpy as np

#: WGS 84, NIMA TR8350.2: semi-major axis (m) and flattening, exact by definition.
SEMI_MAJOR_AXIS_M = 6_378_137.0
FLATTENING = 1.0 / 298.257_223_563
_ECCENTRICITY_2 = FLATTENING * (2.0 - FLATTENING)


def earth_fixed(latitude_rad: np.ndarray, longitude_rad: np.ndarray, altitude_m: np.ndarray) -> np.ndarray:
    """Earth-centred, earth-fixed position, shape (T, 3), in m.

        X = (N + h) cos φ cos λ,  Y = (N + h) cos φ sin λ,  Z = (N (1 - e²) + h) sin φ,  N = a / sqrt(1 - e² sin² φ)

    Symbols    φ latitude · λ longitude · h altitude above the ellipsoid · a semi-major axis · e² eccentricity squared
    """
    sin_lat, cos_lat = np.sin(latitude_rad), np.cos(latitude_rad)
    normal = SEMI_MAJOR_AXIS_M / np.sqrt(1.0 - _ECCENTRICITY_2 * sin_lat**2)
    across = (normal + altitude_m) * cos_lat
    up = (normal * (1.0 - _ECCENTRICITY_2) + altitude_m) * sin_lat
    return np.column_stack([across * np.cos(longitude_rad), across * np.sin(longitude_rad), up])


def east_north(latitude_rad: np.ndarray, longitude_rad: np.ndarray, altitude_m: np.ndarray) -> np.ndarray:
    """Metres east and north in the tangent plane of the first finite fix, shape (T, 2); NaN where there is no fix.

    Valid for  drives of some kilometres: the plane leaves the ellipsoid by d²/2a, 8 cm after 1 km, and this does not
               shorten east and north by more than 1e-8 of the distance there.
    """
    height = np.where(np.isfinite(altitude_m), altitude_m, 0.0)  # receivers without altitude leave it NaN
    is_fix = np.isfinite(latitude_rad) & np.isfinite(longitude_rad)
    plane = np.full((len(latitude_rad), 2), np.nan)
    if not is_fix.any():
        return plane
    first = int(np.argmax(is_fix))
    lat, lon = latitude_rad[first], longitude_rad[first]
    with np.errstate(all="ignore"):  # an altitude of 1e308 m is finite, what comes of it is not
        fixed = earth_fixed(latitude_rad[is_fix], longitude_rad[is_fix], height[is_fix])
        offset = fixed - fixed[0]
    east = np.array([-np.sin(lon), np.cos(lon), 0.0])
    north = np.array([-np.sin(lat) * np.cos(lon), -np.sin(lat) * np.sin(lon), np.cos(lat)])
    with np.errstate(all="ignore"):
        plane[is_fix] = np.column_stack([offset @ east, offset @ north])
    return plane
