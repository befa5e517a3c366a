"""What the last block to finish does with what the others left: a meeting of the grid, and one block that goes on."""

import numpy as np
import pytest

from kraise import pipeline
from tests.checks import agrees

TREE = """for (int w = 32; w > 0; w >>= 1) {
        if (threadIdx.x < w) sh[threadIdx.x] += sh[threadIdx.x + w];
        __syncthreads();
    }
"""
KERNEL = f"""__global__ void f(const float *x, float *part, float *y, unsigned int *count, int n) {{
    __shared__ float sh[64];
    __shared__ bool last;
    float s = 0.0f;
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += gridDim.x * 64) s += x[i] * x[i];
    sh[threadIdx.x] = s;
    __syncthreads();
    {TREE}
    if (threadIdx.x == 0) {{
        part[blockIdx.x] = sh[0];
        __threadfence();
        unsigned int ticket = atomicInc(count, gridDim.x);
        last = ticket == gridDim.x - 1;
    }}
    __syncthreads();
    if (last) {{
        float t = 0.0f;
        for (int b = threadIdx.x; b < gridDim.x; b += 64) t += part[b];
        sh[threadIdx.x] = t;
        __syncthreads();
        {TREE}
        if (threadIdx.x == 0) {{ y[0] = sqrtf(sh[0]); *count = 0; }}
    }}
}}
"""
SPELLED = {
    "inc": [],
    "once round": [("atomicInc(count, gridDim.x)", "atomicInc(count, gridDim.x - 1)"), (" *count = 0;", "")],
    "add": [("atomicInc(count, gridDim.x)", "atomicAdd(count, 1)")],
    "never reset": [("atomicInc(count, gridDim.x)", "atomicAdd(count, 1)"), (" *count = 0;", "")],
    "others leave": [("if (last) {", "if (!last) return;\n    {")],
    "one thread": [("if (last) {", "if (last && threadIdx.x == 0) {"), ("b = threadIdx.x", "b = 0"), ("b += 64", "b++"),
                   ("sh[threadIdx.x] = t;\n        __syncthreads();\n        " + TREE, "sh[0] = t;")],
}  # fmt: skip
MORE_BLOCKS = [
    ("        part[blockIdx.x] = sh[0];\n        __threadfence();\n",
     "        part[blockIdx.x] = sh[0];\n    }\n    if (gridDim.x > 1) {\n    __threadfence();\n"
     "    if (threadIdx.x == 0) {\n"),
    ("*count = 0; }\n    }\n", "*count = 0; }\n    }\n    }\n"),
]  # fmt: skip


def replaced(changes):
    text = KERNEL
    for old, new in changes:
        assert old in text, old
        text = new.join(text.rsplit(old, 1)) if old.startswith("sh[") else text.replace(old, new)
    return text


SPELLED["where there are more blocks"] = MORE_BLOCKS


@pytest.mark.long_cases("once round", "add", "never reset", "one thread", "more blocks")
@pytest.mark.parametrize("name", SPELLED)
def test_the_last_block_adds_up(name):
    done = pipeline.translate(replaced(SPELLED[name]), "case.cu")
    assert done.text is not None, done.diagnostics
    for begun in (0, 7):  # from 7 on, none of three blocks is the last
        values = {"count": np.array([begun], np.uint32), "n": 300}
        agrees(done, pipeline.Request(values=values, shapes={"part": (3,)}, grid=(3,)), done.text)
    assert "loop" not in done.text and "jnp.sqrt" in done.text, done.text


