"""A place that is clamped before the guard which makes the clamps idle: ``pos = min(i, n - 1)``, then ``if (i >= n)
return``."""

import pytest

from kraise import pipeline
from tests.checks import agrees

HEAD = (
    "__global__ void f(const float *x, float *y, int w, int h) { "
    "int i = threadIdx.x + blockIdx.x * blockDim.x, j = threadIdx.y + blockIdx.y * blockDim.y; "
    "int at = min(i, w - 1) + min(j, h - 1) * w; "
)
FORMS = {
    "plain": ("if (i >= w || j >= h) return; y[at] = 2.0f * x[at]; }", True),
    "staged": (
        "__shared__ float t[4][8]; t[threadIdx.y][threadIdx.x] = x[at]; __syncthreads(); "
        "if (i >= w || j >= h) return; y[at] = 2.0f * t[threadIdx.y][threadIdx.x]; }",
        True,
    ),
    "one guard is missing": ("if (i >= w) return; y[at] = 2.0f * x[at] + j; }", False),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms(name):
    body, raised = FORMS[name]
    done = pipeline.translate(HEAD + body, "case.cu")
    assert (done.text is not None) == raised, done.diagnostics
    if raised:
        assert "minimum" not in done.text and "where" not in done.text, done.text
        for w, h in ((7, 5), (8, 4)):
            case = {
                "shapes": {"x": (w * h,), "y": (w * h,)},
                "values": {"w": w, "h": h},
                "grid": (2, 2),
                "block": (8, 4),
            }
            agrees(done, pipeline.Request(**case), done.text)
