"""Products with windows that lie side by side: contractions of rows, whether blocks, threads or digits say where."""

import pytest

from kraise import pipeline
from tests.checks import agrees

HEAD = "__global__ void f(const float *x, const float *w, float *y, int n) {"
FLAT = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < {bound}) {{ int b = i / 4, c = i % 4; "
SUM = "float s = 0.0f; for (int k = 0; k < 4; k++) s += w[c * 4 + k] * x[{place}]; y[i] = s; }} }}"
FORMS = {
    "digits": ((FLAT + SUM).format(bound="4 * n", place="4 * b + k"), "@ w2.T"),
    "rows of a picture": (
        "int b = blockIdx.x, c = threadIdx.y, j = threadIdx.x; if (j < n && c < 4) { float s = 0.0f; "
        "for (int k = 0; k < 4; k++) s += w[c * 4 + k] * x[(4 * b + k) * n + j]; y[(4 * b + c) * n + j] = s; } }",
        "reshape(grid[0], 4, ",
    ),
    "windows that overlap": ((FLAT + SUM).format(bound="4 * n", place="3 * b + k"), "x[: 3 * n : 3, None]"),
    "no whole rows": ((FLAT + SUM).format(bound="n", place="4 * b + k"), "i % 4"),
    "one digit": (FLAT.format(bound="4 * n") + "y[i] = x[b]; } }", "jnp.repeat(x[:n], 4)"),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms(name):
    body, shown = FORMS[name]
    done = pipeline.translate(f"{HEAD} {body}", "case.cu")
    assert shown in done.text, done.text
    assert (" @ " in done.text or "einsum" in done.text) == (name in ("digits", "rows of a picture")), done.text
    agrees(done, pipeline.Request(), done.text)
