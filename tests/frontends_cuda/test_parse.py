"""Tree shapes: what a name is decides how C reads. One test a rule of the lexer."""

import pytest
from lark import Token

from kraise.diagnostics import Refused
from kraise.frontends.cuda_c.parser import parse, parse_item
from kraise.frontends.cuda_c.scan import CLASS_TEMPLATE, FUNCTION_TEMPLATE, TYPE, VARIABLE, Unit, scan
from kraise.frontends.cuda_c.tokens import Raw, split
from kraise.frontends.cuda_c.words import BUILTIN_TYPES

_CHAINS = {
    "comma_expression",
    "assignment_expression",
    "logical_or_expression",
    "logical_and_expression",
    "and_expression",
    "equality_expression",
    "relational_expression",
    "shift_expression",
    "additive_expression",
    "multiplicative_expression",
}


def raw(text: str) -> list[Raw]:
    return [Raw(kind, word, "t.cu", 1, k + 1) for k, kind, word in split(text, "t.cu")]


def show(n) -> str:
    """Fully parenthesised text of an expression tree."""
    if isinstance(n, Token):
        return str(n)
    c = [show(x) for x in n.children]
    match n.data:
        case "template_arguments":
            return f"[{', '.join(c[1:-1])}]"
        case "cast_expression":
            return f"cast<{c[0]}>({c[1]})"
        case "functional_cast":
            return f"make<{c[0]}>({', '.join(c[1:])})"
        case "call_expression":
            return f"call({', '.join(c)})"
        case "launch_expression":
            return f"launch({', '.join(c)})"
        case "conditional_expression":
            return f"({c[0]} ? {c[1]} : {c[2]})"
    if n.data in _CHAINS or n.data == "assignment_operator":
        return f"({' '.join(c)})" if len(c) > 1 else "".join(c)
    return "".join(c)


def tree(text: str, start: str, types="", variables="", templates="", classes=""):
    names = dict.fromkeys(BUILTIN_TYPES, TYPE)
    for group, kind in (
        (types, TYPE),
        (variables, VARIABLE),
        (templates, FUNCTION_TEMPLATE),
        (classes, CLASS_TEMPLATE),
    ):
        names.update(dict.fromkeys(group.split(), kind))
    tokens = raw(text)
    return parse(Unit(tokens, names=names), 0, len(tokens) - 1, start)


V = "a b c d x y nx ny row col"


@pytest.mark.parametrize(
    ("text", "names", "shape"),
    [
        ("(x+(nx))%(nx)+(y)", {}, "(((x + nx) % nx) + y)"),  # a parenthesised name is no cast
        ("row<(a)&&col>(b)", {}, "((row < a) && (col > b))"),  # variables compare
        ("(T)-x", {"types": "T"}, "cast<T>(-x)"),
        ("(a)-x", {}, "(a - x)"),
        ("f<b>(c)", {"templates": "f"}, "call(f[b], c)"),
        ("a<b>(c)", {}, "((a < b) > c)"),
        ("f<b,c>(d)", {"templates": "f"}, "call(f[b, c], d)"),
        ("a<b,c>(d)", {}, "((a < b) (c > d))"),
        ("a = b ? c << 1 + 2 * x : -y & 3 == d", {}, "(a = (b ? (c << (1 + (2 * x))) : (-y & (3 == d))))"),
        (
            "k<float, n<int>><<<g, float(b) >> 2>>>(x)",
            {"templates": "k", "types": "n"},
            "launch(k[float, n[int]], <<<g(make<float>(b) >> 2)>>>, x)",
        ),
        ("sizeof(float) * a", {}, "(sizeoffloat * a)"),
        ("g<T>(x)", {"types": "T"}, "call(g[T], x)"),  # an unknown name with a type between angles is a template
        ("(unsigned char)(a+b)", {}, "cast<unsignedchar>((a + b))"),
        ("(float)a/b", {}, "(cast<float>(a) / b)"),
    ],
)
def test_expressions(text, names, shape):
    assert show(tree(text, "expression", variables=V, **names)) == shape


def test_a_type_before_a_star_declares():
    assert tree("T * b;", "statement", types="T").data == "declaration_statement"
    assert tree("a * b;", "statement", variables=V).data == "expression_statement"


@pytest.mark.parametrize(
    "text",
    [
        "float (*p)[4];",
        "int x(3), y = 2, *q;",
        "const unsigned long long int v = 1ull;",
        "__shared__ float s[2][3];",
        "for (int i = 0, j = 1; i < j; i++, --j) { continue; }",
        "auto f = [=] __device__ (int i) -> float { return i * 2.f; };",
        "switch (a) { case 1: case 2: b = 1; break; default: ; }",
        "do x++; while (x < 3);",
        'asm volatile("mov %0, %1;" : "=r"(x) : "r"(y));',
        "if (a) ; else if (b) x = 1; else { }",
        "typedef float2 V2;",
        "vec3<float> v{1, 2, 3};",
    ],
)
def test_statements_parse(text):
    tree(text, "statement", variables=V, classes="vec3")


def test_a_local_variable_hides_a_template_of_its_name():
    unit = scan(raw("template <typename T> T f(T x); __global__ void k(int f, int n, int *o) { o[0] = f<n>(o[1]); }"))
    kernel = next(i for i in unit.items if i.kind == "kernel")
    text = show(next(parse_item(unit, kernel).find_data("assignment_expression")))
    assert "((f < n) > o1)" in text.replace("subscript", "")


def test_a_type_of_one_kernel_is_forgotten_in_the_next():
    source = "__global__ void one(Foo *a) { } __global__ void two(int Foo, int *b) { b[0] = (Foo) - 1; }"
    unit = scan(raw(source))
    first, second = [i for i in unit.items if i.kind == "kernel"]
    inferred: dict = {}
    parse_item(unit, first, inferred)
    assert set(inferred) == {"Foo"}
    text = show(next(parse_item(unit, second).find_data("assignment_expression")))
    assert "(Foo - 1)" in text


def test_items_of_a_file():
    source = """
    using namespace std; template <typename T, int N> struct Tile { T v[N]; };
    namespace a { namespace b { __device__ inline float f(float x) { return x; } } }
    extern "C" { __global__ void __launch_bounds__(256) k(Tile<float, 4> t) { } }
    class Host { public: Host() : x(1) {} private: int x; };
    enum { A, B = 3 }; typedef struct { int x; } S; __constant__ float c[3]; const int N = 4;
    int main(int argc, char **argv) { k<<<1, 2>>>(t); return 0; }
    """
    items = [(i.kind, i.name) for i in scan(raw(source)).items]
    assert ("type", "Tile") in items and ("device", "f") in items and ("kernel", "k") in items
    assert ("host", "main") in items and ("variable", "c") in items and ("type", "S") in items
    assert next(i for i in scan(raw(source)).items if i.name == "f").namespace == ("a", "b")


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("a = = 1;", 5, "expected"),
        ("if (a b = 1;", 7, "expected"),
        ("x = (1 + 2;", 11, "expected"),
    ],
)
def test_a_syntax_error_has_its_place_and_what_was_expected(text, place, words):
    with pytest.raises(Refused) as refused:
        tree(text, "statement", variables=V)
    d = refused.value.diagnostics[0]
    assert d.code == "KR100" and d.span.column == place and words in d.reason
