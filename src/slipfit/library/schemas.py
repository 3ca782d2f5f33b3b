"""JSON schemas of the files, for editors: generated from the models, kept in library/schemas, tested to be current."""

import json
from pathlib import Path

from slipfit.library.files import NamedFile

FOLDER = Path(__file__).parent / "schemas"


def schema_text(model: type[NamedFile]) -> str:
    """The JSON schema of one kind of file."""
    schema = model.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = model.kind()
    schema["required"] = ["schema", *(key for key in schema.get("required", []) if key != "schema")]
    return json.dumps(schema, indent=1, sort_keys=True) + "\n"


def schema_path(model: type[NamedFile]) -> Path:
    """Where the schema of a kind is kept: robot.1.json for slipfit/robot/1."""
    _, name, version = model.kind().split("/")
    return FOLDER / f"{name}.{version}.json"
