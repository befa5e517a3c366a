"""Stores to places whose bits are those of the thread's number in another order."""

import pytest

from kraise import pipeline
from tests.hostile.judge import judge

SHARED = """__global__ void k(const int *x, int *y) {{
  __shared__ int s[16];
  int t = threadIdx.x;
  {place}
  s[r] = x[blockIdx.x * 16 + t];
  __syncthreads();
  y[blockIdx.x * 16 + t] = s[t] - 2 * s[t / 2];
}}"""
GLOBAL = """__global__ void k(const int *x, int *y) {{
  int t = threadIdx.x;
  {place}
  y[blockIdx.x * 16 + r] = x[blockIdx.x * 16 + t] * t;
}}"""
REVERSED = {
    "brev": "unsigned r = __brev((unsigned)t) >> 28;",
    "masks": "int r = ((t & 1) << 3) | ((t & 2) << 1) | ((t & 4) >> 1) | (t >> 3);",
    "a loop": "int r = 0, v = t; for (int b = 0; b < 4; b++) { r = (r << 1) | (v & 1); v >>= 1; }",
    "bits": "int r = 0; for (int b = 0; b < 4; b++) r |= ((t >> b) & 1) << (3 - b);",
}
OTHER = {
    "turned round": "unsigned r = (((unsigned)t << 1) | ((unsigned)t >> 3)) & 15u;",
    "tried out": "int r = t ^ (t >> 1);",
}
LAUNCH = [((2,), (16,))]


def judged(kernel, place):
    return judge(kernel.format(place=place), "cu", "x=i[32]<-9:9 y=i[32]", LAUNCH)


@pytest.mark.parametrize("spelling", REVERSED)
def test_a_reversal_is_a_table(spelling):
    """It was refused: nothing said that a place is stored to once."""
    text = pipeline.translate(SHARED.format(place=REVERSED[spelling]), "k.cu").text
    assert text and "jnp.arange(16).reshape((2,) * 4).T.ravel()" in text and ".at[:, " not in text, text


def test_values():
    assert judged(SHARED, REVERSED["brev"]) == "right"
    assert judged(GLOBAL, REVERSED["masks"]) == "right"
    assert judged(GLOBAL, OTHER["turned round"]) == "right"
    assert judged(SHARED, OTHER["tried out"]) == "right"


@pytest.mark.parametrize(
    "place",
    [
        "int r = ((t & 1) << 3) | ((t & 2) << 1) | ((t & 4) >> 1) | (t >> 2);",  # a bit twice
        "int r = ((t & 1) << 3) | ((t & 2) << 1) | (t >> 3);",  # one is left out
        "int r = (t * 5 + t / 4) & 15;",
        "unsigned r = __brev((unsigned)t) >> 29;",
    ],
)
def test_places_that_threads_share_are_refused(place):
    assert judged(SHARED, place).startswith("refused KR20")
    assert judged(GLOBAL, place).startswith("refused KR20")
