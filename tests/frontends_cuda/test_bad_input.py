"""Bad input: a diagnostic each, the good kernel of the file comes out, never a traceback."""

import pytest

from kraise import pipeline
from kraise.diagnostics import Refused
from kraise.frontends.cuda_c import preprocess, read

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
        (
            "union U { double a[2]; float b; }; __global__ void bad(float *a) { U u; u.a[0] = 1; a[0] = u.b; }\n",
            "KR299",
        ),
        ("union U { int a; float *b; }; __global__ void bad(float *a) { U u; u.b = a; a[0] = u.a; }\n", "KR299"),
        ("union U { int a; float b; }; __global__ void bad(U *u, float *a) { a[0] = u[0].b; }\n", "KR104"),
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


_GROWS = "#define A0 1 + 1\n" + "".join(f"#define A{k} A{k - 1} + A{k - 1} + A{k - 1}\n" for k in range(1, 30))
HOSTILE = {
    "truncated": (GOOD + "__global__ void bad(float *a) { if (a[0] > 1) {", "KR100"),
    "unbalanced": (GOOD + "__global__ void bad(float *a) { a[0] = (1 + 2; }\n", "KR100"),
    "a brace too many": (GOOD + "__global__ void bad(float *a) { a[0] = 1; }}}\n", "KR100"),
    "a line of a megabyte": (GOOD + "// " + "x" * 1_000_000 + "\n", "KR105"),
    "a table of a megabyte": (GOOD + "__device__ int t[] = {" + "1," * 500_000 + "1};\n", "KR105"),
    "no such header": ('#include "nowhere.h"\n' + GOOD, "KR105"),
    "macros that name each other": ("#define A B\n#define B A\n" + GOOD.replace("= 1", "= A"), "KR102"),
    "a macro in its own argument": ("#define F(x) F(x + F(x))\n" + GOOD.replace("= 1", "= F(1)"), "KR103"),
    "a macro that grows": (_GROWS + GOOD.replace("= 1", "= A29"), "KR105"),
    "not instantiated": (GOOD + "template <class F> __global__ void t(F f, float *a) { a[0] = f(a[0]); }\n", "KR103"),
    "an #if without an end": ("#ifdef X\n" + GOOD, "KR100"),
    "a string without an end": (GOOD + 'const char *s = "abc;\n', "KR100"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_a_diagnostic_in_time(name, monkeypatch):
    monkeypatch.setattr(preprocess, "SECONDS", 1)
    is_a_diagnostic(name)


@pytest.mark.long
def test_the_preprocessor_gives_up_in_time():
    is_a_diagnostic("a macro that grows")


def is_a_diagnostic(name):
    import time

    text, code = HOSTILE[name]
    start = time.perf_counter()
    done = pipeline.translate(text, "t.cu")
    assert time.perf_counter() - start < 30  # the preprocessor gives up after 10 s
    assert code in [d.code for d in done.diagnostics] and "KR900" not in [d.code for d in done.diagnostics]
    assert all(d.span is not None and d.span.line >= 1 for d in done.diagnostics)


def test_a_file_that_includes_itself_ends(tmp_path):
    file = tmp_path / "t.cu"
    file.write_text('#include "t.cu"\n' + GOOD)
    done = pipeline.translate(file.read_text(), str(file))
    assert [d.code for d in done.diagnostics] == ["KR105"] and "nest" in done.diagnostics[0].reason


def test_bytes_that_are_no_utf8_name_their_place(tmp_path, capsys):
    from kraise.cli import main

    file = tmp_path / "t.cu"
    file.write_bytes(GOOD.encode() + b"// caf\xe9\n")
    with pytest.raises(SystemExit) as stop:
        main(["translate", str(file)])
    said = capsys.readouterr().err
    assert stop.value.code == 2 and "KR105" in said and ":5:7" in said
