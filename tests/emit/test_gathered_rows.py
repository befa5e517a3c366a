"""Rows of flat arrays at places that data say: gathers and scatters of rows, and what stays one of cells."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module

HEAD = "__global__ void f(const float *x, const int *at, float *y, int n, int m) {\n"
EACH = " int i = blockIdx.x * blockDim.x + threadIdx.x;\n if (i < n) for (int j = 0; j < m; j++) "


def text_of(body):
    return pipeline.translate(HEAD + body + "\n}\n", "k.cu").text


def rows():
    rng = np.random.default_rng(0)
    return rng.standard_normal((5, 3), np.float32), np.array([4, 0, 4, 2], np.int32)


def test_a_gather_of_rows():
    text = text_of(EACH + "y[i * m + j] = 2 * x[at[i] * m + j];")
    assert "2.0 * x2[at[:n]]" in text and "arange" not in text
    x, at = rows()
    # a row that is begun is no row that is read
    found = load_module(text).f(np.append(x, 9).astype(np.float32), at, np.zeros(12, np.float32), 4, 3)
    np.testing.assert_array_equal(found.reshape(4, 3), 2 * x[at])
    assert load_module(text).f(x.ravel(), at, np.ones(2, np.float32), 4, 0).tolist() == [1, 1]


def test_a_sum_over_rows_that_may_be_empty():
    each = " int i = blockIdx.x * blockDim.x + threadIdx.x;\n float s = 0;\n if (i >= n) return;\n"
    text = text_of(each + " for (int j = 0; j < m; j++) s += x[at[i] * m + j];\n y[i] = s;")
    assert "x2[at[:n]]" in text, text
    x, at = rows()
    f = load_module(text).f
    np.testing.assert_allclose(f(x.ravel(), at, np.ones(5, np.float32), 4, 3), [*x[at].sum(1), 1], rtol=1e-6)
    assert f(x.ravel(), at, np.ones(5, np.float32), 4, 0).tolist() == [0, 0, 0, 0, 1]
    slope = jax.grad(lambda x: f(x, at, jnp.ones(5), 4, 3).sum())(jnp.asarray(x.ravel())).reshape(5, 3)
    assert slope[:, 0].tolist() == [1, 0, 1, 0, 2]


def test_a_scatter_of_rows():
    text = text_of(EACH + "atomicAdd(&y[m * at[i] + j], x[i * m + j]);")
    assert ".at[at[:n]].add(x2)" in text and "arange" not in text
    x, at = rows()
    expected = np.ones((6, 3), np.float32)
    np.add.at(expected, at, x[:4])
    found = load_module(text).f(x.ravel(), at, np.ones(18, np.float32), 4, 3)
    np.testing.assert_allclose(found.reshape(6, 3), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "body",
    [
        EACH + "if (j < at[i]) y[i * m + j] = x[at[i] * m + j];",  # a part of the row
        EACH + "y[i * m + j] = j < i ? x[at[i] * m + j] : 0;",
        EACH.replace("j < m", "j < m - 1") + "y[i * m + j] = x[at[i] * m + j];",
        EACH.replace("j = 0", "j = 1") + "y[i * m + j] = x[at[i] * m + j];",
        EACH + "y[i * m + j] = x[at[i] * n + j];",  # rows of another length
    ],
)
def test_parts_of_rows_stay_cells(body):
    text = text_of(body)
    assert "x[" in text and "x2" not in text


@pytest.mark.parametrize("mask", ["", "if (n > 2) ", "if (x[i] > 0) "])
def test_plain_stores_are_to_different_cells(mask):
    source = HEAD + " int i = blockIdx.x * blockDim.x + threadIdx.x;\n if (i < n) " + mask + "y[at[i]] = 2 * x[i];\n}\n"
    text = pipeline.translate(source, "k.cu", Options(assume=("at is injective",))).text
    some = "x[i]" in mask
    assert ("unique_indices=True" in text) != some  # the others go to one place behind the end
    x, at, f = np.array([1, -2, 3], np.float32), np.array([2, 0, 3], np.int32), load_module(text).f
    assert f(x, at, np.ones(4, np.float32), 3, 0).tolist() == [1 if some else -4, 1, 2, 6]
    assert f(x, at, np.ones(4, np.float32), 1, 0).tolist() == [1, 1, 1 if "n" in mask else 2, 1]
    slopes = jax.grad(lambda x, y: f(x, at, y, 3, 1) @ jnp.arange(1.0, 5.0), (0, 1))(x, np.ones(4, np.float32))
    assert [s.tolist() for s in slopes] == [[6, 0 if some else 2, 8], [1 if some else 0, 2, 0, 0]]


def test_stores_of_one_value_may_meet():
    for value in ("7", "x[0]"):
        text = text_of(" int i = blockIdx.x * blockDim.x + threadIdx.x;\n if (i < n) y[at[i]] = " + value + ";")
        assert "].set(" in text and "unique" not in text


MEMBER = " int i = blockIdx.x * blockDim.x + threadIdx.x;\n if (i < n) "
THREE = "y[i] = x[3 * at[i]] * x[3 * at[i] + 1] - x[3 * at[i] + 2];"
ADDED = "{ int id[2] = {at[2 * i], at[2 * i + 1]}; float d = x[i]; for (int k = 0; k < 2; k++) { %s } }"
CORNERS = "atomicAdd(&y[2 * id[k]], d); atomicAdd(&y[2 * id[k] + 1], d * d);"


def test_members_of_a_row_are_a_row():
    text = text_of(MEMBER + THREE)
    assert text.count("x2[") == 1 and "x2[at[:n]]" in text and "3 * at" not in text.split('"""')[-1]
    x, at = rows()
    f = load_module(text).f
    for given in (x.ravel(), np.append(x, [9, 9]).astype(np.float32)):  # a row that is begun
        found = f(given, at, np.zeros(4, np.float32), 4, 0)
        np.testing.assert_allclose(found, x[at, 0] * x[at, 1] - x[at, 2], rtol=1e-6)
    slope = jax.grad(lambda x: f(x, at, jnp.zeros(4), 4, 0).sum())(jnp.asarray(x.ravel())).reshape(5, 3)
    count = np.bincount(at, minlength=5)
    np.testing.assert_allclose(slope, np.stack([x[:, 1] * count, x[:, 0] * count, -count], 1), rtol=1e-5)


