"""Untrusted sources: names, comments, strings, macros and file names cannot make the emitted text say or do more.

Each attack is a source whose kernel scales an array; whatever else it holds, the emitted module must parse to the same
statements as that of the plain source, and hold no character that shows other text than what runs.
"""

import ast
import re
import unicodedata

import pytest

from kraise import pipeline
from kraise.options import Options

PAYLOAD = "__import__('os').system('echo PWNED')"
BODY = "{after}    for i in range(n):{inside}\n        y[i] = 2.0 * x[i]{behind}\n"


def python(doc="", above="", after="", inside="", behind="", below=""):
    text = f"    {doc}\n" if doc else ""
    return (
        f"{above}\ndef scale(x, y, n):\n{text}" + BODY.format(after=after, inside=inside, behind=behind) + below,
        "k.py",
    )


def cuda(above="", before="", inside="", behind="", params="const float *x, float *y, int n"):
    index = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
    head = f"{above}\n__global__ void scale({params}) {{\n{before}\n  {index}\n  if (i < n) {{\n{inside}\n"
    return f"{head}    y[i] = 2.0f * x[i];{behind}\n  }}\n}}\n", "k.cu"


TRIPLE = '"' * 3
ATTACKS = {
    "a docstring that ends early": python(doc=f"'''a{TRIPLE}\n{PAYLOAD}\n{TRIPLE}b'''"),
    "a docstring that ends in a quote": python(doc="'''says \"hello\"'''"),
    "a docstring that ends in a backslash": python(doc="'''a backslash \\\\'''"),
    "a docstring that ends in a backslash and a quote": python(doc="'''a \\\\\"'''"),
    "a docstring of escapes": python(
        doc="'''a \\x22\\x22\\x22\\n" + PAYLOAD.replace("'", "\\'") + "\\n\\x22\\x22\\x22'''"
    ),
    "a raw docstring": python(doc=f"r'''\\{TRIPLE}\n{PAYLOAD}\n'''"),
    "a module docstring that ends early": python(above=f"'''{TRIPLE}\n{PAYLOAD}\n{TRIPLE}'''"),
    "a docstring with a carriage return": python(doc="'''a\\r" + PAYLOAD.replace("'", "\\'") + "'''"),
    "a comment with a carriage return": python(behind=f"  # fine\r{PAYLOAD}"),
    "a comment with a form feed": python(behind=f"  # fine\x0c{PAYLOAD}"),
    "a comment with a vertical tab": python(behind=f"  # fine\x0b{PAYLOAD}"),
    "a comment with a line separator": python(behind=f"  # fine\u2028{PAYLOAD}"),
    "a comment with a next line": python(behind=f"  # fine\x85{PAYLOAD}"),
    "a comment that turns direction": python(behind="  # \u202e } ;) ti desrever I \u2066"),
    "a docstring that turns direction": python(doc="'''fine \u202e desrever \u2069'''"),
    "a comment of a zero-width space": python(behind="  # a\u200bb\ufeffc"),
    "a comment that ends a docstring": python(behind=f"  # {TRIPLE} {PAYLOAD}"),
    "a comment with a backslash at its end": python(behind="  # fine \\"),
    "a type comment": python(behind=f"  # type: ({PAYLOAD})"),
    "a coding comment": python(behind="  # -*- coding: utf-7 -*-"),
    "a comment that switches off the linter": python(behind="  # noqa  # ruff: noqa  # fmt: off"),
    "code beside the kernel": python(below=f"\n\n{PAYLOAD}\n"),
    "a default that runs": python(below=f"\n\ndef other(a={PAYLOAD}):\n    pass\n"),
    "a decorator that runs": python(below=f"\n\n@{PAYLOAD.replace('__import__', 'print')}\ndef other(a):\n    pass\n"),
    "a constant that runs": python(above=f"K = {PAYLOAD}\n"),
    "a string constant": python(above=f"K = '''{TRIPLE}\n{PAYLOAD}'''\n"),
    "a name in another script": python(inside="\n        \u0441 = 1"),
    "a block comment that ends a docstring": cuda(above=f"/* {TRIPLE}\n{PAYLOAD}\n{TRIPLE} */"),
    "a documentation comment": cuda(above=f"/** scales\n * {TRIPLE}\n * {PAYLOAD} \\\\ */"),
    "a line comment with a carriage return": cuda(behind=f" // fine\r{PAYLOAD}"),
    "a line comment with a form feed": cuda(behind=f" // fine\x0c{PAYLOAD}"),
    "a line comment with a line separator": cuda(behind=f" // fine\u2028{PAYLOAD}\x85{PAYLOAD}"),
    "a line comment that goes on": cuda(behind=f" // fine \\\n{PAYLOAD}"),
    "a comment that turns the direction": cuda(behind=" // \u202e/* } \u2066 if (isAdmin) \u2069"),
    "a macro's text": cuda(above=f'#define NAME "{TRIPLE} {PAYLOAD}"'),
    "a macro that is unused code": cuda(above=f"#define RUN {PAYLOAD}"),
    "a line directive with a file name": cuda(above=f'#line 7 "k{TRIPLE}\\n{PAYLOAD}.cu"'),
    "a pragma": cuda(above=f"#pragma {TRIPLE} {PAYLOAD}"),
    "an include that is not there": cuda(above=f'#include "{PAYLOAD}.h"'.replace("'", "")),
    "a string in a function": cuda(above=f'void say() {{ printf("{PAYLOAD}"); }}'.replace("'", "")),
    "a trigraph": cuda(behind=f" // fine ??/\n{PAYLOAD}".replace(PAYLOAD, "")),
    "a raw string": cuda(above=f'const char *s = R"({TRIPLE}\n{PAYLOAD}\n)";'),
}


