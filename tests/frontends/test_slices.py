"""Slices backwards, from a place, to a place, with a step; loops whose step is a size, up and down."""

from dataclasses import replace

import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module
from tests.checks import agrees

SOURCE = """
def back(x, i, j):
    s = 0.0
    for v in x[::-2]:
        s = s * 0.9 + v
    for v in x[3:0:-1]:
        s += v * s
    for v in x[:-4:-1]:
        s -= 0.5 * v
    for v in x[i::-3]:
        s = 0.5 * s + v
    for v in x[i:j:-2]:
        s = 0.25 * s + v
    return s
"""


@pytest.fixture(scope="module")
def module():
    text = pipeline.translate(SOURCE, "f.py").text
    assert "x[::-2]" in text and "//" not in text.partition('    """\n')[2], text
    return load_module(text)


@pytest.mark.parametrize("n, i, j", [(5, 4, 1), (6, 3, 0), (7, 6, 2), (8, 2, 2)])
def test_backwards(module, n, i, j):
    made: dict = {}
    exec(SOURCE, made)
    x = np.arange(n) * 0.3 + 0.1
    np.testing.assert_allclose(module.back(x, i, j), made["back"](x, i, j), rtol=1e-5)


STEPS = """
def both_ways(x, k):
    s = 0.0
    for i in range(0, len(x), k):
        s += x[i]
    t = 0.0
    for i in range(len(x) - 1, -1, -k):
        t = 0.5 * t + x[i]
    return s, t
"""


def test_a_size_as_a_step_in_both_directions():
    function = load_module(pipeline.translate(STEPS, "f.py").text).both_ways
    made: dict = {}
    exec(STEPS, made)
    for n, k in ((0, 2), (5, 1), (5, 3), (2, 7)):
        x = np.arange(n) + 0.5
        np.testing.assert_allclose(function(x, k), made["both_ways"](x, k), rtol=1e-6)
    with pytest.raises(ValueError, match="step of a loop must be positive"):
        function(np.ones(3), -1)


@pytest.mark.parametrize("part", ["x[-q:]", "x[:-q]", "x[-q - 1:]", "x[-i - 1:]", "x[1 - q - q:]", "x[-2 * q:]"])
def test_bounds_that_count_from_the_end_for_some_values_only(part):
    """``x[-q:]`` is all of the array for q = 0, its last q elements for others."""
    source = f"def f(x, o, q):\n    for i in range(o.shape[0]):\n        o[i] = {part}.sum()\n"
    done = pipeline.translate(source, "k.py", Options(only=("f",)))
    assert not done.raised and any("x[n - q :]" in (d.hint or "") for d in done.diagnostics), done.text


ROUNDS = """
def f(x, o, w, n):
    for i in range({rounds}):
        o[i] = {value}
"""

# (rounds, value, sizes that agree, sizes that are refused when the function is called)
CUT = [
    ("len(x)", "x[i:i + w].sum()", [(6, 3, 0), (5, 9, 0), (4, 0, 0)], []),
    ("len(x)", "x[max(0, i - w):i + w + 1].mean()", [(6, 2, 0), (5, 9, 0)], []),
    ("len(x)", "x[max(0, i - 1):i + 2].sum()", [(6, 0, 0), (2, 0, 0)], []),
    ("n", "x[i:i + w].sum()", [(6, 3, 4), (6, 1, 6)], [(6, 3, 5)]),
    ("n", "x[i * w:(i + 1) * w].mean()", [(6, 3, 2), (7, 3, 2)], [(6, 4, 2)]),
    ("n", "x[:5].sum()", [(6, 0, 3), (5, 0, 2)], [(4, 0, 2)]),
    ("n", "x[:w].sum() + x[w:].sum()", [(6, 2, 3), (4, 4, 3), (4, 0, 3)], [(4, 5, 3), (4, -1, 3)]),
    ("n", "x[w:n].sum()", [(6, 2, 3), (6, 5, 3)], [(3, 1, 4)]),
    ("n", "x[w:n].mean()", [(6, 2, 3)], [(6, 5, 3)]),
    ("n", "x[w::-1].sum()", [(6, 2, 3), (6, 5, 3)], [(6, 6, 3)]),
    ("n", "x[len(x) - w:].sum()", [(6, 2, 3), (6, 6, 3)], [(6, 7, 3)]),
]


