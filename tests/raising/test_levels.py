"""Breadth-first search by levels in place: cells go from one number to another, and nothing tells who did it."""

import numpy as np
import pytest

from kraise import pipeline

KERNEL = """
__global__ void expand(const int *row, const int *col, int *dist, int *changed, int *more, int level, int n) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || %s) return;
    for (int e = row[v]; e < row[v + 1]; e++) {
        int u = col[e];
        if (%s) {
            %s
        }
    }
}"""
PLAIN = "dist[v] != level", "dist[u] == -1", "dist[u] = level + 1; *changed = 1;"


def _by_threads(row, col, dist, level, order):
    """What the threads do one after another."""
    dist, changed = dist.copy(), 0
    for v in order:
        if dist[v] == level:
            for u in col[row[v] : row[v + 1]]:
                if dist[u] == -1:
                    dist[u], changed = level + 1, 1
    return dist, changed


def test_levels_in_any_order():
    done = pipeline.translate(KERNEL % PLAIN, "k.cu")
    assert not done.diagnostics, [d.reason for d in done.diagnostics]
    assert "level must not be -1" in done.text
    found: dict = {}
    exec(done.text, found)
    rng = np.random.default_rng(5)
    n = 12
    ends = np.sort(rng.integers(0, 20, n - 1))
    row = np.concatenate(([0], ends, [20])).astype(np.int32)
    col = rng.integers(0, n, 20).astype(np.int32)
    dist = np.full(n, -1, np.int32)
    dist[np.argmax(np.diff(row))] = 0
    for level in range(4):
        none = np.zeros(1, np.int32)
        got, changed = found["expand"](row, col, dist, none, none, level, n)
        for _ in range(4):
            expected, any_ = _by_threads(row, col, dist, level, rng.permutation(n))
            np.testing.assert_array_equal(got, expected)
            assert changed[0] == any_
        dist = np.asarray(got)
    assert (dist >= 0).sum() > 4


@pytest.mark.parametrize(
    "parts",
    [
        (*PLAIN[:2], "dist[u] = level + 1; more[u] = v;"),
        (*PLAIN[:2], "dist[u] = level + 1; atomicAdd(more, 1);"),
        (*PLAIN[:2], "dist[u] = dist[v] + 1;"),
        (PLAIN[0], "dist[u] != level", "dist[u] = level + 1;"),
        ("dist[v] == -1", *PLAIN[1:]),
        ("dist[v] < level", *PLAIN[1:]),
        (*PLAIN[:2], "dist[u] = level + 1; if (v > 2) more[u] = 1;"),
        (*PLAIN[:2], "dist[u] = level + 1; more[u] = level;} if (dist[u] == level + 1) { more[0] = 1;"),
    ],
    ids=["parent", "counted", "value", "guard", "what was set", "unknown order", "some threads", "afterwards"],
)
def test_races(parts):
    done = pipeline.translate(KERNEL % parts, "k.cu")
    assert {d.code for d in done.diagnostics} & {"KR201", "KR202", "KR203"}
