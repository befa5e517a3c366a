"""Equations as mathematics."""

import pytest

from kraise.diagnostics import Span
from kraise.ir import equations as eq
from kraise.ir.print_equations import equation_lines, render_expr, render_kernel
from kraise.ir.types import FLOAT64, INT, INT32
from tests.raising.build import I, J, K, N, axis, const, i, j, k, kernel, op, read, reduce, select, write

x, y = read("x", i), read("y", i)
ALPHA, BETA = eq.Param("alpha", FLOAT64), eq.Param("beta", FLOAT64)
AB = op("mul", read("A", i, k), read("B", k, j))

EXPRESSIONS = {
    "x[i] - (y[i] - 1.0)": op("sub", x, op("sub", y, 1.0)),
    "x[i] - y[i] - 1.0": op("sub", op("sub", x, y), 1.0),
    "x[i] * (y[i] + 1.0)": op("mul", x, op("add", y, 1.0)),
    "x[i] / (y[i] * 2.0)": op("div", x, op("mul", y, 2.0)),
    "x[i] * (y[i] % 2.0)": op("mul", x, op("mod", y, 2.0)),
    "x[i] * y[i] % 2.0": op("mod", op("mul", x, y), 2.0),
    "i * (j // 2)": op("mul", i, op("floordiv", j, 2)),
    "x[i] * y[i] / 2.0": op("mul", x, op("div", y, 2.0)),
    "-x[i]**2": op("neg", op("pow", x, 2.0)),
    "(-x[i])**2": op("pow", op("neg", x), 2.0),
    "x[i - 1]": read("x", op("add", i, -1)),
    "sqrt(x[i])": op("sqrt", x),
    "x[i] if x[i] > 0.0 and i < n else 0.0": select(op("and", op("gt", x, 0.0), op("lt", i, N)), x, 0.0),
    "(x[i] if i == 0 else y[i]) + 1.0": op("add", select(op("eq", i, 0), x, y), 1.0),
    "not (x[i] < 1.0 or i < n)": op("not", op("or", op("lt", x, 1.0), op("lt", i, N))),
    "sum_k A[i, k] * B[k, j]": reduce(AB, (K,)),
    "sum_k (A[i, k] + 1.0)": reduce(op("add", read("A", i, k), 1.0), (K,)),
    "(sum_j x[j]) * x[i]": op("mul", reduce(read("x", j)), x),
    "x[i] * sum_j x[j]": op("mul", x, reduce(read("x", j))),
    "(sum_j x[j]) / 2.0": op("div", reduce(read("x", j)), 2.0),
    "sum_(1 <= j < n) x[j]": reduce(read("x", j), (axis("j", N, 1),)),
    "sum_(j where j < i) x[j]": reduce(read("x", j), where=op("lt", j, i)),
    "max_j(x[j])": reduce(read("x", j), op="max"),
    "argmin_j(x[j])": eq.ArgReduce("min", J, read("x", j), None, False, INT32),
    "cumsum_k(x[k])": eq.Scan("add", K, read("x", k), const(0.0), True, False, FLOAT64),
    "2.0 + cumsum_k(x[k])": eq.Scan("add", K, read("x", k), const(2.0), True, False, FLOAT64),
    "recurrence_k(v -> a[k] * v + b[k] from 1.0)": eq.Scan(
        "linear", K, read("a", k), const(1.0), True, False, FLOAT64, read("b", k)
    ),
    "x[i] * i": op("mul", x, eq.Cast(FLOAT64, i)),
    "x[int(x[i])]": read("x", eq.Cast(INT32, x)),
    "TILE * 2": op("mul", eq.Const(16, INT32, "TILE"), 2),
    "f(x[i], n)": eq.HelperCall("f", (x, N), FLOAT64),
}


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expression(text):
    assert render_expr(EXPRESSIONS[text]) == text


def test_contraction():
    c = op("add", op("mul", ALPHA, reduce(AB, (axis("k", eq.Param("K", INT32)),))), op("mul", BETA, read("C", i, j)))
    lines = equation_lines(kernel(write(c, (I, axis("j", eq.Param("m", INT32))), array="C")))
    assert lines == ("C[i, j] = alpha * sum_k A[i, k] * B[k, j] + beta * C[i, j]  for 0 <= i < n, 0 <= j < m",)


def test_accumulation():
    h = eq.Write(eq.Version("h", 0), eq.Version("h", 1), (I,), (read("idx", i, type=INT32),), const(1), None, "add")
    assert equation_lines(kernel(h)) == ("h[idx[i]] += 1  for 0 <= i < n",)
    assert equation_lines(kernel(write(op("add", y, x), where=op("gt", x, 0.0)))) == (
        "y[i] += x[i]  for 0 <= i < n, where x[i] > 0.0",
    )


