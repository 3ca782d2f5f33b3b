"""JSON schemas of the files, for editors: generated from the models, kept in library/schemas, tested to be current."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from slipfit.library.files import NamedFile

FOLDER = Path(__file__).parent / "schemas"


def schema_text(model: type[NamedFile]) -> str:
    """The JSON schema of one kind of file; a robot's or a twin's is that of its drive."""
    # Version 1 calls the part of skid-steer robots Robot; files of editors that point there stay valid.
    schema = json.loads(json.dumps(model.file_schema()).replace("SkidSteerRobot", "Robot"))
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = model.kind()
    schema["required"] = ["schema", *(key for key in schema.get("required", []) if key != "schema")]
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


def schema_by_drive(
    models: Mapping[str, type[NamedFile]], name: str, placed: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """One schema of files whose content follows a drive; `placed` puts a rule about the robot where the file has the robot."""
    drives = {drive: model.model_json_schema(by_alias=True) for drive, model in models.items()}
    shared = {key: entry for schema in drives.values() for key, entry in schema.pop("$defs").items()}
    keys = sorted(set.intersection(*(set(schema["required"]) for schema in drives.values())))
    return {
        "$defs": shared | {f"{name}_{drive}": schema for drive, schema in drives.items()},
        "type": "object",
        **placed({"properties": {"drive": {"enum": sorted(drives)}}}),
        "required": keys,
        "allOf": [
            {"if": placed({"properties": {"drive": {"const": drive}}}), "then": {"$ref": f"#/$defs/{name}_{drive}"}}
            for drive in sorted(drives)
        ],
    }


def schema_path(model: type[NamedFile]) -> Path:
    """Where the schema of a kind is kept: robot.1.json for slipfit/robot/1."""
    _, name, version = model.kind().split("/")
    return FOLDER / f"{name}.{version}.json"
