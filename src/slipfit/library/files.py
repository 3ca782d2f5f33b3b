"""Files that users write: read safely, check every key, and say in one sentence what is wrong and where."""

import difflib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from reprlib import repr as shown  # what was found in a file, at most a line of it
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from slipfit.errors import ParameterError

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)

#: What file systems allow for a name (255 bytes), less what the name of an unfinished file is longer by.
LONGEST_NAME = 240

#: What pydantic calls things that files have other names for.
_WORDS = dict.fromkeys(("model_type", "model_attributes_type", "dict_type"), "expected keys and values")
_WORDS |= dict.fromkeys(("list_type", "tuple_type"), "expected a list, as in [1, 2]")
_WORDS |= dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "expected a whole number, as 100")
_WORDS |= dict.fromkeys(("float_type", "float_parsing"), "expected a number, as 0.5")
_WORDS |= {
    "finite_number": "expected a finite number",
    "too_long": "expected at most {max_length} entries",
    "too_short": "expected at least {min_length} entries",
    "greater_than": "expected more than {gt:g}",
    "greater_than_equal": "expected at least {ge:g}",
    "less_than": "expected less than {lt:g}",
    "less_than_equal": "expected at most {le:g}",
}


class _OneSentence(ModelMetaclass):
    """Records that are built in Python from wrong values raise our error, with the sentence that a file would get. What pydantic
    builds by itself, from a file or inside another record, does not come by here: there it collects the path to the value."""

    def __call__(cls, *args: Any, **values: Any) -> Any:
        try:
            return super().__call__(*args, **values)
        except ValidationError as error:
            raise ParameterError(f"{cls.__name__}: {_sentence(cast(type[BaseModel], cls), values, error)}") from None


class FileModel(BaseModel, metaclass=_OneSentence):
    """A part of a file: unknown keys are errors, records do not change."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        arbitrary_types_allowed=True,
        populate_by_name=True,
        allow_inf_nan=False,
        defer_build=True,  # a drive reads three kinds of file; validators of the others are never built
    )


Model = TypeVar("Model", bound=FileModel)


class NamedFile(FileModel):
    """A whole file: it can be read, written, and made from a mapping."""

    @classmethod
    def kind(cls) -> str:
        """What the `schema` line says, as in slipfit/robot/1."""
        return str(cls.model_fields["schema_"].default)

    @classmethod
    def file_schema(cls) -> dict[str, Any]:
        """JSON schema of such files, for editors."""
        return cls.model_json_schema(by_alias=True)

    @classmethod
    def from_mapping(cls, data: Any, *, where: str) -> Self:
        """From what a YAML file holds; `where` names the file in sentences."""
        if not isinstance(data, Mapping):
            found = {type(None): "nothing", list: "a list", str: "text"}.get(type(data), "a single value")
            raise ParameterError(f"{where}: found {found} at the top level; expected keys and values")
        given = data.get("schema")
        if given != cls.kind():
            raise ParameterError(f"{where}: schema is {shown(given)}; expected '{cls.kind()}' as its first line")
        return validated(cls, data, where=where)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a file."""
        return cls.from_mapping(read_yaml(Path(path)), where=str(path))

    def to_mapping(self) -> dict[str, Any]:
        """As it stands in a file; what was not set is left out."""
        data = self.model_dump(by_alias=True, exclude_none=True)
        return {"schema": self.kind(), **{key: entry for key, entry in data.items() if key != "schema"}}

    def to_yaml(self) -> str:
        return yaml.safe_dump(self.to_mapping(), sort_keys=False, allow_unicode=True, width=110)

    def save(self, path: Path | str, *, force: bool = False) -> None:
        """Write a file; an existing one only with `force`."""
        write_text(Path(path), self.to_yaml(), force=force)


