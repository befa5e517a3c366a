"""Rules for identifiers: is this name a type, a template, a scope, something declared here, or a value?

Each rule is a function of the state that answers the terminal's name, or "" where it does not apply; the first rule of
``RULES`` that answers wins.
"""

from __future__ import annotations

from collections.abc import Callable

from kraise.frontends.cuda_c.lexer_state import State
from kraise.frontends.cuda_c.scan import CLASS_TEMPLATE, FUNCTION_TEMPLATE, TYPE, VARIABLE
from kraise.frontends.cuda_c.tokens import skip_angles
from kraise.frontends.cuda_c.words import CLASS_KEYS, QUALIFIERS, TYPE_WORDS

_MARKS = ("*", "&", "&&")


def member(s: State) -> str:
    """``a.x``, ``p->x``, ``p->template f<…>``."""
    prev = s.text(-1)
    if not (prev in (".", "->") or (prev == "template" and s.text(-2) in (".", "->"))):
        return ""
    s.brackets[-1].after_type = False
    nxt = s.text(1)
    if nxt == "<" and (prev == "template" or s.template_follows(("(",))):
        s.pending = ("targs", "TEMPLATE_FUNCTION")
        return "TEMPLATE_FUNCTION"
    return "NAMESPACE_NAME" if nxt == "::" else "NAME"


def enumerator(s: State) -> str:
    """A name that an enum declares."""
    if s.brackets[-1].kind == "enum" and s.text(-1) in ("{", ","):
        s.scopes.declare(s.text(0))
        return "NAME"
    return ""


def class_name(s: State) -> str:
    """The name after struct, class, union, enum."""
    if not (s.text(-1) in CLASS_KEYS or (s.pending_class == "attribute" and s.text(-1) == ")")):
        return ""
    level, nxt, name = s.brackets[-1], s.text(1), s.text(0)
    s.pending_class = ""
    if level.kind == "template parameters" and s.text(-1) == "class":
        s.scopes.declare(name, CLASS_TEMPLATE if s.text(-2) == ">" else TYPE)
        return "TYPE_NAME"
    if nxt == "::":
        return "NAMESPACE_NAME"
    if nxt == "<":
        s.pending = ("targs", "TEMPLATE_NAME")
        if s.template_follows(("{", ":")):
            s.pending_class = name
        return "TEMPLATE_NAME"
    if s.scopes.lookup(name) not in (TYPE, CLASS_TEMPLATE):
        s.scopes.declare(name, TYPE)
    if nxt in ("{", ":"):
        s.pending_class = name
    level.after_type = True
    return "TYPE_NAME"


def constructor(s: State) -> str:
    """The name of the enclosing class where a constructor is declared."""
    level = s.brackets[-1]
    if s.text(1) != "(" or level.after_type:
        return ""
    inside = level.kind == "class" and level.name == s.text(0)
    outside = (s.text(-1) == "::" and s.scope_name() == s.text(0)) or (s.text(-1) == "~" and s.text(-2) == "::")
    if inside or (level.kind == "top" and outside):
        s.after_declarator = True
        return "CONSTRUCTOR_NAME"
    return ""


def template_parameter(s: State) -> str:
    """``typename T`` in a template's own parameter list."""
    level = s.brackets[-1]
    if (
        level.kind == "template parameters"
        and s.text(-1) in ("typename", "class", "...")
        and not level.after_type
        and s.text(1) not in ("::", "<")
    ):
        s.scopes.declare(s.text(0), CLASS_TEMPLATE if s.text(-2) == ">" else TYPE)
        return "TYPE_NAME"
    return ""


def alias(s: State) -> str:
    """``using X = …``, ``namespace x = …``."""
    if s.text(-1) in ("using", "namespace") and s.text(1) == "=":
        if s.text(-1) == "using":
            s.scopes.declare(s.text(0), s.scopes.lookup(s.text(0)) or TYPE)
            s.alias = True
        return "NAME"
    return ""


def declarator(s: State) -> str:
    """After a type: the name that is declared, or its class scope."""
    level, nxt = s.brackets[-1], s.text(1)
    if not level.after_type:
        return ""
    if nxt == "::":
        return "DECLARATOR_SCOPE"
    if nxt == "<" and not level.declaring:
        if s.scopes.lookup(s.text(0)) == CLASS_TEMPLATE and s.template_follows(("::",)):
            s.pending, s.after_scope = ("targs", "DECLARATOR_SCOPE"), True
            return "DECLARATOR_SCOPE"
        if s.template_follows(("(",)) and level.kind in ("top", "class"):
            s.pending, s.after_declarator = ("targs", "DECLARATOR"), True
            return "TEMPLATE_FUNCTION"
    level.after_type, s.after_declarator = False, True
    if any(b.typedef for b in s.brackets):
        s.scopes.declare(s.text(0), TYPE)
    elif nxt != "(" or level.kind not in ("top", "class"):
        s.scopes.declare(s.text(0))
    if level.kind in ("block", "class", "top", "for"):
        level.declaring = True
    return "NAME"


def scope(s: State) -> str:
    """``x::``."""
    if s.text(1) != "::":
        return ""
    return "DECLARATOR_SCOPE" if s.brackets[-1].kind == "top" and s.constructor_scope() else "NAMESPACE_NAME"


