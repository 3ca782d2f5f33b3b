"""Height maps from files: NumPy arrays, grey PNG pictures, GeoTIFF. Row 0 is the southern edge in what they give.

What a file does not know is NaN here; `terrain.py` refuses or fills it.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from slipfit.errors import ParameterError
from slipfit.library.files import FileModel
from slipfit.library.terrain_shapes import MOST_HEIGHTS, Length, Number

#: Spacings along x and y that differ by less are the same: what files in degrees or feet were converted to.
_SAME_SPACING = 1e-6

#: How a .npy file begins.
_NPY = b"\x93NUMPY"


class ArrayFile(FileModel):
    """A .npy file of heights in metres, (rows, columns): row r stands at y0 + r spacing, to the north, column c to the east."""

    kind: Literal["array"]
    file: str
    spacing_m: Length

    def read(self, path: Path) -> tuple[np.ndarray, float, str]:
        try:
            with path.open("rb") as file:
                if file.read(len(_NPY)) != _NPY:
                    raise ParameterError(
                        f"{path}: is no .npy file; from text, np.save('heights.npy', np.loadtxt('heights.csv', delimiter=',')) "
                        f"makes one"
                    )
            heights = np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise _unreadable(path, error, "a .npy file with numbers") from None
        if not isinstance(heights, np.ndarray) or heights.dtype.kind not in "fiu":
            found = f"numbers of type {heights.dtype}" if isinstance(heights, np.ndarray) else "several arrays"
            raise ParameterError(f"{path}: found {found}; expected one array of heights in metres")
        return _checked(heights.astype(float), path), self.spacing_m, ""


class PictureFile(FileModel):
    """A grey PNG with 8 or 16 bits: black is the first of `height_range_m`, white the second. Its top is north."""

    kind: Literal["picture"]
    file: str
    spacing_m: Length
    height_range_m: tuple[Number, Number]

    def read(self, path: Path) -> tuple[np.ndarray, float, str]:
        from PIL import Image

        try:
            with Image.open(path) as picture:
                if picture.width * picture.height > MOST_HEIGHTS:
                    raise ParameterError(_too_many(path, picture.height, picture.width))
                mode, grey = picture.mode, np.asarray(picture)
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            raise _unreadable(path, error, "a PNG picture") from None
        brightest = {"L": 255.0, "I;16": 65535.0, "I;16B": 65535.0, "I": 65535.0}.get(mode)
        if brightest is None:
            raise ParameterError(
                f"{path}: found a picture of mode {mode}; expected grey with 8 or 16 bits, without colour or alpha"
            )
        low, high = self.height_range_m
        return _checked(low + (high - low) * grey[::-1].astype(float) / brightest, path), self.spacing_m, ""


class GeoTiffFile(FileModel):
    """A GeoTIFF in metres, north up, with square pixels. Needs rasterio, which `pip install 'slipfit[terrain]'` brings."""

    kind: Literal["geotiff"]
    file: str
    band: Annotated[int, Field(ge=1, strict=True)] = 1

    def read(self, path: Path) -> tuple[np.ndarray, float, str]:
        try:
            import rasterio
        except ImportError:
            raise ParameterError(
                f"{path}: reading GeoTIFF needs the package rasterio, which is not installed; pip install 'slipfit[terrain]'"
            ) from None
        try:
            with rasterio.open(path) as source:
                spacing = _metres_per_pixel(source, path)
                if source.width * source.height > MOST_HEIGHTS:
                    raise ParameterError(_too_many(path, source.height, source.width))
                if self.band > source.count:
                    raise ParameterError(f"{path}: band {self.band} was asked for; the file has {source.count}")
                heights = source.read(self.band, masked=True).astype(float).filled(np.nan)
                heights = heights * source.scales[self.band - 1] + source.offsets[self.band - 1]
                grid = source.transform  # of corners; ours is the middle of the south-western pixel
                east, north = grid.c + 0.5 * grid.a, grid.f + (source.height - 0.5) * grid.e
                place = f"{source.crs.to_string()}, first height at {east:.2f} m east, {north:.2f} m north"
        except rasterio.errors.RasterioError as error:
            raise _unreadable(path, error, "a GeoTIFF") from None
        return _checked(heights[::-1], path), spacing, place


def _metres_per_pixel(source: Any, path: Path) -> float:
    """The spacing, once the grid is known to be in metres, north up and square."""
    crs, grid = source.crs, source.transform
    project = "project it first, for instance with `gdalwarp -t_srs EPSG:32633 -tr 1 1 -r cubic in.tif out.tif`"
    if crs is None:
        raise ParameterError(f"{path}: says nothing about its coordinates; expected a projection in metres, {project}")
    if crs.is_geographic:
        raise ParameterError(f"{path}: its grid is in degrees ({crs.to_string()}); expected a projection in metres, {project}")
    unit, factor = crs.linear_units_factor
    if factor != 1.0:
        raise ParameterError(f"{path}: its grid is in {unit}; expected metres, {project}")
    if grid.b or grid.d or not grid.a > 0.0 > grid.e:
        raise ParameterError(f"{path}: its grid is turned or not north up; expected rows from north to south, {project}")
    if abs(grid.a + grid.e) > _SAME_SPACING * grid.a:
        raise ParameterError(f"{path}: its pixels are {grid.a:g} x {-grid.e:g} m; expected squares, {project}")
    return float(grid.a)


def _checked(heights: np.ndarray, path: Path) -> np.ndarray:
    if heights.ndim != 2:
        raise ParameterError(f"{path}: heights have the shape {heights.shape}; expected two dimensions, rows and columns")
    if min(heights.shape) < 3:
        raise ParameterError(f"{path}: heights have the shape {heights.shape}; expected at least 3 rows and 3 columns")
    if heights.size > MOST_HEIGHTS:
        raise ParameterError(_too_many(path, *heights.shape))
    return heights


def _too_many(path: Path, rows: int, columns: int) -> str:
    return f"{path}: has {rows} x {columns} heights; expected at most {MOST_HEIGHTS:,}, cut a piece out or make it coarser"


def _unreadable(path: Path, error: Exception, expected: str) -> ParameterError:
    if isinstance(error, FileNotFoundError) or not path.exists():
        return ParameterError(f"{path}: there is no such file; check the path")
    first = (str(error).splitlines() or [type(error).__name__])[0]
    return ParameterError(f"{path}: cannot be read ({first}); expected {expected}")
