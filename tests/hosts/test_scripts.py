"""Scripts: what a module does itself is ``main``; what comes from outside is a parameter, what is shown a result."""

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module, x64

KERNELS = """
import argparse
import random
import sys
import numpy as np
from numba import cuda

TPB = 64

@cuda.jit
def grow(x, s):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += s
"""


def script(body, only=("main",)):
    return pipeline.translate(KERNELS + body, "a.py", Options(only=only))


def params(done, name="main"):
    (host,) = [x for x in done.source.hosts if x.name == name]
    return {p.name: p.default.value if p.default else None for p in host.params}


def value(done, *given, name="main"):
    assert name in done.raised, [d.reason for d in done.diagnostics]
    with x64("x64" in done.text):
        return getattr(load_module(done.text), name)(*given)


PLAIN = """
n = 9
x = np.random.rand(n).astype(np.float32)
d = cuda.to_device(x)
for k in range(3):
    grow[(n + TPB - 1) // TPB, TPB](d, 0.5)
cuda.synchronize()
out = d.copy_to_host()
print("result", out[:3], out.sum())
out
"""


@pytest.mark.parametrize("guarded", (False, True))
def test_the_statements_of_a_module_are_main(guarded):
    body = PLAIN.replace("\n", "\n    ").rstrip() if guarded else PLAIN
    done = script('\nif __name__ == "__main__":' + body + "\n" if guarded else body)
    assert params(done) == {"x": None}
    x = np.linspace(0, 1, 9, dtype=np.float32)
    np.testing.assert_allclose(value(done, x), x + 1.5, rtol=1e-6)
    slope = jax.grad(lambda a: (load_module(done.text).main(a) ** 2).sum())(x)
    np.testing.assert_allclose(slope, 2 * (x + 1.5), rtol=1e-5)
    assert "main" not in pipeline.translate(KERNELS + body if not guarded else body, "a.py").raised


@pytest.mark.parametrize(
    "head, wanted",
    (
        ("n = int(sys.argv[1])", {"n": None}),
        ("n = int(sys.argv[1]) if len(sys.argv) > 1 else 7", {"n": 7}),
        ("n = 7\nif len(sys.argv) > 1:\n    n = int(sys.argv[1])", {"n": 7}),
        ("if len(sys.argv) > 1:\n    n = int(sys.argv[1])\nelse:\n    n = 7", {"n": 7}),
        ("if len(sys.argv) != 2:\n    print('usage')\n    sys.exit(1)\nn = int(sys.argv[1])", {"n": None}),
        ("n = int(input('how many? '))", {"n": None}),
        ("p = argparse.ArgumentParser()\np.add_argument('-n', '--size', type=int, default=7)\n"
         "p.add_argument('--loud', action='store_true')\na = p.parse_args()\nn = a.size\nif a.loud:\n    print(n)",
         {"size": 7}),
        ("n = random.randint(1, 9)", {"n": None}),
    ),
)  # fmt: skip
def test_numbers_from_outside_are_parameters(head, wanted):
    done = script(
        f"{head}\nd = cuda.to_device(np.zeros(n, dtype=np.float32))\ngrow[1, 64](d, 2.0)\nprint(d.copy_to_host())\n"
    )
    assert params(done) == wanted
    np.testing.assert_allclose(value(done, 5), np.full(5, 2.0))


def test_what_functions_take_from_outside_their_callers_take():
    body = (
        "def make(n, s):\n    x = np.random.normal(0.0, 1.0, n)\n    grow[1, 64](x, s)\n    return x\n"
        "def main():\n    y = make(5, 2.0)\n    print(y.mean(), y)\n"
    )
    done = script(body, ())
    assert params(done, "make") == {"n": None, "s": None, "x": None} and "main" not in done.raised
    done = script(body)
    x = np.arange(5.0)
    np.testing.assert_allclose(value(done, x), x + 2.0)


def test_the_rounds_of_a_loop_take_rows_of_one_array():
    body = (
        "def walk(steps):\n    out = np.zeros(4)\n    for t in range(1, steps):\n        w = np.random.randn(4)\n"
        "        grow[1, 64](w, t)\n        out += w\n    return out\n"
    )
    done = script(body, ())
    noise = np.random.default_rng(0).standard_normal((3, 4))
    np.testing.assert_allclose(value(done, 4, noise, name="walk"), noise.sum(axis=0) + 6)


def test_a_name_that_is_set_twice_keeps_both():
    body = (
        "def f():\n    x = np.zeros(4)\n    grow[1, 64](x, 1.0)\n    y = x.sum()\n    x = np.random.rand(4)\n"
        "    grow[1, 64](x, y)\n    return x\n"
    )
    given = np.arange(4.0)
    np.testing.assert_allclose(value(script(body, ()), given, name="f"), given + 4)


BEFORE = """
import skimage
photo = skimage.data.coffee()
grey = skimage.color.rgb2gray(photo).astype(np.float32)
figure, axes = plt.subplots(1, 2)
truth = skimage.filters.gaussian(grey)
d = cuda.to_device(grey)
grow[1, 64](d, 1.0)
out = d.copy_to_host()
axes[0].imshow(out)
"""


def test_what_is_made_before_the_launches_and_not_read_is_a_parameter():
    done = script("import matplotlib.pyplot as plt" + BEFORE)
    assert params(done) == {"grey": None}
    np.testing.assert_allclose(value(done, np.arange(4.0)), np.arange(4.0) + 1)


