"""Every number of the library has a source that can be looked up, and every file reads back as it was."""

import re
from pathlib import Path

import pytest
import yaml

import slipfit
from slipfit.contact import LAWS
from slipfit.library import Ground, citation, find_ground, find_robot, ground_names, references, robot_names

SOURCE = Path(slipfit.__file__).parent
BIB = (SOURCE / "library" / "references.bib").read_text(encoding="utf-8")
KEYS = set(re.findall(r"(?m)^@\w+\{([^,\s]+),", BIB))
FILES = sorted([*(SOURCE / "library" / "robots").glob("*.yaml"), *(SOURCE / "library" / "grounds").glob("*.yaml")])
TEXTS = {"schema", "name", "about", "drive", "kind", "law", "loads"}


def records(entry, path=""):
    """Path and content of every number in a file."""
    if isinstance(entry, dict) and "value" not in entry:
        for key, below in entry.items():
            if key not in TEXTS:
                yield from records(below, f"{path}.{key}")
    else:
        yield path, entry


def test_the_library_has_the_robots_and_grounds_of_its_folders():
    assert {"p3at", "husky", "jackal", "warthog", "atrv_jr", "lynxmotion_4wd3"} <= set(robot_names())
    assert len(FILES) == len(robot_names()) + len(ground_names())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
class TestEveryFile:
    def test_every_number_has_a_source_or_a_reason(self, path):
        for key, record in records(yaml.safe_load(path.read_text(encoding="utf-8"))):
            assert isinstance(record, dict), f"{key} is a bare number"
            source = record["source"]
            assert source in KEYS or (source == "assumed" and record.get("note")), f"{key} comes from '{source}'"

    def test_every_work_named_in_a_note_is_in_the_list(self, path):
        assert set(re.findall(r"\b[A-Z][A-Za-z]+(?:19|20)\d\d[a-z]?\b", path.read_text(encoding="utf-8"))) <= KEYS

    def test_the_file_is_called_as_what_it_describes(self, path):
        assert yaml.safe_load(path.read_text(encoding="utf-8"))["name"] == path.stem

    def test_what_is_saved_reads_back_equal(self, path, tmp_path):
        load = {"robots": find_robot, "grounds": Ground.load}[path.parent.name]
        record = load(path)
        record.save(tmp_path / "again.yaml")
        assert load(tmp_path / "again.yaml") == record


@pytest.mark.parametrize("name", robot_names())
def test_robots_are_found_by_name(name):
    assert find_robot(name).name == name


@pytest.mark.parametrize("name", ground_names())
def test_grounds_are_found_by_name(name):
    assert find_ground(name).name == name


def test_p3at_is_the_one_of_the_gazebo_library():
    """SPEC 6: 14.0 + 4 x 1.5 kg, half wheelbase 0.125 m, half track 0.201 m, wheels 0.110 m, about 0.755 kg m²."""
    p3at = find_robot("p3at")
    assert p3at.mass_kg.value == 20.0
    assert p3at.wheels.at_m.value[0] == (0.125, 0.201)
    assert p3at.wheels.radius_m.value == 0.110
    assert p3at.yaw_inertia_kgm2.value == pytest.approx(0.755, abs=1e-3)


def test_lynxmotion_has_the_published_constants():
    """SPEC 6: 2.148 kg, 0.0635 m, J_z 0.0334 kg m², arm 0.1245 m; motor 4 ohm, 0.1 H, 0.35, 0.005 kg m², 0.008 + 0.002."""
    rover = find_robot("lynxmotion_4wd3")
    values = {name: p.value for name, p in rover.parameters().items()}
    published = {
        "mass_kg": 2.148,
        "radius_m": 0.0635,
        "yaw_inertia_kgm2": 0.0334,
        "resistance_ohm": 4.0,
        "inductance_h": 0.1,
        "torque_constant_nm_per_a": 0.35,
        "back_emf_v_s_per_rad": 0.35,
        "rotor_inertia_kgm2": 0.005,
        "viscous_friction_nm_s_per_rad": 0.010,
    }
    assert {name: values[name] for name in published} == pytest.approx(published)
    assert rover.track_m / 2 == pytest.approx(0.1245)


def test_every_work_cited_in_the_source_is_in_the_list():
    cited = {
        (path.name, key)
        for path in SOURCE.rglob("*.py")
        for key in re.findall(r"\[([A-Z][A-Za-z]+\d{4}[a-z]?)\]", path.read_text(encoding="utf-8"))
    }
    assert cited, "no citation found: the pattern is wrong"
    assert {(where, key) for where, key in cited if key not in KEYS} == set()


@pytest.mark.parametrize("law", LAWS.values(), ids=lambda law: law.name)
def test_every_law_names_works_of_the_list(law):
    assert law.references
    assert set(law.references) <= KEYS


def test_no_key_stands_twice_in_the_list():
    assert len(re.findall(r"(?m)^@", BIB)) == len(KEYS) == len(references())


@pytest.mark.parametrize("key", sorted(KEYS))
def test_every_work_has_authors_and_a_title(key):
    """A citation in one line: authors, title, and a year where there is one."""
    line = citation(key)
    assert line.count(",") >= 1
    assert not set("{}\n") & set(line)


def test_a_source_that_is_no_work_is_told_as_it_is():
    assert citation("assumed") == "assumed"
