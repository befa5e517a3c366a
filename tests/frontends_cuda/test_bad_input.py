"""Bad input: a diagnostic each, the good kernel of the file comes out, never a traceback."""

import pytest

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c import read

GOOD = "__global__ void good(float *a, int n) {\n    int i = threadIdx.x;\n    if (i < n) a[i] = 1;\n}\n"


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        ("__global__ void bad(float *a) { a[0] = = 1; }\n", "KR100"),
        ("__global__ void bad(float *a) { a[0] = (1 + 2; }\n", "KR100"),
        ("__global__ void bad(float *a) { if (1) { a[0] = 1; \n}\n", "KR100"),
        ("__global__ void bad(float *a) { a[0] = 1 }\n", "KR100"),
        ("__global__ void bad(float *a) { do a[0]++; while (1) }\n", "KR100"),
        ("__global__ void bad(Foo *a) { a[0].x = 1; }\n", "KR102"),
        ("union U { int a; float b; }; __global__ void bad(int *a) { U u; u.b = 1; a[0] = u.a; }\n", "KR299"),
        ("__global__ void bad(float *a, float (*f)(float)) { a[0] = f(1); }\n", "KR101"),
        ("__global__ int bad(float *a) { return 1; }\n", "KR104"),
        ("__global__ void bad(void *a) { }\n", "KR104"),
        ("#define M(a, b) a + b\n__global__ void bad(int *a) { a[0] = M(1); }\n", "KR103"),
    ],
)
def test_the_other_kernel_comes_out(bad, code):
    for source in (bad + GOOD, GOOD + bad):
        module, found = read(source, "t.cu")
        assert [f.name for f in module.functions] == ["good"]
        errors = [d for d in found if d.severity == "error"]
        assert [(d.code, d.kernel) for d in errors] == [(code, "bad")]
        assert errors[0].span.line >= 1


def test_a_truncated_file():
    module, found = read(GOOD + "__global__ void bad(float *a) { if (a[0] > 1) {", "t.cu")
    assert [f.name for f in module.functions] == ["good"]
    assert [(d.code, d.kernel) for d in found] == [("KR100", "bad")]


def test_a_brace_too_many_is_a_warning():
    module, found = read("__global__ void one(int *a) { a[0] = 1; } }\n" + GOOD, "t.cu")
    assert len(module.functions) == 2
    assert [d.severity for d in found] == ["warning"]


@pytest.mark.parametrize(
    "text", ["", "// caf\xe9\n", GOOD.replace("\n", "\r\n"), "\ufeff" + GOOD, "/* open", "#else\n", "}"]
)
def test_odd_text_is_no_crash(text):
    read(text, "t.cu")


@pytest.mark.parametrize("text", ['char *s = "abc\n', "`", "int a; \0"])
def test_what_is_not_c_is_refused_as_a_whole(text):
    with pytest.raises(Refused):
        read(GOOD + text, "t.cu")


@pytest.mark.parametrize(
    "statement",
    [
        f"a[0] = {'(' * 3000}1{')' * 3000};",
        f"a[0] = {' + '.join(['a[1]'] * 3000)};",
        "if (a[0]) {" * 300 + "}" * 300,
    ],
)
def test_deep_nesting_is_no_crash(statement):
    read(f"__global__ void deep(int *a) {{ {statement} }}\n{GOOD}", "t.cu")


def test_two_kernels_of_one_name():
    _, found = read(GOOD + GOOD, "t.cu")
    assert [d.code for d in found] == ["KR107"]


def test_it_is_deterministic():
    assert read(GOOD * 1, "t.cu") == read(GOOD * 1, "t.cu")


def test_a_long_file_is_quick():
    import time

    source = "".join(
        GOOD.replace("good", f"good_{k}") + f"void host_{k}() {{\n" + "    f(1, 2);\n" * 60 + "}\n" for k in range(80)
    )
    start = time.perf_counter()
    module, _ = read(source, "t.cu")
    assert len(module.functions) == 80
    assert time.perf_counter() - start < 10


def test_the_parameters_of_old_c_are_passed_over():
    source = "int f(a, b) int a; int b; { return a + b; }\n"
    source += "void g(float *x, int n) { for (int i = 0; i < n; i++) x[i] = 1; }\n"
    module, diagnostics = read(source, "k.c")
    assert [f.name for f in module.functions] == ["g"] and not diagnostics


def test_a_struct_that_has_no_form_refuses_its_kernel_alone():
    source = (
        "struct Node { void **next; int n; };\n"
        "__global__ void bad(Node *node, int *x) { x[0] = node->n; }\n"
        "__global__ void good(int *x) { x[0] = 1; }\n"
    )
    module, diagnostics = read(source, "k.cu")
    assert [f.name for f in module.functions] == ["good"]
    assert [(d.code, d.kernel) for d in diagnostics] == [("KR104", "bad")]


def test_headers_of_the_toolkits_are_known_in_quotes_too():
    names = ("hip/hip_runtime.h", "cuda_runtime.h", "mine.h")
    source = "".join(f'#include "{name}"\n' for name in names) + "__global__ void k(int *x) { x[0] = 1; }\n"
    _, diagnostics = read(source, "k.cu")
    assert [d.reason for d in diagnostics] == ["the header 'mine.h' is not found; what it defines is unknown"]
