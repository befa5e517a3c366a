"""Ragged loops: rows of a flat range become segments, other bodies run to the longest row, races stay refused."""

import itertools
import re

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import verified
from tests.raising.test_shared import refusal


def emitted(body, parameters="ptr, col, val, x, y"):
    """The text for a kernel with one row a thread, row ``i``, and this body."""
    lines = "\n".join("        " + line for line in body.strip("\n").splitlines())
    source = f"from numba import cuda\n\n@cuda.jit\ndef kernel({parameters}):\n    i = cuda.grid(1)\n"
    done = pipeline.translate(f"{source}    if i < y.shape[0]:\n{lines}\n", "kernel.py")
    assert done.text, [d.reason for d in done.diagnostics]
    return done.text


def row_body(update, init="s = 0.0"):
    return f"{init}\nfor k in range(ptr[i], ptr[i + 1]):\n    {update}\ny[i] = s"


@pytest.mark.parametrize(
    "update, form",
    [
        ("s += val[k]", "segment_sum"),
        ("s += val[k] * x[col[k]]", "segment_sum"),
        ("s -= val[k] * x[i]", "segment_sum"),
        ("s = max(s, val[k])", "segment_max"),
        ("s = min(s, val[k] * x[i])", "segment_min"),
        ("s += val[k] if col[k] > 2 else 0.0", "segment_sum"),
    ],
)
def test_a_reduction_over_a_row_is_a_segment_operation(update, form):
    text = emitted(row_body(update))
    assert form in text and "loop" not in text and "ptr must not decrease" in text


@pytest.mark.parametrize("end", ["ptr[i + 1]", "end"])
@pytest.mark.parametrize("more", ["", "    if val[k] < 0:\n        k += 1\n        continue\n"])
def test_a_row_that_a_while_walks_is_a_row(end, more):
    text = emitted(
        f"k = ptr[i]\nend = ptr[i + 1]\ns = 0.0\nwhile k < {end}:\n{more}    s += val[k]\n    k += 1\ny[i] = s"
    )
    assert "segment_sum" in text and "loop" not in text and "ptr must not decrease" in text


@pytest.mark.parametrize("body", ["s += val[k]\n    k += 1 + (val[k] > 0)", "s += val[k]\n    k += x[k]"])
def test_a_walk_by_other_steps_is_none(body):
    text = emitted(f"k = ptr[i]\ns = 0.0\nwhile k < ptr[i + 1]:\n    {body}\ny[i] = s")
    assert "while_loop" in text and "segment" not in text


def test_a_bound_of_another_array_may_be_a_fraction():
    text = emitted("k = ptr[i]\ns = 0.0\nwhile k < x[i]:\n    s += val[k]\n    k += 1\ny[i] = s")
    assert "while_loop" in text and "segment" not in text and "x[:n].astype" not in text


@pytest.mark.parametrize("update", ["s = s * x[i] + val[k]", "s *= val[k]", "s = val[k] - s"])
def test_state_from_round_to_round_runs_to_the_longest_row(update):
    text = emitted(row_body(update))
    assert "while_loop" in text and "segment" not in text


@pytest.mark.parametrize(
    "body",
    [
        "s += val[k]\n    val[k] = s",
        "val[k] = s\n    s += x[k]",
        "s = max(s, x[k] * col[i])\n    val[k] = s",
        "if col[k] > 2: s += x[k]\n    val[k] = s * x[i]",
    ],
)
@pytest.mark.parametrize("rows", ["range(ptr[i], ptr[i + 1])", "range(ptr[i + 1] - 1, ptr[i] - 1, -1)"])
def test_running_values_of_rows_are_scans_that_start_anew(body, rows):
    text = emitted(f"s = 0.5\nfor k in {rows}:\n    {body}\ny[i] = s")
    assert "associative_scan" in text and "loop" not in text and "ptr must not decrease" in text


ENDS = """
__global__ void kernel(const int *ptr, const float *w, float *run, float *rest, float *total, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = 0.0f, t = 0.0f;
  for (int k = ptr[i]; k < ptr[i + 1]; ++k) {{ s += w[k]; t += {}; run[k] = s; }}
  total[i] = t;
  for (int k = ptr[i + 1] - 1; k >= ptr[i]; --k) {{ rest[k] = s; s -= w[k]; }}
}}"""