def forces():
    extent = eq.Shape("p", 1, INT)
    names = [eq.Name(extent, "N")]
    terms = []
    for c, letter in enumerate("xyz"):
        d = op("sub", read("p", const(c), i), read("p", const(c), j))
        f = op("mul", op("mul", op("mul", ALPHA, read("masses", i)), read("masses", j)), d)
        names += [eq.Name(d, f"d{letter}", Span("a.py", 6 + c)), eq.Name(f, f"F{letter}", Span("a.py", 9 + c))]
        terms.append(f)
    total = op("add", op("add", terms[0], terms[1]), terms[2])
    w = write(total, (axis("i", extent), axis("j", extent)), array="F")
    return kernel(eq.Write(w.before, w.after, w.axes, w.subscripts, total, span=Span("a.py", 14)), names=tuple(names))


def test_names_where_writing_out_is_too_long():
    assert equation_lines(forces()) == ("F[i, j] = Fx + Fy + Fz  for 0 <= i < N, 0 <= j < N",)


def test_long_form():
    text = render_kernel(forces())
    assert "  Fx = alpha * masses[i] * masses[j] * dx" in text
    assert "  dz = p[2, i] - p[2, j]" in text
    assert text.index("dx =") < text.index("Fx =") < text.index("F[i, j] =")
    assert text.splitlines()[-2].endswith("# a.py:14")


def test_a_long_line_breaks_before_its_domain():
    terms = x
    for step in range(1, 7):
        terms = op("add", terms, read("x", op("add", i, step)))
    lines = equation_lines(kernel(write(terms, where=op("gt", read("mask", i), 0.5))))
    assert len(lines) == 2
    assert lines[1] == "    for 0 <= i < n, where mask[i] > 0.5"


def test_what_has_no_name_is_elided():
    value = x
    for step in range(60):
        value = op("sqrt", op("add", op("mul", value, value), read("x", op("add", i, step))))
    lines = equation_lines(kernel(write(value)))
    assert all(len(line) <= 110 for line in lines)
    assert "(...)" in lines[0]


def time_loop(reader):
    entry, leave = eq.Version("y", 1), eq.Version("y", 2)
    body = eq.Write(entry, leave, (axis("i", N, 1),), (i,), reader(entry))
    arrays = (eq.ArrayCarry(eq.Version("y", 0), entry, leave, eq.Version("y", 3)),)
    return kernel(eq.Fold("loop", axis("t", eq.Param("T", INT32)), (), arrays, (body,)), returns=(eq.Version("y", 3),))


def test_fold_and_older_versions():
    previous = op("add", i, -1)
    plain = time_loop(lambda entry: eq.Read(entry, (previous,), FLOAT64))
    assert equation_lines(plain) == ("for t = 0 ... T - 1:", "    y[i] = y[i - 1]  for 1 <= i < n")
    old = time_loop(lambda entry: read("y", previous))
    assert equation_lines(old)[1] == "    y[i] = y.0[i - 1]  for 1 <= i < n"
    assert "y.0 is y as it came in" in render_kernel(old)


def test_carried_scalars():
    s, t = (eq.CarryIn("loop", name, (), FLOAT64) for name in "st")
    carries = (
        eq.ScalarCarry("s", (), const(0.0), t, FLOAT64),
        eq.ScalarCarry("t", (), const(1.0), op("add", s, t), FLOAT64),
    )
    loop = eq.Fold("loop", None, carries, (), (), condition=op("lt", s, 10.0))
    value = eq.FoldResult("loop", "s", (), FLOAT64)
    assert equation_lines(kernel(loop, returns=(value,))) == (
        "s, t = 0.0, 1.0",
        "while s < 10.0:",
        "    s, t = t, s + t",
        "returns s",
    )


def test_rows_of_a_flat_range_are_its_bounds():
    first, past = read("ptr", i), read("ptr", op("add", i, 1))
    inside = op("and", op("ge", k, first), op("lt", k, past))
    total = eq.Reduce("add", (axis("k"),), read("x", k), inside, FLOAT64)
    assert render_expr(total) == "sum_(ptr[i] <= k < ptr[i + 1]) x[k]"
    half = eq.Reduce("add", (axis("k"),), read("x", k), op("ge", k, first), FLOAT64)
    assert render_expr(half) == "sum_(k where k >= ptr[i]) x[k]"
