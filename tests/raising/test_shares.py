"""Grid-stride sums that atomics add up: one sum over the whole range, whatever the launch."""

import pytest

from kraise import pipeline
from tests.checks import agrees

HEAD = "__global__ void k(const float *x, const float *y, float *out, int n) { float s = START; "
LOOP = "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) "
ONE = {
    "dot": ("0", "s += x[i] * y[i];", "atomicAdd(out, s);", "x[:n] @ y[:n]"),
    "masked": ("0", "if (x[i] > 0.0f) s += logf(x[i]) * i;", "atomicAdd(out, s);", "jnp.log("),
    "weighted by the place": ("0", "s += x[i] * (i + 2);", "atomicAdd(out + 1, s);", "jnp.arange(n)"),
}
SEVERAL = {
    "the thread counts": ("0", "s += x[i] * threadIdx.x;", "atomicAdd(out, s);"),
    "some threads only": ("0", "s += x[i];", "if (threadIdx.x < 2) atomicAdd(out, s);"),
    "each thread starts with one": ("1", "s += x[i];", "atomicAdd(out, s);"),
}


def _checked(start, body, end):
    done = pipeline.translate(HEAD.replace("START", start) + LOOP + "{ " + body + " } " + end + " }", "k.cu")
    assert done.text and not done.diagnostics, done.diagnostics
    for n, grid in ((11, (2,)), (11, (1,)), (3, (4,))):
        shapes = {"x": (12,), "y": (12,), "out": (2,)}
        request = pipeline.Request(shapes=shapes, values={"n": n}, grid=grid, block=(4,))
        agrees(done, request)
    return done.text


@pytest.mark.parametrize("name", ONE)
def test_shares_are_summed_as_one(name):
    *source, form = ONE[name]
    text = _checked(*source)
    assert form in text and "grid" not in text, text


@pytest.mark.parametrize("name", SEVERAL)
def test_what_depends_on_the_launch_keeps_it(name):
    assert "grid" in _checked(*SEVERAL[name])