@pytest.mark.parametrize(("term", "rows"), [("w[k]", False), ("w[k] * i", True)])
def test_rows_are_told_by_their_pointers_where_nothing_else_asks_for_them(term, rows):
    """Rows may be empty, and begin and end anywhere in the arrays."""
    text = pipeline.translate(ENDS.format(term), "kernel.cu").text
    assert text and ("segment_sum" in text) == rows == ("row =" in text)
    ptr, n, w = np.array([2, 2, 5, 5, 8, 9], np.int32), 5, np.arange(1, 12, dtype=np.float32)
    run, rest, total = np.full((3, 11), -1, np.float32)
    got = load_module(text).kernel(ptr, w, run, rest, total[:n], n)
    for i in range(n):
        part = w[ptr[i] : ptr[i + 1]]
        run[ptr[i] : ptr[i + 1]] = rest[ptr[i] : ptr[i + 1]] = np.cumsum(part)
        total[i] = part.sum() * (i if rows else 1)
    for mine, theirs in zip(got, (run, rest, total[:n]), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)


IN_ROWS = {  # a body over k: what it makes of the row v
    "y[k] = y[k] * x[i]": lambda v, a: v * a,
    "y[k] += x[i]": lambda v, a: v + a,
    "s = x[i] * s + y[k]\n            y[k] = s": lambda v, a: np.array(
        [v[: q + 1] @ a ** np.arange(q, -1, -1) for q in range(v.size)]
    ),
    "y[k + i] = x[i] if k > 2 else y[k + i]": None,
}


@pytest.mark.parametrize("body", IN_ROWS)
def test_a_row_is_changed_in_place(body):
    """Entries of a row are its lane's own, whatever the loop to the longest row carries."""
    source = "from numba import cuda\n\n@cuda.jit\ndef kernel(ptr, x, y, n):\n    i = cuda.grid(1)\n    if i < n:\n"
    source += f"        s = 0.0\n        for k in range(ptr[i], ptr[i + 1]):\n            {body}\n"
    done = pipeline.translate(source, "kernel.py")
    assert done.text and done.text.count("ptr must not decrease") == 1, [d.reason for d in done.diagnostics]
    assert ("while_loop" in done.text) is ("s = x" in body or "k + i" in body)
    ptr, x = np.array([0, 3, 3, 4, 9], np.int32), np.array([0.5, 2.0, -1.5, 0.25], np.float32)
    y = np.linspace(-1, 1, 13, dtype=np.float32)
    want = y.copy()
    for i, (a, b) in enumerate(itertools.pairwise(ptr)):
        if IN_ROWS[body] is not None:
            want[a:b] = IN_ROWS[body](y[a:b], x[i])
        else:
            want[[k + i for k in range(a, b) if k > 2]] = x[i]
    np.testing.assert_allclose(load_module(done.text).kernel(ptr, x, y, 4), want, rtol=1e-6)


@pytest.mark.parametrize("first, entry", [("ptr[i] + 1", "k - 1"), ("ptr[i] + 2", "k - 2"), ("ptr[i] + 2", "k - 1")])
def test_an_entry_before_one_is_the_lanes_own_from_the_next_on(first, entry):
    source = "from numba import cuda\n\n@cuda.jit\ndef kernel(ptr, y, n):\n    i = cuda.grid(1)\n    if i < n:\n"
    source += f"        for k in range({first}, ptr[i + 1]):\n            y[k] += y[{entry}]\n"
    assert pipeline.translate(source, "kernel.py").text
    near = pipeline.translate(source.replace(first, first[:-1] + "0"), "kernel.py")
    assert near.text is None and {d.code for d in near.diagnostics} == {"KR201"}


def test_rows_of_other_arrays_are_totals_of_every_row():
    inner = "t = 0.0\n    for m in range(ptr[col[k]], ptr[col[k] + 1]):\n        t += val[m]\n    s += t * val[k]"
    text = emitted(row_body(inner))
    assert text.count("segment_sum") == 2 and "loop" not in text


def test_pairs_of_entries_have_no_flat_form():
    inner = "for m in range(ptr[col[k]], ptr[col[k] + 1]):\n        s += abs(val[m] - val[k]) * x[i]"
    text = emitted(row_body(inner))
    assert "while_loop" in text and not re.search(r"\[:, None\]", text)


