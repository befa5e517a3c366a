"""Parameters that may be None: the function is raised for calls in which they are given."""

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module

SOURCE = """
import numpy as np

def mean(x, w=None, low=None):
    if w is None:
        w = np.ones(len(x))
    s = 0.0
    t = 0.0
    for i in range(len(x)):
        if low is not None and x[i] < low:
            continue
        v = 1.0 if w is None else w[i]
        s += v * x[i]
        t += v
    return s / t if not (low is None or w is None) else s
"""
X, W = np.random.default_rng(8).random((2, 6))


def made(source):
    return pipeline.translate(source, "k.py", Options(only=("mean",)))


def test_tests_for_none_are_settled():
    own = {}
    exec(SOURCE, own)  # noqa: S102
    mean = load_module(made(SOURCE).text).mean
    assert mean(X, W, 0.4) == pytest.approx(own["mean"](X, W, 0.4), rel=1e-5)
    slope = jax.grad(lambda w: mean(X, w, 0.4))(W)
    step = np.random.default_rng(9).random(6)
    ends = [own["mean"](X, W + h * step, 0.4) for h in (-1e-6, 1e-6)]
    assert slope @ step == pytest.approx((ends[1] - ends[0]) / 2e-6, rel=1e-3)
    for given in ((X, None, 0.4), (X, W, None)):
        with pytest.raises(ValueError, match="must be given"):
            mean(*given)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        s += v * x[i]\n", "        s += v * x[i]\n        w = None\n"),
        ("def mean(x, w=None", "def mean(x, k=2, w=None"),
        ("low=None", "low=1.0"),
        ("\ndef mean", "\ndef other(x):\n    return mean(x, None)\n\ndef mean"),
        ("x[i] < low", "x[i] is x"),
    ],
)
def test_what_stays_refused(old, new):
    assert old in SOURCE
    assert made(SOURCE.replace(old, new)).text is None