@pytest.mark.parametrize("rounds, value, good, bad", CUT)
def test_ends_beyond_the_array_are_cut_off_or_checked(rounds, value, good, bad):
    source = ROUNDS.format(rounds=rounds, value=value)
    done = pipeline.translate(source, "k.py", Options(only=("f",)))
    assert done.raised, done.diagnostics
    function = load_module(done.text).f
    made: dict = {}
    exec(source, made)
    for size, w, n in good:
        x, o = np.arange(size) * 0.5 + 1.0, np.zeros(8, np.float32)
        expected = o.copy()
        made["f"](x, expected, w, n)
        np.testing.assert_allclose(function(x.astype(np.float32), o, w, n), expected, rtol=1e-5, err_msg=done.text)
    for size, w, n in bad:
        with pytest.raises(ValueError, match="a slice would"):
            function(np.ones(size, np.float32), np.zeros(8, np.float32), w, n)
    agrees(
        done, pipeline.Request(gradients=True, shapes={"x": (6,), "o": (8,)}, values={"w": good[0][1], "n": good[0][2]})
    )


@pytest.mark.parametrize(
    "value", ["x[i - 1:i + 2].sum()", "x[:i - 1].sum()", "x[i - w:i + 1].sum()", "x[i - 2::-1].sum()"]
)
def test_bounds_below_zero_in_some_round_are_refused(value):
    done = pipeline.translate(ROUNDS.format(rounds="len(x)", value=value), "k.py", Options(only=("f",)))
    ((found,), text) = done.diagnostics, done.text
    assert found.code == "KR204" and "counts from the end" in found.reason and "max(" in found.hint, text
    inside = pipeline.translate(ROUNDS.format(rounds="2 + w, len(x)", value=value), "k.py", Options(only=("f",)))
    assert inside.raised, inside.diagnostics


def test_parts_of_different_lengths_do_not_fit():
    source = "def f(x, y, n, m):\n    y[:n] = 2.0 * x[:m]\n"
    done = pipeline.translate(source, "k.py", Options(only=("f",)))
    function = load_module(done.text).f
    x, y = np.arange(1, 6, dtype=np.float32), np.zeros(4, np.float32)
    np.testing.assert_allclose(function(x, y, 3, 3), [2, 4, 6, 0])
    for n, m in ((3, 2), (2, 3), (5, 5), (4, 6)):
        with pytest.raises(ValueError, match="a slice would end|do not fit|would not fit"):
            function(x, y, n, m)
    agrees(done, pipeline.Request(gradients=True, shapes={"x": (5,), "y": (4,)}, values={"n": 3, "m": 3}))
    apart = "def f(x, y):\n    for i in range(2):\n        y[i:i + 2] = x[i:i + 3]\n"
    done = pipeline.translate(apart, "k.py", Options(only=("f",)))
    assert not done.raised and "do not fit together" in done.diagnostics[0].reason
    whole = "def f(A, x, y):\n    for i in range(A.shape[0]):\n        y[i] = np.dot(A[i], x)\n"
    function = load_module(pipeline.translate("import numpy as np\n" + whole, "k.py", Options(only=("f",))).text).f
    with pytest.raises(ValueError, match="not fit"):
        function(np.ones((2, 3)), np.ones(4), np.ones(2))


