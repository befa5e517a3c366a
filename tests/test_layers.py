"""The house of the design: imports go down only, dependencies stay in their rooms, files hold one subject."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "kraise"

# a layer may import itself and what is listed; "" is kraise/__init__.py (the version)
BELOW = {
    "": set(),
    "options": set(),
    "diagnostics": {""},
    "ir": {"diagnostics"},
    "dialects": {"ir", "diagnostics"},
    "frontends": {"dialects", "ir", "diagnostics"},
    "analysis": {"ir", "diagnostics"},
    "raising": {"analysis", "ir", "diagnostics", "options"},
    "emit": {"ir", "diagnostics"},
    "verify": {"ir", "diagnostics"},
    "pipeline": {"frontends", "raising", "emit", "verify", "ir", "diagnostics", "options"},
    "cli": {"pipeline", "diagnostics", "options", ""},
    "__main__": {"cli"},
}
# third-party packages and the only places that import them
ROOMS = {
    "libcst": ("frontends/python/", "frontends/fence.py", "emit/", "cli/"),
    "lark": ("frontends/cuda_c/",),
    "pcpp": ("frontends/cuda_c/",),
    "islpy": ("analysis/",),
    "jax": ("verify/",),
    "numba": ("verify/",),
    "numpy": ("verify/", "ir/", "frontends/", "raising/collective/"),
    "click": ("cli/",),
    "rich": ("cli/",),
    "pygments": ("cli/",),
}
LONGEST = 400

FILES = sorted(p for p in PACKAGE.rglob("*.py"))


@cache
def read(path: Path) -> tuple[list[tuple[str, int]], frozenset[str]]:
    """A file's imports (dotted, also those within functions, with their lines) and its strings."""
    imported: list[tuple[str, int]] = []
    strings = set()
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names):
                imported += [(alias.name, node.lineno) for alias in names]
            case ast.ImportFrom(module, names, 0):
                imported += [(f"{module}.{alias.name}", node.lineno) for alias in names]
            case ast.ImportFrom():
                raise AssertionError(f"{path}:{node.lineno}: relative import")
            case ast.Constant(str() as text):
                strings.add(text)
    return imported, frozenset(strings)


def layer(path: Path) -> str:
    """The layer of a file of the package."""
    first = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def test_imports_go_down_only():
    wrong = []
    for path in FILES:
        mine = layer(path)
        assert mine in BELOW, f"{mine} is a new layer: say in BELOW what it may see"
        for name, line in read(path)[0]:
            parts = name.split(".")
            if parts[0] == "kraise":
                theirs = parts[1] if len(parts) > 1 and parts[1] in BELOW else ""
                if theirs != mine and theirs not in BELOW[mine]:
                    wrong.append(f"{path}:{line}: {mine or 'kraise'} imports {name}")
    assert not wrong


def test_dependencies_stay_in_their_rooms():
    wrong = []
    for path in FILES:
        relative = path.relative_to(PACKAGE).as_posix()
        for name, line in read(path)[0]:
            rooms = ROOMS.get(name.split(".")[0])
            if rooms is not None and not relative.startswith(rooms):
                wrong.append(f"{path}:{line}: {name} belongs in {rooms}")
    assert not wrong


def test_files_hold_one_subject():
    long = {str(p.relative_to(ROOT)): n for p in FILES if (n := len(p.read_text().splitlines())) > LONGEST}
    assert not long, f"more than {LONGEST} lines: {long}"


def test_no_rule_knows_a_sample():
    samples = {p.name for p in (ROOT / "samples").iterdir() if p.is_dir()}
    words = {"square", "product", "transpose", "gather", "count", "convolution"}  # English before they are names
    for path in FILES:
        if layer(path) in ("raising", "emit", "analysis"):
            assert not (samples - words) & read(path)[1], path


def loaded(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after ``code``."""
    script = f"import sys\n{code}\nprint(*sorted({{m.partition('.')[0] for m in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split("\n")[-2].split())


def test_the_command_line_starts_light():
    assert not loaded("import kraise.cli") & {"libcst", "rich", "pygments", "lark", "islpy", "numpy", "jax"}


def test_translate_loads_neither_jax_nor_numpy():
    source = "def f(x, y, n):\\n    for i in range(n):\\n        y[i] = x[i] * x[i]\\n"
    got = loaded(
        f"from kraise import pipeline\nt = pipeline.translate('{source}', 'a.py')\nassert t.text, t.diagnostics"
    )
    assert not got & {"jax", "jaxlib", "numpy", "rich", "click", "lark"}
