"""What another thread stored is taken there as a value, but for one that is too large: it is read from the array."""

import pytest

from kraise import pipeline
from kraise.raising.memory import private
from tests.checks import agrees

# each exchange takes its values from two threads, so that what is made of them doubles
EXCHANGES = """__global__ void f(const float *x, float *y) {
  __shared__ float s[64];
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  s[t] = x[i];
  __syncthreads();
  float v = s[(t + 1) % 64] * 0.5f + s[t];
  __syncthreads();
  s[t] = v * v + 1.0f;
  __syncthreads();
  y[i] = s[63 - t] - s[t];
}"""


@pytest.mark.parametrize("largest", [0, 2000])
def test_values_of_other_threads(monkeypatch, largest):
    monkeypatch.setattr(private, "_LARGEST", largest)
    done = pipeline.translate(EXCHANGES, "f.cu")
    assert done.raised == ("f",) or not largest
    if done.raised:
        agrees(done, pipeline.Request(shapes={"x": (128,), "y": (128,)}, grid=(2,), block=(64,)), largest)
