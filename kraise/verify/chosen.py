"""The case on which a function is compared: what the user gives, and what is inferred where that is open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral
from typing import Any

from kraise.diagnostics import Diagnostic, Refused
from kraise.ir import kernel, rounds
from kraise.ir.assumptions import understood
from kraise.ir.equations import Axis
from kraise.verify.cases import ArraySpec, Case, CaseError, WrittenError, load_cases
from kraise.verify.host_inputs import infer_host_case
from kraise.verify.inputs import infer_case
from kraise.verify.interpreter import flatten_arguments
from kraise.verify.request import Request


def case_for(
    source: kernel.Module,
    name: str,
    request: Request,
    order: str = "",
    assume: tuple[str, ...] = (),
    demanded: tuple[Mapping[int, int], frozenset[int]] = ({}, frozenset()),
    positive: bool = False,
) -> Case:
    """The case for a kernel, which satisfies what is assumed and has the threads and lone blocks demanded. Raises
    Refused (KR502)."""
    asked: dict[str, Any] = {"grid": request.grid, "block": request.block, "seed": request.seed}
    own = {n for n, _ in getattr(source.function(name), "multiples", ())}  # what the source itself says is drawn so
    values = {**{n: v for n, v in request.suggested.items() if n not in own}, **request.values}
    sizes: dict[str, Any] = {"shapes": request.shapes, "values": values, "order": order}
    try:
        case = load_cases(request.case).get(name) if request.case else None
        if case is None:
            function, dtype = source.function(name), request.dtype or "float32"
            if function.kind == "host":
                chosen = (request.shapes, values, dtype, request.seed)
                return infer_host_case(source, function, *chosen, distinct=not order)
            injective = frozenset(a.names[0] for a in understood(assume) if a.kind == "injective")
            sizes |= {"injective": injective, "demanded": demanded[0], "lone": demanded[1], "positive": positive}
            return infer_case(source, function, dtype=dtype, **sizes, **asked)
        _all_given(source.function(name).params, case, request)
        args = dict(case.args) | dict(request.values)
        for array, shape in request.shapes.items():
            spec = args.get(array)
            args[array] = replace(spec, shape=shape) if isinstance(spec, ArraySpec) else ArraySpec(shape=shape)
        case = replace(case, args=args, **{key: value for key, value in asked.items() if value})
        given = flatten_arguments(source.function(name), case.arguments())
        for declared in understood(assume):
            if why := declared.broken(given):
                raise Refused(Diagnostic("KR502", f"the case of {name} breaks what is assumed: {why}", None))
        return case
    except CaseError as error:
        written = isinstance(error, WrittenError)
        hint = "" if written else "give them: --shape x=17,19 --set n=17, or a case.toml beside the source"
        raise Refused(Diagnostic("KR502", str(error), None, hint)) from None


def _all_given(params: tuple[kernel.Param, ...], case: Case, request: Request) -> None:
    """Raises WrittenError where a case names what is no parameter, or says nothing of one."""
    names = [p.name for p in params]
    given = {path.partition(".")[0] for path in (*case.args, *request.values, *request.shapes)}
    for unknown in [n for n in case.args if n.partition(".")[0] not in names]:
        raise WrittenError(f"the case of {case.kernel} gives `{unknown}`, which is no parameter: {', '.join(names)}")
    if missing := [p.name for p in params if p.default is None and p.name not in given]:
        raise WrittenError(f"the case of {case.kernel} gives no {', '.join(f'`{n}`' for n in missing)}")


def counted_case(
    counted: tuple[Axis, ...],
    source: kernel.Module,
    name: str,
    request: Request,
    order: str,
    assume: tuple[str, ...],
    demanded: tuple[Mapping[int, int], frozenset[int]],
) -> Case:
    """As :func:`case_for`, with the parameters that count a loop's rounds within their ranges, and arrays as long as
    all rounds ask for. Raises Refused (KR502)."""
    found = None
    for values in rounds.tried(counted):
        given = replace(request, values={**values, **request.values})
        found = case_for(source, name, given, order, assume, demanded)
        if rounds.within(counted, found.args):
            break
    assert found is not None
    if not counted or not found.inferred:
        return found
    pinned = {n: int(v) for n, v in found.args.items() if isinstance(v, Integral) and not isinstance(v, bool)}
    shapes: dict[str, tuple[int, ...]] = {}
    for args in (found.args, *(_args(source, name, request, pinned | end) for end in rounds.ends(counted, found.args))):
        for array, spec in args.items():
            own = getattr(spec, "shape", None)
            if own:
                shapes[array] = tuple(map(max, own, shapes.get(array, own)))
    wanted = replace(request, values={**pinned, **request.values}, shapes={**shapes, **request.shapes})
    return case_for(source, name, wanted, order, assume, demanded)


def _args(source: kernel.Module, name: str, request: Request, values: Mapping[str, int]) -> Mapping[str, Any]:
    try:
        return case_for(source, name, replace(request, values={**values, **request.values})).args
    except Refused:
        return {}
