"""Loops around a compare-and-swap, in Python: which atomic they are, and which are none."""

import pytest

from kraise import pipeline
from kraise.pipeline import Request
from tests.checks import verified

KERNEL = (
    "from numba import cuda\nimport numba\n\n@cuda.jit\ndef f(x, total):\n    i = cuda.grid(1)\n    if i < x.size:\n"
)
CAS = "cuda.atomic.cas(total, 0, {}, {})"
ASSUMED = f"""
old = total[0]
while True:
    assumed = old
    old = {CAS.format("assumed", "{0}")}
    if old == assumed:
        break""".lstrip()
LOOKED = f"""
while True:
    seen = total[0]
    if {CAS.format("seen", "{0}")} == seen:
        break""".lstrip()
FLAGGED = f"""
done = False
while not done:
    old = total[0]
    done = {CAS.format("old", "{0}")} == old""".lstrip()
BEYOND = f"""
old = total[0]
while {{1}}:
    seen = {CAS.format("old", "x[i]")}
    if seen == old:
        break
    old = seen""".lstrip()
AGAIN = f"""
seen = total[0]
while True:
    if {CAS.format("seen", "{0}")} == seen:
        break
    seen = total[0]""".lstrip()
GOOD = [
    (AGAIN.format("seen + x[i]"), "total.at[0].add(x.sum())"),
    (ASSUMED.format("assumed + x[i]"), "total.at[0].add(x.sum())"),
    (ASSUMED.format("max(assumed, x[i])"), "jnp.maximum(total[0], x.max())"),
    (ASSUMED.format("x[i] if x[i] < assumed else assumed"), "jnp.minimum(total[0], x.min())"),
    (LOOKED.format("seen * x[i]"), "total.at[0].multiply(x.prod())"),
    (FLAGGED.format("min(old, x[i])"), "jnp.minimum(total[0], x.min())"),
    (BEYOND.format("", "x[i] > old"), "jnp.maximum(total[0], x.max())"),
    (BEYOND.format("", "old > x[i]"), "jnp.minimum(total[0], x.min())"),
]
BAD = [
    ASSUMED.format("assumed * 2 + x[i]"),  # no atomic is that
    ASSUMED.format("x[i] if x[i] < assumed else i"),
    ASSUMED.replace("if old == assumed", "if old != assumed").format("assumed + x[i]"),  # left where it was lost
    ASSUMED.replace("    assumed = old\n", "").replace("assumed", "old").format("old + x[i]"),  # compared with itself
    BEYOND.replace("    old = seen", "    pass").format("", "x[i] > old"),  # never looks again
    BEYOND.format("", "x[i] != old"),
    LOOKED.replace("seen = total[0]", "seen = total[1]").format("seen + x[i]"),  # of another cell
    ASSUMED.format("assumed + x[i]") + "\nx[i] = old",  # what it returned is used
    AGAIN.replace("    seen = total[0]", "    seen = total[1]").format("seen + x[i]"),
    f"{AGAIN}\n    if total[0] == seen:\n        break".format("seen + x[i]"),  # left where it was lost
    FLAGGED.format("old + x[i]") + "\nif done:\n    x[i] = 0",
    f"old = total[0]\n{CAS.format('old', 'old + x[i]')}",  # tried once
]


def _source(loop: str) -> str:
    return KERNEL + "".join(f"        {line}\n" for line in loop.splitlines())


@pytest.mark.parametrize(("loop", "text"), GOOD)
def test_an_atomic(loop, text):
    done = pipeline.translate(_source(loop), "f.py")
    assert done.text is not None and text in done.text, (done.text, [d.reason for d in done.diagnostics])
    request = Request(shapes={"x": (5,), "total": (1,)}, gradients=False)
    reports, problems = verified(done, request, "f.py", _source(loop))
    assert not problems and all(r.ok for r in reports)


@pytest.mark.parametrize("loop", BAD)
def test_no_atomic(loop):
    done = pipeline.translate(_source(loop), "f.py")
    assert done.text is None and done.diagnostics


FLUX = """
from numba import cuda

@cuda.jit
def f(left, right, u, total):
    e = cuda.grid(1)
    if e < left.size:
        cuda.atomic.sub(total, left[e], u[e])
        cuda.atomic.add(total, right[e], u[e])
"""


def test_what_is_added_and_taken_away_is_a_sum():
    done = pipeline.translate(FLUX, "f.py")
    shapes = {"left": (5,), "right": (5,), "u": (5,), "total": (5,)}
    reports, problems = verified(done, Request(shapes=shapes), "f.py", FLUX)
    assert not problems and all(r.ok for r in reports)
