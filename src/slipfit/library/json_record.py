"""Results that are one JSON document: how they are written, read back, and refused."""

import json
from pathlib import Path
from typing import Any, ClassVar, Self

from slipfit.errors import ParameterError
from slipfit.library.files import write_json


class JsonRecord:
    """A frozen record that gives its document and reads it; it says what it is called, and which command writes it."""

    __slots__ = ()

    schema: ClassVar[str]
    called: ClassVar[str]  # "soil fit"
    written_by: ClassVar[str]  # "slipfit soil"

    def to_document(self) -> dict[str, Any]:
        """For --json and files."""
        raise NotImplementedError

    @classmethod
    def _of_document(cls, data: dict[str, Any], where: str) -> Self:
        """The record; what is missing or of another kind may raise as Python does."""
        raise NotImplementedError

    @classmethod
    def from_document(cls, data: Any, *, where: str) -> Self:
        """From what `to_document` gave."""
        if not isinstance(data, dict) or data.get("schema") != cls.schema:
            found = data.get("schema") if isinstance(data, dict) else type(data).__name__
            raise ParameterError(f"{where}: schema is {found!r}; expected {cls.schema!r}, as {cls.written_by} writes it")
        try:
            return cls._of_document(data, where)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise ParameterError(f"{where}: not a whole {cls.called} ({error}); write it anew with {cls.written_by}") from None

    def save(self, path: Path | str, *, force: bool = False) -> None:
        """Write a JSON file; an existing one only with `force`."""
        write_json(Path(path), self.to_document(), force=force)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read what `save` wrote."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ParameterError(f"{path}: cannot be read as JSON ({error}); expected a {cls.called}") from None
        return cls.from_document(data, where=str(path))
