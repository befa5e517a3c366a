"""What is not accepted is refused with its line, all problems of a file at once; no input makes the reader fail."""

from __future__ import annotations

import textwrap

import pytest

from kraise.diagnostics import Refused
from kraise.frontends.python import read

from .conftest import HEADER, refusals


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("x[i] = unknown", "KR102"),
        ("x[i] = unknown(i)", "KR103"),
        ("x[i] = np.linalg.norm(x)", "KR103"),
        ("x[i] = x.sum(axis=0)", "KR299"),
        ("x[i] = random.random()", "KR103"),
        ("x[i] = x", "KR101"),
        ("x[i] = x @ x", "KR101"),
        ("x[i] = 1 if x is y else 0", "KR101"),
        ("x[i] = 'a'", "KR101"),
        ("x[i] = [j for j in x]", "KR101"),
        ("x[i] = (i := 3)", "KR101"),
        ("x[3:0:'a'] = 1", "KR101"),
        ("x[i], y = cuda.grid(3)", "KR104"),
        ("assert i", "KR101"),
        ("raise ValueError", "KR101"),
        ("import os", "KR101"),
        ("global G", "KR101"),
        ("print(i)", "KR103"),
        ("with x: pass", "KR101"),
        ("return i", "KR101"),
        ("x = 3 if x[0] else 4", "KR299"),
        ("yield i", "KR101"),
        ("def f(*v): pass", "KR101"),
        ("for q in range(0, 3, 0): x[q] = 1", "KR104"),
        ("for q in range(3): q = 1", "KR299"),
        ("cuda.atomic.add(i, 0, 1)", "KR104"),
        ("x[i] = cuda.atomic.add(x, 0, 1) + x[i]", "KR210"),
        ("x[i] = 1 if i else cuda.atomic.add(x, 0, 1)", "KR210"),
        ("while cuda.atomic.add(x, 0, 1): pass", "KR210"),
        ("s = cuda.shared.array(i, np.float32)", "KR104"),
        ("s = cuda.shared.array(3, 'abc')", "KR104"),
        ("T[0] = 1", "KR210"),
        ("v = cuda.random.xoroshiro128p_uniform_float32(x, i)", "KR103"),
    ],
)
def test_line(line: str, code: str):
    found = refusals(f"T = (1, 2)\n@cuda.jit\ndef k(x):\n    i = cuda.grid(1)\n    {line}\n")
    assert (code, 5, "k") in found, found
    assert all(f[1] >= 5 for f in found)


def test_all_problems_at_once_and_the_others_come_out():
    source = """
        @cuda.jit
        def a(x):
            x[0] = foo(1)
            assert x[0]
            x[1] = bar
        @cuda.jit
        def b(x):
            x[0] = 1
        @cuda.jit
        def c(x):
            try:
                x[0] = 1
            except ValueError:
                pass
    """
    assert refusals(source) == [("KR103", 4, "a"), ("KR101", 5, "a"), ("KR102", 6, "a"), ("KR101", 12, "c")]
    module, _ = read(HEADER + textwrap.dedent(source), "t.py")
    assert [f.name for f in module.functions] == ["b"]


def test_a_refused_helper_refuses_its_caller():
    source = """
        def h(x):
            return foo(x)
        @cuda.jit
        def k(x):
            x[0] = h(x[0])
    """
    assert refusals(source) == [("KR103", 3, "h"), ("KR103", 6, "k")]


def test_recursion():
    source = "@njit\ndef a(n):\n    return b(n)\n@njit\ndef b(n):\n    n = a(n)\n    return n\n"
    assert {(c, k) for c, _, k in refusals(source)} == {("KR209", "a"), ("KR209", "b")}


def test_repeated_kernel_names():
    assert refusals("@cuda.jit\ndef k(x):\n    x[0] = 1\n@cuda.jit\ndef k(x):\n    x[0] = 2\n") == [("KR107", 5, "k")]


def test_a_view_that_may_be_two_rows():
    source = """
        def k(a, out, c):
            for i in range(3):
                if c > i:
                    row = a[i]
                else:
                    row = a[0]
                out[i] = row[0]
    """
    assert refusals(source) == [("KR299", 8, "k")]


def test_a_view_bound_anew_in_a_loop_is_not_used_before_it():
    source = """
        def k(a, out):
            row = a[0]
            for i in range(3):
                out[i] = row[0]
                row = a[i]
    """
    assert refusals(source) == [("KR299", 5, "k")]


def test_a_view_from_a_branch_inside_a_loop():
    source = """
        def k(a, idx, out):
            for t in range(3):
                i = idx[t]
                if t == 0:
                    row = a[i]
                out[t] = row[0]
    """
    assert refusals(source) == [("KR299", 7, "k")]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("def f(:\n", "KR100"),
        ("x = 1\n  y = 2\n", "KR100"),
        ("x = '", "KR100"),
        ("x = 1\x00", ""),
        ("x = " + "(" * 10_000 + "1" + ")" * 10_000, "KR105"),
        ("x = " + "-" * 10_000 + "1", "KR105"),
        ("x = " + "+".join(["1"] * 20_000), "KR105"),
        ("x = " + "a[" * 5_000 + "1" + "]" * 5_000, "KR105"),
    ],
)
def test_unreadable(text: str, code: str):
    with pytest.raises(Refused) as caught:
        read(text, "bad.py")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.span is not None
    assert diagnostic.code == code or (not code and diagnostic.code in ("KR100", "KR105"))


def test_a_long_sum_inside_a_kernel_is_read_or_refused():
    text = HEADER + "@cuda.jit\ndef k(x):\n    x[0] = " + " + ".join(["x[1]"] * 900) + "\n"
    try:
        module, problems = read(text, "t.py")
    except Refused as refused:
        assert refused.diagnostics[0].code == "KR105"
    else:
        assert module.functions and not problems


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n", '"""doc"""\n', "x = 1\r\ny = 2\r\n", "\ufeffx = 1\n"])
def test_files_without_kernels(text: str):
    module, problems = read(text, "t.py")
    assert module.functions == () and problems == ()
