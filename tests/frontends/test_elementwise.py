"""Array expressions made loops: what the loops look like, and what is refused."""

from __future__ import annotations

import textwrap

import pytest

from kraise.frontends.python import read
from kraise.ir.print_kernel import module_text

from .conftest import HEADER, lower, refusals


def check(text: str, expected: str) -> None:
    assert text.strip() == textwrap.dedent(expected).strip()


def test_slices_start_where_they_say():
    check(
        lower("@njit\ndef f(a, x):\n    x[1:-1] = a[2:] - a[:-2]\n"),
        """
        plain f(a: number[1], x: number[1]):
          for i in 0 .. same_extent(x.shape[0] - 2, a.shape[0] - 2):
            x[1 + i] = a[2 + i] - a[i]
        """,
    )


def test_what_is_read_is_read_first():
    check(
        lower("@njit\ndef f(a):\n    a[1:] = a[:-1]\n"),
        """
        plain f(a: number[1]):
          heap moved: number[a.shape[0] - 1] like a
          for i in 0 .. a.shape[0] - 1:
            moved[i] = a[i]
          for j in 0 .. a.shape[0] - 1:
            a[1 + j] = moved[j]
        """,
    )


def test_columns_that_differ_need_no_copy():
    text = lower("@njit\ndef f(a):\n    for t in range(1, 4):\n        a[:, t] = a[:, t - 1] * 2\n")
    assert "heap" not in text


def test_a_whole_array_is_added_not_assigned():
    assert "a[i] = a[i] + b[i]" in lower("@njit\ndef f(a, b):\n    a[:] += b[:]\n")


def test_a_window_for_a_helper_is_its_corner():
    text = lower(
        """
        @njit
        def w(v):
            return v[0, 1] * v.shape[1]
        @njit
        def f(a, out):
            for i in range(1, 3):
                for j in range(1, 3):
                    out[i, j] = w(a[i - 1 : i + 2, j - 1 : j + 2])
        """,
        "f",
    )
    rows, cols = (f"slice_start({v} - 1, a.shape[{k}])" for k, v in enumerate("ij"))
    counts = [f"slice_stop({v} + 2, a.shape[{k}]) - {s}" for k, (v, s) in enumerate((("i", rows), ("j", cols)))]
    assert f"w_at(&a, {rows}, {counts[0]}, {cols}, {counts[1]})" in text


def test_a_difference_of_rows_is_a_row():
    text = lower("@njit\ndef f(p, q, d):\n    r = p[0] - q[1]\n    d[0] = np.sum(r * r)\n")
    assert "f(p: number[2], q: number[2], d: number[1])" in text


def test_an_atomic_in_a_subscript_happens_once():
    text = lower(
        "@cuda.jit\ndef k(x, y, c):\n    t = y[cuda.atomic.add(c, 0, 1)] + 1\n    x[cuda.atomic.add(c, 0, 1)] = t\n"
    )
    assert text.count("atomic add") == 2


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("t = x * 2", "KR299"),
        ("x[1:] = x[:-1]", "KR299"),
        ("x[:] = y[:, :]", "KR104"),
        ("x[0] = np.sum(y, axis=0)", "KR299"),
        ("x[0] = np.dot(y[:, :], y[:, :])", "KR299"),
        ("x[::x[0]] = 1", "KR104"),
        ("while np.sum(x[:]) > 1: pass", "KR210"),
    ],
)
def test_refused_in_a_kernel(line: str, code: str):
    found = refusals(f"@cuda.jit\ndef k(x, y):\n    {line}\n    x[0] = y[0, 0]\n")
    assert (code, 3, "k") in found, found


def test_one_problem_is_said_once():
    source = "@cuda.jit\ndef k(x):\n    s = unknown(3)\n    s[0] = x[0]\n    for i in range(3):\n        x[i] = s[i]\n"
    assert refusals(source) == [("KR103", 3, "k")]


def test_guards_are_stated():
    source = '''
        @njit
        def f(a, n):
            """Adds."""
            assert n > 0
            if a.shape[0] != n:
                raise ValueError("no")
            for i in range(n):
                a[i] += 1
        '''
    module, problems = read(HEADER + textwrap.dedent(source), "t.py")
    assert not problems
    assert module.functions[0].doc == "Adds.\n\nRequires (the source raises otherwise): n > 0; a.shape[0] == n."


def test_a_guard_in_a_loop_is_no_precondition():
    source = "@njit\ndef f(a):\n    for i in range(3):\n        if a[i] == 0:\n            raise ValueError\n"
    assert ("KR101", 5, "f") in refusals(source)


def test_slices_are_python_s_where_a_variable_bounds_them():
    module, _ = read(HEADER + "@njit\ndef f(a, n):\n    a[:n] = 1\n", "t.py")
    assert ".. slice_stop(n, a.shape[0])" in module_text(module)
    module, _ = read(HEADER + "@njit\ndef f(a, n):\n    a[1:-1] = n\n", "t.py")
    assert "slice" not in module_text(module)
