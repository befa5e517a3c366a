"""While loops that a floating-point number counts: as many rounds as the source's own precision gives them."""

# ruff: noqa: E501 - kernels on one line

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.raising.agree import agree, kinds

PYTHON = """from numba import cuda
@cuda.jit
def f(x, y):
    i = cuda.grid(1)
    if i < x.size:
        {}
        y[i] = s
"""
CUDA = """__global__ void f(const {real} *x, {real} *y, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {{ {real} s = 0; {loop} y[i] = s; }}
}}"""
DOWN = "\n        "


def count_of(text: str) -> float:
    """What the emitted function counts, of ones."""
    function = load_module(text).f
    x = np.ones(3, np.float32)
    return float(function(x, x, 3)[0] if "n)" in text.split("def f(")[1].splitlines()[0] else function(x, x)[0])


COUNTS = {
    "tenths": ("t = 0.0", "t < 1.0", "t += 0.1", 11),  # 10 in single precision
    "to the end": ("t = 0.0", "t <= 1.0", "t += 0.1", 11),
    "down": ("t = 1.0", "t > 0.0", "t -= 0.1", 11),
    "turned": ("t = 0.0", "1.0 > t", "t = 0.25 + t", 4),
    "shrinking": ("t = 1", "t >= 0.01", "t *= 0.5", 7),
    "no round": ("t = 2.0", "t < 1.0", "t += 0.1", 0),
    "divided": ("t = 8.0", "not t < 1.0", "t = t / 2.0", 4),
}


@pytest.mark.parametrize("name", COUNTS)
def test_rounds_of_a_python_loop(name):
    start, test, step, count = COUNTS[name]
    body = f"{start}{DOWN}s = 0.0{DOWN}while {test}:{DOWN}    s += x[i]{DOWN}    {step}"
    done = pipeline.translate(PYTHON.format(body), "case.py")
    assert done.text is not None and "loop" not in done.text
    assert count_of(done.text) == count


@pytest.mark.parametrize(("real", "count"), [("float", 10), ("double", 11)])
def test_rounds_of_a_c_loop(real, count):
    one = "f" if real == "float" else ""
    loop = f"for ({real} t = 0.0{one}; t < 1.0{one}; t += 0.1{one}) s += x[i];"
    done = pipeline.translate(CUDA.format(real=real, loop=loop), "case.cu")
    assert done.text is not None and "loop" not in done.text
    assert count_of(done.text) == count


LAST = """t = 4.0
        s = 0.0
        while True:
            s += 1.0
            t *= 0.5
            if t < 0.1:
                break"""
EXIT = """t = 4.0
        s = 0.0
        while t >= 0.1:
            if x[i] * s > 2.0:
                break
            s += x[i]
            t *= 0.5"""


@pytest.mark.parametrize(("loop", "count"), [(LAST, 6), (EXIT, 3)])
def test_a_test_at_the_end_and_an_exit(loop, count):
    done = pipeline.translate(PYTHON.format(loop), "case.py")
    assert done.text is not None and "while_loop" not in done.text
    assert count_of(done.text) == count


OTHER = {
    "a step that data gives": "t = 0.0{d}s = 0.0{d}while t < 1.0:{d}    s += x[i]{d}    t += 0.1 + x[i] * x[i]",
    "a bound that data gives": "t = 0.0{d}s = 0.0{d}while t < x[i]:{d}    s += x[i]{d}    t += 0.1",
    "a start that data gives": "t = x[i]{d}s = 0.0{d}while t < 1.0:{d}    s += x[i]{d}    t += 0.1",
    "moved under a condition": "t = 0.0{d}s = 0.0{d}while t < 1.0:{d}    s += x[i]{d}    if s > 0.0:{d}        t += 0.1",
    "so many rounds": "t = 0.0{d}s = 0.0{d}while t < 1.0:{d}    s += x[i]{d}    t += 1e-9",
}


@pytest.mark.parametrize("name", OTHER)
def test_others_stay_while_loops(name):
    done = pipeline.translate(PYTHON.format(OTHER[name].format(d=DOWN)), "case.py")
    assert done.text is None or "while_loop" in done.text


GIVEN = [
    "t = 0.0\n  while t < n:\n   t += 1.0\n   x[i] += s",
    "t = float(n)\n  while t > 0.0:\n   t -= 1.0\n   x[i] += s",
    "c = 0\n  while c < n and x[i] < 4.0:\n   x[i] += 1.0\n   c += 1\n  c = c + s",  # the later value makes c a fraction
]


@pytest.mark.parametrize("body", GIVEN)
def test_a_bound_that_the_caller_gives_is_no_constant(body):
    agree(f"def f(x, n, s):\n i = cuda.grid(1)\n if i < len(x):\n  {body}")


STEPS = "def f(x, v, A, s):\n i = cuda.grid(1)\n if i < len(x):\n  t = {start}\n  for k in {range}:\n   {body}\n  x[i] = t + v[i]"
EVEN = [("0.0", "range(len(x))", "A[i, k] = t\n   t += s"), ("x[i]", "range(len(x) - 1, -1, -1)", "t -= s\n   A[i, k] = t"),
        ("1.0", "range(1, len(x))", "A[i, k] = t * s\n   t += x[i]")]  # fmt: skip


@pytest.mark.parametrize(("start", "range_", "body"), EVEN)
def test_even_steps_are_a_multiple(start, range_, body):
    """``t += h`` is no running sum."""
    assert not kinds(agree(STEPS.format(start=start, range=range_, body=body))) & {"Fold", "Scan"}


def test_steps_of_what_the_loop_changes_are_a_running_sum():
    assert kinds(agree(STEPS.format(start="0.0", range="range(len(x))", body="A[i, k] = t\n   t += v[k] * s"))) & {
        "Fold", "Scan",
    }  # fmt: skip
