"""Bits of a place in reverse order: a table, where all of them are there and the place is below the power of two."""

import pytest

from kraise import pipeline
from tests.checks import agrees

SUM = """__global__ void f(int *y) {{
  int t = threadIdx.x;
  if (t < {n}) y[t] = 3 * ({bits});
}}"""
TURNED = "8 * (t % 2) + 4 * (t / 2 % 2) + 2 * (t / 4 % 2) + t / 8 % 2"


def checked(n, bits):
    done = pipeline.translate(SUM.format(n=n, bits=bits), "f.cu")
    assert done.text, done.diagnostics
    agrees(done, pipeline.Request(shapes={"y": (40,)}, grid=(1,), block=(32,)))
    return done.text


@pytest.mark.parametrize(
    ("n", "bits", "table"),
    [
        (16, TURNED, False),  # thrice the bits is another sum
        (32, TURNED, False),  # the fifth bit is left out
        (16, TURNED.replace("8 * (t % 2)", "8 * (t / 2 % 2)"), False),
        (16, "8 * (t / 8 % 2) + 4 * (t / 4 % 2) + 2 * (t / 2 % 2) + t % 2", False),
    ],
)
def test_other_sums_stay(n, bits, table):
    assert ("bit_order" in checked(n, bits)) == table


@pytest.mark.parametrize("more", ["", " + 5", " + 100 * t"])
def test_a_reversal_is_a_table(more):
    source = SUM.replace("3 * ({bits})", "{bits}" + more).format(n=16, bits=TURNED)
    done = pipeline.translate(source, "f.cu")
    assert "jnp.arange(16).reshape((2,) * 4).T.ravel()" in done.text, done.text
    agrees(done, pipeline.Request(shapes={"y": (40,)}, grid=(1,), block=(32,)))
