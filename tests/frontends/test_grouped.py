"""Constants that a module keeps in dictionaries and classes."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module

SOURCE = """
from enum import IntEnum
import numpy as np
WIDTH = 2
P = {"rate": 0.25, "taps": [0.5, 0.25], "label": "x"}
class Side(IntEnum):
    LEFT = 0
    RIGHT = 1
class Grid:
    "Sizes."
    N = 3
    M = 2 * N
    HALF = WIDTH / 4

def f(x, out, side):
    for i in range(len(out)):
        s = 0.0
        for k in range(Grid.N):
            s += x[Grid.N * i + k] * P["rate"]
        if side == Side.RIGHT or side == Side.LEFT.value and s > Grid.HALF:
            s += P["taps"][i % 2]
        out[i] = s
"""


def made(source):
    return pipeline.translate(source, "k.py", Options(only=("f",)))


def test_entries_are_constants_of_the_module():
    text, own = made(SOURCE).text, {}
    assert "P_rate = 0.25" in text and "Side_RIGHT = 1" in text and "label" not in text, text
    f = load_module(text).f
    exec(SOURCE, own)  # noqa: S102
    x, out = np.random.default_rng(2).random(12), np.zeros(4)
    for side in (0, 1, 2):
        got = f(x, out, side)
        own["f"](x, out, side)
        np.testing.assert_allclose(got, out, rtol=1e-6)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("class Side", 'P["rate"] = 1.0\nclass Side'),
        ("class Side", "Q = P\nclass Side"),
        ("class Side", "P.update(rate=2.0)\nclass Side"),
        ("\ndef f", "\nGrid.N = 4\ndef f"),
        ("\ndef f", "\nC = Grid\nC.N = 4\ndef f"),
        ("range(Grid.N)", "range(Grid.M)"),  # the class's own N, not the module's
        ("        s = 0.0\n", "        s = 0.0\n        P = x\n"),
        ('P["rate"]', 'P["other"]'),
        ('P["rate"]', 'P["label"]'),
    ],
)
def test_what_may_be_another_value(old, new):
    assert old in SOURCE
    assert made(SOURCE.replace(old, new, 1)).text is None
