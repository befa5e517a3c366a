"""What ``template <> float f<2>(float x)`` defines: a function template for arguments of its own.

Overloads are chosen among the templates themselves; the one that is chosen is then looked for with the arguments that
it is called with.
"""

from __future__ import annotations

from typing import Any

from kraise.frontends.cuda_c.c_types import Reference
from kraise.frontends.cuda_c.structs import Definition, template_binding
from kraise.frontends.cuda_c.trees import child
from kraise.frontends.cuda_c.values import Bound, Constant, TypeName


def specialises(program: Any, d: Definition) -> bool:
    """Whether ``d`` begins with ``template <>``."""
    if d.item is None or not d.item.template:
        return False
    toks = program.unit.tokens[d.item.first : d.item.first + 3]
    return [t.text for t in toks] == ["template", "<", ">"]


def specialised(low: Any, d: Definition, scope: dict[str, Any], among: list[Definition], node: Any) -> Definition:
    """The definition of the template ``d`` for the arguments in ``scope``: one of those ``among`` all of its name that
    are for these alone, or ``d`` itself. Raises Refused (KR104) where an argument is not known."""
    own = [x for x in among if specialises(low.program, x)] if d.parameters else []
    for x in own:
        explicit, parameters = _written(low, x)
        if len(explicit) > len(d.parameters):
            continue
        bound = low._bind_template(d, explicit, [p.type for p in parameters], low.program.load(d))
        if bound is None:
            continue
        if any(isinstance(scope.get(p.name), Bound) for p in d.parameters):
            reason = f"which definition of the template `{d.name}` is meant is known at the launch only"
            raise low.refuse("KR104", reason, node, "instantiate the kernel with a constant")
        if all(_same(bound.get(p.name), scope.get(p.name)) for p in d.parameters):
            return x
    return d


def chosen_alone(low: Any, among: list[Definition], explicit: list[Any], types: list[Any]) -> Definition | None:
    """Where the file declares a template and defines it for arguments of its own only: the one of these ``among`` that
    is for the arguments ``explicit``, or else takes exactly these types."""
    for x in among:
        written, parameters = _written(low, x)
        given = [template_binding(a) for a in explicit]
        own = [template_binding(a) for a in written]
        exact = [p.type.to if isinstance(p.type, Reference) else p.type for p in parameters]
        if given and not all(_same(a, b) for a, b in zip(given, own, strict=False)):
            continue
        if given and len(given) == len(own) and len(parameters) == len(types):
            return x
        if exact == types and len(given) < max(len(own), 1):
            return x
    return None


def _written(low: Any, d: Definition) -> tuple[list[Any], list[Any]]:
    """The template arguments of a specialisation, as far as they are written, and its parameters."""
    tree = low.program.load(d)
    declared = child(tree, "function_declarator")
    inner = child(declared, "declarator") if declared is not None else None
    name = next(inner.find_data("declarator_id"), None) if inner is not None else None
    written = child(name, "template_arguments") if name is not None else None
    parameters, _ = low._signature(d, tree, {})
    return low.template_arguments(written) if written is not None else [], parameters


def mark(d: Definition, scope: dict[str, Any]) -> Any:
    """What tells one call of a function from another that it makes itself: ``f<3>`` may call ``f<2>``."""
    known = tuple((n, v.value.value if isinstance(v, Constant) else v.type) for n, v in scope.items() if _settled(v))
    return (d, known) if d.parameters and len(known) == len(scope) else d


def _settled(v: Any) -> bool:
    return isinstance(v, Constant | TypeName)


def _same(a: Any, b: Any) -> bool:
    match a, b:
        case Constant(x), Constant(y):
            return bool(x.value == y.value)
        case TypeName(s), TypeName(t):
            return bool(s == t)
    return False


__all__ = ["chosen_alone", "mark", "specialised", "specialises"]
