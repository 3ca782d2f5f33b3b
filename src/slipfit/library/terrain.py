"""Terrain: heights on a grid, from a file or generated, and what can be said about them before a robot drives there."""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from slipfit.errors import ParameterError
from slipfit.ground import height_field, surface_at
from slipfit.library.files import NamedFile, nearest, write_through
from slipfit.library.terrain_readers import ArrayFile, GeoTiffFile, PictureFile
from slipfit.library.terrain_shapes import BumpShape, CraterShape, Generated, HillsShape, Number, PlaneShape

_FOLDER = Path(__file__).parent / "terrains"

#: Roughness is judged over this window, or over four spacings of a coarser map.
WINDOW_M, WINDOW_SPACINGS = 0.5, 4

#: A map with a larger part of it missing is not filled: it would be mostly invented.
MOST_FILLED = 0.5

Heights = Annotated[
    PlaneShape | BumpShape | CraterShape | HillsShape | ArrayFile | PictureFile | GeoTiffFile, Field(discriminator="kind")
]


@dataclass(frozen=True, eq=False)
class Terrain:
    """Heights on a grid: row r, column c stands at x = x0 + c spacing (east), y = y0 + r spacing (north)."""

    name: str
    heights_m: np.ndarray  # (rows, columns)
    spacing_m: float
    origin_m: tuple[float, float]  # place of the first height
    about: str = ""
    made_from: str = ""  # where the heights come from, as a clause
    holes_filled: int = 0

    def __post_init__(self) -> None:
        missing = np.argwhere(~np.isfinite(self.heights_m))
        if len(missing):
            raise ParameterError(f"{self.name}: {_where_missing(self, missing)}; fill or mend them first")

    @property
    def extent_m(self) -> tuple[float, float, float, float]:
        """x from, x to, y from, y to."""
        rows, columns = self.heights_m.shape
        (x, y), d = self.origin_m, self.spacing_m
        return x, x + d * (columns - 1), y, y + d * (rows - 1)

    def digest(self) -> str:
        """SHA-256 of heights and where they stand: what a robot meets on it."""
        place = np.array([self.spacing_m, *self.origin_m], dtype=float)
        return sha256(np.ascontiguousarray(self.heights_m, dtype=float).tobytes() + place.tobytes()).hexdigest()

    def covers(self, x_m: Any, y_m: Any) -> Any:
        """Whether places belong to the map."""
        x_from, x_to, y_from, y_to = self.extent_m
        x, y = np.asarray(x_m), np.asarray(y_m)
        return (x >= x_from) & (x <= x_to) & (y >= y_from) & (y <= y_to)

    def model(self, gravity_mps2: float = 9.81, interpolation: str = "bicubic") -> Any:
        """The terrain as compiled code asks it: a `BicubicField` or `BilinearField`."""
        return height_field(self.heights_m, self.spacing_m, self.origin_m, gravity_mps2, interpolation)

    @cached_property
    def _bicubic(self) -> Any:
        return self.model()

    def height_at(self, x_m: Any, y_m: Any) -> Any:
        """Height (m) at places, by the bicubic of the simulation; beyond the map it goes on straight (`covers` tells)."""
        return surface_at(self._bicubic, x_m, y_m)[..., 0]

    def sharpest_bend(self) -> tuple[float, tuple[float, float]]:
        """Smallest radius of curvature (m) of the ground along x or y, and where; infinite on planes.

        radius = 1 / |h''|,  by central differences; the least that a slope could leave of it
        """
        bends = np.zeros_like(self.heights_m)
        for axis in (0, 1):
            if self.heights_m.shape[axis] < 3:
                continue
            inner = (slice(1, -1), slice(None))[:: 1 if axis == 0 else -1]
            second = np.diff(self.heights_m, 2, axis=axis) / self.spacing_m**2
            bends[inner] = np.maximum(bends[inner], np.abs(second))
        row, column = np.unravel_index(int(np.argmax(bends)), bends.shape)
        place = (self.origin_m[0] + self.spacing_m * float(column), self.origin_m[1] + self.spacing_m * float(row))
        sharpest = float(bends.max())
        return (1.0 / sharpest if sharpest > 1e-12 else float("inf")), place

    def slope_map_rad(self) -> np.ndarray:
        """Angle of steepest ascent at each height, (rows, columns)."""
        x, y = self._places()
        slopes = surface_at(self._bicubic, x[None, :], y[:, None])[..., 1:]
        return np.asarray(np.arctan(np.hypot(slopes[..., 0], slopes[..., 1])))

    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        rows, columns = self.heights_m.shape
        return self.origin_m[0] + self.spacing_m * np.arange(columns), self.origin_m[1] + self.spacing_m * np.arange(rows)

    def window_m(self, window_m: float | None = None) -> float:
        """The side of the window that roughness is judged over: whole spacings to both sides of its middle."""
        return 2.0 * self.spacing_m * self._half_window(window_m)

    def _half_window(self, window_m: float | None) -> int:
        side = max(WINDOW_M, WINDOW_SPACINGS * self.spacing_m) if window_m is None else window_m
        return int(min(max(1, round(0.5 * side / self.spacing_m)), (min(self.heights_m.shape) - 1) // 2))

    def roughness_map_m(self, window_m: float | None = None) -> np.ndarray:
        """Rms of the heights about the plane that fits them best in a square window around each, (rows, columns); NaN where the
        window leaves the map.

            rms^2 = var(h) - cov(h, x)^2 / var(x) - cov(h, y)^2 / var(y)

        Reference  least squares on a symmetric grid, where x and y are uncorrelated
        """
        from scipy import ndimage  # here, as below: a drive on a plane does without

        half = self._half_window(window_m)
        steps = np.arange(-half, half + 1.0)
        mean, ramp = np.full(len(steps), 1.0 / len(steps)), steps / len(steps)
        h = self.heights_m - self.heights_m.mean()

        def weighted(values: np.ndarray, along_y: np.ndarray, along_x: np.ndarray) -> Any:
            return ndimage.correlate1d(ndimage.correlate1d(values, along_y, axis=0), along_x, axis=1)

        middle = weighted(h, mean, mean)
        spread = weighted(h * h, mean, mean) - middle**2
        tilt = (weighted(h, mean, ramp) ** 2 + weighted(h, ramp, mean) ** 2) / (steps @ ramp)
        rough = np.full_like(h, np.nan)
        inner = (slice(half, h.shape[0] - half), slice(half, h.shape[1] - half))
        rough[inner] = np.sqrt(np.maximum(spread - tilt, 0.0))[inner]
        return np.asarray(rough)

    def to_document(self, window_m: float | None = None) -> dict[str, Any]:
        """Sizes and statistics, for JSON."""
        rows, columns = self.heights_m.shape
        rough = self.roughness_map_m(window_m)
        return {
            "name": self.name,
            "about": self.about,
            "made_from": self.made_from,
            "rows": rows,
            "columns": columns,
            "spacing_m": self.spacing_m,
            "extent_m": dict(zip(("x_from", "x_to", "y_from", "y_to"), self.extent_m, strict=True)),
            "holes_filled": self.holes_filled,
            "height_m": {"lowest": float(self.heights_m.min()), "highest": float(self.heights_m.max()),
                         "mean": float(self.heights_m.mean()), "std": float(self.heights_m.std())},
            "slope_rad": _spread_of(self.slope_map_rad()),
            "roughness_m": {"window_m": self.window_m(window_m)} | _spread_of(rough[np.isfinite(rough)]),
        }  # fmt: skip

    def summary(self, window_m: float | None = None) -> str:
        """A few lines of text: size, heights, slopes, roughness."""
        d = self.to_document(window_m)
        rough, height = d["roughness_m"], d["height_m"]
        x_from, x_to, y_from, y_to = self.extent_m
        filled = f", {self.holes_filled} of them filled" if self.holes_filled else ""
        slope = {key: np.degrees(value) for key, value in d["slope_rad"].items()}
        return "\n".join([
            f"{self.name}: {self.about}" if self.about else self.name,
            f"  {d['columns']} x {d['rows']} heights{filled}, {self.spacing_m:g} m apart; {self.made_from}",
            f"  x {x_from:g} to {x_to:g} m, y {y_from:g} to {y_to:g} m",
            f"  height     {height['lowest']:.3f} to {height['highest']:.3f} m, std {height['std']:.3f} m",
            f"  slope      median {slope['median']:.1f}°, 95 % below {slope['at_95']:.1f}°, steepest {slope['largest']:.1f}°",
            f"  roughness  median {1e3 * rough['median']:.1f} mm, 95 % below {1e3 * rough['at_95']:.1f} mm, "
            f"largest {1e3 * rough['largest']:.1f} mm about planes of {rough['window_m']:g} m",
        ])  # fmt: skip

    def save(self, path: Path | str, *, force: bool = False) -> None:
        """Write PATH.yaml, and the heights beside it as PATH.npy."""
        path = Path(path)
        array = path.with_suffix(".npy")
        write_through(array, lambda temporary: np.save(temporary, self.heights_m), force=force)
        heights = ArrayFile(kind="array", file=array.name, spacing_m=self.spacing_m)
        TerrainFile(name=self.name, about=self.about, heights=heights, origin_m=self.origin_m).save(path, force=force)


class TerrainFile(NamedFile):
    """A terrain as its file describes it."""

    schema_: Literal["slipfit/terrain/1"] = Field("slipfit/terrain/1", alias="schema")
    name: str = Field("terrain", pattern=r"^[a-z0-9_\-]+$")
    about: str = ""
    heights: Heights
    origin_m: tuple[Number, Number] | None = (
        None  # of the first height; without: 0, 0 of files, the middle at 0, 0 of generated ones
    )
    fill_holes: bool = False

    def build(self, folder: Path) -> Terrain:
        """The heights themselves; the path of a file counts from `folder`."""
        if isinstance(self.heights, Generated):
            heights, spacing = self.heights.heights(), self.heights.spacing_m
            middle = [-0.5 * spacing * (n - 1) for n in self.heights.counts()]
            return Terrain(
                self.name,
                heights,
                spacing,
                self.origin_m or (middle[0], middle[1]),
                self.about,
                f"generated: {self.heights.kind}",
            )
        path = folder / self.heights.file
        heights, spacing, place = self.heights.read(path)
        origin = self.origin_m or (0.0, 0.0)
        missing = np.argwhere(~np.isfinite(heights))
        if len(missing):
            heights = self._without_holes(heights, missing, spacing, origin, path)
        made_from = f"from {path.name}" + (f" ({place})" if place else "")
        return Terrain(self.name, heights, spacing, origin, self.about, made_from, len(missing))

    def _without_holes(
        self, heights: np.ndarray, missing: np.ndarray, spacing: float, origin: tuple[float, float], path: Path
    ) -> np.ndarray:
        row, column = missing[0]
        found = (
            f"{path}: {len(missing)} of {heights.size} heights are missing, the first at x = {origin[0] + spacing * column:g} m, "
            f"y = {origin[1] + spacing * row:g} m (row {row} from the south, column {column})"
        )
        if not self.fill_holes:
            own = (
                f", in a file of yours with heights: {{kind: geotiff, file: {path.name}}}"
                if path.suffix in (".tif", ".tiff")
                else ""
            )
            raise ParameterError(f"{found}; mend the map, or interpolate over them with fill_holes: true{own}")
        if len(missing) > MOST_FILLED * heights.size:
            raise ParameterError(f"{found}; expected at most {MOST_FILLED:.0%} to fill, cut a piece without holes out of it")
        return filled(heights)


def filled(heights: np.ndarray) -> np.ndarray:
    """The heights with holes filled: linearly between the heights around them (Delaunay's triangles), and with the nearest one
    where a hole reaches the edge of the map."""
    from scipy import interpolate as scattered
    from scipy import ndimage

    hole = ~np.isfinite(heights)
    around = ndimage.binary_dilation(hole, structure=np.ones((3, 3))) & ~hole
    known, wanted = np.argwhere(around), np.argwhere(hole)
    values = heights[around]
    result = heights.copy()
    guess = scattered.NearestNDInterpolator(known, values)(wanted)
    if np.linalg.matrix_rank(known - known[0]) == 2:
        linear = scattered.LinearNDInterpolator(known, values)(wanted)
        guess = np.where(np.isfinite(linear), linear, guess)
    result[hole] = guess
    return result


def terrain_names() -> list[str]:
    """Terrains of the library."""
    return sorted(path.stem for path in _FOLDER.glob("*.yaml"))


def find_terrain(name: str | Path) -> Terrain:
    """A terrain of the library by name, or one of the user's by the path of its .yaml file or its GeoTIFF."""
    path = Path(name)
    if path.suffix.lower() in (".tif", ".tiff"):
        return _of_geotiff(path)
    if path.suffix.lower() in (".npy", ".png"):
        kind, more = ("picture", ", height_range_m: [0.0, 1.0]") if path.suffix.lower() == ".png" else ("array", "")
        raise ParameterError(
            f"{path}: does not say how far apart its heights are; write a .yaml file with `schema: slipfit/terrain/1` and "
            f"`heights: {{kind: {kind}, file: {path.name}, spacing_m: 0.05{more}}}`"
        )
    if isinstance(name, Path) or path.suffix in (".yaml", ".yml") or "/" in name:
        return TerrainFile.load(path).build(path.parent)
    if name not in terrain_names():
        raise ParameterError(
            f"there is no terrain '{name}' in the library; {nearest(name.lower(), terrain_names())} "
            "(`slipfit terrain` shows them all; files of your own end in .yaml or .tif)"
        )
    return TerrainFile.load(_FOLDER / f"{name}.yaml").build(_FOLDER)


def _of_geotiff(path: Path) -> Terrain:
    name = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "_-") else "_" for letter in path.stem.lower())
    return TerrainFile(name=name or "terrain", heights=GeoTiffFile(kind="geotiff", file=path.name)).build(path.parent)


def _spread_of(values: np.ndarray) -> dict[str, float]:
    return {
        "median": float(np.median(values)),
        "at_95": float(np.quantile(values, 0.95)),
        "largest": float(np.max(values)),
    }


def _where_missing(terrain: Terrain, missing: np.ndarray) -> str:
    row, column = missing[0]
    return f"{len(missing)} of {terrain.heights_m.size} heights are missing, the first in row {row}, column {column}"
