"""The pipeline over stubbed stages: one refused kernel does not stop the others, a bug of ours is one line."""

import pytest

from kraise import emit, pipeline, raising
from kraise.diagnostics import Diagnostic, Refused, Span
from kraise.frontends import python
from kraise.ir import equations, kernel


@pytest.fixture
def stages(monkeypatch):
    """Stages that work on names: a kernel's name says where it fails."""

    def read(source, file, *, kernel_decorators=(), only=(), folder=None):
        if source == "broken":
            raise Refused(Diagnostic("KR100", "syntax error", Span(file, 3, 7)))
        names = [n for n in source.split() if not n.startswith("unread")]
        spans = {n: Span(file, i + 1) for i, n in enumerate(source.split())}
        functions = tuple(
            kernel.Function(n, "device" if n.startswith("dev") else "kernel", (), (), span=spans[n]) for n in names
        )
        unread = tuple(Diagnostic("KR101", "no", spans[n], kernel=n) for n in source.split() if n not in names)
        return kernel.Module(file, "python", functions), unread

    def raise_function(module, function, options):
        if function.name.startswith("race"):
            raise Refused(Diagnostic("KR201", "a race"))
        if function.name.startswith("bug"):
            raise LookupError("oops\nsecond line")
        if function.name.startswith("deep"):
            raise RecursionError
        return equations.Kernel(function.name, (), (), (), span=function.span)

    def emit_module(module):
        for k in module.kernels:
            if k.name.startswith("formless"):
                raise Refused(Diagnostic("KR301", "no form"))
            if k.name.startswith("emitbug"):
                raise ValueError("oops")
        return " ".join(k.name for k in module.kernels)

    monkeypatch.setattr(python, "read", read, raising=False)
    monkeypatch.setattr(raising, "raise_function", raise_function, raising=False)
    monkeypatch.setattr(emit, "emit_module", emit_module, raising=False)


def findings(done):
    return [(d.code, d.kernel, d.span and d.span.file, d.span and d.span.line) for d in done.diagnostics]


def test_all_stages_findings_are_collected_in_source_order(stages):
    done = pipeline.translate("race a formless b unread bug helper emitbug", "x/k.py")
    assert (done.text, done.raised) == ("a b helper", ("a", "b", "helper"))
    assert findings(done) == [
        ("KR201", "race", "x/k.py", 1),
        ("KR301", "formless", "x/k.py", 3),
        ("KR101", "unread", "x/k.py", 5),
        ("KR900", "bug", "x/k.py", 6),
        ("KR900", "emitbug", "x/k.py", 8),
    ]
    assert "oops second line" in done.diagnostics[3].reason and "test_pipeline:" in done.diagnostics[3].reason


def test_nothing_raised_is_no_text(stages):
    done = pipeline.translate("race bug deep", "k.py")
    assert done.text is None and done.raised == () and [c for c, *_ in findings(done)] == ["KR201", "KR900", "KR108"]


def test_a_file_that_cannot_be_read(stages):
    done = pipeline.translate("broken", "x/k.py")
    assert (done.text, done.module, done.source) == (None, None, None)
    assert findings(done) == [("KR100", "", "x/k.py", 3)]


def test_device_functions_and_others_than_only_are_not_raised(stages):
    done = pipeline.translate("a dev b", "k.py", pipeline.Options(only=("b",)))
    assert done.raised == ("b",)


def test_the_traceback_is_shown_only_when_asked(stages, monkeypatch, capsys):
    pipeline.translate("bug", "k.py")
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("KRAISE_DEBUG", "1")
    pipeline.translate("bug", "k.py")
    assert "LookupError" in capsys.readouterr().err


def test_an_unknown_suffix(stages):
    assert findings(pipeline.translate("a", "k.txt")) == [("KR105", "", "k.txt", 1)]
