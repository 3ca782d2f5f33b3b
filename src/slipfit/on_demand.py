"""Names of a package that are loaded when they are used: a package's front door may show what takes long to import."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def names_on_demand(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose names live in the given modules of it, {name: module}."""

    def load(name: str) -> Any:
        if name in homes:
            return getattr(import_module(f"{package}.{homes[name]}"), name)
        raise AttributeError(f"module '{package}' has no attribute '{name}'")

    return load
