"""Loops of C++ over a list in braces, ``for (float *p : {a, b}) cudaFree(p);``, with their statement for each element.

Done on the tokens of a file, before anything is read. A pointer is what stands for it; a number is a variable of its
own in each round, with the type that is spelled.
"""

from __future__ import annotations

from kraise.frontends.cuda_c.brackets import closing, made, split
from kraise.frontends.cuda_c.host_vectors import hides, is_variable, statement_end
from kraise.frontends.cuda_c.tokens import Raw

_ASSIGNS = ("=", "+=", "-=", "++", "--", "*=", "/=")


def without_lists(body: list[Raw]) -> list[Raw]:
    """Tokens with such loops written out."""
    if not any(t.text == ":" and n + 1 < len(body) and body[n + 1].text == "{" for n, t in enumerate(body)):
        return body
    out: list[Raw] = []
    at = 0
    while at < len(body):
        if body[at].text == "for" and at + 1 < len(body) and body[at + 1].text == "(":
            stop = closing(body, at + 1)
            if (listed := _over_list(body, at, stop)) is not None:
                out += listed
                at = statement_end(body, stop + 1)
                continue
        out.append(body[at])
        at += 1
    return out


def _over_list(body: list[Raw], at: int, stop: int) -> list[Raw] | None:
    """``for (float *p : {a, b}) cudaFree(p);`` with its statement for each of the list; None for another loop, and for
    one that changes its variable or leaves."""
    head = body[at + 2 : stop]
    mark = next((n for n, t in enumerate(head) if t.text == ":"), 0)
    if not mark or head[mark - 1].kind != "NAME" or head[-1].text != "}" or head[mark + 1].text != "{":
        return None
    item = head[mark - 1].text
    rounds = without_lists(body[stop + 1 : statement_end(body, stop + 1)])
    if {t.text for t in rounds} & {"break", "continue"}:
        return None
    out: list[Raw] = []
    pointers = "*" in {t.text for t in head[:mark]}
    for element in split(head[mark + 2 : -1]):
        out += made("{", body[at])
        if not pointers and element[0].text != "&":  # a number, of its own type
            out += [*head[:mark], *made("=", body[at]), *element, *made(";", body[at]), *rounds, *made("}", body[at])]
            continue
        if hides(rounds, item):
            return None
        for n, t in enumerate(rounds):
            if not is_variable(rounds, n, item):
                out.append(t)
                continue
            after = rounds[n + 1].text if n + 1 < len(rounds) else ""
            if after in _ASSIGNS and not (out and out[-1].text == "*"):
                return None
            if out[-1].text == "*" and element[0].text == "&" and rounds[n - 2].kind != "NAME":  # *p of &a
                out[-1:] = element[1:]
            else:
                out += element if len(element) == 1 or element[0].text == "&" else _bracketed(element)
        out += made("}", body[at])
    return out


def _bracketed(element: list[Raw]) -> list[Raw]:
    return [*made("(", element[0]), *element, *made(")", element[-1])]
