"""What the columns of a measured table mean: what maps of all test rigs share."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, StrictInt, StrictStr, model_validator

from slipfit.errors import LogError, ParameterError
from slipfit.library.files import NamedFile
from slipfit.logs.column_map import Column, Entry, Rows
from slipfit.logs.csv_table import Table, read_table
from slipfit.logs.units import factor


class TableColumns(NamedFile):
    """Layout of the file. Each row stands for itself."""

    about: str = ""
    separator: Annotated[StrictStr, Field(pattern=r'^[^\s"\w.+\-]$|^\t$|^ $')] = ","
    header_rows: Rows = 1
    name_row: Annotated[StrictInt, Field(ge=1, le=1000)] | None = None  # the last row of the header, unless told
    skip_rows: Rows = 0  # below the header

    @classmethod
    def units(cls) -> dict[str, str]:
        """Our unit of every quantity that a map may name; "" where it has none."""
        raise NotImplementedError

    @model_validator(mode="after")
    def _columns_make_sense(self) -> Self:
        if self.name_row is not None and self.name_row > self.header_rows:
            raise ValueError(f"name_row is {self.name_row}, header_rows {self.header_rows}; names stand in the header")
        for name in self.units():
            try:
                self.source(name)
            except ParameterError as error:
                raise ValueError(f"{name}: {error}") from None
        return self

    @classmethod
    def find(cls, given: Self | Path | str) -> Self:
        """The map itself, or from its file."""
        return given if isinstance(given, cls) else cls.load(given)  # type: ignore[arg-type]

    def entry(self, name: str) -> Entry | None:
        """What the map says of a quantity."""
        found: Entry | None = getattr(self, name)
        return found

    def source(self, name: str) -> tuple[str | int, float] | None:
        """Column of a quantity, and what its cells are multiplied with to be in our unit."""
        entry = self.entry(name)
        if entry is None:
            return None
        column = entry if isinstance(entry, Column) else Column(column=entry)
        if column.increments:
            raise ParameterError("increments make no sense here; each row stands for itself")
        ours = self.units()[name]
        if column.unit and not ours:
            if column.unit not in ("%", "percent"):
                raise ParameterError(f"unit '{column.unit}' of a slip; expected none, or percent")
            return column.column, 0.01 * column.scale
        return column.column, column.scale * (factor(column.unit, ours) if column.unit else 1.0)

    def table(self, path: Path) -> Table:
        """The file's cells."""
        try:
            return read_table(
                path,
                separator=self.separator,
                header_rows=self.header_rows,
                name_row=self.name_row,
                skip_rows=self.skip_rows,
            )
        except LogError as error:  # the reader speaks of drives, which tables of test rigs are not
            words = str(error).replace("there are no samples", "there are no rows")
            raise LogError(words.replace("record the drive again", "write the table again")) from None
