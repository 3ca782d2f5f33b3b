"""Where commands put a result that saves itself as JSON and can be drawn: checked before the work, written after it."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Saved(Protocol):
    """A record that writes itself."""

    def save(self, path: str | Path, *, force: bool = False) -> None: ...


def check_results(out: Path | None, plot: Path | None, *, force: bool) -> None:
    """Stop before any work where a result could not be written."""
    from slipfit.library.files import check_target

    if out:
        check_target(out, force=force, formats=(".json",))
    if plot:
        from slipfit.report.figures import FIGURE_FORMATS

        check_target(plot, force=force, formats=FIGURE_FORMATS)


def write_results(record: Saved, draw: Callable[[], "Figure"], out: Path | None, plot: Path | None, *, force: bool) -> list[Path]:
    """What was asked for; the paths that were written."""
    if out:
        record.save(out, force=force)
    if plot:
        from slipfit.report.figures import save_figure

        save_figure(draw(), plot, force=force)
    return [path for path in (out, plot) if path]