def statements(text):
    """The module's statements without docstrings, as text: what runs."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


@pytest.mark.parametrize("name", ATTACKS)
def test_what_is_emitted_is_the_kernel_alone(name):
    source, file = ATTACKS[name]
    done = pipeline.translate(source, file, Options(only=("scale",)))
    if done.text is None:  # refused: nothing can be said
        assert done.diagnostics and all(d.code != "KR900" for d in done.diagnostics)
        return
    plain, _ = python() if file == "k.py" else cuda()
    assert statements(done.text) == statements(pipeline.translate(plain, file).text)
    strange = [c for c in done.text if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c != "\n"]
    assert not strange, strange
    for line in done.text.splitlines():
        assert not re.search(r"#.*(noqa|fmt: *off|coding[:=])", line), line


@pytest.mark.parametrize(
    "file", [f'a"{TRIPLE}.py', "a\n" + PAYLOAD.replace("/", "") + "\n.py", "a\\.py", "a\u202eb.py", "#.py"]
)
def test_a_file_name_is_no_text_of_the_module(file):
    source, _ = python()
    text = pipeline.translate(source, file).text
    assert text is not None
    assert statements(text) == statements(pipeline.translate(source, "k.py").text)
    assert not [c for c in text if unicodedata.category(c) in ("Cc", "Cf") and c != "\n"]


@pytest.mark.parametrize("parameter", ["jnp", "jax", "partial", "exec", "eval", "__import__", "open", "print"])
def test_a_parameter_cannot_take_the_place_of_what_the_module_calls(parameter):
    source = python()[0].replace("x[", f"{parameter}[").replace("(x,", f"({parameter},")
    done = pipeline.translate(source, "k.py")
    if done.text is None:
        assert done.diagnostics
        return
    calls = {ast.unparse(n.func) for n in ast.walk(ast.parse(done.text)) if isinstance(n, ast.Call)}
    assert parameter not in calls and not any(c.startswith(f"{parameter}.at") and "y" not in c for c in calls)
