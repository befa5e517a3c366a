"""Functions and constants of files beside the kernel's, or of its package, that it imports."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module
from tests.checks import agrees

SHAPES = """
import math as m
from numba import njit
from .sizes import WIDTH as width
from . import sizes

HALF = 0.5 * sizes.WIDTH


def _outer(u):
    return m.exp(-u) * HALF


@njit
def weight(x, c):
    s = abs(x - c)
    if s < HALF:
        return 1.0 - s / width
    return _outer(s)
"""
SIZES = "WIDTH = 2.0\nTABLE = (1.0, 2.5, 4.0)\n"
KERNEL = """
import math
from numba import cuda
{imports}

HALF = 3.0
_outer = 1.5


@cuda.jit
def spread(x, y, c):
    i = cuda.grid(1)
    if i < x.shape[0]:
        m = HALF * x[i]
        y[i] = {weight}(x[i], c) + m + _outer * math.sin(x[i])
"""
FORMS = {
    "from .shapes import weight": "weight",
    "from pkg.shapes import weight as w": "w",
    "from . import shapes": "shapes.weight",
    "from .shapes import *": "weight",
    "from pkg import shapes as s": "s.weight",
    "from . import given": "given.weight",
    "from pkg.given import weight": "weight",
}


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "pkg"
    folder.mkdir()
    files = {"__init__": "", "shapes": SHAPES, "sizes": SIZES, "given": "from .shapes import weight\n"}
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def translated(folder, source, name="kernel.py", **options):
    (folder / name).write_text(source)
    done = pipeline.translate(source, str(folder / name), Options(**options))
    assert done.text is not None, done.diagnostics
    return done


def reference(x, c):
    s = np.abs(x - c)
    return np.where(s < 1.0, 1 - s / 2, np.exp(-s) * 1.0) + 3 * x + 1.5 * np.sin(x)


@pytest.mark.parametrize("imports", FORMS)
def test_helpers_of_other_files_are_read_with_what_they_use_there(package, imports):
    done = translated(package, KERNEL.format(imports=imports, weight=FORMS[imports]))
    assert done.raised == ("spread",)  # nothing else was asked for
    assert not done.diagnostics
    x = np.linspace(-3, 3, 41).astype("f")
    y = np.asarray(load_module(done.text).spread(x, 0 * x, np.float32(0.25)))
    np.testing.assert_allclose(y, reference(x, 0.25), rtol=1e-5)
    agrees(done, pipeline.Request(), imports)


def test_lines_are_marked_with_their_file_and_its_comments_stay_there(package):
    (package / "shapes.py").write_text(SHAPES.replace("    return m.exp", "    # of the other file\n    return m.exp"))
    done = translated(package, KERNEL.format(imports="from .shapes import weight", weight="weight"))
    assert "# shapes.py:" in done.text and "of the other file" not in done.text


def test_a_kernel_of_another_file_is_launched(package):
    (package / "steps.py").write_text(
        "from numba import cuda\n@cuda.jit\ndef step(u, v):\n    i = cuda.grid(1)\n"
        "    if 0 < i < u.shape[0] - 1:\n        v[i] = 0.5 * (u[i - 1] + u[i + 1])\n"
        "@cuda.jit\ndef other(u):\n    u[cuda.grid(1)] = 1\n"
    )
    host = (
        "from numba import cuda\nfrom steps import step\ndef run(u, v):\n    blocks = (u.shape[0] + 31) // 32\n"
        "    step[blocks, 32](u, v)\n    step[blocks, 32](v, u)\n    return u\n"
    )
    done = translated(package, host, "run.py")
    assert set(done.raised) == {"step", "run"}
    u, v = np.arange(40.0, dtype="f") ** 2, np.zeros(40, "f")
    w, expected = v.copy(), u.copy()
    w[1:-1] = 0.5 * (u[:-2] + u[2:])
    expected[1:-1] = 0.5 * (w[:-2] + w[2:])
    found = load_module(done.text).run(u, v)
    np.testing.assert_allclose(np.asarray(found[0] if isinstance(found, tuple) else found), expected, rtol=1e-6)


def test_a_table_and_a_constant_of_another_file(package):
    source = (
        "from numba import cuda\nfrom .sizes import TABLE, WIDTH\nN = 2 * WIDTH\n@cuda.jit\ndef f(x, y, k):\n"
        "    i = cuda.grid(1)\n    if i < x.shape[0]:\n        y[i] = N * x[i] + TABLE[k[i]]\n"
    )
    done = translated(package, source)
    y = load_module(done.text).f(np.ones(3, "f"), np.zeros(3, "f"), np.array([2, 0, 1], "i"))
    np.testing.assert_allclose(np.asarray(y), 4 + np.array([4.0, 1.0, 2.5]))


@pytest.mark.parametrize(
    "shapes",
    [
        SHAPES.replace("return _outer(s)", "return unknown(s)"),  # what its own file does not say is not known here,
        SHAPES.replace("HALF = 0.5 * sizes.WIDTH", "import os\nHALF = float(os.environ['HALF'])"),  # whatever it means
        SHAPES + "\n\ndef weight(x, c):\n    return c\n",  # bound twice
        "def weight(x c):",  # no Python
        "",
    ],
)
def test_what_the_other_file_does_not_say_is_refused(package, shapes):
    (package / "shapes.py").write_text(shapes)
    source = (
        KERNEL.format(imports="from .shapes import weight", weight="weight") + "\n\ndef unknown(s):\n    return s\n"
    )
    done = pipeline.translate(source, str(package / "kernel.py"))
    assert done.text is None
    assert {d.code for d in done.diagnostics} <= {"KR102", "KR103", "KR104"}, done.diagnostics


def test_a_mistake_is_reported_where_it_stands(package):
    (package / "shapes.py").write_text(SHAPES.replace("m.exp(-u)", "m.unheard_of(u)"))
    source = KERNEL.format(imports="from .shapes import weight", weight="weight")
    done = pipeline.translate(source, str(package / "kernel.py"))
    places = [(d.span.file, d.span.line) for d in done.diagnostics if d.span]
    line = 1 + SHAPES.replace("m.exp(-u)", "m.unheard_of(u)").split("\n").index("    return m.unheard_of(u) * HALF")
    assert ((package / "shapes.py").as_posix(), line) in places, done.diagnostics


DECORATED = """
from numba import cuda
from .launchers import {name}, prange

