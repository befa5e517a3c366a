"""Sizes that are sums, quotients of sizes, arrays of float4: what is taken apart, and what is refused beside it."""

import pytest

from kraise import pipeline
from tests.checks import verified

THREADS = "int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;\n"


def translated(parameters, body):
    return pipeline.translate(f"__global__ void k({parameters}) {{\n{THREADS}{body}\n}}\n", "k.cu")


def codes(done):
    return [d.code for d in done.diagnostics if d.severity == "error"]


MIRROR = (
    "if (x < {} && y < h) {{ float4 t = a[y * w + x]; a[y * w + x] = a[y * w + w - 1 - x]; a[y * w + w - 1 - x] = t; }}"
)


@pytest.mark.parametrize(("guard", "expected"), [("w / 2", []), ("w", ["KR201"]), ("w / 2 + 1", ["KR201"])])
def test_a_mirror_within_half_the_row_is_no_race(guard, expected):
    done = translated("float4 *a, int w, int h", MIRROR.format(guard))
    assert list(dict.fromkeys(codes(done))) == expected
    assert bool(done.text) == (not expected)


PAIRS = "if (x < d / 2 && y < n) {{ float *q = a + y * d; float t = q[2 * x]; q[2 * x] = q[{}]; q[{}] = t; }}"


@pytest.mark.parametrize(("other", "raised"), [("2 * x + 1", True), ("2 * x + 2", False)])
def test_pairs_of_a_row_stay_in_it(other, raised):
    done = translated("float *a, int n, int d", PAIRS.format(other, other))
    assert bool(done.text) == raised and bool(codes(done)) != raised
    if raised:
        assert "[:, : 2 * (d // 2) : 2]" in done.text and "arange" not in done.text


@pytest.mark.parametrize(("guard", "raised"), [("x < ow && y < oh", True), ("x < w && y < oh", False)])
def test_rows_of_a_difference_of_sizes(guard, raised):
    body = f"int ow = w - s + 1, oh = h - r + 1; if ({guard} && blockIdx.z < n)"
    body += " b[(blockIdx.z * oh + y) * ow + x] = a[(blockIdx.z * h + y) * w + x];"
    done = translated("const float *a, float *b, int w, int s, int h, int r, int n", body)
    checked = done.text is not None and "ValueError" in done.text  # rows that overlap raise
    assert (done.text is not None and not checked) == raised


def test_vectors_are_seen_in_rows():
    done = translated("const float4 *a, float4 *b, int w, int h", "if (x < w && y < h) b[y * w + x] = a[y * w + x];")
    assert "reshape(h, w, 4)" in done.text and ".reshape(-1, 4)" in done.text and "arange" not in done.text


def test_a_struct_of_arrays_and_sizes_is_a_registered_dataclass():
    source = "struct F { float *u; int n; };\n__global__ void k(F f, float s) {\n"
    source += "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < f.n) f.u[i] *= s;\n}\n"
    done = pipeline.translate(source, "k.cu")
    assert 'data_fields=("u",)' in done.text and 'meta_fields=("n",)' in done.text
    assert "dataclasses.replace(f, u=u)" in done.text
    reports, problems = verified(done, pipeline.Request(), "k.cu", source)
    assert not problems and all(report.ok for report in reports)


@pytest.mark.parametrize("name", ["grid", "block"])
def test_a_parameter_may_be_called_like_the_launch(name):
    done = translated(f"float *a, int {name}, int n", f"if (y == 0 && x < n) a[x] *= {name};")
    assert not codes(done) and f"def k(a, {name}, n)" in done.text
    done = pipeline.translate(f"__global__ void k(float *a, int {name}) {{ a[threadIdx.x] *= {name}; }}", "k.cu")
    assert not codes(done) and f"def k(a, {name}_, *, grid, block)" in done.text
    source = f"struct B {{ int x; }}; __global__ void k(float *a, B {name}) {{ a[threadIdx.x] *= {name}.x; }}"
    assert f"{name}_.x" in pipeline.translate(source, "k.cu").text
    source = f"__global__ void k(float *a, int {name}, int {name}_) {{ a[threadIdx.x] *= {name} + {name}_; }}"
    assert codes(pipeline.translate(source, "k.cu")) == ["KR307"]
