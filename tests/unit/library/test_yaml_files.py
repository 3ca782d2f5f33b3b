"""Reading what users write, and writing so that nobody finds half a file."""

import os
from pathlib import Path

import pytest

from robots import changed
from slipfit.errors import ParameterError
from slipfit.library import Ground, Robot, find_ground, find_robot
from slipfit.library.files import check_folder, check_target, make_folder, nearest, read_yaml, write_text, write_through


def loaded(tmp_path, text):
    path = tmp_path / "file.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_yaml(path)


def test_a_file_is_read(tmp_path):
    assert loaded(tmp_path, "a: [1, 2]\nb: {c: text}\n") == {"a": [1, 2], "b": {"c": "text"}}


@pytest.mark.parametrize(
    "text",
    ["a: {", "a: b: c", "\tx", "!!bool x", '!!int ""', "!!timestamp x", "2020-99-99", "--- 1\n--- 2\n", "[" * 1000, "9" * 5000],
)
def test_what_is_no_yaml_is_one_sentence_with_the_file(tmp_path, text):
    with pytest.raises(ParameterError, match=r"file\.yaml: not valid YAML[^\n]*$"):
        loaded(tmp_path, text)


def test_a_sentence_tells_the_line(tmp_path):
    with pytest.raises(ParameterError, match="at line 3"):
        loaded(tmp_path, "a: 1\nb: 2\nc: ]\nd: 4\n")


def test_a_key_that_stands_twice_is_refused(tmp_path):
    """Of two masses the user meant one; which, only the user knows."""
    with pytest.raises(ParameterError, match="at line 3: key 'mass_kg' stands there twice"):
        loaded(tmp_path, "mass_kg: 20\nname: x\nmass_kg: 30\n")


def test_the_same_key_may_stand_in_different_places(tmp_path):
    assert loaded(tmp_path, "a: {source: x}\nb: {source: x}\n") == {"a": {"source": "x"}, "b": {"source": "x"}}


def test_objects_of_python_are_not_made(tmp_path):
    with pytest.raises(ParameterError, match="could not determine a constructor"):
        loaded(tmp_path, "!!python/object/apply:os.system ['echo']")


@pytest.mark.parametrize("content", [b"\xff\xfe\x00binary\x80", bytes(range(256))])
def test_binary_is_no_text(tmp_path, content):
    with pytest.raises(ParameterError, match="cannot be read as text"):
        loaded(tmp_path, content)


def test_missing_files_and_folders_are_told_apart(tmp_path):
    with pytest.raises(ParameterError, match="there is no such file"):
        read_yaml(tmp_path / "nowhere.yaml")
    with pytest.raises(ParameterError, match="cannot be read as text"):
        read_yaml(tmp_path)
    with pytest.raises(ParameterError, match="cannot be read as text"):
        find_ground("a\0b.yaml")


def test_a_misspelt_name_gets_the_nearest_and_a_strange_one_gets_all():
    assert nearest("p3att", ["husky", "p3at"]) == "did you mean 'p3at'?"
    assert nearest("xyz", ["b", "a"]) == "known are a, b"


@pytest.mark.parametrize("name", ["huskey", "Husky", "hsky"])
def test_a_misspelt_robot_gets_the_nearest(name):
    with pytest.raises(ParameterError, match=f"'{name}'.*did you mean.*'husky'"):
        find_robot(name)


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"wheels__radius_m": 110}, "wheels.radius_m"),
        ({"wheels__at_m": [[125, 201]]}, "wheels.at_m"),
        ({"powertrain__torque_limit_nm": -1}, "powertrain.torque_limit_nm"),
        ({"powertrain__torque_limit": 1}, "'powertrain.torque_limit'"),
        ({"mass(kg)": 1}, r"'mass\(kg\)'"),
        ({"roll_inertia_kgm2": "much"}, "roll_inertia_kgm2"),
        ({"wheels": {}}, "'wheels.radius_m' is missing"),
        ({"powertrain": {"torque_limit_nm": 2}}, "powertrain: key 'kind' is missing"),
        ({"powertrain": {"kind": "steam"}}, "powertrain: 'kind' is 'steam'; expected one of 'speed_loop', 'dc_motor'"),
        ({"powertrain": None}, "powertrain: found None; expected keys and values"),
    ],
)
def test_a_sentence_gives_the_path_of_the_key_as_the_file_has_it(changes, path):
    with pytest.raises(ParameterError, match=f"changed robot: (unknown key |key )?{path}"):
        changed("p3at", **changes)