def test_the_reference_reads_slices_as_python_does():
    """A module that takes x[a:b] for granted does not agree with the source where the array is shorter."""
    source = "def f(x, o, w):\n    for i in range(len(x)):\n        o[i] = x[i:i + w].sum()\n"
    done = pipeline.translate(source, "k.py", Options(only=("f",)))
    wrong = "import jax.numpy as jnp\n\n\ndef f(x, o, w):\n    return jnp.array([x[:w].sum() for i in range(len(x))])\n"
    request = pipeline.Request(gradients=False, shapes={"x": (4,), "o": (4,)}, values={"w": 3})
    ((report,), problems) = pipeline.verify(replace(done, text=wrong), request)
    assert not problems and not report.ok


SIEVE = """
import numpy as np
def f(n):
    a = np.ones(n + 1, dtype=np.bool_)
    a[:2] = False
    for i in range(2, int(n ** 0.5) + 1):
        if a[i]:
            a[i * i :: i] = False
    return a
"""


@pytest.mark.parametrize("rounds", ["range(2, int(n ** 0.5) + 1)", "range(n // 2, 1, -1)"])
def test_every_ith_element_of_a_loop_over_i(rounds):
    given, source = {}, SIEVE.replace("range(2, int(n ** 0.5) + 1)", rounds)
    exec(source, given)  # noqa: S102
    f = load_module(pipeline.translate(source, "f.py", Options(only=("f",))).text).f
    for n in (2, 30):
        assert np.asarray(f(n)).tolist() == given["f"](n).tolist()


@pytest.mark.parametrize("new", ["range(0, n)", "range(n)", "range(9, -1, -1)", "range(-1, n)"])
def test_a_step_that_may_be_zero_or_less(new):
    source = SIEVE.replace("range(2, int(n ** 0.5) + 1)", new)
    assert source != SIEVE and pipeline.translate(source, "f.py", Options(only=("f",))).text is None


def test_every_ith_element_in_a_while_loop_that_counts_i():
    source = SIEVE.replace("for i in range(2, int(n ** 0.5) + 1)", "i = 2\n    while i * i <= n")
    source = source.replace("    return a", "        i += 1\n    return a")
    given = {}
    exec(source, given)  # noqa: S102
    f = load_module(pipeline.translate(source, "f.py", Options(only=("f",))).text).f
    assert np.asarray(f(30)).tolist() == given["f"](30).tolist()
    other = source.replace("i = 2\n", "i = 0\n")
    assert pipeline.translate(other, "f.py", Options(only=("f",))).text is None


STRIDED = "def f(a, n):\n    for i in range({}, n):\n        a[{}] {}\n"


@pytest.mark.parametrize("change", ["= a[1] * i", "+= a[0]", "*= 0.5"])
def test_one_number_into_every_s_th_element(change):
    source = STRIDED.format(1, "1:n - i:i", change)
    done = pipeline.translate(source, "k.py", Options(only=("f",)))
    a, made = np.arange(9) + 0.5, {}
    got = np.asarray(load_module(done.text).f(a, 7))
    exec(source, made)
    made["f"](a, 7)
    np.testing.assert_allclose(got, a, rtol=1e-6)


@pytest.mark.long
def test_gradients_of_every_s_th_element():
    done = pipeline.translate(STRIDED.format(1, "1:n - i:i", "= a[1] * a[0]"), "k.py", Options(only=("f",)))
    agrees(done, pipeline.Request(shapes={"a": (9,)}, values={"n": 7}))


@pytest.mark.parametrize(
    ("first", "part", "change"), [(0, "::i", "= 1.0"), (-2, "::i", "= 1.0"), (1, "::i", "= a[::i]")]
)
def test_steps_that_may_not_be_positive_and_arrays_in_steps_are_refused(first, part, change):
    """A slice whose step is below zero has other ends, one of 0 raises."""
    done = pipeline.translate(STRIDED.format(first, part, change), "k.py", Options(only=("f",)))
    assert not done.raised and any("step" in d.reason for d in done.diagnostics), done.text
