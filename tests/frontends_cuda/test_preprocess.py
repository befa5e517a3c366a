"""Directives and macros: what is expanded, what stays a name, where a token says that it stands."""

import pytest

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c.numbers import evaluate, literal
from kraise.frontends.cuda_c.preprocess import preprocess
from kraise.ir.types import FLOAT32, FLOAT64, INT32, INT64, UINT32, UINT64


def words(text: str, **options) -> list[str]:
    return [t.text for t in preprocess(text, "t.cu", **options).tokens]


def test_numeric_macros_stay_names_with_their_value():
    tokens = preprocess("#define TILE 16 // tile\n#define N (TILE * 2)\n#define E 1e-6f\nTILE N E", "t.cu").tokens
    assert [(t.text, t.constant.value, t.constant.type) for t in tokens] == [
        ("TILE", 16, INT32),
        ("N", 32, INT32),
        ("E", 1e-6, FLOAT32),
    ]


def test_a_macro_that_is_no_operand_is_expanded():
    assert words("#define P TILE+1\n#define TILE 4\nP * 2") == ["TILE", "+", "1", "*", "2"]
    assert words("#define M -1\nx M") == ["x", "-", "1"]
    assert words("#define REAL float\nREAL x;") == ["float", "x", ";"]


def test_function_like_macros():
    assert words("#define IDX(i, j) ((i) * n + (j))\nIDX(x, 3)") == list("((x)*n+(3))")
    assert words("#define CAT(a, b) a##b\nCAT(fo, o)") == ["foo"]
    assert words("#define V(f, ...) f(__VA_ARGS__)\nV(g, 1, 2)") == ["g", "(", "1", ",", "2", ")"]


def test_a_name_without_its_parenthesis_is_no_call():
    assert words("#define F(x) x\nF;") == ["F", ";"]


def test_conditionals_and_defines():
    text = "#define A 3\n#if A > 2 && defined(B)\nyes\n#elif !defined B\nno\n#else\nelse\n#endif\n"
    assert words(text) == ["no"]
    assert words(text, defines=("B",)) == ["yes"]
    assert words("#ifdef __CUDACC__\ncuda\n#endif") == ["cuda"]


def test_undef_and_redefinition():
    tokens = preprocess("#define N 4\nN\n#undef N\n#define N 8\nN\n#undef N\nN", "t.cu").tokens
    assert [t.constant and t.constant.value for t in tokens] == [4, 8, None]


def test_places_are_the_users():
    tokens = preprocess("#define SQ(x) ((x) * (x))\nfoo(SQ(a),\n    b);", "t.cu").tokens
    by_text = {t.text: (t.line, t.column) for t in tokens}
    assert by_text["foo"] == (2, 1)
    assert by_text["*"] == (2, 5)  # the call of the macro
    assert by_text["b"] == (3, 5)


def test_local_headers_are_read_and_system_headers_skipped(tmp_path):
    (tmp_path / "x.h").write_text("#pragma once\n#define W 7\nint from_header;\n")
    found = preprocess('#include <cuda.h>\n#include "x.h"\n#include "x.h"\nW', "t.cu", include_dirs=(str(tmp_path),))
    assert [t.text for t in found.tokens] == ["int", "from_header", ";", "W"]
    assert found.tokens[0].file == str(tmp_path / "x.h")
    assert not found.diagnostics


def test_a_header_that_is_missing_is_said():
    found = preprocess('#include "nope.h"\nx', "t.cu")
    assert [(d.code, d.span.line) for d in found.diagnostics] == [("KR105", 1)]


def test_comments_are_kept_by_line():
    found = preprocess("// one\nint x; /* two\n lines */\n", "t.cu")
    assert found.comments == {1: "one", 2: "two\n lines"}


@pytest.mark.parametrize("text", ["#define A B\n#define B A\nA", "#define F(x) F(x) + G(x)\n#define G(x) F(x)\nF(1)"])
def test_recursive_macros_end(text):
    assert words(text)


def test_a_macro_bomb_is_refused():
    bomb = "#define X0(a) a a a a a a a a a a\n"
    bomb += "".join(f"#define X{i + 1}(a) X{i}(X{i}(a))\n" for i in range(8)) + "X8(y)"
    with pytest.raises(Refused) as refused:
        preprocess(bomb, "t.cu")
    assert refused.value.diagnostics[0].code == "KR105"


@pytest.mark.parametrize("text", ["x" * 1_000_000, "int a;\0"])
def test_what_is_no_source_is_refused(text):
    with pytest.raises(Refused) as refused:
        preprocess(text, "t.cu")
    assert refused.value.diagnostics[0].code == "KR105"


@pytest.mark.parametrize(
    ("text", "value", "type_"),
    [
        ("42", 42, INT32),
        ("0x1F", 31, INT32),
        ("0xffffffff", 0xFFFFFFFF, UINT32),
        ("4294967296", 4294967296, INT64),
        ("1u", 1, UINT32),
        ("1ULL", 1, UINT64),
        ("010", 8, INT32),
        ("0b101", 5, INT32),
        ("1'000", 1000, INT32),
        ("1.f", 1.0, FLOAT32),
        ("1e3", 1000.0, FLOAT64),
        (".5", 0.5, FLOAT64),
        ("0x1p-2f", 0.25, FLOAT32),
    ],
)
def test_literals(text, value, type_):
    c = literal(text)
    assert (c.value, c.type) == (value, type_)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("( 1 << 4 ) | 3", 19),
        ("- 7 / 2", -3),
        ("- 7 % 3", -1),
        ("( float ) 3 / 2", 1.5),
        ("1 / 0", None),
        ("4294967295u + 1u", 0),
        ("( 2 > 1 ) + 1", 2),
        ("a + 1", None),
    ],
)
def test_constant_expressions(text, value):
    c = evaluate(text.split())
    assert (c.value if c else None) == value


@pytest.mark.parametrize("own", ["", "#define UINT64_C(x) x##ULL\n"])
def test_wide_literals_of_stdint(own):
    assert words(own + "UINT64_C(0xff) UINT32_C(3) INT64_C(5) INT32_C(7)") == ["0xffULL", "3U", "5LL", "7"]
    assert not preprocess(own + "UINT64_C(1)", "t.cu").diagnostics
