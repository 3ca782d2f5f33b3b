"""JSON schemas for editors: current, and of the same opinion as the loader."""

import copy
import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

import slipfit
from slipfit.calibration.soil import PlateColumns, ShearColumns, WheelColumns
from slipfit.calibration.tyre.columns import TyreColumns
from slipfit.library import Ground, Robot, TerrainFile
from slipfit.library.schemas import schema_path, schema_text
from slipfit.simulation import Scenario

LIBRARY = Path(slipfit.__file__).parent / "library"
FOLDERS = {Robot: "robots", Ground: "grounds", TerrainFile: "terrains", Scenario: "scenarios"}
FILES = [(model, path) for model, folder in FOLDERS.items() for path in sorted((LIBRARY / folder).glob("*.yaml"))]

#: Maps of tables of test rigs: one as it is used, and a part of it that neither schema nor loader takes.
MAPS = {
    PlateColumns: (
        {"test": "run", "sinkage": {"column": "z", "unit": "mm"}, "pressure": "p", "diameter_m": 0.1},
        {"diameter_m": 100.0},
    ),
    ShearColumns: ({"displacement": {"column": 0, "unit": "mm"}, "shear": "tau", "normal_pa": 5000.0}, {"normal_pa": -1.0}),
    WheelColumns: (
        {"slip": "i", "load": "N", "force_along": "F", "sinkage": "z", "radius_m": 0.1, "width_m": 0.1, "grouser_m": 0.01},
        {"radius_m": 0.0},
    ),
    TyreColumns: ({"slip": "i", "load_n": 50.0, "force_along": {"column": "F", "scale": -1}}, {"load_n": 0.0}),
}


def checker(model):
    return Draft202012Validator(json.loads(schema_path(model).read_text(encoding="utf-8")))


@pytest.mark.parametrize("model", [*FOLDERS, *MAPS], ids=lambda model: model.__name__)
def test_the_kept_schema_is_current(model):
    """`make schemas` writes them anew."""
    assert schema_path(model).read_text(encoding="utf-8") == schema_text(model)


@pytest.mark.parametrize("model", [*FOLDERS, *MAPS], ids=lambda model: model.__name__)
def test_the_schema_is_a_schema(model):
    Draft202012Validator.check_schema(checker(model).schema)


@pytest.mark.parametrize(("model", "path"), FILES, ids=lambda entry: getattr(entry, "stem", None))
def test_every_file_of_the_library_fits_and_a_misspelt_key_does_not(model, path):
    check, data = checker(model), yaml.safe_load(path.read_text(encoding="utf-8"))
    assert list(check.iter_errors(data)) == []
    for key in data:
        misspelt = copy.deepcopy(data)
        misspelt[key + "x"] = misspelt.pop(key)
        assert not check.is_valid(misspelt), key


@pytest.mark.parametrize(
    ("model", "name", "path", "value"),
    [
        (Robot, "p3at", "mass_kg", -1),
        (Robot, "p3at", "mass_kg", {"value": 20, "sorce": "x"}),
        (Robot, "p3at", "wheels.radius_m", 110),
        (Robot, "p3at", "powertrain", {"torque_limit_nm": 2.0}),
        (Robot, "p3at", "schema", "slipfit/ground/1"),
        (Ground, "gravel", "law", "colomb"),
        (Ground, "gravel", "parameters.mu_lng", 0.5),
        (Ground, "gravel", "parameters.mu_long", -0.5),
        (TerrainFile, "crater_rim", "heights.kind", "crator"),
        (TerrainFile, "crater_rim", "heights.rim_radius_m", 0.0),
        (TerrainFile, "bump_3cm", "heights.size_m", [1.0]),
        (Scenario, "step_and_spin", "seed", -1),
        (Scenario, "stairs", "ground.obstacle.kind", "stair"),
        (Scenario, "stairs", "ground.obstacle.steps", 0),
        (Scenario, "stairs", "straight.speed_mps", 30.0),
        (Scenario, "step_and_spin", "ground.slope_rad", 10.0),
        (Scenario, "step_and_spin", "sensors.imu.rate_hz", 0),
    ],
)
def test_schema_and_loader_refuse_the_same(model, name, path, value):
    data = yaml.safe_load((LIBRARY / FOLDERS[model] / f"{name}.yaml").read_text(encoding="utf-8"))
    *folders, key = path.split(".")
    entry = data
    for folder in folders:
        entry = entry[folder]
    entry[key] = value
    assert not checker(model).is_valid(data)
    with pytest.raises(slipfit.SlipfitError):
        model.from_mapping(data, where="here")


@pytest.mark.parametrize("model", MAPS, ids=lambda model: model.__name__)
def test_schema_and_loader_agree_on_maps_of_tables(model):
    good, wrong = MAPS[model]
    good = {"schema": model.kind(), **good}
    assert list(checker(model).iter_errors(good)) == []
    model.from_mapping(good, where="here")
    for bad in (good | wrong, good | {"colum": "x"}):
        assert not checker(model).is_valid(bad)
        with pytest.raises(slipfit.SlipfitError):
            model.from_mapping(bad, where="here")
