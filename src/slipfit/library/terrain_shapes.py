"""Terrains that are generated: closed forms of a plane, a bump and a crater, and hills of a random spectrum.

Each gives heights in metres at places x, y in metres, as arrays of the same shape; hills need the whole grid at once. The map's
middle is the origin of x and y.
"""

import math
from typing import Annotated, Literal

import numpy as np
from pydantic import BeforeValidator, Field, ValidationInfo, model_validator

from slipfit.library.files import FileModel
from slipfit.library.parameter import as_float

#: Ejecta thin out with this power of the distance from a crater's middle [McGetchin1973].
EJECTA_POWER = -3.0

#: Inside this part of the rim's radius the ejecta's formula, which has no end there, is held.
_EJECTA_HELD = 0.2

STEEPEST_RAD = 1.5

#: Beyond this power a crater's bowl is a flat floor with a vertical wall, to any spacing.
MOST_POWER = 50.0


def _number(given: object, info: ValidationInfo) -> float:
    return as_float(given, info.field_name or "value")


Number = Annotated[float, Field(ge=-1e7, le=1e7), BeforeValidator(_number)]
Length = Annotated[float, Field(ge=1e-6, le=1e6), BeforeValidator(_number)]
NonNegative = Annotated[float, Field(ge=0.0, le=1e6), BeforeValidator(_number)]
Angle = Annotated[float, Field(ge=-2.0 * math.pi, le=2.0 * math.pi), BeforeValidator(_number)]
Slope = Annotated[float, Field(ge=0.0, le=STEEPEST_RAD), BeforeValidator(_number)]


class Roughness(FileModel):
    """Random heights with the spectrum of natural ground.

        PSD(k) ~ (k^2 + k_0^2)^-(1 + H),    k_0 = 2 pi / longest_m

    Symbols    PSD power of heights per area of wave numbers · k wave number (rad/m) · H Hurst exponent: 0.5 rugged, 1 rolling
    Reference  [Jacobs2017] for k^-(2 + 2 H) of self-affine surfaces; the level end below k_0 is a choice
    Valid for  wavelengths from two spacings to `longest_m`
    """

    rms_m: NonNegative  # of all heights of the map about their mean
    hurst: Annotated[float, Field(gt=0.0, le=1.0), BeforeValidator(_number)] = 0.8
    longest_m: Length = 2.0  # wavelength beyond which hills do not grow
    seed: Annotated[int, Field(ge=0, strict=True)] = 1

    def heights(self, rows: int, columns: int, spacing_m: float) -> np.ndarray:
        """(rows, columns), with mean zero and the given rms. The same seed gives the same ground at the same size and spacing."""
        from scipy import fft  # here: a drive on a plane does without

        # Twice the map is made and half is used: what the transform makes meets itself at the far edge.
        shape = (fft.next_fast_len(2 * rows, real=True), fft.next_fast_len(2 * columns, real=True))
        noise = np.random.default_rng(self.seed).standard_normal(shape)
        ky = 2.0 * np.pi * fft.fftfreq(shape[0], spacing_m)[:, None]
        kx = 2.0 * np.pi * fft.rfftfreq(shape[1], spacing_m)[None, :]
        longest = (2.0 * np.pi / self.longest_m) ** 2
        amplitude = (kx**2 + ky**2 + longest) ** (-0.5 * (1.0 + self.hurst))
        heights = fft.irfft2(fft.rfft2(noise) * amplitude, s=shape)[:rows, :columns]
        heights -= heights.mean()
        return np.asarray(heights * (self.rms_m / heights.std()))


