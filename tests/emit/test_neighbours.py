"""What a cell and the next one both compute is computed once, over one place more; other values stay as they are."""

import pytest

from kraise import pipeline

PAIRS = {
    "a flow": "y[i] = k[i] * (x[i + 1] - x[i]) - k[i - 1] * (x[i] - x[i - 1])",
    "differences": "a = x[i] - x[i - 1]\n        b = x[i + 1] - x[i]\n        y[i] = a * b + a * a - b * b / 3",
}
OTHERS = {
    "a load that only a mask keeps inside": "y[i] = x[i] * k[i] - (x[i + 1] * k[i + 1] if x[i] * k[i] > 0.2 else 0.0)",
    "two apart": "y[i] = k[i + 1] * x[i + 1] - k[i - 1] * x[i - 1]",
    "unlike": "y[i] = k[i] * (x[i + 1] - x[i]) - k[i - 1] * (x[i + 1] - x[i - 1])",
    "one load": "y[i] = x[i] * x[i] - x[i - 1] * x[i - 1]",
    "once": "y[i] = x[i + 1] - 2 * x[i] + x[i - 1]",
    "with the index": "y[i] = i * (x[i + 1] - x[i]) - i * (x[i] - x[i - 1]) * x[i]",
}


@pytest.mark.parametrize("name", [*PAIRS, *OTHERS])
def test_along_a_row(name):
    source = f"def f(x, k, y, n):\n    for i in range(1, n - 1):\n        {(PAIRS | OTHERS)[name]}\n"
    done = pipeline.translate(source, "k.py")
    assert done.text is not None, done.diagnostics
    for size in (7, 3, 2, 1, 0):
        request = pipeline.Request(shapes=dict.fromkeys("xky", (size,)), values={"n": size})
        ((report,), problems) = pipeline.verify(done, request)
        assert not problems and report.ok, [(r.check, r.what, r.message) for r in report.failures]
    code = done.text.split('"""')[-1]
    assert ("[:-1]" in code and "[1:]" in code) == (name in PAIRS or name == "with the index"), code


def test_along_columns_of_a_matrix_in_a_loop():
    source = """
def f(u, k, out, steps):
    h, w = u.shape
    for t in range(steps):
        for i in range(h):
            for j in range(1, w - 1):
                out[i, j] = k[i] * (u[i, j + 1] - u[i, j]) ** 3 - k[i] * (u[i, j] - u[i, j - 1]) ** 3
        for i in range(h):
            for j in range(1, w - 1):
                u[i, j] += 0.1 * out[i, j]
"""
    done = pipeline.translate(source, "k.py")
    for width in (6, 2, 0):
        request = pipeline.Request(shapes={"u": (4, width), "k": (4,), "out": (4, width)}, values={"steps": 3})
        ((report,), problems) = pipeline.verify(done, request)
        assert not problems and report.ok, [(r.check, r.what, r.message) for r in report.failures]
    assert "[:, :-1]" in done.text and "[:, 1:]" in done.text, done.text
