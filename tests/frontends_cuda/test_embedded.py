"""CUDA C in the strings of Python files, through the whole pipeline."""

import pytest

from kraise import pipeline

TEXT = '''import cupy as cp

SCALE = r"""
#define FACTOR 3.0f
template <typename T> __global__ void scale(T *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= FACTOR;
}
"""
module = cp.RawModule(code=SCALE, options=("-std=c++11",), name_expressions=["scale<float>", "scale<double>"])
shift = cp.RawKernel("""extern "C" __global__ void shift(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1.0f;
}""", "shift")
'''


def test_all_strings_are_raised_with_the_lines_of_the_python_file():
    done = pipeline.translate(TEXT, "kernels.py")
    assert done.raised == ("scale", "shift")
    assert "# kernels.py:7" in done.text and "# kernels.py:13" in done.text and "FACTOR = 3.0" in done.text


def test_a_python_kernel_and_one_in_a_string_share_a_module():
    python = "from numba import cuda\n\n@cuda.jit\ndef twice(x):\n    i = cuda.grid(1)\n    if i < x.size:\n        x[i] *= 2\n"  # noqa: E501
    assert pipeline.translate(python + TEXT, "kernels.py").raised == ("twice", "scale", "shift")


@pytest.mark.parametrize(
    "source", ['f"__global__ void {name}() {{}}"', 'open("k.cu").read()', "template.replace('T', 'float')"]
)
def test_a_source_that_is_put_together_is_reported(source):
    done = pipeline.translate(f"import cupy\nname = 1\nk = cupy.RawKernel({source}, 'k')\n", "kernels.py")
    assert [(d.code, d.span.line) for d in done.diagnostics if d.severity == "error"] == [("KR101", 3)]


def test_one_broken_string_does_not_stop_the_others():
    broken = TEXT.replace("x[i] += 1.0f;", "x[i] += ;")
    done = pipeline.translate(broken, "kernels.py")
    assert done.raised == ("scale",)
    assert [(d.code, d.span.line) for d in done.diagnostics if d.severity == "error"] == [("KR100", 13)]


def test_two_kernels_of_one_name_are_reported():
    twice = TEXT + TEXT.replace("1.0f", "2.0f").replace("SCALE", "OTHER")
    codes = {(d.code, d.kernel) for d in pipeline.translate(twice, "kernels.py").diagnostics if d.severity == "error"}
    assert ("KR107", "shift") in codes


KERNEL = (
    'extern "C" __global__ void k(float *x, int n) {{ '
    "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = {}; }}"
)


@pytest.mark.parametrize(
    "program",
    [
        "m = cupy.RawModule(code=SRC, options=('-std=c++17',))\nf = m.get_function('k')",
        "m = RawModule(code=SRC)",
        "class Holder:\n    CODE = SRC\n    def make(self):\n        return cp.RawKernel(self.CODE, 'k')",
        "HEAD = '#define UNUSED 1\\n'\nk = cp.RawKernel(HEAD + SRC, 'k')",
        "m = compiler.SourceModule(SRC, options=['-DZ=2'])\nf = m.get_function('k')",
        "TEXT: str = SRC\nk = cp.RawKernel(code=TEXT, name='k')",
    ],
)
def test_names_sums_and_attributes_of_strings_are_followed(program):
    done = pipeline.translate(f"SRC = r'''{KERNEL.format('2.0f')}'''\n{program}\n", "k.py")
    assert done.raised == ("k",) and not done.diagnostics and "# k.py:" in done.text


def test_options_define_macros_for_their_string_only():
    one, two = KERNEL.format("SCALE"), KERNEL.format("SCALE").replace("void k(", "void other(")
    source = f"a = cp.RawKernel('{one}', 'k', options=('-DSCALE=3.0f',))\nb = cp.RawKernel('{two}', 'other')\n"
    done = pipeline.translate(source, "k.py")
    assert done.raised == ("k",) and "3.0" in done.text
    assert [(d.code, d.kernel) for d in done.diagnostics] == [("KR102", "other")]


@pytest.mark.parametrize(
    "program",
    [
        "SRC += 'int x;'\nk = cp.RawKernel(SRC, 'k')",
        "def make(SRC):\n    return cp.RawKernel(SRC, 'k')",
        "SRC = SRC.replace('2', '3')\nk = cp.RawKernel(SRC, 'k')",
        "k = cp.RawKernel('%s' % SRC, 'k')",
        "k = cp.RawKernel('{}'.format(SRC), 'k')",
        "k = cp.RawKernel(f'{SRC}', 'k')",
        "k = cp.RawKernel(SRC + suffix, 'k')",
    ],
)
def test_a_string_that_may_be_another_one_is_refused(program):
    done = pipeline.translate(f"SRC = '''{KERNEL.format('2.0f')}'''\n{program}\n", "k.py")
    assert done.text is None and [d.code for d in done.diagnostics if d.severity == "error"][:1] == ["KR101"]
