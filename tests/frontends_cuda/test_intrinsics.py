"""Every spelling of grammar/: the math API lowers to its operation, with C++'s overloads; concepts have handlers."""

import jax.numpy as jnp
import numpy as np
import pytest

from kraise import dialects, pipeline
from kraise.frontends.cuda_c import read
from kraise.frontends.cuda_c.builtins import _CONCEPTS
from kraise.ir.kernel import Cast, Op
from kraise.ir.operations import OPERATIONS
from kraise.ir.types import FLOAT32, FLOAT64
from kraise.verify import interpreter, special
from kraise.verify.load import load_module, x64
from tests.frontends_cuda.conftest import body

SPELLINGS = sorted(dialects.operations("cuda").items())


def value_of(call: str, type_: str):
    source = f"__global__ void k({type_} *a, const {type_} *x, const {type_} *y, const {type_} *z) {{ a[0] = {call}; }}"
    module, found = read(source, "t.cu")
    assert not [d for d in found if d.severity == "error"], found
    return module.function("k").body[-1].value


def operations(e) -> set[str]:
    inner = [*getattr(e, "args", ()), *([e.arg] if isinstance(e, Cast) else [])]
    return ({e.name} if isinstance(e, Op) else set()) | {n for a in inner for n in operations(a)}


@pytest.mark.parametrize(("name", "spelling"), SPELLINGS, ids=[n for n, _ in SPELLINGS])
def test_each_spelling_is_its_operation(name, spelling):
    arity = OPERATIONS[spelling.operation].arity
    arguments = ", ".join(("x[0]", "y[0]", "z[0]")[:arity])
    integer = spelling.operation in ("popcount", "clz") or name in ("__mul24", "__umul24")
    got = value_of(f"{name}({arguments})", "int" if integer else "float")
    assert spelling.operation in operations(got) or spelling.operation == "select"


@pytest.mark.parametrize("name", ["exp", "sqrt", "pow", "fmax", "fabs", "tanh", "erf", "fmod", "atan2"])
def test_the_overload_follows_the_argument(name):
    arguments = "x[0], y[0]" if name in ("pow", "fmax", "fmod", "atan2") else "x[0]"
    assert value_of(f"{name}({arguments})", "float").type == FLOAT32
    assert value_of(f"{name}({arguments})", "double").type == FLOAT64


def test_an_f_suffix_is_single_precision():
    got = value_of("sqrtf(x[0])", "double")
    assert isinstance(got, Cast) and got.arg.type == FLOAT32


def test_every_concept_has_a_handler():
    concepts = {c.partition(".")[0] for c in dialects.table("cuda")["names"].values()}
    assert concepts <= set(_CONCEPTS)


@pytest.mark.parametrize(
    ("statement", "printed"),
    [
        ("a[0] = __frcp_rn(b[0]);", "a[0] = 1.0 / b[0]"),
        ("a[0] = __saturatef(b[0]);", "a[0] = min(max(b[0], 0.0), 1.0)"),
        ("k[0] = __float2int_rn(b[0]);", "k[0] = int32(round(b[0]))"),
        ("k[0] = __float_as_int(b[0]);", "k[0] = bits(b[0])"),
        ("k[0] = __ffs(n);", "k[0] = 0 if n == 0 else popcount((n & -n) - 1) + 1"),
        ("a[0] = fdimf(b[0], b[1]);", "a[0] = max(b[0] - b[1], 0.0)"),
        ("a[0] = INFINITY;", "a[0] = inf"),
        ("k[0] = warpSize;", "k[0] = 32"),
        ("a[0] = FLT_MAX;", "a[0] = 3.4028234663852886e+38"),
        ("sincosf(b[0], &a[0], &a[1]);", "a[0] = sin(b[0])"),
    ],
)
def test_concepts(statement, printed):
    got = body(statement)
    assert printed in got or (statement.startswith("sincosf") and "sin(angle)" in got and "cos(angle)" in got)