REFUSED = {
    "not all blocks take one": [(old, new.replace("gridDim.x > 1", "blockIdx.x > 0")) for old, new in MORE_BLOCKS],
    "data decide about it": [(old, new.replace("gridDim.x > 1", "x[0] > 0.0f")) for old, new in MORE_BLOCKS],
    "no fence": [("__threadfence();", "")],
    "a fence before what is stored": [("part[blockIdx.x] = sh[0];\n        __threadfence();",
                                       "__threadfence();\n        part[blockIdx.x] = sh[0];")],
    "all threads take one": [("if (threadIdx.x == 0) {\n        part", "if (threadIdx.x < 32) {\n        part")],
    "which block it is": [("y[0] = sqrtf(sh[0]);", "y[0] = sqrtf(sh[0]) + blockIdx.x;")],
    "a sum of its own": [("float t = 0.0f;", "float t = s;")],
    "what it has in shared memory": [("sh[threadIdx.x] = t;\n", "sh[threadIdx.x] += t;\n")],
    "the first": [("ticket == gridDim.x - 1", "ticket == 0")],
    "others go on": [("if (last) {", "if (!last) {")],
    "something comes after": [("*count = 0; }\n    }\n", "*count = 0; }\n    }\n    y[1] = part[0];\n")],
    "two at a time": [("atomicInc(count, gridDim.x)", "atomicAdd(count, 2)")],
    "a smaller limit": [("atomicInc(count, gridDim.x)", "atomicInc(count, gridDim.x - 2)")],
    "a fence that some pass by": [("__threadfence();", "if (n > 9) __threadfence();")],
    "a byte of the ticket": [("unsigned int ticket", "unsigned char ticket")],
    "a byte of the thread's number": [("if (threadIdx.x == 0) {\n        part",
                                         "if ((unsigned char)threadIdx.x == 0) {\n        part")],
    "what other threads store later": [("if (threadIdx.x == 0) {\n        part[blockIdx.x] = sh[0];",
                                        "part[blockIdx.x * 64 + threadIdx.x] = sh[0];\n    if (threadIdx.x == 0) {")],
}  # fmt: skip


@pytest.mark.long_cases(
    "first",
    "others",
    "comes after",
    "two at",
    "smaller",
    "all threads",
    "a fence",
    "of its own",
    "pass by",
    "byte of the thread",
)
@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    done = pipeline.translate(replaced(REFUSED[name]), "case.cu")
    assert done.text is None and done.diagnostics, done.text


NUMBA = """
from numba import cuda, float32

@cuda.jit
def f(x, part, y, count):
    last = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    if t == 0:
        s = 0.0
        for i in range(cuda.blockIdx.x, x.size, cuda.gridDim.x):
            s += x[i] * x[i]
        part[cuda.blockIdx.x] = s
        cuda.threadfence()
        ticket = cuda.atomic.add(count, 0, 1)
        last[0] = 1.0 if ticket == cuda.gridDim.x - 1 else 0.0
    cuda.syncthreads()
    if last[0] == 1.0:
        if t == 0:
            total = 0.0
            for b in range(cuda.gridDim.x):
                total += part[b]
            y[0] = total
"""
FENCE = "        cuda.threadfence()\n"


def test_a_fence_in_numba():
    done = pipeline.translate(NUMBA, "k.py")
    assert done.text is not None, done.diagnostics
    values = {"count": np.array([0], np.int32)}
    agrees(done, pipeline.Request(values=values, shapes={"part": (3,), "x": (7,)}, grid=(3,), block=(4,)), done.text)


@pytest.mark.parametrize(
    "old, new",
    [
        (FENCE, ""),
        (FENCE, FENCE.replace("threadfence", "threadfence_block")),
        (FENCE, "        if s > 1.0:\n    " + FENCE),
        ("        ticket =", "        part[cuda.blockIdx.x] += 1.0\n        ticket ="),
        ("        s = 0.0\n", "        s = 0.0\n" + FENCE),
        ("if last[0] == 1.0", "if last[0] != 1.0"),
        ("if last[0] == 1.0", "if last[0] == 0.0"),
        ("1.0 if ticket", "2.0 if ticket"),
    ],
)
def test_no_fence_in_numba(old, new):
    text = NUMBA.replace(FENCE, "") if new.endswith(FENCE) and old != FENCE else NUMBA
    assert old in text
    done = pipeline.translate(text.replace(old, new), "k.py")
    assert done.text is None and done.diagnostics, done.text
