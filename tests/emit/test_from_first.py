"""Running values over all cells, the first one among them, in place and from one array to another."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

PLACE = "def f(x, n):\n for i in range({}):\n  x[i] {}\n"
OTHER = "def f(x, y, n):\n y[{}] = x[0]\n for i in range(1, {}):\n  y[i] = {}\n"
WHOLE = {
    "sums": PLACE.format("1, len(x)", "+= x[i - 1]"),
    "products": PLACE.format("1, len(x)", "*= x[i - 1]"),
    "extrema": PLACE.format("1, len(x)", "= max(x[i], x[i - 1])"),
    "of some": PLACE.format("1, n", "+= x[i - 1]"),
    "elsewhere": OTHER.format(0, "len(x)", "y[i - 1] + x[i]"),
    "least elsewhere": OTHER.format(0, "len(x)", "min(y[i - 1], x[i])"),
}
PARTS = {
    "from the third on": PLACE.format("2, len(x)", "+= x[i - 1]"),
    "another start": OTHER.format(0, "len(x)", "y[i - 1] + 2 * x[i]"),
    "of none, perhaps": OTHER.format(0, "n", "y[i - 1] + x[i]"),  # n = 0 stores y[0]
}


@pytest.mark.parametrize("name", [*WHOLE, *PARTS])
@pytest.mark.parametrize("kind", ["float32", "int8"])
def test_values(name, kind):
    source = (WHOLE | PARTS)[name]
    done = pipeline.translate(source, "k.py")
    assert done.text is not None, done.diagnostics
    assert ("[1:]" in done.text or "[2:]" in done.text or "[1:" in done.text) == (name in PARTS), done.text
    own: dict = {}
    exec(source, own)
    mine = load_module(done.text).f
    for size, n in ((6, 4), (6, 1), (6, 0), (1, 1)):
        x = np.array([3, -1, 2, 5, -4, 1][:size], kind)
        arrays = (x, np.full(7, 9, kind)) if "y" in source.split("\n")[0] else (x,)
        copies = [a.copy() for a in arrays]
        own["f"](*copies, n)
        found = mine(*arrays, n)
        np.testing.assert_array_equal(found, copies[-1])
        assert found.dtype == kind
    assert mine(np.zeros(0, kind), 0).shape == (0,) if len(arrays) == 1 else True
