"""The form of emitted text: how many lax loops a function runs, and what its text holds."""

from __future__ import annotations

import ast
import functools

LOOPS = frozenset(("fori_loop", "scan", "while_loop", "map", "associative_scan_loop"))


@functools.lru_cache(maxsize=16)  # `verify` asks for the same function more than once
def function_text(text: str, name: str, as_written: bool = False) -> str:
    """The source of the function ``name`` and of the module's own functions that it calls, without docstrings.

    Normalised (no comments), or ``as_written``: statement by statement as the text spells it.
    """
    tree = ast.parse(text)
    functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    reached: dict[str, ast.FunctionDef] = {}
    todo = [name]
    while todo:
        function = functions.get(todo.pop())
        if function is None or function.name in reached:
            continue
        reached[function.name] = function
        todo += [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and n.id in functions]
    for function in reached.values():
        if ast.get_docstring(function) is not None:
            function.body = function.body[1:] or [ast.Pass()]
    if as_written:
        return "\n".join(ast.get_source_segment(text, s) or "" for f in reached.values() for s in f.body)
    return "\n".join(ast.unparse(f) for f in reached.values())


# the module's own loops in segments: a call is one loop
SEGMENTED = tuple(
    under + name
    for name in ("checkpointed_loop", "checkpointed_scan", "checkpointed_while", "swapping_loop")
    for under in ("", "_")
)


def count_loops(text: str) -> int:
    """Calls of ``lax.fori_loop``, ``lax.scan``, ``lax.while_loop``, ``lax.map`` and of ``vmap`` in the text."""
    count = 0
    tree = ast.parse(text)
    tree.body = [s for s in tree.body if not (isinstance(s, ast.FunctionDef) and s.name in SEGMENTED)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            match node.func:
                case ast.Name(id=name) if name in SEGMENTED:
                    count += 1
                case ast.Attribute(attr=attr, value=ast.Attribute(attr="lax") | ast.Name(id="lax")) if attr in LOOPS:
                    count += 1
                case ast.Attribute(attr="vmap") | ast.Name(id="vmap"):
                    count += 1
                case ast.Attribute(attr="while_loop" | "scan" | "fori_loop"):
                    count += 1
                case _:
                    pass
    return count