def test_additions_to_members_of_rows():
    text = text_of(MEMBER + ADDED % CORNERS)
    assert text.count("].add(") == 1 and "at[: 2 * n].reshape(n, 2)" in text, text
    x, at = rows()
    expected = np.ones((6, 2), np.float32)
    for i in range(2):
        for k in range(2):
            expected[at[2 * i + k]] += [x[0, i], x[0, i] ** 2]
    found = load_module(text).f(x[0], at, np.ones(12, np.float32), 2, 0)
    np.testing.assert_allclose(found.reshape(6, 2), expected, rtol=1e-6)


@pytest.mark.parametrize(
    "body",
    [
        MEMBER + THREE.replace("+ 2", "+ 1"),  # two of three
        MEMBER + "{ y[i] = x[3 * at[i]]; if (i < m) y[i] += x[3 * at[i] + 1] + x[3 * at[i] + 2]; }",
        MEMBER + "y[i] = x[3 * at[i]] > 0 ? x[3 * at[i] + 1] : x[3 * at[i] + 2];",
        MEMBER + ADDED % CORNERS.replace("atomicAdd(&y[2 * id[k]], d)", "if (d > 0) atomicAdd(&y[2 * id[k]], d)"),
        MEMBER + ADDED % CORNERS.replace("2 * id", "3 * id"),
    ],
)
def test_members_that_are_no_row_stay_cells(body):
    text = text_of(body)
    assert text and "x2" not in text and "y2" not in text, text


