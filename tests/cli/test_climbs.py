"""Tracked robots from the command line: climbs of the library, what is written, and climbs that cannot be."""

import json
from pathlib import Path

import pytest
import yaml

from slipfit.library import find_robot

CURB = {"schema": "slipfit/climb/1", "mu_static": 0.8, "obstacle": {"kind": "curb", "height_m": 0.08, "distance_m": 0.1}}


def write(name, data):
    Path(name).write_text(yaml.safe_dump(data))
    return name


def test_the_library_lists_climbs_and_a_shown_one_is_a_start(slipfit):
    text = slipfit("scenarios").out
    assert "curb_163mm" in text
    assert "curb 163 mm" in text
    Path("mine.yaml").write_text(slipfit("scenarios", "show", "curb_117mm_ice").out)
    shown = json.loads(slipfit("scenarios", "show", "mine.yaml", "--json").out)
    assert shown["schema"] == "slipfit/scenario/2"
    assert shown["ground"]["obstacle"]["height_m"] == 0.117


def test_a_climb_writes_motion_page_picture_and_replay(slipfit):
    files = [f"climb{ending}" for ending in (".csv", ".html", ".png", ".rrd")]
    flags = [entry for pair in zip(("-o", "--report", "--plot", "--replay"), files, strict=True) for entry in pair]
    done = slipfit("simulate", "packbot", "--scenario", write("curb.yaml", CURB), *flags, "--json")
    document = json.loads(done.out)
    assert done.code == 0
    assert document["verdict"] == "climbed"
    assert document["written"] == files
    assert all(Path(name).stat().st_size > 1000 for name in files)


def test_a_climb_tells_its_grip_reserve_if_asked(slipfit, refused):
    """Its sign is the verdict, and it is where the factor says: 1 - factor for what would do with less."""
    curb = write("curb.yaml", CURB)
    assert "reserve" not in slipfit("simulate", "packbot", "--scenario", curb).out
    text = slipfit("simulate", "packbot", "--scenario", curb, "--reserve", "--report", "climb.html").out
    assert "  reserve  +0." in text
    assert "would still climb with" in text
    assert "grip reserve" in Path("climb.html").read_text()
    document = json.loads(slipfit("simulate", "packbot", "--scenario", curb, "--reserve", "--json").out)["grip_reserve"]
    assert document["reserve"] == pytest.approx(1.0 - document["factor"])
    assert document["factor_low"] < document["factor"] < document["factor_high"]
    assert document["beyond"] == "slipped"
    assert "--reserve: grip reserves are of climbs by tracked robots, and p3at is on wheels" in refused(
        "simulate", "p3at", "--reserve"
    )
    level = write("level.yaml", {"schema": "slipfit/climb/1", "mu_static": 0.8})
    assert "level.yaml: the scenario has no goal" in refused("simulate", "packbot", "--scenario", level, "--reserve")


def test_a_climb_that_fails_exits_with_one(slipfit):
    """A slope of 30 degrees on ice: 0.577 is more than any friction there."""
    steep = {"surface": "ice", "obstacle": {"kind": "ramp", "height_m": 0.5, "slope_rad": 0.524}, "schema": "slipfit/climb/1"}
    done = slipfit("simulate", "packbot", "--scenario", write("ramp.yaml", steep))
    assert done.code == 1
    assert "The tracks slipped" in done.out


def test_grounds_beside_the_climb_are_found(slipfit, refused):
    """Paths in a file count from its own folder."""
    Path("soils").mkdir()
    Path("soils/mine.yaml").write_text(slipfit("grounds", "show", "dry_sand", "--yaml").out)
    write("soils/curb.yaml", CURB | {"soil": "mine.yaml"})
    assert json.loads(slipfit("scenarios", "show", "soils/curb.yaml", "--json").out)["ground"]["soil"] == "soils/mine.yaml"
    assert "nowhere.yaml: there is no such file" in refused(
        "simulate", "packbot", "--scenario", write("c.yaml", CURB | {"soil": "nowhere.yaml"})
    )


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"obstacle": {"kind": "curb", "height_m": 0.6}}, "obstacle.height_m = 0.6 m: the curb is higher than packbot reaches"),
        ({"obstacle": {"kind": "curb"}}, "obstacle.height_m is missing; how high is the curb?"),
        ({"step_s": 0.01}, "step_s = 0.01 s is too long for a contact stiffness of 1e+08 N/m^p under 31.8 kg; take at most 0.00"),
        ({"soil": {"k_phi": 1e6, "n": 1.0}}, "soil.k_c is missing; it is"),
        ({"surface": "ice"}, "give either surface"),
        ({"surface": "lab_floor", "mu_static": None}, "surface lab_floor has the law wheel_slip"),
        ({"mu_dynamic": 0.9}, "mu_dynamic = 0.9 is larger than mu_static = 0.8"),
    ],
)
def test_climbs_that_cannot_be_are_one_sentence(refused, changes, sentence):
    data = {key: entry for key, entry in (CURB | changes).items() if entry is not None}
    said = refused("simulate", "packbot", "--scenario", write("curb.yaml", data), "-o", "climb.csv")
    assert sentence in said
    assert "curb.yaml" in said


def test_belts_of_few_segments_are_refused_with_what_contact_needs(refused):
    data = find_robot("packbot").to_mapping()
    data["tracks"]["segments"] = 10
    said = refused("simulate", write("coarse.yaml", data))
    assert "tracks.segments = 10 gives" in said
    assert "contact needs at least 4 and 3, take more" in said


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (["packbot", "--scenario", "curb_117m"], "did you mean 'curb_117mm'"),
        (
            ["p3at", "--scenario", "curb_117mm"],
            "ground.obstacle: p3at is on wheels, and obstacles are not simulated",
        ),
        (["p3at", "--replay", "x.rrd"], "replays are written of tracked robots"),
        (["packbot", "--slope-deg", "10"], "--slope-deg: packbot is tracked, and a climb's ground stands in its file"),
        (["packbot", "--ground", "ice"], "--ground: packbot is tracked"),
        (["packbot", "--readings", "x.mcap"], "--readings: packbot is tracked, and climbs have no sensors"),
        (["packbot", "-o", "x.txt"], "cannot write '.txt'"),
        (["packbot", "--replay", "x.bin"], "expected a name that ends in .rrd"),
    ],
)
def test_flags_that_a_climb_does_not_have_are_refused(refused, flags, sentence):
    assert sentence in refused("simulate", *flags)


def test_a_climbs_file_is_not_for_wheels(refused):
    said = refused("simulate", "p3at", "--scenario", write("curb.yaml", CURB))
    assert "ground.obstacle: p3at is on wheels, and obstacles are not simulated" in said