@pytest.mark.parametrize(
    ("data", "found"),
    [(None, "nothing"), ([], "a list"), ("text", "text"), (3, "a single value")],
)
def test_a_file_has_keys_at_its_top(data, found):
    with pytest.raises(ParameterError, match=f"here: found {found} at the top level"):
        Robot.from_mapping(data, where="here")


def test_a_file_of_another_kind_is_refused():
    with pytest.raises(ParameterError, match="schema is 'slipfit/ground/1'; expected 'slipfit/robot/1'"):
        Robot.from_mapping({"schema": Ground.kind()}, where="here")


# --- writing ---------------------------------------------------------------------------------------------------------


def names_in(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))  # noqa: PTH208 (hidden files too)


def test_an_existing_file_is_overwritten_only_with_force(tmp_path):
    path = tmp_path / "a.yaml"
    write_text(path, "first")
    with pytest.raises(ParameterError, match=r"a\.yaml: exists already.*--force"):
        write_text(path, "second")
    assert path.read_text() == "first"
    write_text(path, "second", force=True)
    assert path.read_text() == "second"


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), ZeroDivisionError("a bug of ours")])
def test_a_writer_that_fails_leaves_nothing_behind_and_the_old_file_as_it_was(tmp_path, failure):
    path = tmp_path / "a.yaml"
    path.write_text("old")

    def half(temporary):
        temporary.write_text("half a fi")
        raise failure

    with pytest.raises((ParameterError, ZeroDivisionError)) as caught:
        write_through(path, half, force=True)
    assert path.read_text() == "old"
    assert names_in(tmp_path) == ["a.yaml"]
    if isinstance(failure, OSError):
        assert "No space left on device" in str(caught.value)


def test_the_file_under_its_name_is_never_half_written(tmp_path):
    path = tmp_path / "a.yaml"

    def write(temporary):
        assert temporary.parent == path.parent
        assert not path.exists()
        temporary.write_text("whole")

    write_through(path, write)
    assert path.read_text() == "whole"


def test_a_place_that_cannot_be_written_is_refused_before_any_work(tmp_path, monkeypatch):
    with pytest.raises(ParameterError, match="there is no folder"):
        check_target(tmp_path / "nowhere" / "a.csv", force=False)
    with pytest.raises(ParameterError, match="is a folder"):
        check_target(tmp_path, force=True)
    with pytest.raises(ParameterError, match=r"cannot write '\.txt'; expected a name that ends in \.csv, \.tum"):
        check_target(tmp_path / "a.txt", force=False, formats=(".csv", ".tum"))
    monkeypatch.setattr(os, "access", lambda *_: False)  # as for anyone but root in a read-only folder
    with pytest.raises(ParameterError, match="read-only"):
        check_target(tmp_path / "a.csv", force=False)


def test_a_folder_can_be_made_anew_but_not_where_a_file_is(tmp_path):
    (tmp_path / "file").write_text("")
    check_folder(tmp_path / "a" / "b", ["x.csv"], force=False)
    assert names_in(tmp_path) == ["file"]
    for place in ("file", "file/below"):
        with pytest.raises(ParameterError, match="file is a file; choose another place"):
            check_folder(tmp_path / place, [], force=True)
        with pytest.raises(ParameterError, match="cannot be a folder"):
            make_folder(tmp_path / place)
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    assert names_in(tmp_path) == ["a", "file"]