class _Loader(yaml.SafeLoader):
    """The safe loader, which also refuses a key that stands twice: it would take the last and drop the other."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise yaml.MarkedYAMLError(problem=f"key '{key.value}' stands there twice", problem_mark=key.start_mark)
                seen.add(key.value)
        return node


def read_yaml(path: Path) -> Any:
    """Content of a YAML file, read with the safe loader."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ParameterError(f"{path}: there is no such file; check the path") from None
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or a path that cannot be one
        raise ParameterError(f"{path}: cannot be read as text ({error}); expected a YAML file") from None
    try:
        return yaml.load(text, _Loader)
    except (yaml.YAMLError, RecursionError, ValueError, LookupError, AttributeError, TypeError) as error:
        # PyYAML stumbles over tags that do not fit their value (!!bool x) with whatever Python raises there.
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise ParameterError(f"{path}: not valid YAML{place}: {problem}") from None


def write_text(path: Path, text: str, *, force: bool = False) -> None:
    """Write to a temporary name and rename, so that nobody ever finds half a file."""
    write_through(path, lambda temporary: temporary.write_text(text, encoding="utf-8"), force=force)


def write_json(path: Path, document: Any, *, force: bool = False) -> None:
    """One JSON document, whole or not at all."""
    write_text(path, json.dumps(document, indent=1) + "\n", force=force)


def write_through(path: Path, write: Callable[[Path], Any], *, force: bool = False, formats: Sequence[str] = ()) -> None:
    """Let `write` fill a temporary file beside `path`, then rename it."""
    check_target(path, force=force, formats=formats)
    temporary = _part(path)
    try:
        write(temporary)
        temporary.replace(path)
    except OSError as error:
        raise ParameterError(f"{path}: cannot be written ({error.strerror or error}); choose another place") from None
    finally:
        temporary.unlink(missing_ok=True)


def check_target(path: Path, *, force: bool, formats: Sequence[str] = ()) -> None:
    """Stop before any work is done when the result could not be written: `formats` are the endings that a name may have."""
    if formats and path.suffix not in formats:
        raise ParameterError(f"{path}: cannot write '{path.suffix}'; expected a name that ends in {', '.join(formats)}")
    if len(os.fsencode(path.name)) > LONGEST_NAME:
        raise ParameterError(f"{path.name[:40]}…: a name of {len(path.name)} letters; expected at most {LONGEST_NAME} bytes")
    if path.is_dir():
        raise ParameterError(f"{path}: is a folder; give the name of a file")
    if path.exists() and not force:
        raise ParameterError(f"{path}: exists already; choose another name, or overwrite it with --force")
    if not path.parent.is_dir():
        raise ParameterError(f"{path}: there is no folder {path.parent}; make it first")
    if not os.access(path.parent, os.W_OK):
        raise ParameterError(f"{path}: cannot be written, the folder {path.parent} is read-only; choose another place")
    probe = _part(path)
    try:  # a full or read-only disk, a folder that makes no files: only trying tells
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise ParameterError(f"{path}: cannot be written ({error.strerror or error}); choose another place") from None


def _part(path: Path) -> Path:
    """Where a file is written before it gets its name."""
    return path.with_name(f".{path.stem}.part{path.suffix}")


def check_folder(folder: Path, names: Iterable[str], *, force: bool) -> None:
    """The same for several files in a folder, which may not be there yet."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not there.is_dir():
        raise ParameterError(f"{folder}: cannot be a folder, {there} is a file; choose another place")
    if not os.access(there, os.W_OK):
        raise ParameterError(f"{folder}: cannot be written, the folder {there} is read-only; choose another place")
    for name in names if folder.exists() else ():
        check_target(folder / name, force=force)


def make_folder(folder: Path) -> None:
    """A folder, if it is not there yet."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(f"{folder}: cannot be a folder ({error.strerror}); choose another place") from None


def module_name(stem: str) -> str:
    """The nearest name that Python can import: my-robot becomes my_robot."""
    name = "".join(letter if f"a{letter}".isidentifier() else "_" for letter in stem)
    return name if name.isidentifier() else f"_{name}"


def _close(name: str, known: Iterable[str]) -> list[str]:
    return difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.5)


def nearest(name: str, known: Iterable[str]) -> str:
    """The known names that a misspelt one may have meant, as a clause; all of them where none is near."""
    known = sorted(known)
    close = _close(name, known)
    if close:
        return "did you mean " + " or ".join(f"'{c}'" for c in close) + "?"
    return "known are " + ", ".join(known)


