"""slipfit terrain: what a user reads about a height map, and what is refused."""

import json

import numpy as np
import pytest

from slipfit.library import terrain_names


def test_the_list_names_every_terrain_of_the_library(slipfit):
    text = slipfit("terrain").out
    assert all(name in text for name in terrain_names())
    document = json.loads(slipfit("terrain", "--json").out)
    assert [t["name"] for t in document["terrains"]] == terrain_names()


def test_a_plane_is_shown_with_its_slope(slipfit):
    """Closed form: 20 degrees everywhere, nothing rough, 20 m x tan(20°) = 7.279 m from bottom to top."""
    result = slipfit("terrain", "show", "slope_20deg")
    assert result.code == 0
    assert "median 20.0°, 95 % below 20.0°, steepest 20.0°" in result.out
    document = json.loads(slipfit("terrain", "show", "slope_20deg", "--json").out)
    assert document["slope_rad"]["median"] == pytest.approx(np.radians(20.0), abs=1e-9)
    assert document["height_m"]["highest"] - document["height_m"]["lowest"] == pytest.approx(20.0 * np.tan(np.radians(20.0)))
    assert document["roughness_m"]["largest"] < 1e-6


def test_the_picture_is_written_once(slipfit, refused, tmp_path):
    result = slipfit("terrain", "show", "slope_20deg", "--plot", "p.png", "--json")
    assert json.loads(result.out)["picture"] == "p.png"
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    assert "p.png: exists already" in refused("terrain", "show", "slope_20deg", "--plot", "p.png")
    assert slipfit("terrain", "show", "slope_20deg", "--plot", "p.png", "--force").code == 0


def test_a_file_of_ones_own_is_found_beside_its_description(slipfit, tmp_path):
    """The path in the file counts from the folder of the file."""
    (tmp_path / "maps").mkdir()
    np.save(tmp_path / "maps" / "h.npy", np.zeros((5, 9)))
    (tmp_path / "maps" / "yard.yaml").write_text(
        "schema: slipfit/terrain/1\nname: yard\nheights: {kind: array, file: h.npy, spacing_m: 0.25}\n"
    )
    assert "9 x 5 heights, 0.25 m apart; from h.npy" in slipfit("terrain", "show", "maps/yard.yaml").out


def test_holes_misspelt_keys_and_pictures_without_scale_are_one_sentence(refused, tmp_path):
    heights = np.zeros((5, 9))
    heights[2, 3] = np.nan
    np.save(tmp_path / "h.npy", heights)
    file = tmp_path / "yard.yaml"
    file.write_text("schema: slipfit/terrain/1\nheights: {kind: array, file: h.npy, spacing_m: 0.25}\n")
    assert "1 of 45 heights are missing, the first at x = 0.75 m, y = 0.5 m" in refused("terrain", "show", "yard.yaml")
    file.write_text("schema: slipfit/terrain/1\nheights: {kind: array, file: h.npy, spacing_m: 0.25}\nfill_hole: true\n")
    assert "unknown key 'fill_hole'; did you mean 'fill_holes'" in refused("terrain", "show", "yard.yaml")
    assert "does not say how far apart its heights are" in refused("terrain", "show", "h.npy")
    assert "there is no such file" in refused("terrain", "show", "nowhere.tif")
