"""The LALR parser: its table is built once and cached; errors become diagnostics that say what was expected."""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
from functools import cache
from pathlib import Path
from typing import Any

import lark
from lark import Lark, Tree, UnexpectedInput

from kraise import dialects
from kraise.diagnostics import Refused, Span, refuse
from kraise.frontends.cuda_c.lexer import Source, TypeAwareLexer
from kraise.frontends.cuda_c.scan import Item, Unit

_STARTS = ["translation_unit", "statement", "expression"]


@cache
def _parser() -> Lark:
    grammar = dialects.text("cuda_c.lark")
    options: dict[str, Any] = {
        "parser": "lalr",
        "lexer": TypeAwareLexer,
        "start": _STARTS,
        "propagate_positions": True,
        "maybe_placeholders": False,
    }
    path = _cache_file(grammar)
    if path is not None and path.is_file():
        try:
            with path.open("rb") as f:
                return Lark.load(f)
        except Exception:  # a stale or cut file: build the table again
            pass
    parser = Lark(grammar, **options)
    if path is not None:
        _store(parser, path)
    return parser


def _cache_file(grammar: str) -> Path | None:
    """Where the table lies: the user's cache directory, by the digest of grammar and lark's version."""
    key = hashlib.sha256(f"{grammar}\0{lark.__version__}\0{_STARTS}\0 1".encode()).hexdigest()[:24]
    folder = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(folder) / "kraise" / f"cuda_c-{key}.pickle" if os.path.isabs(folder) else None


def _store(parser: Lark, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f"{path.name}.{os.getpid()}")
        with temporary.open("wb") as f:
            parser.save(f)
        os.replace(temporary, path)
    except (OSError, pickle.PicklingError, AttributeError):
        pass  # a cache that cannot be written costs time, nothing else


def parse_item(unit: Unit, item: Item, inferred: dict | None = None) -> Tree:
    """The tree of a top-level item. Raises Refused (KR100) with the place and what was expected there."""
    return parse(unit, item.first, item.last, "translation_unit", inferred)


def parse(unit: Unit, first: int, last: int, start: str, inferred: dict | None = None) -> Tree:
    """The tree of a token range."""
    source = Source(unit, first, last, {} if inferred is None else inferred)
    try:
        return _parser().parse(source, start=start)  # type: ignore[arg-type]
    except UnexpectedInput as error:
        raise _explain(unit, first, last, error) from None
    except RecursionError:
        raise refuse("KR100", "this is nested too deeply", unit.tokens[first].span) from None


def _explain(unit: Unit, first: int, last: int, error: UnexpectedInput) -> Refused:
    token: Any = getattr(error, "token", None)
    if token is None or token.type == "$END":
        t = unit.tokens[min(last, len(unit.tokens) - 1)]
        span: Span | None = t.span
        found = "the end of the function"
    else:
        k = token.start_pos
        t = unit.tokens[k] if isinstance(k, int) and k < len(unit.tokens) else unit.tokens[first]
        span, found = t.span, f"'{t.text}'"
    expected = _expected(error)
    reason = f"syntax error at {found}" + (f"; expected {expected}" if expected else "")
    return refuse("KR100", reason, span, "check this line and the one before it")


_WORDS = {
    "SEMICOLON": "';'",
    "RPAR": "')'",
    "RSQB": "']'",
    "RBRACE": "'}'",
    "COMMA": "','",
    "LPAR": "'('",
    "COLON": "':'",
    "NAME": "a name",
    "NUMBER": "an expression",
    "TYPE_NAME": "a type",
}


def _expected(error: UnexpectedInput) -> str:
    accepted = set(getattr(error, "accepts", None) or getattr(error, "expected", ()) or ())
    state = getattr(error, "interactive_parser", None)
    if state is not None:
        with contextlib.suppress(Exception):  # only a nicer message is at stake
            accepted = state.accepts()
    if "NUMBER" in accepted:
        return "an expression" if "TYPE_NAME" not in accepted else "a statement or an expression"
    words = [text for name, text in _WORDS.items() if name in accepted and name != "NUMBER"]
    return " or ".join(words[:4])