def validated(model: type[Model], data: Any, *, where: str) -> Model:
    """The model from a mapping; the first thing that is wrong becomes a sentence with the path to its key."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise ParameterError(f"{where}: {_sentence(model, data, error)}") from None


def _sentence(model: type[BaseModel], data: Any, error: ValidationError) -> str:
    # An unknown key explains a missing one (a misspelling gives both), so it is told first.
    problems = sorted(error.errors(include_url=False), key=lambda e: e["type"] != "extra_forbidden")
    first = problems[0]
    path, *others = dict.fromkeys(_path(p["loc"], data, is_missing=p["type"] == "missing") for p in problems)
    also = f" (and {len(others)} more to mend)" if others else ""
    if first["type"] == "extra_forbidden":
        return f"unknown key '{path}'; {_meant(model, first['loc'], path)}{also}"
    if first["type"] == "missing":
        return f"key '{path}' is missing{also}"
    if first["type"] == "union_tag_not_found":
        return f"{path}: key {first['ctx']['discriminator']} is missing{also}"
    if first["type"] == "union_tag_invalid":
        tag = first["ctx"]
        return f"{path}: {tag['discriminator']} is '{tag['tag']}'; expected one of {tag['expected_tags']}{also}"
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "value_error":
        return f"{path}: {message}{also}" if path else f"{message}{also}"
    known = _WORDS.get(first["type"])
    expected = known.format(**first.get("ctx", {})) if known else f"{message[:1].lower()}{message[1:]}"
    return f"{path}: found {shown(first['input'])}; {expected}{also}"


def _path(loc: Sequence[int | str], data: Any, *, is_missing: bool) -> str:
    """wheels.at_m[2] from pydantic's tuple. What is no key of the file, such as the name of a union's member, is left out."""
    parts: list[str] = []
    for k, entry in enumerate(loc):
        is_sought = is_missing and k == len(loc) - 1
        if isinstance(data, Mapping) and (entry in data or is_sought):
            parts.append(f".{entry}" if parts else str(entry))
            data = data.get(entry)
        elif isinstance(data, list | tuple) and isinstance(entry, int):
            parts.append(f"[{entry}]")
            data = data[entry] if entry < len(data) else None
    return "".join(parts)


def _meant(model: type[BaseModel], loc: Sequence[int | str], path: str) -> str:
    """What an unknown key may have meant, as a clause: the same key in its place below, or the nearest of those that are known
    where it stands; if it is like none of them, of those below."""
    found, sought = _models_at(model, loc[:-1]), str(loc[-1])
    places = sorted({place for m in found for place in _places_below(m, sought)})
    if places:
        return "did you mean " + " or ".join(f"'{path.removesuffix(sought)}{place}'" for place in places[:3]) + "?"
    own, below = {name for m in found for name in _fields(m)}, set().union(*(_keys_below(m) for m in found))
    return nearest(sought, below if _close(sought, below) and not _close(sought, own) else own)


def _models_at(model: type[BaseModel], loc: Sequence[int | str]) -> set[type[BaseModel]]:
    """The models that a path leads to. Names of a mapping's entries and of a union's members are no fields and lead no deeper."""
    found = _models(model)
    for entry in loc:
        deeper = [_models(field.annotation) for m in found for name, field in _fields(m).items() if name == entry]
        found = set().union(*deeper) or found
    return found


def _places_below(model: type[BaseModel], sought: str) -> set[str]:
    """Where a key of this name stands in the models in a model."""
    found = {(name, inner) for name, field in _fields(model).items() for inner in _models(field.annotation)}
    here = {f"{name}.{sought}" for name, inner in found if sought in _fields(inner)}
    return here.union(*({f"{name}.{place}" for place in _places_below(inner, sought)} for name, inner in found))


def _keys_below(model: type[BaseModel]) -> set[str]:
    """Every key of the models in a model."""
    inner = set().union(*(_models(field.annotation) for field in model.model_fields.values()))
    return set().union(*({*_fields(m), *_keys_below(m)} for m in inner))


def _fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _models(annotation: Any) -> set[type[BaseModel]]:
    """The models that an annotation is made of: itself, members of a union, entries of a mapping or list."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {annotation}
    return set().union(*(_models(argument) for argument in getattr(annotation, "__args__", ())))