def constructor_template(s: State) -> str:
    """``X<T>::X(`` outside the class."""
    if s.brackets[-1].kind == "top" and s.text(1) == "<" and s.constructor_scope():
        s.pending, s.after_scope = ("targs", "DECLARATOR_SCOPE"), False
        return "DECLARATOR_SCOPE"
    return ""


def known(s: State) -> str:
    """What the scopes say; a name that they do not know is a type only where no other reading exists."""
    level, nxt, name = s.brackets[-1], s.text(1), s.text(0)
    kind = s.scopes.lookup(name)
    if s.text(-1) == "::" and kind == VARIABLE:
        kind = None
    if level.typename and not (nxt == "<" and s.template_follows(("::",))):
        level.typename = False
        kind = CLASS_TEMPLATE if nxt == "<" else TYPE
    if nxt == "<" and kind != VARIABLE:
        terminal = _template(s, kind)
        if terminal:
            s.pending = ("targs", terminal)
            level.after_type = False
            return terminal
    if kind in (TYPE, CLASS_TEMPLATE) or (kind is None and _must_be_type(s)):
        if kind is None and s.text(-1) != "::":
            s.scopes.infer(s.at(0))
        level.after_type = nxt not in ("(", "{") or (nxt == "(" and s.paren_declarator(1))
        return "TYPE_NAME"
    return "NAME"


RULES: tuple[Callable[[State], str], ...] = (
    member,
    enumerator,
    class_name,
    constructor,
    template_parameter,
    alias,
    declarator,
    scope,
    constructor_template,
    known,
)


def _template(s: State, kind: str | None) -> str:
    """TEMPLATE_NAME, TEMPLATE_FUNCTION or "" (a comparison) for ``name <``."""
    if kind == CLASS_TEMPLATE:
        return "TEMPLATE_NAME"
    end = skip_angles(s.toks, s.i + 1)
    if end is None:
        return "TEMPLATE_FUNCTION" if kind == FUNCTION_TEMPLATE else ""
    if kind == TYPE or s.pending_class not in ("", "attribute"):  # a class template that the scan did not see
        return "TEMPLATE_NAME"
    if kind == FUNCTION_TEMPLATE and s.text(-1) != "::":
        return "TEMPLATE_FUNCTION"
    if s.alias and s.brackets[-1].kind not in ("paren", "targs"):
        return "TEMPLATE_NAME"
    last = s.toks[end - 1].text
    after = s.toks[end] if end < len(s.toks) else None
    nxt = after.text if after else ""
    if nxt in ("(", "<<<") or (nxt == ">>>" and last != ">"):
        return "TEMPLATE_FUNCTION"
    if nxt in ("::", "{") or (after is not None and after.kind == "NAME"):
        return "TEMPLATE_NAME"
    bracket = s.brackets[-1].kind
    context = bracket in ("targs", "cast", "template parameters") or (s.text(-1) == "=" and s.text(-3) == "using")
    closing = (">", ">>", ",", ")", "*", "&", ";")
    if nxt in closing and (context or len(last) > 1 or s.text(-1) in ("typename", "const")):
        return "TEMPLATE_NAME"
    parameter, starts = bracket == "parameters", s.statement_start()
    if (nxt in _MARKS and (starts or parameter)) or (nxt in (",", ")") and starts and parameter):  # it has no name
        return "TEMPLATE_NAME"
    if _has_type_argument(s, s.i + 2, end - 1) or kind == FUNCTION_TEMPLATE:
        return "TEMPLATE_FUNCTION"
    return ""


def _has_type_argument(s: State, a: int, b: int) -> bool:
    after = (",", ">", "*", "&", "<", ">>", "const")
    return any(
        (s.toks[k].text in TYPE_WORDS or s.scopes.lookup(s.toks[k].text) in (TYPE, CLASS_TEMPLATE))
        and s.toks[k + 1].text in after
        for k in range(a, b)
    )


def _must_be_type(s: State) -> bool:
    """Is an undeclared identifier used in a way that only a type allows?"""
    level = s.brackets[-1]
    a = s.at(1)
    if a.kind == "NAME" and (a.text not in s.words or a.text in ("const", "volatile", "__restrict__", "operator")):
        return True
    k = 1
    while s.text(k) in (*_MARKS, "const", "volatile", "__restrict__"):
        k += 1
    e = s.at(k)
    names_follow = e.kind == "NAME" and e.text not in s.words
    if level.kind == "cast" and e.text == ">" and s.text(k + 1) == "(":
        return True
    if level.kind == "parameters" and (k > 1 or a.text in (",", ")")) and s.statement_start():
        return True
    before = s.before_name()
    if s.pending_class not in ("", "attribute"):  # base clause
        return True
    if level.kind in ("class", "top") and k > 1 and s.statement_start() and (names_follow or e.text == "operator"):
        return True
    if before == "const" or (s.alias and level.kind != "targs" and e.text in (";", "(")):
        return True
    if s.text(-1) == "(" and level.kind == "paren" and e.text == ")":
        n = s.at(k + 1)
        if k > 1 and a.text in ("*", "&"):
            return True
        return k == 1 and (
            n.kind in ("NUMBER", "CHARACTER", "STRING") or (n.kind == "NAME" and n.text not in QUALIFIERS)
        )
    if k > 1 and names_follow and s.statement_start():
        return s.text(k + 1) in ("=", ";", ",", "[", ":", ")")
    if before == "new":
        return True
    starts = ("return", "=", "(", ",", "::")
    return a.text == "{" and level.kind != "class" and s.text(-1) in starts and not s.control_paren
