"""Functions and constants that a file imports from files beside it: read, never imported or run.

``from .shapes import linear``, ``from package.shapes import linear``, ``from . import shapes`` and ``import shapes``
make the definition in the other file a definition of this one, and with it what it uses there. A name of the other file
that means something else here gets one of its own (``shapes_width``). The module's tree is rewritten before anything is
read of it.

Only what the functions use that are raised (kernels, what is jitted, hosts that launch), and what the module's own
constants are made from. A relative import starts at the file's folder; an absolute one there or at the root of the
package that the file belongs to (the Python reference, 5.7). Each name that a definition takes from its module is
looked up there: what that does not say in one place is not known here, either.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import libcst as cst

from kraise.diagnostics import Refused
from kraise.frontends.python import source as text
from kraise.frontends.python import survey
from kraise.frontends.python.constants import changed, times_bound
from kraise.frontends.python.names import Imports, read_imports, simple_statements
from kraise.frontends.python.source import Elsewhere, Source, all_of, dotted, rebuilt, walk

_LIBRARIES = sys.stdlib_module_names | {"cupy", "jax", "numba", "numpy", "pycuda", "scipy", "torch"}
_BUILTINS = frozenset(dir(builtins))
_COMPREHENSIONS = (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)
_LONGEST = 8  # imports that pass a name on
Change = Callable[[cst.CSTNode], cst.CSTNode | None]


def with_imported(parsed: Source, folder: Path | None, kernel_decorators: tuple[str, ...], only: tuple[str, ...]):
    """The source with these definitions in place of their imports; the same where there are none."""
    imports = read_imports(parsed.tree)
    if folder is None or not any(_is_local(q) for q in imports.bound.values()) and not _stars(parsed.tree):
        return parsed
    reader = _Reader(parsed, folder, imports)
    new = rebuilt(parsed, parsed.tree, reader.changes(_roots(parsed, imports, kernel_decorators, only)))
    if not reader.made:
        return parsed
    new = rebuilt(parsed, new, reader.without_import)
    body = list(new.body)
    at = next((n for n, s in enumerate(body) if not _is_head(s)), len(body))
    body[at:at] = [*reader.libraries, *reader.lines]
    moved = parsed.moved | set(reader.made.values())
    return replace(parsed, tree=new.with_changes(body=body), moved=moved)


def _is_local(qualified: str) -> bool:
    return qualified.partition(".")[0] not in _LIBRARIES


def _stars(tree: cst.Module) -> list[str]:
    """The modules of ``from … import *``."""
    stars = [
        n for n in simple_statements(tree.body) if isinstance(n, cst.ImportFrom) and isinstance(n.names, cst.ImportStar)
    ]
    names = ("." * len(n.relative) + (dotted(n.module) if n.module is not None else "") for n in stars)
    return [n for n in names if _is_local(n)]


def _is_head(line: cst.CSTNode) -> bool:
    """A docstring or an import."""
    match line:
        case cst.SimpleStatementLine(body=[cst.Expr(value=cst.SimpleString() | cst.ConcatenatedString())]):
            return True
        case cst.SimpleStatementLine(body=parts):
            return all(isinstance(p, cst.Import | cst.ImportFrom | cst.Pass) for p in parts)
    return False


def _roots(
    parsed: Source, imports: Imports, kernel_decorators: tuple[str, ...], only: tuple[str, ...]
) -> set[cst.CSTNode]:
    """The functions that are raised, and those that launch a kernel."""
    kinds = ("kernel", "device", "plain", "ufunc", "scalar")
    found: set[cst.CSTNode] = {
        d.node
        for d in survey.survey(parsed, imports, kernel_decorators).functions.values()
        if d.kind in kinds or d.name in only
    }
    for node, _, _ in survey.functions_of(parsed.tree):
        if any(isinstance(n.func, cst.Subscript) for n in all_of(cst.Call, node.body)):
            found.add(node)
    return found


class _Module:
    """A file: its module-level functions, and the names that it gives a value; each that is bound once."""

    def __init__(self, path: Path, parsed: Source, imports: Imports | None = None):
        self.path, self.source = path, parsed
        self.folder = path.parent
        self.imports = imports or read_imports(parsed.tree)
        functions = [n for n, around, method in survey.functions_of(parsed.tree) if not around and not method]
        times, elsewhere = times_bound(parsed.tree.body), changed(parsed.tree)
        self.functions = {n.name.value: n for n in functions if times[n.name.value] == 1}
        self.values: dict[str, cst.BaseSmallStatement] = {}
        for line in simple_statements(parsed.tree.body):
            match line:
                case (
                    cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))])
                    | cst.AnnAssign(target=cst.Name(value=name), value=cst.BaseExpression())
                ) if times[name] == 1 and name not in elsewhere:
                    self.values[name] = line


class _Reader:
    def __init__(self, parsed: Source, folder: Path, imports: Imports):
        self.parsed, self.bound = parsed, dict(imports.bound)
        self.modules: dict[Path, _Module | None] = {}
        self.made: dict[tuple[Path, str], str] = {}  # definitions by file and name: their names here
        self.own: set[str] = set()  # names of this file's imports that are definitions now
        self.lines: list[cst.CSTNode] = []
        self.libraries: list[cst.CSTNode] = []
        self.taken = {n.value for n in all_of(cst.Name, parsed.tree)} | set(self.bound)
        self.folder = folder
        self.sets = times_bound(parsed.tree.body)  # how often the file binds a name
        for name in _stars(parsed.tree):
            other = self.module(name, folder)
            words = (*other.functions, *other.values) if other is not None else ()
            for word in (w for w in words if not w.startswith("_") and not self.sets[w]):
                self.bound.setdefault(word, f"{name}.{word}" if name.strip(".") else f"{name}{word}")

    # --- which file, which definition ----------------------------------------------------------------------------

    def module(self, name: str, folder: Path) -> _Module | None:
        """The file of a module, as a file in ``folder`` names it; None where there is none that can be read."""
        level = len(name) - len(name.lstrip("."))
        parts = name.lstrip(".").split(".") if name.strip(".") else []
        if not level and parts[0] in _LIBRARIES:
            return None
        starts = [[folder, *folder.absolute().parents][level - 1]] if level else [folder, _package_root(folder)]
        for start in starts:
            whole = start.joinpath(*parts)
            for path in (whole / "__init__.py", *([whole.with_name(whole.name + ".py")] if parts else [])):
                if path.is_file():
                    return self.read(path)
        return None

    def read(self, path: Path) -> _Module | None:
        key = path.absolute()
        if key not in self.modules:
            self.modules[key] = None
            try:
                written = path.read_text(encoding="utf-8").removeprefix("\ufeff")
                self.modules[key] = _Module(path, text.parse(written, path.as_posix()))
            except (OSError, UnicodeDecodeError, Refused):
                pass  # what it defines is not known, which is said where it is used
        return self.modules[key]

    def find(self, qualified: str, folder: Path, left: int = _LONGEST) -> tuple[_Module, str] | None:
        """The definition that a qualified name means in a file of ``folder``."""
        path = qualified.lstrip(".")
        within, _, name = path.rpartition(".")
        within = "." * (len(qualified) - len(path)) + within
        other = self.module(within, folder) if within and left else None
        if other is None:
            return None
        if name in other.functions or name in other.values:
            return other, name
        passed_on = other.imports.bound.get(name)
        return self.find(passed_on, other.folder, left - 1) if passed_on else None

    # --- what becomes of it ----------------------------------------------------------------------------------------

    def add(self, module: _Module, name: str, wish: str) -> str:
        """The name here of a definition of another file."""
        key = (module.path.absolute(), name)
        if key in self.made:
            return self.made[key]
        self.made[key] = new = wish if wish in self.own else self.fresh(wish, module)
        node: Any = module.functions.get(name) or module.values[name]
        renamed = self.rewritten(module, node, lambda w: self.meant(module, w))
        if isinstance(renamed, cst.FunctionDef):
            renamed = renamed.with_changes(name=renamed.name.with_changes(value=new))
        else:
            target = cst.AssignTarget(cst.Name(new))
            renamed = cst.SimpleStatementLine([cst.Assign([target], renamed.value)])
        positions, own = module.source.positions, self.parsed.positions
        for n in walk(renamed):
            if (place := positions.get(n) or positions.get(node)) is not None:
                own[n] = Elsewhere(module.path.as_posix(), place.start, place.end)
        self.lines.append(renamed)
        return new

    def fresh(self, wish: str, module: _Module) -> str:
        """A name that means nothing here yet."""
        name = wish if wish not in self.taken else f"{module.path.stem}_{wish}"
        number = 2
        while name in self.taken:
            name, number = f"{module.path.stem}_{wish}_{number}", number + 1
        self.taken.add(name)
        return name

    def meant(self, module: _Module, word: str) -> str:
        """The name here of what a name means in another file."""
        if word in module.functions or word in module.values:
            return self.add(module, word, word)
        qualified = module.imports.bound.get(word, "")
        if not qualified and word in _BUILTINS:
            return (
                word
                if self.bound.get(word) is None and not self.sets[word]
                else self.library(word, f"builtins.{word}", module)
            )
        if qualified and (found := self.find(qualified, module.folder)) is not None:
            return self.add(*found, word)
        if qualified and not qualified.startswith(".") and self.module(qualified, module.folder) is None:
            return self.library(word, qualified, module)
        return self.fresh(word, module)  # unknown there: it must mean nothing here

    def library(self, word: str, qualified: str, module: _Module) -> str:
        """A name that is ``qualified`` of a library: the same here, or one by an import of its own."""
        if self.bound.get(word) == qualified:
            return word
        known = next((n for n, q in self.bound.items() if q == qualified and n.startswith(module.path.stem)), None)
        if known is not None:
            return known
        new = self.fresh(word, module)
        self.bound[new] = qualified
        head, _, last = qualified.rpartition(".")
        line = f"from {head} import {last} as {new}" if head else f"import {qualified} as {new}"
        self.libraries.append(cst.parse_statement(line))
        return new

    # --- names in a tree -------------------------------------------------------------------------------------------

    def changes(self, roots: set[cst.CSTNode]) -> Change:
        """What to do with this file's tree: its functions among ``roots`` and its constants use others' definitions."""
        here = _Module(self.folder / "_", self.parsed, Imports(self.bound))

        def meant(word: str) -> str:
            qualified = self.bound.get(word)
            if qualified and (found := self.find(qualified, self.folder)) is not None:
                self.own.add(word)
                return self.add(*found, word)
            return word

        def change(node: cst.CSTNode) -> cst.CSTNode | None:
            match node:
                case cst.FunctionDef():
                    return self.rewritten(here, node, meant) if node in roots else None
                case cst.Assign(targets=targets, value=value) if all(isinstance(t.target, cst.Name) for t in targets):
                    new = rebuilt(self.parsed, value, self.names(here, frozenset(), meant))
                    return node if new is value else node.with_changes(value=new)
            return None

        return change

    def rewritten(self, module: _Module, node: Any, meant: Callable[[str], str]) -> Any:
        """A definition with the names that it takes from its module as ``meant`` says."""
        if isinstance(node, cst.FunctionDef):
            return self.function(module, node, frozenset(), meant)
        return node.with_changes(value=rebuilt(module.source, node.value, self.names(module, frozenset(), meant)))

    def function(self, module: _Module, node: Any, around: frozenset[str], meant: Callable[[str], str]) -> Any:
        """A function, or a lambda: its parameters and what it binds are its own."""
        own = around | frozenset(p.name.value for p in all_of(cst.Param, node.params))
        own |= times_bound([node.body]).keys()
        inner, outer = self.names(module, own, meant), self.names(module, around, meant)
        parts = {
            "body": rebuilt(module.source, node.body, inner),
            "params": rebuilt(module.source, node.params, outer),
        }
        if isinstance(node, cst.FunctionDef):
            parts["decorators"] = [rebuilt(module.source, d, outer) for d in node.decorators]
        if all(parts[n] is getattr(node, n) for n in ("body", "params")) and all(
            a is b for a, b in zip(parts.get("decorators", ()), getattr(node, "decorators", ()), strict=True)
        ):
            return node
        return text.placed(module.source, node.with_changes(**parts), node)

    def names(self, module: _Module, own: frozenset[str], meant: Callable[[str], str]) -> Change:
        """What to do with the nodes of a function whose own names are ``own``."""

        def change(node: cst.CSTNode) -> cst.CSTNode | None:
            match node:
                case cst.Name(value=word):
                    new = word if word in own else meant(word)
                    return None if new == word else node.with_changes(value=new)
                case cst.Attribute(value=value):
                    name = dotted(node)
                    if name and name.partition(".")[0] not in own:
                        qualified = module.imports.qualified(name)
                        found = self.find(qualified, module.folder) if qualified and _is_local(qualified) else None
                        if found is not None:
                            return cst.Name(self.add(*found, found[1]), lpar=node.lpar, rpar=node.rpar)
                    new_value = rebuilt(module.source, value, change)
                    return node if new_value is value else node.with_changes(value=new_value)
                case cst.Arg(keyword=cst.Name(), value=value):
                    new_value = rebuilt(module.source, value, change)
                    return node if new_value is value else node.with_changes(value=new_value)
                case cst.Param(default=default, annotation=annotation):
                    parts = {"default": default, "annotation": annotation}
                    new_parts = {n: rebuilt(module.source, v, change) for n, v in parts.items() if v is not None}
                    same = all(v is parts[n] for n, v in new_parts.items())
                    return node if same else node.with_changes(**new_parts)
                case cst.FunctionDef() | cst.Lambda():
                    return self.function(module, node, own, meant)
                case _ if isinstance(node, _COMPREHENSIONS):
                    held = own | {n.value for c in all_of(cst.CompFor, node) for n in all_of(cst.Name, c.target)}
                    return rebuilt(module.source, node, _once(node, self.names(module, held, meant)))
            return None

        return change

    def without_import(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """No import of what is defined here now."""
        match node:
            case cst.ImportFrom(names=names) if not isinstance(names, cst.ImportStar):
                left = [a for a in names if (dotted(a.asname.name) if a.asname else dotted(a.name)) not in self.own]
                if len(left) == len(names):
                    return node
                if not left:
                    return cst.Pass()
                return node.with_changes(names=[*left[:-1], left[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)])
        return None


def _once(first: cst.CSTNode, change: Change) -> Change:
    """``change`` for all nodes but the first, which it would not go into."""
    return lambda node: None if node is first else change(node)


def _package_root(folder: Path) -> Path:
    """Where the package starts that a folder belongs to: the first folder above that is no package."""
    at = folder.absolute()
    while (at / "__init__.py").is_file() and at.parent != at:
        at = at.parent
    return at


__all__ = ["with_imported"]
