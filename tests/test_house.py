"""Rules of the house as tests: imports look down, every test is collected, nothing names a machine."""

import ast
import subprocess
from pathlib import Path

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src" / "slipfit"

#: From the ground up; packages in one row do not import each other (DESIGN, the house).
LAYERS = [
    {"errors", "signals", "on_demand"},
    {"kernels"},
    {"contact", "ground"},
    {"vehicles"},
    {"library"},
    {"twin", "database", "logs"},
    {"control"},
    {"simulation"},
    {"calibration", "estimation", "study"},
    {"exporters", "engines", "hardware", "report"},
    {"verification"},
    {"cli"},
]
#: Settings that would change which files and functions pytest collects.
COLLECTION_SETTINGS = ("python_files", "python_functions", "python_classes", "collect_ignore", "norecursedirs")
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


def test_imports_look_down():
    upward = []
    for path in sorted(p for p in SRC.rglob("*.py") if p.parent != SRC):
        package = path.relative_to(SRC).parts[0]
        others = imported_packages(path) - {package}
        upward += [
            f"{path.relative_to(SRC)} reaches across or up to {other}/" for other in others if RANK[other] >= RANK[package]
        ]
    assert not upward


def test_every_package_has_its_place():
    packages = {p.name for p in SRC.iterdir() if (p / "__init__.py").exists()}
    assert packages <= set(RANK)


def test_every_test_is_collected():
    """A test that is never collected never fails. pytest collects functions of modules named test_*, at the top level or in a
    class named Test*; of two with one name it sees the second only."""
    for path in (ROOT / "tests").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        written = [n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name.startswith("test")]
        assert not written or path.name.startswith("test_"), f"{path.name}: tests in a file that pytest does not read"
        scopes = [tree, *(n for n in tree.body if isinstance(n, ast.ClassDef) and n.name.startswith("Test"))]
        found = {(k, n.name) for k, scope in enumerate(scopes) for n in scope.body if isinstance(n, ast.FunctionDef)}
        assert sorted(written) == sorted(name for _, name in found if name.startswith("test")), path.name
    assert not [n for n in COLLECTION_SETTINGS if n in (ROOT / "pyproject.toml").read_text(encoding="utf-8")]


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
