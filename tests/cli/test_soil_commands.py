"""slipfit soil: list, show, plates, shear, cone, and what it refuses."""

import json
import re

import numpy as np
import pytest

from slipfit.library import Ground

MAP = """schema: slipfit/plate_columns/1
test: run
sinkage: {column: z, unit: mm}
pressure: {column: p, unit: kPa}
diameter: {column: d, unit: mm}
"""


@pytest.fixture
def files(tmp_path):
    """Dry sand's table row (k_c 0.99, k_phi 1528.43 kN, n 1.1) written out, in mm and kPa."""
    lines = ["run,z,p,d"]
    for d in (60, 120):
        for z in np.linspace(1.0, 30.0, 20):
            lines.append(f"{d},{z:g},{(0.99 / (5e-4 * d) + 1528.43) * (1e-3 * z) ** 1.1:.8g},{d}")
    (tmp_path / "plates.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "map.yaml").write_text(MAP)
    (tmp_path / "none.csv").write_text(lines[0] + "\n")
    (tmp_path / "zero.csv").write_text("\n".join([lines[0], *(line.rsplit(",", 1)[0] + ",0" for line in lines[1:])]) + "\n")
    (tmp_path / "as_force.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "as_force.yaml").write_text(MAP.replace("pressure: {column: p, unit: kPa}", "force: {column: p, scale: 1000}"))
    return tmp_path


def test_all_rows_of_the_table_are_listed(slipfit):
    assert len(json.loads(slipfit("soil", "list", "--json").out)["soils"]) >= 21
    assert "1528.43" in slipfit("soil", "list").out


def test_a_soil_is_shown_with_its_source(slipfit):
    text = slipfit("soil", "show", "lete_sand").out
    assert "Wong2008" in text
    for line in (
        r"k_phi +5301000 ± \d+ +N/m\^\(n\+2\) +Wong2008",
        r"friction_angle_rad +0.542797 ± [\d.]+ +rad \(31.1° ± [\d.]+°\)",
        r"density_kgpm3 +1600 +kg/m³ +default: ",
        r"slip_sinkage +1 +default: ",
        r"± is one standard deviation",
    ):
        assert re.search(line, text), line
    values = [re.split(r" ± |  +", line.strip())[1] for line in text.splitlines() if "Wong2008" in line and ":" not in line]
    ends = {line.index(value) + len(value) for line, value in zip(text.splitlines()[2:], values, strict=False)}
    assert len(ends) == 1  # values end in one column


def test_plates_become_a_ground_a_picture_and_a_page(slipfit, files):
    """The constants come back exactly: the table has no noise."""
    result = slipfit(
        "soil", "plates", "plates.csv", "--columns", "map.yaml", "--soil", "lete_sand", "-o", "my_sand.yaml",
        "--plot", "p.svg", "--report", "p.html", "--save", "p.json", "--json",
    )  # fmt: skip
    assert result.code == 0
    assert json.loads(result.out)["values"]["n"] == pytest.approx(1.1, rel=1e-4)
    assert Ground.load(files / "my_sand.yaml").values()["k_phi"] == pytest.approx(1528430.0, rel=1e-3)
    assert "Combinations that the data determine" in (files / "p.html").read_text()


def test_a_fits_constants_have_units_and_its_ground_notes(slipfit, files):
    """Numbers as in the docstring of `files`; two tests only, which the fit doubts. Advice stays on the screen."""
    result = slipfit("soil", "plates", "plates.csv", "--columns", "map.yaml", "--soil", "lete_sand", "-o", "my_sand.yaml")
    assert re.search(r"k_phi +1528000 ± \S+ N/m\^\(n\+2\) +90 %: ", result.out)
    assert "± is one standard deviation" in result.out
    assert "press more often" in result.out
    written = Ground.load(files / "my_sand.yaml")
    assert written.about == "plates fit of plates.csv"
    (note,) = written.notes
    assert note.startswith("few tests: 2 tests tell nothing of how beds differ")
    assert note.endswith("intervals assume that beds' strengths differ by 10 %")
    assert "note: few tests: 2 tests tell nothing" in slipfit("soil", "show", "my_sand.yaml").out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("plates", "plates.csv", "--columns", "map.yaml", "-o", "a.yaml"), "name a soil to take them from"),
        (("plates", "plates.csv", "--columns", "map.yaml", "--soil", "gravel"), "expected a soil"),
        (("plates", "plates.csv", "--columns", "map.yaml", "--plot", "a.gif"), "cannot write '.gif'"),
        (("cone", "-400", "--kind", "clay"), "a cone index of -400 kPa; it is the pressure on a cone that is pushed in"),
        (("cone", "0.4", "--kind", "clay"), "0.4 kPa; expected 5 to 10000 kPa; if it is in MPa, write 400"),
        (("show", "dry_sandd"), "there is no soil 'dry_sandd' in the library; the nearest of 22 is 'dry_sand'"),
        (
            ("plates", "as_force.csv", "--columns", "as_force.yaml", "--soil", "dry_sand", "-o", "a.yaml"),
            "the fit of these plates gives no soil",
        ),
        (("plates", "zero.csv", "--columns", "map.yaml", "--soil", "dry_sand", "-o", "a.yaml"), "a diameter of 0 m"),
        (("plates", "none.csv", "--columns", "map.yaml", "--soil", "dry_sand", "-o", "a.yaml"), "no rows below the header"),
    ],
)
def test_bad_input_is_one_sentence(slipfit, files, arguments, words):
    result = slipfit("soil", *arguments)
    assert result.code == 2
    assert words in result.err
    assert not (files / "a.yaml").exists()


@pytest.mark.parametrize(
    ("find", "replace", "words"),
    [
        ("value: 1.1\n", "value: -0.1\n", "n = -0.1"),
        ("value: 0.488692190558", "value: 1.2217", "70° where 0° to 60° are allowed"),
        ("value: 1040.0", "value: 1.04", "multiply by 1000"),
        ("value: 1528430.0", "value: 1528.43", "multiply k_c and k_phi by 1000"),
    ],
)
def test_soils_that_cannot_be_are_refused(slipfit, files, find, replace, words):
    """n <= 0, phi beyond 60 degrees, kPa for Pa and kN for N: the sentence names the factor."""
    text = slipfit("soil", "show", "dry_sand", "--yaml").out
    assert find in text
    (files / "bad.yaml").write_text(text.replace(find, replace))
    result = slipfit("soil", "show", "bad.yaml")
    assert result.code == 2
    assert words in result.err
