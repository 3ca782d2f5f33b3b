"""Pages: one self-contained HTML file each, with figures that the browser draws. They load nothing from anywhere.

A page is a template that extends `page.html.j2` and fills its blocks; figures reach it as `Panel`s. Colours are the names of
CSS variables (`var(--blue)`), so that one style sheet rules text and figures, light, dark and on paper.
"""

import json
from dataclasses import dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from slipfit.library.files import check_target, write_text

PAGE_FORMATS = (".html",)


@dataclass(frozen=True, eq=False, slots=True)
class Panel:
    """A figure in a page. Panels of the same `link` zoom their time axes together."""

    name: str  # its anchor: letters, digits, dashes
    figure: dict[str, Any]  # as Plotly reads it; see `board`
    caption: str
    link: str = ""

    @property
    def height_px(self) -> int:
        return int(self.figure["layout"]["height"])

    @property
    def script(self) -> Markup:
        """What the browser draws. `<` is written as JSON's escape, so that no text can end the script that holds it."""
        text = json.dumps(_plain(self.figure), allow_nan=False, separators=(",", ":"))
        return Markup(text.replace("<", "\\u003c"))


def _plain(entry: Any) -> Any:
    """As JSON has it: numbers that are not finite are left open."""
    if isinstance(entry, dict):
        return {key: _plain(inner) for key, inner in entry.items()}
    if isinstance(entry, list | tuple):
        return [_plain(inner) for inner in entry]
    if isinstance(entry, float):  # NumPy's doubles too
        return float(entry) if isfinite(entry) else None
    return entry


def render(template: str, **content: Any) -> str:
    """A page as text; whatever comes from users is escaped."""
    return _environment().get_template(template).render(**content)


def write_page(html: str, path: Path, *, force: bool = False) -> None:
    """Write a page; an existing file only with `force`."""
    check_target(path, force=force, formats=PAGE_FORMATS)
    write_text(path, html, force=force)


@cache
def _environment() -> Environment:
    loader = PackageLoader("slipfit.report", "templates")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)

    def verbatim(name: str) -> Markup:
        """A file of ours as it is: style and script."""
        return Markup(loader.get_source(environment, name)[0])

    environment.globals |= {"verbatim": verbatim, "plotly_js": lambda: Markup(get_plotlyjs())}
    return environment
