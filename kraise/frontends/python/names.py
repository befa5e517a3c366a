"""What a dotted name of the module means: imports and aliases resolved to qualified names."""

from __future__ import annotations

import builtins
from dataclasses import dataclass, field

import libcst as cst

from kraise.frontends.python.source import dotted

_BUILTINS = frozenset(dir(builtins))


@dataclass
class Imports:
    """Names bound by imports (and by ``threads = cuda.grid`` at module level), each with its qualified name."""

    bound: dict[str, str] = field(default_factory=dict)
    locals: frozenset[str] = frozenset()

    def qualified(self, name: str) -> str:
        """``np.exp`` -> ``numpy.exp``; a builtin -> ``builtins.abs``; "" where the module does not say."""
        head, dot, rest = name.partition(".")
        if head in self.bound:
            return self.bound[head] + dot + rest
        if head in _BUILTINS:
            return f"builtins.{name}"
        return ""


def read_imports(tree: cst.Module) -> Imports:
    """All imports of a module, those inside functions and ``try`` blocks too."""
    imports = Imports()
    for statement in simple_statements(tree.body):
        match statement:
            case cst.Import(names=names):
                for alias in names:
                    name = dotted(alias.name)
                    if alias.asname is not None:
                        imports.bound[dotted(alias.asname.name)] = name
                    else:
                        head = name.partition(".")[0]
                        imports.bound[head] = head
            case cst.ImportFrom(module=module, names=names, relative=relative):
                prefix = "." * len(relative) + (dotted(module) + "." if module is not None else "")
                if isinstance(names, cst.ImportStar):
                    _star(imports, prefix.rstrip("."))
                    continue
                for alias in names:
                    target = dotted(alias.asname.name) if alias.asname is not None else dotted(alias.name)
                    name = dotted(alias.name)  # a module that passes prange on chooses between it and range
                    imports.bound[target] = "numba.prange" if name == "prange" else prefix + name
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=target))], value=value):
                name = dotted(value)
                if name and name.partition(".")[0] in imports.bound:
                    imports.bound[target] = imports.qualified(name)
    return imports


def _star(imports: Imports, module: str) -> None:
    """``from math import *``: the names of the vocabulary that live in that module."""
    from kraise import dialects

    vocabulary = [*dialects.operations("python"), *dialects.vocabulary("numpy_scalar", "numba_cuda")]
    for name in [*vocabulary, *dialects.constants("numpy_scalar")]:
        head, _, last = name.rpartition(".")
        if head == module and (last not in _BUILTINS or module == "math"):
            imports.bound.setdefault(last, name)


def simple_statements(body):
    """The small statements of a module or block, those in ``try``, ``if`` and the imports in functions too."""
    for statement in body:
        match statement:
            case cst.SimpleStatementLine(body=line):
                yield from line
            case cst.Try(body=block, handlers=handlers):
                # the handlers first: what the try block binds is what the module means
                for handler in handlers:
                    yield from simple_statements(handler.body.body)
                yield from simple_statements(block.body)
            case cst.If(body=block, orelse=orelse):
                yield from simple_statements(block.body)
                if orelse is not None:
                    yield from simple_statements([orelse] if isinstance(orelse, cst.If) else orelse.body.body)
            case cst.FunctionDef(body=block) | cst.ClassDef(body=block) if isinstance(block, cst.IndentedBlock):
                # only the imports of a function or class; its assignments are its own
                yield from (s for s in simple_statements(block.body) if isinstance(s, cst.Import | cst.ImportFrom))
            case cst.With(body=block):
                yield from simple_statements(block.body)
            case cst.For(body=block) | cst.While(body=block):
                yield from (s for s in simple_statements(block.body) if isinstance(s, cst.Import | cst.ImportFrom))
