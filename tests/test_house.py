"""Rules of the house as tests: imports look down, every test is collected, nothing names a machine."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src" / "slipfit"

#: From the ground up; packages in one row do not import each other (DESIGN, the house).
LAYERS = [
    {"errors", "signals"},
    {"kernels"},
    {"contact", "ground"},
    {"vehicles"},
    {"library"},
    {"twin", "database", "logs"},
    {"control"},
    {"simulate"},
    {"calibrate", "estimate", "study"},
    {"export", "engines", "drive", "report"},
    {"verify"},
    {"cli"},
]
RANK = {package: rank for rank, layer in enumerate(LAYERS) for package in layer}


def imported_packages(path):
    """Sub-packages of slipfit that one file imports."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return {name.split(".")[1] for name in names if name.startswith("slipfit.")}


@pytest.mark.parametrize("path", sorted(p for p in SRC.rglob("*.py") if p.parent != SRC), ids=lambda p: str(p.relative_to(SRC)))
def test_imports_look_down(path):
    package = path.relative_to(SRC).parts[0]
    for other in imported_packages(path) - {package}:
        assert RANK[other] < RANK[package], f"{path.name} in {package}/ reaches across or up to {other}/"


def test_every_package_has_its_place():
    packages = {p.name for p in SRC.iterdir() if (p / "__init__.py").exists()}
    assert packages <= set(RANK)


def test_every_test_is_collected():
    """A test that is never collected never fails: functions by name in the files against what pytest finds."""
    written = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
                written.add((path.relative_to(ROOT).as_posix(), node.name))
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "--color=no"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = {(m[1], m[2]) for m in re.finditer(r"^(tests/\S+?\.py)::(?:\w+::)?(\w+)", listing, re.MULTILINE)}
    assert written == found
    stray = [
        p
        for p in (ROOT / "tests").rglob("*.py")
        if "def test_" in p.read_text(encoding="utf-8") and not p.name.startswith("test_")
    ]
    assert not stray, "tests in files that pytest does not read"


def test_the_project_speaks_of_itself_alone():
    """No package registry and no path of one machine in what users get. The words are put together here, so as not to match."""
    words = ["py" + "pi.org", "python" + "hosted", "npm" + "js", "/ro" + "ot/", "/wo" + "rk/", "/ho" + "me/"]
    listing = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    for name in listing:
        path = ROOT / name
        if path.is_file() and path.suffix not in (".png", ".svg"):
            text = path.read_text(encoding="utf-8")
            assert not [word for word in words if word in text], name


def test_version_is_said_once_and_the_same():
    import slipfit

    assert f'version = "{slipfit.__version__}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f"version: {slipfit.__version__}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
