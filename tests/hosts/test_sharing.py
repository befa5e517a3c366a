"""Names of Python hosts that see the memory of another array: raised while the two agree, refused where they part."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

HEAD = """
import numpy as np
from numba import cuda

@cuda.jit
def add(x, s):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += s

"""


def python(body):
    return pipeline.translate(HEAD + "def f(x, y, n):\n" + "".join(f"    {s}\n" for s in body.split("\n")), "a.py")


PART = {
    "what it saw is written, and its name bound anew": (
        "v = x[2:5]\nv[:] = 0.0\nv = v + 1.0\nadd[1, 32](x, 1.0)\nreturn x"
    ),
    "its array gets another name": "d = x + 1.0\nv = d[1:3]\nd = d * 2.0\nv += 1.0\nadd[1, 32](d, 1.0)\nreturn d, v",
    "its place moves": ("k = n - 3\nv = x[1:k]\nk = 0\nadd[1, 32](x, 1.0)\ny[:1] = v\nreturn y"),
    "arrays are swapped": "d, e = x + 1.0, y + 1.0\nv = d[1:3]\nd, e = e, d\nadd[1, 32](e, 1.0)\nreturn v",
    "a loop asks for it": "d = x + 1.0\nv = d[1:3]\nwhile v[0] < 9.0:\n    add[1, 32](d, 1.0)\nreturn d",
    "elements without a place": "d = np.outer(x, y)\nv = np.diag(d)\nadd[1, 32](v, 1.0)\nreturn d",
}


@pytest.mark.parametrize("what", PART)
def test_where_they_part(what):
    done = python(PART[what])
    assert "f" not in done.raised and any("sees the memory" in d.reason for d in done.diagnostics)


AGREE = {
    "the part is written": ("v = x[2:5]\nadd[1, 32](v, 1.0)\nreturn x", lambda x, y: [*x[:2], *(x[2:] + 1)]),
    "the part is written, and nothing else is returned": (
        "v = x[2:5]\nadd[1, 32](v, 1.0)\nreturn v",
        lambda x, y: x[2:] + 1,
    ),
    "the whole is written": (
        "d = cuda.to_device(x)\nv = d[2:5]\nadd[1, 32](d, 1.0)\nreturn v.copy_to_host()",
        lambda x, y: x[2:] + 1,
    ),
    "an element of the part is written": (
        "v = x[2:5]\nv[0] = 1.0\nadd[1, 32](x, 1.0)\nreturn x",
        lambda x, y: [*(x[:2] + 1), 2, *(x[3:] + 1)],
    ),
    "written in the next round": (
        "d = cuda.to_device(x)\nv = d[1:3]\nfor k in range(n):\n    y[:2] = v\n    add[1, 32](d, 1.0)\n"
        "add[1, 32](y, 1.0)\nreturn y",
        lambda x, y: [*(x[1:3] + 5), *(y[2:] + 1)],
    ),
    "by another name": (
        "d = cuda.to_device(x)\ne = d\nv = e[1:3]\nadd[1, 32](d, 1.0)\ny[:2] = v\nreturn y",
        lambda x, y: [*(x[1:3] + 1), *y[2:]],
    ),
    "a transposed array": (
        "d = np.outer(x, y)\nt = d.T\nd[0] = x\nt[0] = y\nadd[1, 32](x, 1.0)\nreturn d",
        lambda x, y: np.column_stack((y, [x[1:], *np.outer(x, y)[1:, 1:]])),
    ),
    "flat, and a row of it in turns": (
        "d = np.outer(x, y)\nw = d.reshape(-1)\nfor k in range(n):\n    r = d[k]\n    add[1, 32](w, 1.0)\n"
        "    add[1, 32](r, 2.0)\n    w[0] = k\nreturn d",
        lambda x, y: np.outer(x, y) + 7.0 - np.outer([1, 0, 0, 0, 0], [3, 0, 0, 0, 0]),
    ),
    "a copy by another order": (
        "d = np.outer(x, y)\nt = d.T\nw = t.ravel()\nadd[1, 32](w, 1.0)\nreturn d + w[0]",
        lambda x, y: np.outer(x, y) + 1,
    ),
    "the part of a part, in a branch": (
        "d = cuda.to_device(x)\nv = d[1:]\nw = v[1:3]\nif n > 3:\n    add[1, 32](w, 1.0)\nelse:\n    d[0] = 9.0\n"
        "v *= 2.0\nreturn d.copy_to_host()",
        lambda x, y: [x[0], 2 * x[1], *(2 * x[2:4] + 2), 2 * x[4]],
    ),
    "a copy": ("v = x[2:5].copy()\nadd[1, 32](x, 1.0)\ny[:3] = v\nreturn y", lambda x, y: [*x[2:5], *y[3:]]),
    "flat": (
        "m = x.reshape(1, 5)\nf = m.flatten()\nf[0] = 7.0\nadd[1, 32](f, 1.0)\nreturn m[0] + f",
        lambda x, y: [8, *(2 * x[1:] + 1)],
    ),
    "used before the change": ("v = x[2:5]\ny[:3] = v\nadd[1, 32](x, 1.0)\nreturn y", lambda x, y: [*x[2:5], *y[3:]]),
    "bound again in each round": (
        "d = cuda.to_device(x)\nfor k in range(2):\n    v = d[1:3]\n    y[:2] = v\n    add[1, 32](d, 1.0)\nreturn y",
        lambda x, y: [*(x[1:3] + 1), *y[2:]],
    ),
    "one of two arrays": ("b = x if n > 3 else y\nadd[1, 32](b, 1.0)\nreturn x", lambda x, y: x + 1),
}


@pytest.mark.parametrize("what", AGREE)
def test_where_they_agree(what):
    body, expected = AGREE[what]
    done = python(body)
    assert "f" in done.raised, [d.reason for d in done.diagnostics]
    x, y = np.arange(5.0), np.arange(5.0) * 3
    found = load_module(done.text).f(x, y, 5)
    np.testing.assert_allclose(found[0] if isinstance(found, tuple) else found, expected(x, y))
