"""Kernels that tempt a raiser into something wrong: each was accepted and wrong once, or might be."""

import pytest

from tests.hostile.judge import judge

ONE = [((3,), (8,))]
GUARD = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) "


def cuda(body: str, params: str, before: str = "") -> str:
    return f"{before}\n__global__ void k({params}) {{ {body} }}\n"


def python(body: str, params: str, before: str = "", guard: str = "i < n") -> str:
    lines = "\n".join(f"        {line}" for line in body.split("\n"))
    head = f"from numba import cuda\n\n{before}\n\n@cuda.jit\ndef k({params}):"
    return f"{head}\n    i = cuda.grid(1)\n    if {guard}:\n{lines}"


SPEC = "y=f[17] x=f[17] n=17"
BLOCKS = [((3,), (8,)), ((1,), (8,))]
RIGHT = {
    "booleans add up": (python("y[i] = (x[i] > 0) + (x[i] > 1) - (i > 3) * (x[i] > 0.5)", "y, x, n"), SPEC, ONE),
    "a boolean local adds up": (python("a = x[i] > 0\na += x[i] > 1\ny[i] = a", "y, x, n"), SPEC, ONE),
    "the last helper of a name": (
        python(
            "y[i] = h(x[i])",
            "y, x, n",
            "".join(f"@cuda.jit(device=True)\ndef h(a):\n    return a + {v}\n\n\n" for v in (1.0, -2.0)),
        ),
        SPEC,
        ONE,
    ),
    "bytes that wrap in a sum, read again": (
        cuda(GUARD + "{ for (int j = 0; j < n; j++) y[i] -= (int)(40.0f * x[j]); y[i] -= (int)(x[i] * y[i]); }",
             "unsigned char *y, const float *x, int n"), "y=U[17] x=f[17] n=17", ONE
    ),
    "a running product of shorts, read again": (
        cuda(GUARD + "{ short p = 1; for (int j = 0; j <= i; j++) p *= (short)(q[j] + 3); y[i] = p / 7.0f; }",
             "float *y, const short *q, int n"), "y=f[17] q=h[17]<0:9 n=17", ONE
    ),
    "unsigned sums beside doubles": (
        cuda(GUARD + "{ unsigned s = 0; for (int j = 0; j < n; j++) s += 3000000000u + q[j]; y[i] = s / 7.0; }",
             "double *y, const unsigned *q, int n"), "y=d[17] q=u[17]<0:9 n=17", ONE
    ),
    "64 bits in between": (
        cuda(GUARD + "y[i] = (1ull << (i + 30)) >> 20;", "unsigned *y, int n"), "y=u[17] n=17", ONE
    ),
    "the high word of a product": (
        cuda(GUARD + "y[i] = (unsigned)(((unsigned long long)q[i] * 2654435761u) >> 32);",
             "unsigned *y, const unsigned *q, int n"), "y=u[17] q=u[17]<100:4000000000 n=17", ONE
    ),
    "a long product as a float": (
        cuda(GUARD + "y[i] = (float)((long long)q[i] * q[i]);", "float *y, const int *q, int n"),
        "y=f[17] q=i[17]<0:1700000 n=17", ONE
    ),
    "a comment that a backslash continues": (
        cuda(GUARD + "y[i] = x[i]; // twice \\\n y[i] = 2.f;\n", "float *y, const float *x, int n"), SPEC, ONE
    ),
    "division by a literal in 64-bit mode": (
        cuda(GUARD + "y[i] = q[i] / 3 + q[i] / m + 100 / (q[i] + 1);", "double *y, const int *q, int n, int m"),
        "y=d[17] q=i[17] n=17 m=-4", ONE
    ),
    "an unsigned index beside a large literal": (
        cuda(GUARD + "{ unsigned u = i; y[i] = (u > -1) + (i > -1) + (u - 5 > 2); }", "float *y, int n"),
        "y=f[17] n=17", ONE
    ),
    "a constant that wraps": (
        cuda(GUARD + "y[i] ^= min(2, -1) + y[i] * 5 % -5;", "unsigned char *y, int n"), "y=U[17] n=17", ONE
    ),
    "each block adds": (
        cuda("int t = threadIdx.x; if (t < n) atomicAdd(&y[t], x[t]);", "float *y, const float *x, int n"),
        "y=f[8] x=f[8] n=8", BLOCKS
    ),
    "each block adds to one cell": (
        cuda("atomicAdd(&y[0], x[threadIdx.x]);", "float *y, const float *x"), "y=f[8] x=f[8]", BLOCKS
    ),
    "each thread of a block adds": (
        cuda("int b = blockIdx.x; if (b < n) atomicAdd(&y[b], x[b]);", "float *y, const float *x, int n"),
        "y=f[8] x=f[8] n=8", [((8,), (5,)), ((8,), (1,))]
    ),
    "each block takes the maximum": (
        cuda("int t = threadIdx.x; if (t < n) atomicMax(&y[0], x[t]);", "int *y, const int *x, int n"),
        "y=i[8] x=i[8] n=8", BLOCKS
    ),
    "a row a block, unguarded": (
        cuda("int r = blockIdx.x; for (int c = threadIdx.x; c < n; c += blockDim.x) y[r * n + c] += x[c];",
             "float *y, const float *x, int n"), "y=f[51] x=f[17] n=17", ONE
    ),
    "an index or an unsigned number": (
        cuda(GUARD + "{ unsigned a = i % 2 ? i : x[i]; y[i] = a / 5 + (a > 4000000000u) + (a >> 3) + a % 7; }",
             "unsigned *y, const unsigned *x, int n"), "y=u[17] x=u[17]<0:4294967290 n=17", ONE
    ),
    "an index or an unsigned number, by a branch": (
        cuda(GUARD + "{ unsigned a = i; if (q[i] > 0) a = x[i]; y[i] = a / 3; }",
             "unsigned *y, const unsigned *x, const int *q, int n"),
        "y=u[17] x=u[17]<0:4294967290 q=i[17]<-9:9 n=17", ONE
    ),
    "stores of rounds that do not take place": (
        cuda(GUARD + "for (int j = 1; j < m; j += 2) y[i] = 5.0f;", "float *y, int n, int m"), "y=f[17] n=17 m=1", ONE
    ),
    "a size that wraps": (
        cuda(GUARD + "{ unsigned a = blockDim.x - 20; y[i] = a / 3; }", "unsigned *y, int n"), "y=u[17] n=17", ONE
    ),
    "a product that wraps is divided": (
        cuda(GUARD + "y[i] = (i * 300000000) / 7 + (i * 300000000 + 1) % 7;", "int *y, int n"), "y=i[17] n=17", ONE
    ),
    "a quotient of indices in 64-bit mode": (
        cuda(GUARD + "y[i] = q[i] ^ ((q[i] - i) * (i % 2 == 1 ? i : -i) / 3 % -5);",
             "long long *y, const int *q, int n"),
        "y=l[17] q=i[17]<-9:9 n=17", ONE
    ),
    "a running sum read from before its first round": (
        "from numba import cuda, float32\n\n\n@cuda.jit\ndef k(y, n):\n    i = cuda.threadIdx.x\n"
        "    tile = cuda.shared.array(8, float32)\n    tile[i] = i\n    cuda.syncthreads()\n"
        "    if i == 1:\n        for m in range(1, 8):\n            tile[m] += tile[m - 1]\n"
        "    cuda.syncthreads()\n    acc = 0.0\n    for j in range(i, 8):\n        acc += 0.25 * j * tile[j]\n"
        "    if i < n:\n        y[i] = acc\n", "y=f[8] n=8", [((1,), (8,))]
    ),
    "parameters of the launch's names": (
        python("y[i] = grid[i] * cuda.blockDim.x", "y, grid, block", guard="i < block"),
        "y=f[17] grid_=f[17] block_=17", ONE
    ),
}  # fmt: skip
REFUSED = {
    "rows that overlap": (
        cuda("int i = blockIdx.x * blockDim.x + threadIdx.x; int j = blockIdx.y * blockDim.y + threadIdx.y; "
             "if (i < n && j < 4) y[i * 3 + j] = x[i];", "float *y, const float *x, int n"), "KR201"
    ),
    "a parameter twice": (python("y[i] = x[i]", "y, x, x, n"), "KR100"),
    "names that become one": (
        cuda(GUARD + "y[i] = in[i] + in_[i];", "float *y, const float *in, const float *in_, int n"), "KR307"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right(name):
    source, spec, launches = RIGHT[name]
    assert judge(source, "cu" if "__global__" in source else "py", spec, launches) == "right", source


def test_a_continued_comment_holds_no_code():
    """Interpreter and raiser share the front end: the text itself is looked at."""
    from kraise import pipeline

    source, _, _ = RIGHT["a comment that a backslash continues"]
    text = pipeline.translate(source, "k.cu").text
    assert text is not None and "2.0" not in text


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    source, code = REFUSED[name]
    assert judge(source, "cu" if "__global__" in source else "py", "", ()) == f"refused {code}"


def test_the_judge_sees_a_race_and_a_wrong_value(monkeypatch):
    """The judge can fail."""
    from kraise import pipeline

    source = cuda(GUARD + "y[i] = x[i];", "float *y, const float *x, int n")
    done = pipeline.translate(source, "k.cu")
    object.__setattr__(done, "text", done.text.replace("x[:n]", "-x[:n]"))
    monkeypatch.setattr(pipeline, "translate", lambda *_: done)
    assert judge(source, "cu", SPEC, ONE).startswith("wrong: y")
    assert judge(source, "cu", SPEC, [((0,), (8,))]) != "right"
