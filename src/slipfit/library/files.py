"""Files that users write: read safely, check every key, and say in one sentence what is wrong and where."""

import difflib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Self, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from slipfit.errors import ParameterError


class FileModel(BaseModel):
    """A part of a file: unknown keys are errors, records do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True, populate_by_name=True)


Model = TypeVar("Model", bound=FileModel)


class NamedFile(FileModel):
    """A whole file: it can be read, written, and made from a mapping."""

    @classmethod
    def kind(cls) -> str:
        """What the `schema` line says, as in slipfit/robot/1."""
        return str(cls.model_fields["schema_"].default)

    @classmethod
    def from_mapping(cls, data: Any, *, where: str) -> Self:
        """From what a YAML file holds; `where` names the file in sentences."""
        if not isinstance(data, Mapping):
            raise ParameterError(f"{where}: found {type(data).__name__} at the top level; expected keys and values")
        given = data.get("schema")
        if given != cls.kind():
            raise ParameterError(f"{where}: schema is {given!r}; expected '{cls.kind()}' as its first line")
        return validated(cls, data, where=where)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a file."""
        return cls.from_mapping(read_yaml(Path(path)), where=str(path))

    def to_mapping(self) -> dict[str, Any]:
        """As it stands in a file; what was not set is left out."""
        data = self.model_dump(by_alias=True, exclude_none=True, exclude_defaults=True)
        return {"schema": self.kind(), **{key: entry for key, entry in data.items() if key != "schema"}}

    def to_yaml(self) -> str:
        return yaml.safe_dump(self.to_mapping(), sort_keys=False, allow_unicode=True, width=110)

    def save(self, path: Path | str, *, force: bool = False) -> None:
        """Write a file; an existing one only with `force`."""
        write_text(Path(path), self.to_yaml(), force=force)


def read_yaml(path: Path) -> Any:
    """Content of a YAML file, read with the safe loader."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ParameterError(f"{path}: there is no such file; check the path") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ParameterError(f"{path}: cannot be read as text ({error}); expected a YAML file") from None
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise ParameterError(f"{path}: not valid YAML{place}: {problem}") from None


def write_text(path: Path, text: str, *, force: bool = False) -> None:
    """Write to a temporary name and rename, so that nobody ever finds half a file."""
    write_through(path, lambda temporary: temporary.write_text(text, encoding="utf-8"), force=force)


def write_through(path: Path, write: Callable[[Path], Any], *, force: bool = False) -> None:
    """Let `write` fill a temporary file beside `path`, then rename it."""
    refuse_overwrite(path, force=force)
    temporary = path.with_name(f".{path.stem}.part{path.suffix}")
    try:
        write(temporary)
        temporary.replace(path)
    except OSError as error:
        raise ParameterError(f"{path}: cannot be written ({error.strerror or error}); choose another place") from None
    finally:
        temporary.unlink(missing_ok=True)


def refuse_overwrite(path: Path, *, force: bool) -> None:
    """Stop before any work is done when the result could not be written."""
    if path.exists() and not force:
        raise ParameterError(f"{path}: exists already; choose another name, or overwrite it with --force")
    if not path.parent.is_dir():
        raise ParameterError(f"{path}: there is no folder {path.parent}; make it first")


def nearest(name: str, known: Iterable[str]) -> str:
    """The known names that a misspelt one may have meant, as a clause; all of them where none is near."""
    known = sorted(known)
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(f"'{c}'" for c in close) + "?"
    return "known are " + ", ".join(known)


def validated(model: type[Model], data: Any, *, where: str) -> Model:
    """The model from a mapping; the first thing that is wrong becomes a sentence with the path to its key."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise ParameterError(f"{where}: {_sentence(model, error)}") from None


def _sentence(model: type[BaseModel], error: ValidationError) -> str:
    # An unknown key explains a missing one (a misspelling gives both), so it is told first.
    problems = sorted(error.errors(include_url=False), key=lambda e: e["type"] != "extra_forbidden")
    first, more = problems[0], len(problems) - 1
    path = _path(first["loc"])
    also = f" (and {more} more to mend)" if more else ""
    if first["type"] == "extra_forbidden":
        return f"unknown key '{path}'; {nearest(str(first['loc'][-1]), _keys(model))}{also}"
    if first["type"] == "missing":
        return f"key '{path}' is missing{also}"
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "value_error":
        return f"{path}: {message}{also}" if path else f"{message}{also}"
    return f"{path}: found {first.get('input')!r}; {message[:1].lower()}{message[1:]}{also}"


def _path(loc: Iterable[int | str]) -> str:
    """wheels.at_m[2] from pydantic's tuple; the names of union members are left out."""
    parts: list[str] = []
    for entry in loc:
        if isinstance(entry, int):
            parts.append(f"[{entry}]")
        elif "[" not in entry and "(" not in entry:
            parts.append(f".{entry}" if parts else entry)
    return "".join(parts)


def _keys(annotation: Any) -> set[str]:
    """Every key that a model and the models in it know."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = annotation.model_fields
        inner = (_keys(field.annotation) for field in fields.values())
        return {field.alias or name for name, field in fields.items()}.union(*inner)
    return set().union(*(_keys(argument) for argument in getattr(annotation, "__args__", ())))