class Generated(FileModel):
    """A map of a given size; its middle is at x = y = 0 unless the terrain has an `origin_m`."""

    size_m: tuple[Length, Length]  # along x and y
    spacing_m: Length
    roughness: Roughness | None = None  # on top of the shape

    def heights(self) -> np.ndarray:
        """(rows, columns), heights in metres."""
        columns, rows = self.counts()
        x = self.spacing_m * (np.arange(columns) - 0.5 * (columns - 1))
        y = self.spacing_m * (np.arange(rows) - 0.5 * (rows - 1))
        heights = self.height_at(*np.meshgrid(x, y))
        return heights + self.roughness.heights(rows, columns, self.spacing_m) if self.roughness else heights

    def counts(self) -> tuple[int, int]:
        """Columns and rows of heights."""
        return round(self.size_m[0] / self.spacing_m) + 1, round(self.size_m[1] / self.spacing_m) + 1

    def height_at(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The shape without its roughness."""
        return np.zeros_like(x)

    @model_validator(mode="after")
    def _has_cells(self) -> "Generated":
        columns, rows = self.counts()
        if min(columns, rows) < 3:
            raise ValueError(
                f"size_m {self.size_m[0]:g} x {self.size_m[1]:g} at a spacing_m of {self.spacing_m:g} has {columns} x {rows} "
                "heights; expected at least 3 x 3, make the spacing smaller"
            )
        if columns * rows > MOST_HEIGHTS:
            raise ValueError(
                f"size_m {self.size_m[0]:g} x {self.size_m[1]:g} at a spacing_m of {self.spacing_m:g} has {columns} x {rows} "
                f"heights; expected at most {MOST_HEIGHTS:,}, make the spacing larger"
            )
        return self


#: The largest map: 25 million heights, whose bicubic coefficients take 3.2 GB.
MOST_HEIGHTS = 25_000_000


class PlaneShape(Generated):
    """A tilted plane: h = tan(slope) (x cos(uphill) + y sin(uphill))."""

    kind: Literal["plane"]
    slope_rad: Slope = 0.0
    uphill_rad: Angle = 0.0  # direction of steepest ascent, from the x axis

    def height_at(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return math.tan(self.slope_rad) * (x * math.cos(self.uphill_rad) + y * math.sin(self.uphill_rad))


class BumpShape(Generated):
    """One smooth bump on level ground, as a speed bump or a rounded rock.

        h = height cos^2(pi s / length) cos^2(pi t / width)    for |s| < length / 2, |t| < width / 2

    Symbols    s, t along and across the bump's heading, from its middle (m)
    Valid for  slopes up to pi height / length; without a width it crosses the whole map
    """

    kind: Literal["bump"]
    height_m: Number  # negative: a dip
    length_m: Length
    width_m: Length | None = None
    at_m: tuple[Number, Number] = (0.0, 0.0)
    heading_rad: Angle = 0.0

    def height_at(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        c, s = math.cos(self.heading_rad), math.sin(self.heading_rad)
        ahead, beside = x - self.at_m[0], y - self.at_m[1]
        heights = self.height_m * _hump((c * ahead + s * beside) / self.length_m)
        return heights if self.width_m is None else heights * _hump((c * beside - s * ahead) / self.width_m)


def _hump(s: np.ndarray) -> np.ndarray:
    """cos^2(pi s) within half a length of the middle, zero beyond."""
    return np.where(np.abs(s) < 0.5, np.cos(np.pi * s) ** 2, 0.0)


class CraterShape(Generated):
    """A simple crater: a bowl, a rim, and ejecta that thin out.

        inside     h = rim_height - depth (1 - (r / R)^k),   k = R tan(wall_slope) / depth
        outside    h = rim_height (r / R)^-3

    Symbols    r distance from the middle · R rim_radius · depth from the crest to the floor · wall_slope at the crest, inside
    Reference  [Melosh1989] for the bowl, a paraboloid (k = 2) when fresh; [McGetchin1973] for the ejecta; a larger k, which
               flattens the floor, and the rounding of the crest are choices. Fresh lunar craters are 0.2 diameters deep with a
               rim of 0.04 [Pike1977]
    Valid for  k >= 2. `rim_rounding_m` is what rounding takes off the sharp crest, by the hyperbola between the two branches
    """

    kind: Literal["crater"]
    rim_radius_m: Length
    rim_height_m: Length
    depth_m: Length
    wall_slope_rad: Slope | None = None  # without: a paraboloid
    rim_rounding_m: NonNegative = 0.0
    at_m: tuple[Number, Number] = (0.0, 0.0)

    @property
    def power(self) -> float:
        """k of the bowl."""
        return 2.0 if self.wall_slope_rad is None else self.rim_radius_m * math.tan(self.wall_slope_rad) / self.depth_m

    @model_validator(mode="after")
    def _is_a_bowl(self) -> "CraterShape":
        if self.power < 2.0:
            least = math.atan(2.0 * self.depth_m / self.rim_radius_m)
            raise ValueError(
                f"wall_slope_rad = {self.wall_slope_rad:g} is too gentle for a bowl {self.depth_m:g} m deep in "
                f"{self.rim_radius_m:g} m; expected at least {least:.4g} (a paraboloid), or a smaller depth_m"
            )
        if self.power > MOST_POWER:
            most = math.atan(MOST_POWER * self.depth_m / self.rim_radius_m)
            raise ValueError(
                f"wall_slope_rad = {self.wall_slope_rad:g} is too steep for a bowl {self.depth_m:g} m deep in "
                f"{self.rim_radius_m:g} m; expected at most {most:.4g}, or a larger depth_m"
            )
        return self

    def height_at(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        r = np.hypot(x - self.at_m[0], y - self.at_m[1]) / self.rim_radius_m
        bowl = self.rim_height_m - self.depth_m * (1.0 - np.minimum(r, 10.0) ** self.power)
        ejecta = self.rim_height_m * np.maximum(r, _EJECTA_HELD) ** EJECTA_POWER
        lower = np.where(r < 1.0, bowl, ejecta)
        if self.rim_rounding_m == 0.0:
            return lower
        apart = np.abs(bowl - ejecta)  # (bowl + ejecta - hypot(apart, 2 rounding)) / 2, without its loss of digits
        return lower - 2.0 * self.rim_rounding_m**2 / (apart + np.hypot(apart, 2.0 * self.rim_rounding_m))


class HillsShape(Generated):
    """Nothing but roughness: rolling or rugged ground."""

    kind: Literal["hills"]
    roughness: Roughness
