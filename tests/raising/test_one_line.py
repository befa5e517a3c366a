"""Launches of several axes whose threads are numbered through: ``y * gridDim.x * blockDim.x + x`` and its like."""

import pytest

from kraise import pipeline
from tests.checks import agrees

HEAD = "__global__ void f(const float *x, float *y, int w, int h) {"
COLUMNS = (
    "int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;"
    "int t = r * (gridDim.x * blockDim.x) + c;"
)
TURNED = "if (t < w * h) y[(t % w) * h + t / w] = x[t] * x[t];"
REVERSED = "if (t < w * h) y[w * h - 1 - t] = x[t] * x[t];"
ROUNDS = "for (int i = t; i < w * h; i += STEP) y[w * h - 1 - i] = x[i] * x[i];"
NUMBERS = {  # and a launch
    "rows of the launch": (COLUMNS, (2, 3), (4, 2)),
    "columns of the launch": (
        COLUMNS.replace("r * (gridDim.x * blockDim.x) + c", "c * gridDim.y * blockDim.y + r"),
        (2, 3),
        (4, 2),
    ),
    "blocks in columns": ("int t = (blockIdx.x * gridDim.y + blockIdx.y) * blockDim.x + threadIdx.x;", (3, 4), (4,)),
    "blocks in space": (
        "int b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);"
        "int t = b * (blockDim.x * blockDim.y) + threadIdx.y * blockDim.x + threadIdx.x;",
        (3, 2, 2),
        (2, 2),
    ),
    "a thread's number between": (
        "int t = (threadIdx.x * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;",
        (3, 2),
        (8,),
    ),
}


@pytest.mark.parametrize("body", [TURNED, REVERSED])
@pytest.mark.parametrize("name", NUMBERS)
def test_the_number_of_a_thread_in_the_launch(name, body):
    number, grid, block = NUMBERS[name]
    done = pipeline.translate(f"{HEAD} {number} {body} }}", "k.cu")
    assert done.text and not done.diagnostics, [d.reason for d in done.diagnostics]
    assert "grid" not in done.text and "arange" not in done.text, done.text
    shapes = {"x": (42,), "y": (45,)}
    agrees(done, pipeline.Request(shapes=shapes, values={"w": 7, "h": 6}, grid=grid, block=block), name)


@pytest.mark.parametrize(
    "name, step",
    [
        ("rows of the launch", "gridDim.x * blockDim.x * gridDim.y * blockDim.y"),
        ("blocks in columns", "gridDim.x * gridDim.y * blockDim.x"),
    ],
)
def test_rounds_by_how_many_threads_there_are(name, step):
    number, grid, block = NUMBERS[name]
    done = pipeline.translate(f"{HEAD} {number} {ROUNDS.replace('STEP', step)} }}", "k.cu")
    assert done.text and not done.diagnostics, [d.reason for d in done.diagnostics]
    request = pipeline.Request(shapes={"x": (99,), "y": (99,)}, values={"w": 11, "h": 9}, grid=grid, block=block)
    agrees(done, request)


def test_the_same_in_python():
    source = """
from numba import cuda

@cuda.jit
def f(x, y):
    c, r = cuda.grid(2)
    t = r * cuda.gridDim.x * cuda.blockDim.x + c
    if t < x.shape[0]:
        y[x.shape[0] - 1 - t] = x[t] ** 2
"""
    done = pipeline.translate(source, "k.py")
    assert done.text and "grid" not in done.text, (done.text, done.diagnostics)
    agrees(done, pipeline.Request(shapes={"x": (42,), "y": (42,)}, grid=(2, 3), block=(4, 2)))


@pytest.mark.parametrize(
    "name, old, new",
    [
        ("rows of the launch", "r * (gridDim.x * blockDim.x)", "r * blockDim.x"),
        ("rows of the launch", "r * (gridDim.x * blockDim.x)", "r * (gridDim.y * blockDim.x)"),
        ("rows of the launch", "r * (gridDim.x * blockDim.x)", "2 * r * (gridDim.x * blockDim.x) / 4"),
        ("blocks in columns", "gridDim.y", "gridDim.x"),
        ("blocks in space", "gridDim.y * blockIdx.z", "gridDim.x * blockIdx.z"),
        ("a thread's number between", "* gridDim.x", "* blockDim.x"),
    ],
)
def test_numbers_that_several_threads_have_are_refused(name, old, new):
    number = NUMBERS[name][0]
    assert old in number
    body = "if (t < w * h) y[w * h - 1 - t] += x[t];"
    done = pipeline.translate(f"{HEAD} {number.replace(old, new)} {body} }}", "k.cu")
    assert done.text is None and {d.code for d in done.diagnostics} <= {"KR201", "KR202"}, done.text


HOST = """
void short_of(const float *x, float *y, int w, int h) {
  f<<<dim3(w / 4, h / 2), dim3(4, 2)>>>(x, y, w, h);
}
void enough(const float *x, float *y, int w, int h) {
  f<<<dim3((w + 3) / 4, (h + 1) / 2), dim3(4, 2)>>>(x, y, w, h);
}"""


def test_a_host_that_launches_too_few_is_told():
    done = pipeline.translate(f"{HEAD} {NUMBERS['rows of the launch'][0]} {REVERSED} }} {HOST}", "k.cu")
    assert done.text and [(d.code, d.kernel) for d in done.diagnostics] == [("KR215", "short_of")], done.diagnostics
    assert "fewer threads" in done.text


def test_threads_of_a_block_in_rows_are_counted_for_a_host():
    source = """
__global__ void f(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
  if (i < n) y[n - 1 - i] = 2.0f * x[i];
}
void enough(const float *x, float *y, int n) { f<<<(n + 255) / 256, dim3(16, 16)>>>(x, y, n); }
void short_of(const float *x, float *y, int n) { f<<<n / 256, dim3(16, 16)>>>(x, y, n); }"""
    done = pipeline.translate(source, "k.cu")
    assert done.text and [(d.code, d.kernel) for d in done.diagnostics] == [("KR215", "short_of")], done.diagnostics
