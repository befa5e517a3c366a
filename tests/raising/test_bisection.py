"""Binary searches: the spellings that are one, and loops that look like one."""

import pytest

from kraise import pipeline
from tests.checks import verified

SEARCH = """from numba import cuda
@cuda.jit
def f(a, x, y):
    i = cuda.grid(1)
    if i < y.size:
        lo = {low}
        hi = {high}
        while {test}:
            mid = {middle}
            if {compare}:
                {yes}
            else:
                {no}
        y[i] = {result}
"""
HALF = {
    "low": "0",
    "high": "a.size",
    "test": "lo < hi",
    "middle": "(lo + hi) // 2",
    "compare": "a[mid] < x[i]",
    "yes": "lo = mid + 1",
    "no": "hi = mid",
    "result": "lo",
}
CLOSED = {**HALF, "high": "a.size - 1", "test": "lo <= hi", "no": "hi = mid - 1"}
OPEN = {**HALF, "high": "a.size - 1", "test": "hi - lo > 1", "yes": "lo = mid"}
COUNT = {
    **HALF,
    "test": "hi > 0",
    "middle": "lo + hi // 2",
    "yes": "lo = mid + 1; hi = hi - hi // 2 - 1",
    "no": "hi = hi // 2",
}
TAKEN = {
    "a start and a count": COUNT,
    "a start and a count, arms exchanged": {
        **COUNT,
        "low": "1",
        "high": "a.size - 2",
        "middle": "lo + (hi >> 1)",
        "compare": "x[i] < a[mid]",
        "yes": "hi = hi >> 1",
        "no": "hi -= (hi >> 1) + 1; lo = mid + 1",
        "result": "lo + hi",
    },
    "half open": HALF,
    "with a shift": {**HALF, "middle": "(lo + hi) >> 1"},
    "without overflow": {**HALF, "middle": "lo + (hi - lo) // 2"},
    "a shift without overflow": {**HALF, "middle": "lo + ((hi - lo) >> 1)"},
    "upper bound": {**HALF, "compare": "a[mid] <= x[i]"},
    "arms exchanged": {**HALF, "compare": "a[mid] >= x[i]", "yes": "hi = mid", "no": "lo = mid + 1"},
    "upper bound, arms exchanged": {**HALF, "compare": "x[i] < a[mid]", "yes": "hi = mid", "no": "lo = mid + 1"},
    "the upper end": {**HALF, "result": "hi"},
    "a part of the array": {**HALF, "low": "2", "high": "a.size - 1"},
    "closed": CLOSED,
    "closed, the upper end": {**CLOSED, "result": "hi"},
    "open": OPEN,
    "open, the upper end": {**OPEN, "result": "hi"},
    "open below": {**OPEN, "low": "-1", "result": "hi"},
    "what is looked up is computed": {**HALF, "compare": "a[mid] < 0.5 * x[i] + i"},
    "what stands there is computed": {**HALF, "compare": "2.0 * a[mid] - 1.0 < x[i]"},
}
LEFT = {
    "a count that leaves out the middle": {**COUNT, "no": "hi = hi // 2 - 1"},
    "a count that leaves out the last": {**COUNT, "yes": "lo = mid + 1; hi = hi - hi // 2 - 2"},
    "from the top down": {**HALF, "compare": "a[mid] > x[i]"},
    "a third": {**HALF, "middle": "(2 * lo + hi) // 3"},
    "compared elsewhere": {**HALF, "compare": "a[max(mid - 1, 0)] < x[i]"},
    "both move to the middle, one beyond": {**HALF, "test": "hi - lo > 2", "yes": "lo = mid + 1"},
    "compared with a neighbour": {**HALF, "high": "a.size - 1", "compare": "a[mid] < a[mid + 1]"},
    "compared with an end": {**HALF, "compare": "a[mid] < x[i] + lo"},
    "a range of its own": {**HALF, "high": "min(a.size, i + 1)"},
}


def checked(parts: dict[str, str]) -> str:
    source = SEARCH.format(**parts)
    done = pipeline.translate(source, "case.py")
    assert done.text is not None, done.diagnostics
    reports, findings = verified(done, pipeline.Request(), "case.py", source)
    assert reports and all(r.ok for r in reports) and not findings, [r.failures for r in reports]
    return done.text


@pytest.mark.parametrize("name", TAKEN)
def test_takes(name):
    text = checked(TAKEN[name])
    assert "searchsorted" in text and "while_loop" not in text
    assert "a must be sorted" in text


@pytest.mark.parametrize("name", LEFT)
def test_leaves(name):
    assert "searchsorted" not in checked(LEFT[name])


def test_a_round_that_stores_stays():
    source = SEARCH.format(**{**HALF, "yes": "lo = mid + 1; y[i] = mid"})
    done = pipeline.translate(source, "case.py")
    assert done.text is None or "searchsorted" not in done.text
