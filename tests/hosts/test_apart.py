"""Python hosts whose arrays are one memory here and several there: names that part in a loop, rows, generators."""

import pytest

from kraise.verify.load import load_module
from tests.hosts.test_hosts import agrees, array, codes, python

KERNELS = """
@cuda.jit
def more(u, s):
    i = cuda.grid(1)
    if i < u.size:
        u[i] += s
@cuda.jit
def mul(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * y[i]
"""
PARTING = (
    "def f(x, y, n):\n h = x\n for t in range(n):\n  out = cuda.device_array_like(x)\n  {inside}mul[1, 64](h, y, out)\n"
    "  h = out\n {after}return h, x\n"
)


def test_a_name_that_parts_from_a_parameter():
    done = python(KERNELS + PARTING.format(inside="", after=""))
    assert "f" in done.raised, done.diagnostics
    agrees(done, "f", x=array(9), y=array(9, 1), n=0)
    agrees(done, "f", x=array(9), y=array(9, 1), n=3)


@pytest.mark.parametrize(
    ("inside", "after"),
    (
        ("more[1, 64](h, 1.0)\n  ", ""),
        ("more[1, 64](x, 1.0)\n  ", ""),
        ("", "more[1, 64](h, 1.0)\n "),
        ("", "more[1, 64](x, 1.0)\n "),
    ),
)
def test_memory_that_is_written_does_not_part(inside, after):
    done = python(KERNELS + PARTING.format(inside=inside, after=after))
    assert "f" not in done.raised and codes(done)


def test_a_swap_of_what_is_read_by_another_name():
    body = "def f(x, y, n):\n a, b = x, y\n for t in range(n):\n  mul[1, 64](a, a, b)\n  a, b = b, a\n return a, x\n"
    done = python(KERNELS + body)
    if "f" in done.raised:
        agrees(done, "f", x=array(9), y=array(9, 1), n=3)


@pytest.mark.parametrize("rows", ("p[t], y, p[t + 1]", "p[t + 1], y, p[t]", "p[t], p[t], q[t]", "p[0], p[2], p[1]"))
def test_rows_of_one_array(rows):
    body = f"def f(p, q, y):\n for t in range(3):\n  mul[1, 64]({rows})\n mul[1, 64](q[0], y, q[1])\n return p, q\n"
    done = python(KERNELS + body)
    assert "f" in done.raised, done.diagnostics
    agrees(done, "f", p=array((4, 9)), q=array((4, 9), 2), y=array(9, 1))


@pytest.mark.parametrize(
    "rows", ("p[t], y, p[t - 1]", "p[t], y, p[s]", "p[-1], y, p[t]", "p[t], y, p[2 * t]", "p, p, p[t]")
)
def test_rows_that_may_be_one_are_refused(rows):
    body = f"def f(p, y, s: int):\n for t in range(3):\n  mul[1, 64]({rows})\n return p\n"
    done = python(KERNELS + body)
    assert "f" not in done.raised and codes(done)


def test_rows_from_both_ends_are_apart_where_there_are_enough():
    done = python(KERNELS + "def f(p, y):\n mul[1, 64](p[-1], y, p[2])\n return p\n")
    agrees(done, "f", p=array((4, 9)), y=array(9, 1))
    with pytest.raises(ValueError, match=r"p.shape\[0\] must not be less than 4"):
        load_module(done.text).f(array((3, 9)), array(9, 1))


def test_rows_of_loops_are_no_reason_to_unroll():
    done = python(KERNELS + "def f(p, y, n):\n for t in range(n):\n  mul[1, 64](y, y, p[t])\n return p\n")
    assert "fori_loop" in done.text


@pytest.mark.parametrize(
    "gives",
    (
        "for a in range(n):\n  for b in range(2):\n   yield a + b",
        "for a in range(n):\n  yield a\n  a += 1",
        "yield n\n yield n + 1",
    ),
)
def test_generators_that_are_left_are_refused(gives):
    body = f"def g(n):\n {gives}\ndef f(x):\n for s in g(3):\n  if s > 1:\n   break\n  more[1, 64](x, s)\n return x\n"
    done = python(KERNELS + body)
    assert "f" not in done.raised and codes(done)


def test_a_generator_that_is_left():
    body = "def g(n):\n for a in range(n):\n  yield a * 0.5\ndef f(x):\n for s in g(5):\n  more[1, 64](x, s)\n"
    done = python(KERNELS + body + "  if s > 1:\n   break\n return x\n")
    assert "f" in done.raised, done.diagnostics
    agrees(done, "f", x=array(9))


def test_tables_of_the_module_are_no_tuples_where_they_are_arrays_or_change():
    head = KERNELS + "W = np.array([1.0, 2.0])\nL = [3, 4]\ndef more_of():\n L.append(5)\n"
    done = python(head + "def f(x):\n more[L[0], 64](x, 1.0)\n for w in W * 2:\n  more[1, 64](x, w)\n return x\n")
    assert "f" not in done.raised and codes(done)


@pytest.mark.parametrize("use", ("more[1, 64](W, 1.0)", "W[0] = 2.0", "v = W\n more[1, 64](v, 1.0)", "W += 1.0"))
def test_arrays_of_the_module_that_change_are_refused(use):
    body = f"W = np.array([1.0, 2.0], np.float32)\ndef f(x):\n {use}\n mul[1, 64](x, W, x)\n return x\n"
    done = python(KERNELS + body)
    assert "f" not in done.raised and codes(done)


def test_arrays_of_the_module_that_are_copied():
    body = (
        "W = np.array([1.0, 2.0], np.float32)\ndef f(x):\n d = cuda.to_device(W)\n more[1, 64](d, 1.0)\n"
        " mul[1, 64](d, W, x)\n return x\n"
    )
    done = python(KERNELS + body)
    assert "f" in done.raised, done.diagnostics
    agrees(done, "f", x=array(2))
