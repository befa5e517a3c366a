"""The scan over tokens: which top-level items a file holds, without parsing what no kernel needs.

Kernels, device functions, host functions, types, constants and device variables are found by their words and brackets;
everything else (C++ classes of the host, ``using namespace``) is skipped and never an error.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kraise.diagnostics import Diagnostic, Refused
from kraise.frontends.cuda_c.listed_loops import without_lists
from kraise.frontends.cuda_c.tokens import END, Raw, matching, skip_angles
from kraise.frontends.cuda_c.words import ATTRIBUTES, BUILTIN_TYPES, CLASS_KEYS, DEVICE, TYPE_WORDS

TYPE, CLASS_TEMPLATE, FUNCTION_TEMPLATE, VARIABLE = "type", "class template", "function template", "variable"


@dataclass
class Item:
    """Tokens ``first`` to ``last`` (inclusive) of a top-level item.

    ``kind``: kernel, device, host, type, variable, prototype, other, or broken (a function whose braces do not match).
    """

    kind: str
    name: str
    first: int
    last: int
    template: bool = False
    namespace: tuple[str, ...] = ()
    problem: Diagnostic | None = None


@dataclass
class Unit:
    """A scanned file: its tokens, items, and the kind of every name declared at the top level."""

    tokens: list[Raw]
    items: list[Item] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)


def scan(tokens: list[Raw]) -> Unit:
    """Find the items. Raises nothing: what is malformed becomes a broken item or a diagnostic."""
    tokens = without_lists(tokens)
    unit = Unit(tokens, names=dict.fromkeys(BUILTIN_TYPES, TYPE))
    unit.names.update(thread_block_tile=CLASS_TEMPLATE)
    i, n = 0, len(tokens)
    stack: list[str] = []
    opened: list[Raw] = []
    while i < n:
        t = tokens[i]
        if t.kind == "PRAGMA" or t.text == ";":
            i += 1
        elif t.text == "{" and (close := closing(tokens, i)) is not None:
            i = close + 1  # the body of a function with the parameters of K&R's C
        elif t.text == "}":
            if stack:
                stack.pop()
                opened.pop()
            else:
                unit.diagnostics.append(
                    Diagnostic("KR100", "this '}' closes nothing", t.span, "check the braces above", severity="warning")
                )
            i += 1
        else:
            before = len(stack)
            i = _Scanner(unit, i, stack).run()
            if len(stack) > before:
                opened.append(t)
    for t in opened:
        unit.diagnostics.append(
            Diagnostic("KR100", f"the block opened by '{t.text}' is never closed", t.span, severity="warning")
        )
    return unit


def closing(tokens: list[Raw], i: int) -> int | None:
    """Index of the bracket that closes ``tokens[i]``, None where nothing does."""
    try:
        return matching(tokens, i)
    except Refused:
        return None


class _Scanner:
    """Reads one item that starts at ``first``."""

    def __init__(self, unit: Unit, first: int, stack: list[str]):
        self.unit, self.toks, self.first, self.stack = unit, unit.tokens, first, stack
        self.i = first
        self.words: set[str] = set()
        self.name = ""
        self.specialised = ""
        self.params = False
        self.template = False
        self.braces: list[tuple[int, int]] = []

    def at(self, k: int) -> Raw:
        return self.toks[k] if 0 <= k < len(self.toks) else END

    def run(self) -> int:
        """Record the item; the index of the token after it."""
        block = self._block()
        if block is not None:
            return block
        try:
            is_function = self._read()
        except Refused as problem:
            return self._broken(problem)
        return self._record(is_function)

    def _block(self) -> int | None:
        """``extern "C" {`` and ``namespace x {`` open a level; their contents are items."""
        first = self.first
        if self.at(first).text == "extern" and self.at(first + 1).kind == "STRING" and self.at(first + 2).text == "{":
            self.stack.append("")
            return first + 3
        is_inline = self.at(first).text == "inline" and self.at(first + 1).text == "namespace"
        if self.at(first).text == "namespace" or is_inline:
            j = first
            while self.at(j).text not in ("{", ";", "=") and self.at(j) is not END:
                j += 1
            if self.at(j).text == "{":
                self.stack.append(self.at(j - 1).text if self.at(j - 1).text != "namespace" else "")
                return j + 1
        return None

    def _read(self) -> bool:
        """Advance ``i`` to the last token of the item; True if the item is a function with a body."""
        toks, n, i = self.toks, len(self.toks), self.first
        words = self.words
        while self.at(i).text == "template" and self.at(i + 1).text == "<":
            self.template = True
            end = skip_angles(toks, i + 1)
            if end is None:
                break
            i = end
        while i < n:
            t = toks[i]
            x = t.text
            if x in (";", "}") and t.kind == "OP":
                break
            if x == "(":
                before = self.at(i - 1)
                if not self.params and "=" not in words:
                    if before.kind == "NAME" and before.text not in ATTRIBUTES:
                        self.name, self.params = before.text, True
                        if "operator" in words or self.at(i - 2).text == "operator":
                            self.name = "operator"
                    elif "operator" in words:
                        self.name, self.params = "operator", True
                    elif before.text == ">" and self.specialised:
                        self.name, self.params = self.specialised, True
                self.i = i
                i = matching(toks, i)
            elif x == "[":
                self.i = i
                i = matching(toks, i)
            elif x == "<" and self.at(i - 1).kind == "NAME" and "=" not in words:
                self.specialised = self.at(i - 1).text
                i = (skip_angles(toks, i) or i + 1) - 1
            elif x == "{":
                self.i = i
                close = self._body_end(i)
                self.braces.append((i, close))
                i = close
                if self.params and "=" not in words and self.at(close - 1).text != ",":
                    self.i = i
                    return True
            elif t.kind != "STRING":
                words.add(x)
                if x in CLASS_KEYS and not self.params:
                    self._class_name(i)
            i += 1
        self.i = min(i, n - 1)
        return False

    def _body_end(self, i: int) -> int:
        """The closing brace; a ``__global__`` at the start of a line inside tells that one is missing."""
        close = matching(self.toks, i)
        if self.params or self.words & DEVICE:
            for k in range(i + 1, close):
                t = self.toks[k]
                if t.text == "__global__" and t.column <= 1:
                    from kraise.frontends.cuda_c.tokens import unbalanced

                    raise unbalanced(self.toks[i])
        return close

    def _class_name(self, i: int) -> None:
        j = i + 1
        while self.at(j).text in CLASS_KEYS or self.at(j).text in ATTRIBUTES:
            j = matching(self.toks, j + 1) + 1 if self.at(j).text in ATTRIBUTES else j + 1
        if self.at(j).kind == "NAME":
            names, name = self.unit.names, self.at(j).text
            if names.get(name) != CLASS_TEMPLATE:
                names[name] = CLASS_TEMPLATE if self.template else TYPE
            self.name = name

    def _broken(self, problem: Refused) -> int:
        """A bracket that never closes: skip to the next thing that looks like an item at the start of a line."""
        toks = self.toks
        starts = {
            "__global__",
            "__device__",
            "template",
            "extern",
            "struct",
            "typedef",
            "static",
            "void",
            "int",
            "namespace",
        }
        j = self.i + 1
        while j < len(toks) and not (toks[j].column <= 1 and toks[j].text in starts):
            j += 1
        kind = "kernel" if "__global__" in self.words else "device" if "__device__" in self.words else "other"
        item = Item(
            "broken",
            self.name,
            self.first,
            j - 1,
            self.template,
            tuple(filter(None, self.stack)),
            problem.diagnostics[0],
        )
        item.kind = "broken" if kind == "kernel" else "other"
        if kind != "kernel":
            self.unit.diagnostics.extend(problem.diagnostics)
        self.unit.items.append(item)
        return j

    def _record(self, is_function: bool) -> int:
        toks, words, names, first, last = self.toks, self.words, self.unit.names, self.first, self.i
        kind, name = "other", self.name
        if is_function:
            if self.template and name:
                names.setdefault(name, FUNCTION_TEMPLATE)
            on_device = "__device__" in words or "constexpr" in words
            kind = "kernel" if "__global__" in words else "device" if on_device else "host"
        elif words & {"typedef", "using"}:
            kind, name = self._record_alias(first, last, name)
        elif words & CLASS_KEYS and self.braces and not self.params:
            kind = "type"
            _scan_members(self.unit, *self.braces[0])
        elif self.params and not self.braces and self._initialised():
            kind = "variable"
            names.setdefault(name, VARIABLE)
        elif self.params and not self.braces:
            kind = "prototype"
            if self.template and name:
                names.setdefault(name, FUNCTION_TEMPLATE)
        elif words & (DEVICE | {"const", "constexpr"}) or self.template:
            kind = "variable" if words & (DEVICE | {"const", "constexpr"}) else "other"
            declared = declared_names(toks, first, last)
            name = declared[0] if declared else ""
            for x in declared:
                names.setdefault(x, FUNCTION_TEMPLATE if self.template else VARIABLE)
        elif words & TYPE_WORDS and "extern" not in words and any(t.text == "=" for t in toks[first:last]):
            kind = "variable"  # a number of the host, which is a constant where nothing changes it
            for x in declared_names(toks, first, last):
                name = x
                names.setdefault(x, VARIABLE)
        namespace = tuple(filter(None, self.stack))
        self.unit.items.append(Item(kind, name, first, last, self.template, namespace))
        return last + 1 if is_function or toks[last].text == ";" else max(last, first + 1)

    def _initialised(self) -> bool:
        """``constexpr int N(16);``: an object, not a prototype."""
        if not self.words & {"const", "constexpr"}:
            return False
        for k in range(self.first, self.i):
            if self.toks[k].text == "(" and self.toks[k - 1].text == self.name:
                inner = self.at(k + 1)
                known = self.unit.names.get(inner.text) == VARIABLE
                return inner.kind == "NUMBER" or inner.text in ("(", "-") or known
        return False

    def _record_alias(self, first: int, last: int, name: str) -> tuple[str, str]:
        toks, words, names = self.toks, self.words, self.unit.names
        kind = "type" if "namespace" not in words else "other"
        if "using" in words:
            u = next(k for k in range(first, last + 1) if toks[k].text == "using")
            if self.at(u + 2).text == "=":
                name = toks[u + 1].text
                names[name] = CLASS_TEMPLATE if self.template else TYPE
            elif "namespace" not in words and toks[last - 1].text not in names:
                kind = "other"
        else:
            for declared in declared_names(toks, first, last):
                name = declared
                names[declared] = TYPE
            if words & CLASS_KEYS and self.braces:
                _scan_members(self.unit, *self.braces[0])
        return kind, name


def declared_names(toks: list[Raw], first: int, last: int) -> list[str]:
    """Names declared by a typedef or variable item: the last name before , ; = [ or inside (*name)."""
    out: list[str] = []
    i = first
    while i <= last:
        t = toks[i]
        nxt = toks[i + 1].text if i + 1 < len(toks) else ""
        if t.text == "{":
            i = matching(toks, i)
        elif t.text == "<" and toks[i - 1].kind == "NAME":
            i = (skip_angles(toks, i) or i + 1) - 1
        elif t.text == "=":
            while i <= last and toks[i].text not in (",", ";"):
                i = matching(toks, i) + 1 if toks[i].text in ("(", "[", "{") else i + 1
            continue
        elif t.text == "(" and nxt in ("*", "&"):
            out.append(toks[matching(toks, i) - 1].text)
            i = matching(toks, matching(toks, i) + 1)
        elif t.text == "(":
            i = matching(toks, i)
        elif t.kind == "NAME" and nxt in (",", ";", "=", "[", "(", "{") and t.text not in ATTRIBUTES:
            out.append(t.text)
        i += 1
    return out


def _scan_members(unit: Unit, a: int, b: int) -> None:
    """Types and member templates declared inside a class body."""
    toks = unit.tokens
    for i in range(a, b):
        t = toks[i].text
        if (
            t in CLASS_KEYS
            and toks[i + 1].kind == "NAME"
            and toks[i + 2].text in ("{", ":")
            or t == "using"
            and toks[i + 2].text == "="
        ):
            unit.names.setdefault(toks[i + 1].text, TYPE)
        elif t == "typedef":
            end = next((k for k in range(i, b) if toks[k].text == ";"), i)
            if toks[end - 1].kind == "NAME":
                unit.names.setdefault(toks[end - 1].text, TYPE)
