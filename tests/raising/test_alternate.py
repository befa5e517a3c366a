"""What goes to and fro from round to round is a function of the index; floats that only nearly do are not."""

import jax.numpy as jnp
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees

HEAD = "from numba import cuda\n@cuda.jit\ndef f({args}):\n    i = cuda.grid(1)\n    if i < out.size:\n{body}"
ROW = """        s = 0.0
        g = {start}
        for k in range({range}):
            s += {term}
            g = {turn}
        out[i] = s{last}
"""
CASES = {
    "sign by a product, from the end": ("-0.5", "x.shape[1] - 1, -1, -1", "g * x[i, k] * x[i, k]", "g * -1", " + g"),
    "side": ("0", "1, x.shape[1], 2", "x[i, k - g]", "1 - g", " + g"),
    "a condition": ("True", "2, x.shape[1]", "(x[i, k] if g else 2.0 * x[i, 0])", "not g", ""),
}


def translated(name, source):
    done = pipeline.translate(source, "f.py")
    assert done.text is not None, (name, done.diagnostics)
    return done


@pytest.mark.parametrize("name", CASES)
def test_to_and_fro(name):
    start, over, term, turn, last = CASES[name]
    body = ROW.format(start=start, range=over, term=term, turn=turn, last=last)
    done = translated(name, HEAD.format(args="x, out", body=body))
    assert "lax." not in done.text, done.text
    agrees(done, pipeline.Request(shapes={"x": (5, 7), "out": (5,)}), name)


def test_in_rows_of_their_own_length():
    body = ROW.format(start="1.0", range="ptr[i], ptr[i + 1]", term="g * x[k]", turn="-g", last=" + g")
    done = translated("ragged", HEAD.format(args="ptr, x, out", body=body))
    assert "segment_sum" in done.text and "while_loop" not in done.text, done.text
    f = load_module(done.text).f
    got = f(jnp.array([0, 3, 3, 4]), jnp.array([1.0, 2.0, 4.0, 8.0]), jnp.zeros(3))
    assert got.tolist() == [1.0 - 2.0 + 4.0 - 1.0, 1.0, 8.0 - 1.0]


@pytest.mark.parametrize("turn", ["1.3 - g", "x[i, k] - g"])
def test_what_does_not_come_back(turn):
    body = ROW.format(start="1.0", range="x.shape[1]", term="g * x[i, k]", turn=turn, last="")
    assert "lax.scan" in translated(turn, HEAD.format(args="x, out", body=body)).text