@pytest.mark.parametrize(
    "body",
    (
        # what is not read depends on a launch, on a parameter, or may change what is used later
        "x = np.zeros(4)\ngrow[1, 64](x, 1.0)\nw = unknown(x)\ngrow[1, 64](w, 1.0)\nprint(w)\n",
        "x = np.random.rand(4)\nw = unknown(x)\ngrow[1, 64](w, 1.0)\nprint(w)\n",
        "x = np.zeros(4)\nw = unknown(x)\ngrow[1, 64](x, w)\nprint(x)\n",
        # a function sees a variable of the script
        "def run():\n    grow[1, 64](x, 1.0)\nx = np.zeros(4)\nrun()\nprint(x)\n",
        # numbers that a parameter decides on
        "def main(s):\n    r = np.random.default_rng(s)\n    x = r.random(4)\n    grow[1, 64](x, 1.0)\n    return x\n",
        "def main(s):\n    x = np.random.normal(0.0, s, 4)\n    grow[1, 64](x, 1.0)\n    return x\n",
        # another number in between
        "n = 7\nm = n + 1\nif len(sys.argv) > 1:\n    n = int(sys.argv[1])\n"
        "x = np.ones(m)\ngrow[1, 8](x, n)\nprint(x)\n",
    ),
)
def test_what_is_not_known_is_refused(body):
    assert "main" not in script(body).raised


@pytest.mark.parametrize(
    "shown, expected",
    (
        ("print(d.copy_to_host().sum())", 8.0),
        ("total = d.copy_to_host().sum()\n    print(f'{total:.2f}')", 8.0),
        ("h = d.copy_to_host()\n    total = h.sum()\n    print(total)", (np.full(4, 2.0), 8.0)),
        ("print(d.copy_to_host())", np.full(4, 2.0)),
        ("print(d.copy_to_host().sum(), f'{d.copy_to_host()[1]}')\n    grow[1, 64](d, 1.0)", (8.0, 2.0)),
    ),
)
def test_what_a_function_shows_is_its_result(shown, expected):
    done = script(f"def f():\n    d = cuda.to_device(np.zeros(4))\n    grow[1, 64](d, 2.0)\n    {shown}\n", ())
    found = value(done, name="f")
    for got, want in zip(*((v if isinstance(v, tuple) else (v,)) for v in (found, expected)), strict=True):
        np.testing.assert_allclose(got, want)


def test_a_function_that_changes_its_argument_returns_that():
    done = script("def f(x):\n    grow[1, 64](x, 1.0)\n    y = x.sum()\n    print(y)\n", ())
    np.testing.assert_allclose(value(done, np.zeros(4), name="f"), np.ones(4))


CAPTURED = """
def f(x, k):
    n = x.size - 1
    {before}
    @cuda.jit
    def part(u):
        i = cuda.grid(1)
        if i < n:
            u[i] *= {what}
    {after}
    part[1, 64](x)
    return x
"""


def test_numbers_that_a_kernel_sees_are_its_parameters():
    done = script(CAPTURED.format(before="c = 2 * k", after="pass", what="c"), ())
    assert "def part(u, c, n):" in done.text
    np.testing.assert_allclose(value(done, np.ones(4), 1.5, name="f"), [3, 3, 3, 1])


@pytest.mark.parametrize(
    "before, after, what",
    (("c = 2 * k", "c = 3", "c"), ("c = np.ones(4)", "pass", "c[i]"), ("c = 2 * k", "use(part)", "c")),
)
def test_what_a_kernel_sees_and_is_no_number_set_once_is_refused(before, after, what):
    assert not {"part", "f"} & set(script(CAPTURED.format(before=before, after=after, what=what), ()).raised)


def test_random_numbers_of_nested_loops_are_one_array():
    done = script("""
def main():
    d = cuda.to_device(np.zeros(9, np.float32))
    for sweep in range(1, 4):
        for half in (0, 1):
            noise = np.random.rand(9).astype(np.float32)
            grow[1, 64](d, noise[half] * sweep)
    print(d.copy_to_host())
""")
    drawn = np.random.default_rng(0).random((3, 2, 9), np.float32)
    assert params(done) == {"noise_rounds": None}
    wanted = sum(drawn[s, h, h] * (s + 1) for s in range(3) for h in (0, 1))
    np.testing.assert_allclose(value(done, drawn), np.full(9, wanted), rtol=1e-5)
    twice = "    for a in (0, 2):\n        noise = np.random.rand(9)\n        grow[1, 64](d, noise[0])\n"
    done = script("def main():\n    d = cuda.to_device(np.zeros(9))\n" + twice + "    print(d.copy_to_host())\n")
    assert "main" not in done.raised  # its numbers are no places


def test_what_is_printed_of_arrays_that_stay_inside():
    done = script("""
def price(n):
    d = cuda.to_device(np.arange(9, dtype=np.float32))
    grow[1, 64](d, n)
    return d.copy_to_host(), n + 1

v, k = price(3)
print("middle:", v[4], f"{v.max():.3f}")
total = v.sum()
print(total, "of", k)
""")
    np.testing.assert_allclose(value(done), (63.0, 4, 7.0, 11.0))
