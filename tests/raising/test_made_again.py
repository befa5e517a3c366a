"""What a neighbour makes by logarithms is read from where it is stored, not made again for each reader."""

from __future__ import annotations

import pytest

from kraise import pipeline
from tests.checks import agrees

FORWARD = """
__global__ void forward(const float *logp, float *out, int T, int S) {
    __shared__ float a[2][8];
    int s = threadIdx.x, b = blockIdx.x;
    a[0][s] = s < 2 && s < S ? logp[b * T * S + s] : -1e30f;
    __syncthreads();
    for (int t = 1; t < T; t++) {
        float p = a[(t - 1) & 1][s], q = s > 0 ? a[(t - 1) & 1][s - 1] : -1e30f, m = fmaxf(p, q);
        a[t & 1][s] = s < S ? MORE + logp[(b * T + t) * S + s] : -1e30f;
        __syncthreads();
    }
    if (s < S) out[b * S + s] = a[(T - 1) & 1][s];
}
"""


def _text(more):
    return pipeline.translate(FORWARD.replace("MORE", more), "k.cu")


def test_two_rounds_take_two_logarithms():
    text = _text("m + logf(expf(p - m) + expf(q - m))").text
    assert text is not None and text.count("jnp.log(") == 3, text  # two of two rounds, and one of a last round


def test_sums_are_seen_through():
    """An extremum of the best of three cells is one of cells, whatever is in between."""
    text = _text("m").text
    assert text is not None and "jnp.log(" not in text


@pytest.mark.long
@pytest.mark.parametrize("more", ["m + logf(expf(p - m) + expf(q - m))", "m", "p / (2.0f + q * q)"])
def test_forward_sums_agree(more):
    agrees(_text(more), pipeline.Request(values={"T": 4, "S": 5}), more)