def test_a_count_of_rounds_needs_no_range():
    text = emitted(row_body("s += 1", "s = 0"))
    assert "loop" not in text and "segment" not in text


def test_ranges_that_need_not_be_apart_are_no_segments():
    text = emitted("s = 0.0\nfor k in range(ptr[i], col[i]):\n    s += val[k]\ny[i] = s")
    assert "while_loop" in text and "must not decrease" not in text


def test_a_row_length_bounds_a_row_of_a_matrix():
    text = emitted("s = 0.0\nfor k in range(col[i]):\n    s += val[i, k]\ny[i] = s")
    assert "while" not in text and "segment" not in text and "axis=1" in text


def test_entries_of_a_row_are_stored_by_their_row_only():
    assert "loop" not in emitted("for k in range(ptr[i], ptr[i + 1]):\n    val[k] = x[i]")


ROW = """
    i = cuda.grid(1)
    if i < n:
        for k in range(ptr[i], ptr[i + 1]):
            {}
"""


@pytest.mark.parametrize(
    "store, code",
    [
        ("y[col[k]] = x[i]", "KR202"),  # several entries may name one cell
        ("y[k - i] = x[i]", "KR202"),
        ("y[k // 2] = x[i]", "KR202"),
        ("y[k] = y[k + 1] + x[i]", "KR201"),
        ("y[k] = 0.5 * y[k + 1] * y[k]", "KR201"),
        ("y[k - 1] = y[k] * y[k - 1]", "KR201"),
    ],
)
def test_stores_that_may_meet_are_refused(store, code):
    assert code in refusal(ROW.format(store), "ptr, col, x, y, n")


def test_a_pointer_that_the_kernel_changes_says_nothing():
    body = ROW.format("y[k] = x[i]") + "        ptr[i] = 0\n"
    assert refusal(body, "ptr, col, x, y, n")


def test_ranges_that_may_overlap_do_not_keep_stores_apart():
    body = ROW.replace("ptr[i + 1]", "col[i]").format("y[k] = x[i]")
    assert refusal(body, "ptr, col, x, y, n")


def test_a_loop_result_of_each_row_is_no_array_to_look_up():
    first = "s = 1.0\nfor k in range(ptr[i], ptr[i + 1]):\n    s = s * 0.5 - val[k]\n"
    second = "t = 0.0\nfor k in range(ptr[i], ptr[i + 1]):\n    t += s * val[k]\ny[i] = t"
    text = emitted(first + second)
    assert text.count("while_loop(") == 2


def test_totals_of_all_rows_are_made_before_a_loop_over_the_rows():
    source = """def f(ptr, val, y):
    for i in range(1, len(ptr) - 1):
        s = 0.0
        for k in range(ptr[i], ptr[i + 1]):
            s += val[k] * val[k]
        y[i] = 0.5 * y[i - 1] * y[i - 1] + s
"""
    text = pipeline.translate(source, "f.py").text
    assert text and text.index("segment_sum") < text.index("def step")


@pytest.mark.parametrize("threads", ["i", "j"])
def test_lanes_of_equal_extents_keep_their_names(threads):
    source = f"""from numba import cuda
@cuda.jit
def f(out, vals, ptr):
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[0]:
        p = 0
        w = 0.0
        while p < 5 and out[i, j] - vals[i] < 0.5:
            for k in range(ptr[{threads}], ptr[{threads} + 1]):
                if j != i + 1:
                    w = w * 0.5 + k
            p += 1
        out[i, j] = w
"""
    done = pipeline.translate(source, "f.py")
    assert done.text
    (report,), problems = verified(done, pipeline.Request())
    assert report.ok and not problems


BESIDE = """
from numba import njit


@njit
def paths(val, out, ptr):
    for i in range(out.shape[0]):
        s = 0.0
        last = out[i]
        for k in range(ptr[i], ptr[i + 1]):
            s += last * val[k]
            last = val[k]
        out[i] = s
"""


def test_the_entry_before_one_is_a_slice_as_long_as_the_range():
    """It was ``val[0:-1]`` beside values of the whole range, and raised (fuzz 1300122)."""
    done = pipeline.translate(BESIDE, "kernel.py")
    assert "segment_sum" in done.text and "while_loop" not in done.text
    ((report,), _) = verified(done, pipeline.Request())
    assert report.ok, report