@{name}
def scale(x, y, a):
    {loop}
"""


@pytest.mark.parametrize(
    "loop",
    [
        "i = cuda.grid(1)\n    if i < x.shape[0]:\n        y[i] = a * x[i]",
        "for i in prange(x.shape[0]):\n        y[i] = a * x[i]",
    ],
)
def test_a_decorator_of_the_package_marks_what_runs_in_parallel(package, loop):
    done = translated(package, DECORATED.format(name="compiled", loop=loop))
    assert done.raised == ("scale",)
    agrees(done, pipeline.Request(), loop)


def test_a_helper_that_is_wrapped_under_its_own_name(package):
    source = KERNEL.format(imports="from .shapes import weight", weight="weight")
    source = source.replace("HALF = 3.0", "weight = cuda.jit(weight, device=True, inline=True)\nHALF = 3.0")
    assert translated(package, source).raised == ("spread",)


PARTS = """
from numba import cuda

@cuda.jit
def deposit(cell, w, re, im, rho):
    i = cuda.grid(1)
    if i < cell.shape[0]:
        cuda.atomic.add(rho.real, (cell[i], 0), w[i] * re[i])
        cuda.atomic.{sub}(rho.imag, (cell[i], 0), w[i] * im[i])
"""


@pytest.mark.parametrize("sub", ["add", "sub"])
def test_atomics_on_the_parts_of_complex_numbers(sub):
    done = pipeline.translate(PARTS.format(sub=sub), "case.py")
    assert done.text is not None, done.diagnostics
    agrees(done, pipeline.Request(), sub)


def test_other_atomics_on_a_part_are_refused():
    assert pipeline.translate(PARTS.format(sub="max"), "case.py").text is None


CHANGED = """
import numpy as np
from numba import cuda

T = [1.0, 2.0, 3.0]
U = np.array([1.0, 2.0, 3.0])
{change}


@cuda.jit
def f(x, y, k):
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = x[i] * T[k[i]] + U[2]
"""
CHANGES = ["T[0] = 9.0", "U[1] += 5.0", "T.append(4.0)", "U.fill(7.0)", "np.sqrt(T, out=U)", "del T[0]"]
CHANGES += ["def setup():\n    U[0] = 3.0", "for i in range(3):\n    T[i] *= 2"]


@pytest.mark.parametrize("change", CHANGES)
def test_tables_that_change_after_they_are_made_are_no_constants(change):
    done = pipeline.translate(CHANGED.format(change=change), "case.py")
    assert done.text is None and {d.code for d in done.diagnostics} == {"KR102"}


def test_tables_of_that_name_elsewhere_leave_them_alone():
    own = "def other(T):\n    T[0] = 3.0\n\n\ndef more():\n    U = np.zeros(3)\n    U[0] = T[1]\n    return U"
    done = pipeline.translate(CHANGED.format(change=own), "case.py", Options(only=("f",)))
    assert done.raised == ("f",), done.diagnostics
