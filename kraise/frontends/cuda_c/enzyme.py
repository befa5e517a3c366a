"""Calls of Enzyme in C text: what ``__enzyme_autodiff`` and its kin say of a function, in :mod:`kraise.ir.activity`'s
words.

Enzyme is a compiler's plug-in: the name of the function and, argument by argument, its activity are all that such a
call says. They name what to differentiate, and kraise emits the derivative functions beside the function itself.
What the arguments hold at the call (a shadow, a seed) is the caller's business in JAX, too.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraise.diagnostics import Diagnostic, Refused, Span
from kraise.frontends.cuda_c.scan import Item, Unit
from kraise.frontends.cuda_c.tokens import Raw, matching, skip_angles
from kraise.ir import kernel
from kraise.ir.activity import Activity, Term
from kraise.ir.types import ScalarType

# the calls (Enzyme takes any name that starts so), and the derivative functions that answer them
REVERSE = ("__enzyme_autodiff", "__enzyme_augmentfwd", "__enzyme_augmentsize", "__enzyme_reverse")
FORWARD = ("__enzyme_fwddiff", "__enzyme_fwdsplit")
VIRTUAL = "__enzyme_virtualreverse"  # the derivative as a pointer: the types say what is active
OWN = ("__enzyme_register_", "__enzyme_inactive")  # declarations that replace the derivative of a function
# activity words: how many arguments follow
PAIRED = {"enzyme_dup": "dup", "enzyme_dupnoneed": "dupnoneed"}
SINGLE = {"enzyme_out": "active", "enzyme_const": "const"}
BESIDE = {"enzyme_allocated": 1, "enzyme_tape": 1}  # no parameters: the tape and its size
WIDTH = "enzyme_width"  # so many shadows follow each argument that has one
FLAGS = ("enzyme_noret", "enzyme_primal_return", "enzyme_const_return", "enzyme_dup_return", "enzyme_runtime_activity")


@dataclass(frozen=True)
class Call:
    """One call: the function that it differentiates, forward or not, and its further arguments as token texts (None
    where the call has none and the types tell)."""

    function: str
    forward: bool
    arguments: tuple[tuple[str, ...], ...] | None
    caller: str
    span: Span


def calls(unit: Unit) -> tuple[list[Call], list[Diagnostic]]:
    """The calls within the functions of a file, and those that are not understood (KR109)."""
    found: list[Call] = []
    problems: list[Diagnostic] = []
    known = {i.name for i in unit.items if i.kind in ("kernel", "device", "host")}
    for item in unit.items:
        if item.kind not in ("kernel", "device", "host"):
            continue
        for k in range(item.first, item.last):
            word = unit.tokens[k].text
            if not word.startswith("__enzyme_") or unit.tokens[k + 1].text not in ("(", "<"):
                continue
            if not word.startswith((*REVERSE, *FORWARD, VIRTUAL)):
                hint = "known: " + ", ".join((*REVERSE, *FORWARD, VIRTUAL))
                problems.append(
                    Diagnostic("KR109", f"`{word}` is not understood", unit.tokens[k].span, hint, item.name)
                )
                continue
            try:
                one = _call(unit.tokens, k, item, known)
            except Refused as refused:
                problems += refused.diagnostics
                continue
            if one is None:
                reason = f"`{word}` names no function of this file"
                hint = "its first argument is the function's name, with or without a cast"
                problems.append(Diagnostic("KR109", reason, unit.tokens[k].span, hint, item.name))
            else:
                found.append(one)
    return found, [*problems, *_own_rules(unit)]


def _own_rules(unit: Unit) -> list[Diagnostic]:
    """Declarations outside of functions that give a function another derivative than its own: emitted code has none."""
    said: list[Diagnostic] = []
    inside = 0
    for item in sorted((i for i in unit.items if i.kind in ("kernel", "device", "host")), key=lambda i: i.first):
        outside, inside = range(inside, item.first), item.last
        said += [_own_rule(unit.tokens[k]) for k in outside if unit.tokens[k].text.startswith(OWN)]
    return said + [_own_rule(t) for t in unit.tokens[inside:] if t.text.startswith(OWN)]


def _own_rule(token: Raw) -> Diagnostic:
    reason = f"`{token.text}`: the derivative that it declares is not used, the function's own is"
    hint = "put jax.custom_vjp around the emitted function, or jax.lax.stop_gradient where it is inactive"
    return Diagnostic("KR109", reason, token.span, hint, severity="warning")


def _call(tokens: list[Raw], k: int, item: Item, known: set[str]) -> Call | None:
    opening = k + 1
    if tokens[opening].text == "<":
        opening = skip_angles(tokens, opening) or opening
    if tokens[opening].text != "(":
        return None
    close = matching(tokens, opening)
    arguments: list[list[str]] = [[]]
    depth = 0
    for t in tokens[opening + 1 : close]:
        depth += (t.text in ("(", "[", "{")) - (t.text in (")", "]", "}"))
        if t.text == "," and not depth:
            arguments.append([])
        else:
            arguments[-1].append(t.text)
    names = [text for text in arguments[0] if text in known]
    if not names:
        return None
    forward = tokens[k].text.startswith(FORWARD)
    further = None if tokens[k].text.startswith(VIRTUAL) else tuple(map(tuple, arguments[1:]))
    return Call(names[-1], forward, further, item.name, tokens[k].span)


def activity(call: Call, function: kernel.Function) -> Activity:
    """What a call says of the parameters of ``function``. Raises Refused (KR109)."""
    spoken: dict[str, str] = {}
    bare = call.arguments is None
    left, shadows = _without_width(call)
    for param in function.params:
        word = _word(left)
        if word.startswith("enzyme_") and word not in PAIRED and word not in SINGLE:
            reason = f"`{word}` is not understood"
            hint = "known: " + ", ".join((*PAIRED, *SINGLE, *BESIDE))
            raise Refused(Diagnostic("KR109", reason, call.span, hint, call.caller))
        if word in PAIRED or word in SINGLE:
            left.pop(0)
            spoken[param.name] = PAIRED.get(word) or SINGLE[word]
            _take(left, 1 + shadows if word in PAIRED else 1, call)
        else:  # no word: by its type
            number = isinstance(param.type, ScalarType)
            smooth = number and param.type.is_inexact  # type: ignore[union-attr]
            spoken[param.name] = "active" if smooth else "const" if number else "dup"
            if not bare:
                _take(left, 1 if number and not (smooth and call.forward) else 1 + shadows, call)
    _word(left)
    if left:
        reason = f"the call has more arguments than `{call.function}` has parameters"
        raise Refused(Diagnostic("KR109", reason, call.span, "a dup argument is followed by its shadow", call.caller))
    const = tuple(n for n, a in spoken.items() if a == "const")
    noneed = tuple(n for n, a in spoken.items() if a == "dupnoneed")
    terms = (Term("", "", "result"),) if function.returns and function.returns[0] is not None else ()
    ways = ("jvp",) if call.forward else ("grad", "vjp") if terms else ("vjp",)
    return Activity(function.name, terms, (), const, noneed, ways)


def _without_width(call: Call) -> tuple[list[tuple[str, ...]], int]:
    """The arguments without the word for several directions at once, and how many shadows follow an argument."""
    left = list(call.arguments or ())
    if (WIDTH,) not in left:
        return left, 1
    at = left.index((WIDTH,))
    count = left[at + 1][0] if at + 1 < len(left) else ""
    if not count.isdecimal():
        reason = f"the number after `{WIDTH}` is not written out"
        raise Refused(Diagnostic("KR109", reason, call.span, "", call.caller))
    del left[at : at + 2]
    return left, int(count)


def _word(left: list[tuple[str, ...]]) -> str:
    """The activity word that comes next; what concerns no parameter is passed over."""
    while left:
        word = left[0][0] if len(left[0]) == 1 else ""
        if word in FLAGS:
            left.pop(0)
        elif word in BESIDE:
            del left[: 1 + BESIDE[word]]
        else:
            return word
    return ""


def _take(left: list[tuple[str, ...]], count: int, call: Call) -> None:
    if len(left) < count:
        reason = f"the call has fewer arguments than `{call.function}` needs"
        raise Refused(Diagnostic("KR109", reason, call.span, "a dup argument is followed by its shadow", call.caller))
    del left[:count]


def is_launched(unit: Unit, name: str) -> bool:
    """Whether a function, or one that it calls, asks for its thread: it is then what a launch runs in each."""
    names = {i.name: i for i in unit.items if i.kind in ("kernel", "device", "host")}
    seen: set[str] = set()
    stack = [name]
    while stack:
        item = names.get(stack.pop())
        if item is None or item.name in seen:
            continue
        seen.add(item.name)
        words = {t.text for t in unit.tokens[item.first : item.last]}
        if item.kind == "kernel" or words & {"threadIdx", "blockIdx"}:
            return True
        stack += [w for w in words if w in names]
    return False


def passed_over(found: list[Call], activities: list[Activity]) -> list[Diagnostic]:
    """What to say of the functions that hold the calls (but ``main``): one note each."""
    said: list[Diagnostic] = []
    ways = {(a.kernel, "jvp" in a.ways): a.ways[0] for a in activities}
    for call in {(c.caller, c.function, c.forward): c for c in found if c.caller != "main"}.values():
        way = ways.get((call.function, call.forward))
        instead = f"its place is taken by `{call.function}_{way}`" if way else f"`{call.function}` was not raised"
        reason = f"`{call.caller}` calls Enzyme: {instead}"
        said.append(Diagnostic("KR109", reason, call.span, "", call.caller, "warning"))
    return said
