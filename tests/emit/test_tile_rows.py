"""Running values within tiles come out as scans in rows; another sum stays, and what zeros filled up would hurt."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from dsl import EMITTED, FLOAT, add, arr, ax, build, ix, kern, op, p, rd, red, sc, sub, wr
from test_basic import f32

i, k, n = ix("i"), ix("k"), p("n")
mod = op("%", i, 4)
place = add(sub(i, mod), k)


def tile(operator="max", test="<=", load=None, size=4, top=n, at=mod):
    inside = op("and", op(test, k, at), op("<", place, top))
    return red(operator, ax("k", size), rd("x", place, safe=True) if load is None else load, where=inside)


def made(value, name="f"):
    params = [arr("x"), arr("y"), sc("n")]
    return build(kern(name, params, [wr("y", ax("i", n), i, value)], [("y", 1)]))


@pytest.mark.parametrize(
    "value, want",
    [
        (tile(), lambda row, r: row[: r + 1].max()),
        (op("-", tile("add", "<"), rd("x", i)), lambda row, r: row[:r].sum() - row[r]),
    ],
)
def test_scans_in_tiles(value, want):
    f = made(value)
    assert "jax.lax.cummax(" in EMITTED["f"] or "jnp.cumsum(" in EMITTED["f"]
    assert "arange" not in EMITTED["f"]
    for size in (0, 1, 3, 4, 5, 11):
        x = f32(size) if size else jnp.zeros(0)
        expected = [want(np.asarray(x)[j - j % 4 :], j % 4) for j in range(size)]
        np.testing.assert_allclose(f(x, jnp.zeros(size + 2), size), [*expected, 0, 0], rtol=1e-6)
    slope = jax.grad(lambda x: f(x, jnp.zeros(11), 11).sum())(f32(11))
    assert np.isfinite(slope).all()


OTHERS = {
    "another width": tile(size=8),
    "another limit": tile(top=op("-", n, 1)),
    "another order": tile(test=">="),
    "steep in zeros": tile("add", load=op("log", rd("x", place, safe=True), type=FLOAT)),
    "of the index": add(tile(), op("*", i, 1.0, type=FLOAT)),
    "other lane": tile(at=op("%", add(i, 1), 4)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_others_stay(name):
    made(OTHERS[name])
    assert "jax.lax.cummax(" not in EMITTED["f"] and "jnp.cumsum(" not in EMITTED["f"]
