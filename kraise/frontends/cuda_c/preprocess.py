"""Preprocessing: pcpp does the directives; macros are expanded here, with the user's own positions kept.

Function-like macros are expanded. A numeric object-like macro whose text is one operand (``#define TILE 16``,
``#define EPS (1e-6f)``) stays a name that carries its value, so that it can come out as a constant of the module.
"""

from __future__ import annotations

import copy
import io
import os
import re
import stat
import time
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pcpp.preprocessor import Action, OutputDirective, Preprocessor

from kraise.diagnostics import Diagnostic, Span, refuse
from kraise.frontends.cuda_c.headers import where
from kraise.frontends.cuda_c.numbers import evaluate
from kraise.frontends.cuda_c.tokens import Raw, split

LARGEST_HEADER = 8_000_000  # bytes
SECONDS = 10.0
TOKENS = 1_000_000
LINE_LENGTH = 200_000
DEEPEST_INCLUDE = 100


@dataclass
class Preprocessed:
    """The raw tokens of a unit, the comments of the main file by line, and what was noticed on the way."""

    tokens: list[Raw]
    comments: dict[int, str] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def preprocess(source: str, file: str, defines: Iterable[str] = (), include_dirs: Iterable[str] = ()) -> Preprocessed:
    """Expand ``source``. ``defines`` are NAME or NAME=VALUE. Raises Refused (KR100, KR105)."""
    unix = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    text = "\n".join(line.rstrip() for line in unix.split("\n"))
    text = _LINE_COMMENT.sub(_one_line, text) if "\\\n" in text else text
    longest = max(map(len, text.split("\n")), default=0)
    if longest > LINE_LENGTH:
        raise refuse("KR105", f"a line of {longest} characters is too long to be source code", Span(file, 1))
    if "\0" in text:
        raise refuse("KR105", "the file holds NUL bytes: it is not C source text", Span(file, 1))
    pp = _Expander(file, text, tuple(include_dirs))
    for name, value in (*_predefined(file, text), *_WIDE_LITERALS):
        pp.define(f"{name} {value}")
    for item in defines:
        name, _, value = item.partition("=")
        pp.define(f"{name} {value or 1}")
    for directory in (os.path.dirname(os.path.abspath(file)), *pp.folders):
        pp.path.append(os.path.abspath(directory))
    try:
        pieces = list(pp.parsegen(text + "\n", file, file))
    except RecursionError:
        raise refuse("KR105", "a macro or an include nests too deeply", Span(file, 1)) from None
    except IndexError:  # pcpp's on a directive that ends in its middle
        raise refuse("KR105", "a preprocessor directive is not complete", Span(file, 1)) from None
    return Preprocessed(pp.relex(pieces), pp.comments, pp.diagnostics)


_LINE_COMMENT = re.compile(  # or what may hold two slashes that begin none
    r"""R"\((?:.|\n)*?\)"|"(?:\\(?:.|\n)|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|/\*(?:.|\n)*?\*/|//(?:[^\n]*\\\n)*[^\n]*"""
)


def _one_line(found: re.Match[str]) -> str:
    """A comment that a backslash continues, without the lines that it swallows: C joins lines before it looks for
    comments, pcpp does not."""
    comment, newlines = found.group(), found.group().count("\n")
    if not comment.startswith("//") or not newlines:
        return comment
    return comment.partition("\n")[0].rstrip("\\") + "\n" * newlines


def _predefined(file: str, text: str) -> list[tuple[str, str]]:
    if file.endswith(".c"):
        return [("__STDC__", "1"), ("__STDC_VERSION__", "201112L")]
    if file.endswith((".cpp", ".cc", ".cxx")):
        return [("__cplusplus", "201703L")]
    if any(word in text for word in ("hip/hip_runtime", "hipLaunchKernelGGL", "HIP_DYNAMIC_SHARED")):
        own = ("HIP_DYNAMIC_SHARED(type, name)", "extern __shared__ type name[];")  # a macro of hip_runtime.h
        return [("__cplusplus", "201703L"), ("__HIPCC__", "1"), ("__HIP_DEVICE_COMPILE__", "1"), own]
    versions = [("CUDART_CB", ""), ("CUDART_VERSION", "12000"), ("CUDA_VERSION", "12000"), ("__CUDA_ARCH__", "900")]
    return [("__cplusplus", "201703L"), ("__CUDACC__", "1"), ("__NVCC__", "1"), *versions]