def test_a_matrix_and_what_is_looked_up_for_it():
    """What an element's nodes hold is looked up once, in bounds without a clip: another loop loads it for all."""
    source = (
        "def f(e, k, u, y):\n for i in range(e.shape[0]):\n"
        "  loc = np.zeros(3)\n  for a in range(3): loc[a] = u[e[i, a]]\n"
        "  for a in range(3):\n   s = 0.0\n   for b in range(3): s += k[i, a, b] * loc[b]\n   y[i, a] = s\n"
    )
    text = pipeline.translate("import numpy as np\n" + source, "k.py").text
    assert text and "einsum" in text and "jnp.clip" not in text, text


BLOCKS = (
    "__global__ void f(const float *x, const int *at, float *y, int h, int g, int m, int n) {\n"
    " int i = blockIdx.x * blockDim.x + threadIdx.x;\n if (i >= h) return;\n float s = 0;\n"
    " for (int l = 0; l < m; l++) for (int d = 0; d < n; d++) s += x[PLACE] * (l + 2 * d + 1);\n y[i] = s;\n}\n"
)


@pytest.mark.parametrize("number", ["i / g", "at[i]", "at[i] + i / g"])
def test_blocks_at_numbers_that_no_index_says(number):
    text = pipeline.translate(BLOCKS.replace("PLACE", f"(({number}) * m + l) * n + d"), "k.cu").text
    assert text and "x3.at[" in text or "x3[" in text, text
    f = load_module(text).f
    x, at = np.random.default_rng(0).standard_normal((5, 2, 3), np.float32), np.array([2, 0, 2, 1], np.int32)
    blocks = {"i / g": np.arange(4) // 2, "at[i]": at, "at[i] + i / g": at + np.arange(4) // 2}[number]
    weight = np.arange(2)[:, None] + 2 * np.arange(3) + 1
    for given in (x.ravel(), np.append(x, 9).astype(np.float32)):  # a block that is begun
        found = f(given, at, np.zeros(4, np.float32), 4, 2, 2, 3)
        np.testing.assert_allclose(found, (x[blocks] * weight).sum((1, 2)), rtol=1e-5)
    slope = jax.grad(lambda x: f(x, at, jnp.zeros(4), 4, 2, 2, 3).sum())(jnp.asarray(x.ravel())).reshape(x.shape)
    np.testing.assert_allclose(slope, np.bincount(blocks, minlength=5)[:, None, None] * weight, rtol=1e-6)
    for m, n in ((0, 3), (2, 0)):
        assert f(x.ravel(), at, np.ones(4, np.float32), 4, 2, m, n).tolist() == [0] * 4


@pytest.mark.parametrize(
    "place",
    [
        "((at[i] * m + l) * n + d) % 30",  # a wrap keeps the cells
        "(at[i] * n + l) * m + d",  # of other sizes
        "(at[i] * m + l) * n + at[l] * n + d",
        "(i / g * m + l) * n + d + 1",
    ],
)
def test_what_is_no_block_stays_cells(place):
    text = pipeline.translate(BLOCKS.replace("PLACE", place), "k.cu").text
    assert text and "x3" not in text, text


def test_rows_under_a_mask():
    text = text_of(EACH + "if (at[i] >= 0) y[i * m + j] = x[at[i] * m + j];")
    assert "x2.at[at[:n]].get(" in text, text
    x, f = rows()[0], load_module(text).f
    at = np.array([4, -1, 0, -7], np.int32)
    wanted = np.where((at >= 0)[:, None], x[at.clip(0)], 1)
    np.testing.assert_array_equal(f(x.ravel(), at, np.ones(12, np.float32), 4, 3).reshape(4, 3), wanted)
    slope = jax.grad(lambda x: f(x, at, jnp.zeros(12), 4, 3).sum())(jnp.asarray(x.ravel())).reshape(5, 3)
    assert slope[:, 0].tolist() == [1, 0, 0, 0, 1]
