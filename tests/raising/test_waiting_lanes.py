"""Barriers of a warp order its lanes, and no others."""

import numpy as np
import pytest

from kraise.pipeline import translate

HEAD = """
__global__ void f(const float *x, float *y, int rows) {
    __shared__ float s[4][34];
    WHERE
    s[w][t] = r < rows ? x[r * 32 + t] : 0.0f;
    __syncwarp();
    BODY
}"""
PLACES = {
    "rows of threads": "int w = threadIdx.y, t = threadIdx.x, r = blockIdx.x * 4 + w;",
    "warps of a row": "int w = threadIdx.x / 32, t = threadIdx.x % 32, r = blockIdx.x * 4 + w;",
}
TREE = """for (int o = 16; o > 0; o /= 2) {
        if (t < o) s[w][t] += s[w][t + o];
        __syncwarp();
    }
    if (t == 0 && r < rows) y[r] = s[w][0];"""
TURNED = "if (r < rows) y[r * 32 + t] = s[w][31 - t];"
SHARED = """float v = s[w][t];
    for (int o = 16; o > 0; o /= 2) v += __shfl_down_sync(~0u, v, o);
    __syncwarp();
    if (t == 0) s[w][33] = v;
    __syncwarp();
    if (r < rows) y[r * 32 + t] = s[w][33] - s[w][t];"""
KINDS = {
    "a tree": (TREE, lambda x: x.sum(axis=1)),
    "turned": (TURNED, lambda x: x[:, ::-1]),
    "shared": (SHARED, lambda x: x.sum(axis=1, keepdims=True) - x),
}


def translated(place, body):
    return translate(HEAD.replace("WHERE", PLACES[place]).replace("BODY", body), "k.cu")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", KINDS)
def test_lanes_that_wait_for_each_other(kind, place):
    body, wanted = KINDS[kind]
    done = translated(place, body)
    assert done.text, [d.reason for d in done.diagnostics]
    assert "grid" not in done.text and "loop" not in done.text and "clip" not in done.text
    found: dict = {}
    exec(done.text, found)
    x = np.arange(160, dtype=np.float32).reshape(5, 32)
    got = found["f"](x.ravel(), np.zeros(wanted(x).size, np.float32), 5)
    np.testing.assert_array_equal(got, wanted(x).ravel())


@pytest.mark.parametrize(
    "body",
    [
        TREE.replace("        __syncwarp();\n", ""),
        TREE.replace("if (t < o) s", "if (t < o) { s").replace("__syncwarp();", "__syncwarp(); }"),
        TREE.replace("s[w][t + o]", "s[w ^ 1][t + o]"),
        TURNED.replace("s[w]", "s[3 - w]"),
        SHARED.replace("s[w][33] = v;\n    __syncwarp();", "s[w][33] = v;"),
        "if (t < 31) __syncwarp(); s[w][t + 1] = t; if (t < 9) __syncwarp(); " + TURNED,  # some do not come to it
    ],
)
def test_their_racy_twins_are_refused(body):
    done = translated("rows of threads", body)
    assert done.text is None and {d.code for d in done.diagnostics} == {"KR201"}
