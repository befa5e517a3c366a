"""A kernel without a guard over rows of a flat array: verify takes rows as wide as the launch, which it demands."""

from kraise import pipeline

SOURCE = """
__global__ void scale(const float *a, float *b, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    b[row * n + col] = 2.f * a[row * n + col];
}
"""


def test_the_row_is_as_wide_as_the_launch():
    done = pipeline.translate(SOURCE, "k.cu")
    assert "the launch must be as wide as a row" in done.text
    ((report,), problems) = pipeline.verify(done, pipeline.Request())
    assert report.ok and not problems


def test_what_the_user_gives_stays():
    done = pipeline.translate(SOURCE, "k.cu")
    ((report,), _) = pipeline.verify(done, pipeline.Request(values={"n": 29}, grid=(3, 2), block=(4, 3)))
    assert not report.ok and report.unfit