_WIDE_LITERALS = [  # of stdint.h
    (f"{sign}INT{bits}_C(value)", f"value ## {mark}" if mark else "value")
    for sign in ("", "U")
    for bits in (8, 16, 32, 64)
    for mark in ((sign if bits > 16 else "") + ("LL" if bits == 64 else ""),)
]
_KNOWN = re.compile(  # headers of the toolkits and of C, whatever marks they are included with
    r"(hip|cub|thrust|sys)/"
    r"|((cuda|hip)(_runtime(_api)?|_fp16|_bf16|_profiler_api|_device_runtime_api)?|cooperative_groups|curand(_kernel)?)\.h$"
    r"|(cublas(_v2)?|cufft|device_(launch_parameters|functions)|driver_types|vector_(types|functions))\.h$"
    r"|(math(_constants|_functions)?|stdio|stdlib|strings?|float|limits|stdint|stdbool|stddef|assert|time)\.h$"
    r"|(complex|errno|unistd|omp|ctype)\.h$"
)


class _Expander(Preprocessor):  # type: ignore[misc]  # pcpp carries no types
    """pcpp with its own macro expansion (linear, positions of the call kept, limits) and hooks that never print."""

    def __init__(self, file: str, text: str, folders: tuple[str, ...] = ()):
        self.numeric: dict[int, object] = {}
        self.folders = folders
        super().__init__()
        for name in ("__DATE__", "__TIME__", "__PCPP__"):
            self.macros.pop(name, None)
        self.rewrite_paths: list = []
        self.file = file
        self.comments: dict[int, str] = {}
        self.diagnostics: list[Diagnostic] = []
        self.evaluating = False
        self.deadline = time.monotonic() + SECONDS
        self.budget = TOKENS
        self.starts: dict[str, list[int]] = {file: _line_starts(text)}
        self.include_line = 1

    # --- hooks

    def on_error(self, file: str, line: int, msg: str) -> None:
        span = Span(str(file or self.file), line or 1)
        self.diagnostics.append(Diagnostic("KR100", f"preprocessor: {msg.strip()}", span, severity="warning"))

    def on_file_open(self, is_system_include: bool, includepath: str) -> io.StringIO:
        if self.include_depth > DEEPEST_INCLUDE:
            raise refuse("KR105", f"includes nest more than {DEEPEST_INCLUDE} deep", Span(self.file, self.include_line))
        state = os.stat(includepath)
        if not stat.S_ISREG(state.st_mode) or state.st_size > LARGEST_HEADER:
            raise FileNotFoundError(includepath)  # a device or a pipe would never end
        with open(includepath, encoding="utf-8-sig", errors="replace") as f:
            data = f.read()
        data = "\n".join(line.rstrip() for line in data.replace("\r\n", "\n").split("\n"))
        self.starts[includepath] = _line_starts(data)
        return io.StringIO(data)

    def on_include_not_found(self, is_malformed: bool, is_system_include: bool, curdir: str, includepath: str) -> None:
        if not is_system_include and not _KNOWN.match(includepath):
            self.diagnostics.append(
                Diagnostic(
                    "KR105",
                    f"the header {includepath!r} is not found; what it defines is unknown",
                    Span(self.file, self.include_line),
                    where(includepath, self.file, self.folders),
                    severity="warning",
                )
            )
        raise OutputDirective(Action.IgnoreAndRemove)

    def on_directive_handle(self, directive: Any, toks: Any, ifpassthru: bool, precedingtoks: Any) -> bool:
        self.include_line = directive.lineno
        if directive.value == "pragma" and not (toks and toks[0].value == "once"):
            raise OutputDirective(Action.IgnoreAndPassThrough)
        if directive.value in ("define", "undef", "include", "if", "elif", "ifdef", "ifndef") and not toks:
            self.on_error(self.file, directive.lineno, f"#{directive.value} without anything after it")
            raise OutputDirective(Action.IgnoreAndRemove)
        return True

    def on_directive_unknown(self, directive: Any, toks: Any, ifpassthru: bool, precedingtoks: Any) -> bool:
        if directive.value == "error":
            message = "".join(t.value for t in toks)
            span = Span(self.file, directive.lineno)
            self.diagnostics.append(Diagnostic("KR100", f"#error {message}", span, severity="warning"))
        return True

    def on_comment(self, tok: Any) -> None:
        if tok.source == self.file and not self.include_depth > 1:
            text = tok.value
            body = text[2:] if text.startswith("//") else text[2:-2]
            self.comments.setdefault(tok.lineno, body.strip())

    # --- macros

    def define(self, tokens: Any) -> Any:
        self.numeric.clear()
        return super().define(tokens)

    def undef(self, tokens: Any) -> Any:
        self.numeric.clear()
        return super().undef(tokens)

    def evalexpr(self, tokens: Any) -> Any:
        self.evaluating = True
        try:
            return super().evalexpr(tokens)
        finally:
            self.evaluating = False

    def expand_macros(self, tokens: Any, expanding_from: Any = ()) -> Any:
        """Expand every macro in ``tokens``; a token remembers the macros it came from and the place of the call."""
        pending = list(reversed(tokens))
        out: list[Any] = []
        previous = None
        while pending:
            t = pending.pop()
            if t.type != self.t_ID or t.value not in self.macros:
                if t.type == self.t_ID and t.value == "__LINE__":
                    t = copy.copy(t)
                    t.type, t.value = self.t_INTEGER, str(t.lineno)
                out.append(t)
                if t.type not in self.t_WS:
                    previous = t
                continue
            hidden = getattr(t, "hidden", ())
            after_point = previous is not None and previous.value == "." and out and out[-1] is previous
            if t.value in hidden or t.value in expanding_from or (after_point and _digit_before(out)):
                out.append(t)
                previous = t
                continue
            macro = self.macros[t.value]
            if macro.arglist is None:
                constant = None if self.evaluating else self._number(t.value, macro)
                if constant is not None and not (constant[1] and _is_operand(previous)):
                    t = copy.copy(t)
                    t.constant = constant[0]
                    out.append(t)
                    previous = t
                    continue
                replacement = [copy.copy(x) for x in macro.value]
            else:
                found = self._arguments(t, macro, pending)
                if found is None:
                    out.append(t)
                    previous = t
                    continue
                replacement = self.macro_expand_args(macro, found)
            self._count(len(replacement) + 1, t)
            names = (*hidden, t.value)
            where = getattr(t, "site", None) or (t.source, t.lineno, t.lexpos)
            for x in reversed(replacement):
                x = copy.copy(x)
                x.hidden = (*getattr(x, "hidden", ()), *names)
                if len(x.hidden) > 400:
                    raise refuse("KR105", f"macro {t.value!r} expands too deeply", Span(self.file, where[1]))
                x.site = where
                x.lineno = where[1]
                pending.append(x)
        return out

    def _count(self, n: int, t: Any) -> None:
        self.budget -= n
        if self.budget < 0 or time.monotonic() > self.deadline:
            raise refuse(
                "KR105",
                f"preprocessing takes too long: macro {t.value!r} expands without end, or a header is very large",
                Span(self.file, t.lineno),
                "define the macro with -D, or leave the header out",
            )

    def _arguments(self, t: Any, macro: Any, pending: list[Any]) -> list[Any] | None:
        """The arguments of a function-like macro, taken from ``pending``; None if this is no call of it."""
        k = len(pending) - 1
        while k >= 0 and pending[k].type in self.t_WS:
            k -= 1
        if k < 0 or pending[k].value != "(":
            return None
        depth, j = 0, k
        args: list[Any] = []
        current: list[Any] = []
        parameters = len(macro.arglist)
        while j >= 0:
            x = pending[j]
            if x.value == "(":
                depth += 1
            elif x.value == ")":
                depth -= 1
                if depth == 0:
                    break
            if x.value == "," and depth == 1 and not (macro.variadic and len(args) >= parameters - 1):
                args.append(current)
                current = []
            elif not (depth == 1 and x.value == "(" and j == k):
                current.append(x)
            j -= 1
        if j < 0:
            return None
        args.append(current)
        if not parameters and args == [[]]:
            args = []
        args = [self.tokenstrip(a) if a else a for a in args]
        if macro.variadic and len(args) == parameters - 1:
            args.append([])
        if parameters == 0 and len(args) == 1 and not args[0]:
            args = []
        if len(args) != parameters:
            self.on_error(t.source, t.lineno, f"macro {t.value} takes {parameters} arguments but is given {len(args)}")
            return None
        del pending[j:]
        return args

    def _number(self, name: str, macro: Any) -> tuple[object, bool] | None:
        """(value, starts with a sign) of an object-like macro that is one numeric operand."""
        key = id(macro)
        if key in self.numeric:
            return self.numeric[key]  # type: ignore[return-value]
        self.numeric[key] = None  # a macro that names itself
        words = [x.value for x in macro.value if x.type not in self.t_WS and x.type not in self.t_COMMENT]
        result = None
        if words and len(words) < 60 and _one_operand(words):
            full = self._expanded_words(macro)
            value = evaluate(full) if full else None
            if value is not None:
                result = (value, words[0] in "+-~")
        self.numeric[key] = result
        return result

    def _expanded_words(self, macro: Any) -> list[str]:
        self.evaluating, before = True, self.evaluating
        try:
            tokens = self.expand_macros([copy.copy(x) for x in macro.value])
        finally:
            self.evaluating = before
        text = "".join(str(x.value) for x in tokens)
        return [w for _, _, w in split(text, self.file)] if len(text) < 2000 else []

    # --- back to tokens with places

    def relex(self, pieces: list[Any]) -> list[Raw]:
        """Lex what came out; every token gets the place in the user's files that it stands for."""
        parts: list[str] = []
        offsets: list[int] = []
        sources: list[Any] = []
        offset = 0
        before: Any = None
        for piece in pieces:
            site = getattr(piece, "site", None)
            joined = site is not before or hasattr(piece, "constant")
            before = site
            text = str(piece.value)
            if joined and parts and not parts[-1].endswith((" ", "\n")):
                parts.append(" ")
                offset += 1
            offsets.append(offset)
            sources.append(piece)
            parts.append(text)
            offset += len(text)
        out: list[Raw] = []
        for position, kind, word in split("".join(parts), self.file):
            k = bisect_right(offsets, position) - 1
            piece = sources[k]
            site = getattr(piece, "site", None)
            file, _, lexpos = site or (piece.source, piece.lineno, piece.lexpos + position - offsets[k])
            line, column = self._place(file, lexpos, piece.lineno)
            constant = getattr(piece, "constant", None) if kind == "NAME" else None
            out.append(Raw(kind, word, file or self.file, line, column, constant))
        return out

    def _place(self, file: str, position: int, line: int) -> tuple[int, int]:
        starts = self.starts.get(file)
        if starts is None or position >= starts[-1] + LINE_LENGTH:
            return line, 1
        k = bisect_right(starts, position) - 1
        return k + 1, position - starts[k] + 1


def _line_starts(text: str) -> list[int]:
    out, position = [0], text.find("\n")
    while position >= 0:
        out.append(position + 1)
        position = text.find("\n", position + 1)
    return out


def _digit_before(out: list[Any]) -> bool:
    return len(out) > 1 and str(out[-2].value)[-1:].isdigit()


def _is_operand(t: Any) -> bool:
    return t is not None and (t.value in (")", "]") or str(t.value)[-1:].isalnum())


def _one_operand(words: list[str]) -> bool:
    """Is this text one operand however it is used: a number, a name, a parenthesis, or a sign and one of these?"""
    if words[0] in ("-", "+", "~"):
        words = words[1:]
    text = "".join(words)
    if not words:
        return False
    if words[0] == "(":
        depth = 0
        for k, w in enumerate(words):
            depth += (w == "(") - (w == ")")
            if depth == 0:
                return k == len(words) - 1
        return False
    return text.replace(".", "").replace("+", "").replace("-", "").isalnum() and (
        text[0].isdigit() or text[0] == "." or len(words) == 1
    )
