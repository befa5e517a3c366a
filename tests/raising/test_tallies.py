"""Stores at places that a running count, a search or the user's word tells apart."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from tests.checks import agrees, verified

SCAN = """
__global__ void keep(const float *x, float *out, float limit) {{
    __shared__ int s[16];
    int t = threadIdx.x, i = blockIdx.x * 16 + t;
    int f = x[i] > limit ? 1 : 0;
    s[t] = f;
    __syncthreads();
    for (int d = 1; d < 16; d <<= 1) {{
        int v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }}
    {}
}}"""
PLACES = (
    "if (f) out[blockIdx.x * 16 + s[t] - 1] = x[i];",
    "if (x[i] > limit) out[blockIdx.x * 16 + 16 - s[t]] = x[i];",
)
OTHER = {
    "not all that is stored is counted": "if (x[i] > 0.0f) out[blockIdx.x * 16 + s[t] - 1] = x[i];",
    "every thread stores": "out[blockIdx.x * 16 + s[t] - 1] = x[i];",
    "those that are not counted store": "if (!f) out[blockIdx.x * 16 + s[t]] = x[i];",
    "blocks overlap": "if (f) out[blockIdx.x * 15 + s[t] - 1] = x[i];",
    "all blocks to one place": "if (f) out[s[t] - 1] = x[i];",
    "half of a count": "if (f) out[blockIdx.x * 16 + s[t] / 2] = x[i];",
}
MERGE = """
__device__ int before(const int *a, int n, int v) {{
    int lo = 0, hi = n;
    while (lo < hi) {{ int m = (lo + hi) / 2; if (a[m] < v) lo = m + 1; else hi = m; }}
    return lo;
}}
__device__ int behind(const int *a, int n, int v) {{
    int lo = 0, hi = n;
    while (lo < hi) {{ int m = (lo + hi) / 2; if (a[m] <= v) lo = m + 1; else hi = m; }}
    return lo;
}}
__global__ void merge(const int *a, int n, const int *b, int m, int *out) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[{}] = a[i];
    else if (i < n + m) {{ int j = i - n; out[{}] = b[j]; }}
}}"""
APART = ("i + before(b, m, a[i])", "j + behind(a, n, b[j])")
MEETING = {
    "equal ones at one place": ("i + before(b, m, a[i])", "j + before(a, n, b[j])"),
    "no rank of their own": ("before(b, m, a[i])", "m + j + behind(a, n, b[j])"),
    "turned": ("n - i + before(b, m, a[i])", "n + m + 1 + j"),
    "one too far": ("i + 1 + before(b, m, a[i])", "j + behind(a, n, b[j])"),
}
COMPACT = """
__global__ void compact(const float *x, const int *flag, const int *scan, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && flag[i] == 1) out[scan[i]] = x[i];
}"""


def module(source, **options):
    done = pipeline.translate(source, "k.cu", Options(**options))
    assert not done.diagnostics, done.diagnostics
    found: dict = {}
    exec(done.text, found)
    return done.text, found


def codes(source, **options):
    done = pipeline.translate(source, "k.cu", Options(**options))
    assert done.text is None
    return {d.code for d in done.diagnostics}


@pytest.mark.parametrize("store", PLACES)
def test_kept_elements_have_places_of_their_own(store):
    _, found = module(SCAN.format(store))
    x = np.random.default_rng(1).normal(size=48).astype(np.float32)
    out, wanted = np.zeros(48, np.float32), np.zeros(48, np.float32)
    for block in range(3):
        row = x[16 * block : 16 * block + 16]
        for place, value in enumerate(row[row > 0.25]):
            wanted[16 * block + (15 - place if "- s" in store else place)] = value
    np.testing.assert_array_equal(found["keep"](x, out, 0.25, grid=3, block=16), wanted)


@pytest.mark.parametrize("name", OTHER)
def test_other_counts_are_refused(name):
    assert codes(SCAN.format(OTHER[name])) <= {"KR201", "KR202"}


def test_merges_by_ranks():
    text, found = module(MERGE.format(*APART))
    assert "a must be sorted" in text and "b must be sorted" in text
    rng = np.random.default_rng(2)
    for n, m in ((5, 9), (9, 5), (0, 3), (3, 0)):
        a, b = (np.sort(rng.integers(0, 6, size)).astype(np.int32) for size in (n, m))
        out = found["merge"](a, n, b, m, np.zeros(n + m, np.int32))
        np.testing.assert_array_equal(out, np.sort(np.concatenate([a, b])))


@pytest.mark.parametrize("name", MEETING)
def test_other_places_meet(name):
    assert codes(MERGE.format(*MEETING[name])) <= {"KR201", "KR202"}


def test_what_is_declared_is_said_and_checked():
    assert codes(COMPACT) == codes(COMPACT, assume=("x is stored once",)) == {"KR202"}
    text, found = module(COMPACT, assume=("out is stored once",), checked=True)
    assert "no two threads store to one element of out (declared)" in text
    x, out = np.arange(1, 5, dtype=np.float32), np.zeros(4, np.float32)
    flag, scan = np.array([1, 0, 1, 1], np.int32), np.array([0, 1, 1, 2], np.int32)
    np.testing.assert_array_equal(found["compact"](x, flag, scan, out, 4), [1, 3, 4, 0])
    with pytest.raises(Exception, match="two threads store to one element of out"):
        found["compact"](x, np.ones(4, np.int32), scan, out, 4)


def test_nothing_is_said_where_it_is_proved():
    text, _ = module(SCAN.format(PLACES[0]), assume=("out is stored once",))
    assert "declared" not in text


def test_inputs_of_verify_are_sorted():
    done = pipeline.translate(MERGE.format(*APART), "k.cu", Options())
    reports, problems = verified(done, pipeline.Request())
    assert not problems and reports[0].ok


OWN = """
__global__ void keep(const float *x, float *out, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {{
        int p = 0;
        for (int j = {0}; j < {1}; j++) if (x[j] > 0.5f) p++;
        if ({2}) out[p] = x[i];
    }}
}}"""
WARP = """
__global__ void keep(const float *x, float *out, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, w = i / 32;
    if (32 * w + 31 < n) {{
        unsigned kept = __ballot_sync(~0u, x[i] > 0.5f);
        if ({1}) out[32 * w + __popc(kept & ({0}))] = x[i];
    }}
}}"""


@pytest.mark.parametrize(
    "source, n", [(OWN.format("0", "i", "x[i] > 0.5f"), 70), (WARP.format("(1u << lane) - 1", "x[i] > 0.5f"), 96)]
)
def test_what_a_thread_counts_for_itself(source, n):
    text, found = module(source)
    assert "cumsum" in text and "loop" not in text.replace(".at[", "")
    x, out = np.random.default_rng(4).random(n).astype(np.float32), np.zeros(n, np.float32)
    rows = [x] if n == 70 else x.reshape(3, 32)
    expected = np.concatenate([np.pad(kept := r[r > 0.5], (0, len(r) - len(kept))) for r in rows])
    np.testing.assert_array_equal(found["keep"](x, out, n), expected)


@pytest.mark.parametrize(
    "source",
    [
        OWN.format("0", "i", "x[i] >= 0.5f"),
        OWN.format("0", "i - 1", "x[i] > 0.5f"),
        OWN.format("0", "i + 2", "x[i] > 0.5f"),
        OWN.format("1", "i", "x[i] > 0.5f"),
        OWN.format("0", "min(i, 7)", "x[i] > 0.5f"),
        WARP.format("(1u << lane) - 1", "x[i] > 0.4f"),
        WARP.format("(2u << lane) - 1", "x[i] > 0.5f"),
        WARP.format("(1u << i) - 1", "x[i] > 0.5f"),
    ],
)
def test_other_counts_of_a_thread_are_refused(source):
    assert codes(source) <= {"KR201", "KR202"}


LIST = """
__global__ void near(const float *x, int *list, int *many, int n, int most, float reach) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int count = {start};
    for (int j = 0; j < n; j++) {{
        float d = x[j] - x[i];
        if (j != i && d * d < reach) {{ {store} count++; }}
        {more}
    }}
    many[i] = count;
}}"""
COLUMN, ROW = "list[count * n + i] = j;", "if (count < most) list[i * most + count] = j;"


@pytest.mark.parametrize("store", [COLUMN, ROW])
def test_a_list_of_its_own_for_each_thread(store):
    done = pipeline.translate(LIST.format(start="0", store=store, more=""), "f.cu")
    assert not done.diagnostics, [d.reason for d in done.diagnostics]
    values = {"n": 6, "most": 3, "reach": 1.5}
    request = pipeline.Request(shapes={"x": (6,), "list": (36,), "many": (6,)}, values=values, gradients=False)
    agrees(done, request)


@pytest.mark.parametrize(
    ("start", "store", "more"),
    [
        ("0", "list[(count + i) * n] = j;", ""),  # thread 1 stores where thread 0 does a round later
        ("i", "list[count * n] = j;", ""),
        ("0", "list[count * (n - 1) + i] = j;", ""),
        ("0", "list[i * most + count] = j;", ""),
        ("-1", ROW, ""),
        ("0", ROW, "if (d > 1.0f) count--;"),
        ("0", ROW, "count -= j;"),
    ],
)
def test_lists_that_overlap(start, store, more):
    done = pipeline.translate(LIST.format(start=start, store=store, more=more), "f.cu")
    assert {d.code for d in done.diagnostics} <= {"KR201", "KR202"} and not done.text


def test_what_to_do_about_a_list_without_an_end():
    done = pipeline.translate(LIST.format(start="0", store="list[i * most + count] = j;", more=""), "f.cu")
    assert [(d.code, "if (count <" in d.hint) for d in done.diagnostics] == [("KR202", True)]