def test_numbers_that_come_out_through_a_pointer():
    """Also where the pointer is to the number itself, and of an infinity."""
    source = (
        "__global__ void k(float *a, const float *b, int *k) { float w = b[1], s = b[2], c; int e; a[0] = modff(w, &w);"
        " a[1] = w; sincosf(s, &s, &c); a[2] = s; a[3] = c; a[4] = frexpf(b[3], &e); a[5] = modff(b[4], &a[6]);"
        " a[7] = frexpf(b[0], &k[0]); k[1] = e; }"
    )
    b, k = np.array([0.3, -2.75, 0.5, 40.0, np.inf], np.float32), np.zeros(2, np.int32)
    expected = [-0.75, -2.0, np.sin(0.5), np.cos(0.5), 0.625, 0.0, np.inf, 0.6]
    given = {"a": np.zeros(8, np.float32), "b": b, "k": k}
    read_ = interpreter.run(read(source, "t.cu")[0], "k", given).arrays
    emitted = load_module(pipeline.translate(source, "t.cu").text).k(*given.values())
    for a, whole in ((read_["a"], read_["k"]), emitted):
        np.testing.assert_allclose(a, expected, rtol=1e-6)
        assert list(whole) == [-1, 6]


@pytest.mark.parametrize(("word", "byte"), (("int", np.int8), ("unsigned", np.uint8)))
def test_dot_of_bytes(word, byte):
    """``__dp4a`` takes the bytes of both words by their sign, and wraps round."""
    source = (
        f"__global__ void k(const {word} *x, const {word} *y, {word} *z) {{ z[0] = __dp4a(x[0] + 0, y[0], z[0]); }}"
    )
    module, found = read(source, "t.cu")
    assert not found
    kind, rng = np.int32 if word == "int" else np.uint32, np.random.default_rng(3)
    for _ in range(8):
        x, y = rng.integers(0, 256, (2, 4)).astype(np.uint8)
        given = {"x": x.view(kind), "y": y.view(kind)}
        z = np.array([2**31 - 9], kind)
        expected = int(z[0]) + int(x.view(byte).astype(int) @ y.view(byte).astype(int))
        got = interpreter.run(module, "k", {**given, "z": z}).arrays["z"]
        assert (int(got[0]) - expected) % 2**32 == 0


@pytest.mark.parametrize(("number", "kind"), [("float", np.float32), ("double", np.float64)])
def test_halves_are_rounded_away_from_zero_and_nothing_else_is(number, kind):
    """What ``floor(|x| + 0.5)`` rounds wrongly: the last number below a half, odd ones that cannot take one."""
    head = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
    source = f"__global__ void k(const {number} *x, {number} *y) {{ {head} y[i] = round(x[i]); }}"
    large = 2.0 ** np.finfo(kind).nmant + 1
    x = np.array([np.nextafter(kind(0.5), kind(0)), large, -large, 0.5, -2.5, -0.4, np.inf, np.nan], kind)
    expected = np.array([0, large, -large, 1, -3, -0.0, np.inf, np.nan], kind)
    module = load_module(pipeline.translate(source, "k.cu").text)
    with x64(True):
        emitted = np.asarray(module.k(jnp.asarray(x), jnp.zeros(8, kind)))
    for got in (emitted, [special.round_away(v) for v in x]):
        np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(np.signbit(got)[:-1], np.signbit(expected)[:-1])


@pytest.mark.parametrize(("vector", "word", "byte"), (("char4", "int", np.int8), ("uchar4", "unsigned", np.uint8)))
def test_dot_of_vectors_of_bytes(vector, word, byte):
    source = f"""__global__ void k(const {vector} *x, {byte.__name__}_t *y, {word} *z) {{
      z[0] = __dp4a(x[1], (({vector} *)y)[0], z[0]);
    }}"""
    done = pipeline.translate(source, "t.cu")
    x, y = np.array([[9] * 4, [200, 3, 4, 255]]).astype(np.uint8).view(byte), np.array([255, 1, 200, 2], np.uint8)
    z = np.array([5], np.int32 if word == "int" else np.uint32)
    got = load_module(done.text).k(x, y.view(byte), z)
    assert int(got[0]) == 5 + int(x[1].astype(int) @ y.view(byte).astype(int))


def test_dot_of_vectors_of_others():
    source = "__global__ void k(const float4 *x, int *z) { z[0] = __dp4a(x[0], x[1], 0); }"
    assert pipeline.translate(source, "t.cu").text is None
