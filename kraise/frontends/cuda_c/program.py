"""A file's own names: functions and their templates, structs, typedefs, enumerators, constants, device variables.

Everything is read lazily, when a kernel first asks for it: what no kernel needs is never parsed and never an error.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lark import Tree

from kraise.diagnostics import Diagnostic, Refused, Span
from kraise.frontends.cuda_c import outside
from kraise.frontends.cuda_c.c_types import Array, CType, Pointer, Struct
from kraise.frontends.cuda_c.constants import fold
from kraise.frontends.cuda_c.parser import parse_item
from kraise.frontends.cuda_c.scan import Item, Unit
from kraise.frontends.cuda_c.strings import spelled_out
from kraise.frontends.cuda_c.structs import Definition, Structs, TemplateParameter, template_parameters
from kraise.frontends.cuda_c.tokens import Raw
from kraise.frontends.cuda_c.trees import child, last_name, strip, trees
from kraise.frontends.cuda_c.tries import without_tries
from kraise.frontends.cuda_c.values import Cell, Constant, GlobalVariable, StructPlace, TypeName, VarPlace
from kraise.ir import kernel
from kraise.ir.kernel import Const
from kraise.ir.types import INT32, ScalarType


class Program(Structs):
    """The names of one unit."""

    def __init__(self, unit: Unit, lowering: Any, file: str):
        self.unit, self.lowering, self.file = unit, lowering, file
        self.functions: dict[str, list[Definition]] = {}
        self.items: dict[str, Item] = {}
        self.entities: dict[str, Any] = {}
        self.shared: dict[str, tuple[CType, frozenset[str]]] = {}  # variables of the file that each block has
        self.struct_templates: dict[str, tuple[Tree, list[TemplateParameter]]] = {}
        self.struct_instances: dict[Any, Struct] = {}
        self.specialised: dict[str, list[Item]] = {}  # further definitions of a class template
        self.constants: dict[str, Const] = {}
        self.clashes: set[str] = set()
        self.tables: dict[str, kernel.Constant] = {}
        self.instances: dict[Any, Any] = {}
        self.instance_names: dict[str, int] = {}
        self.active: list[Any] = []
        self.diagnostics: list[Diagnostic] = []
        self.inferred: dict[str, Raw] = {}
        self.reference_functions: set[str] = set()
        self.status_tests: dict[str, int | None] = {}  # of host_statuses: what functions give for no error
        self.closures: dict[tuple[Any, ...], Any] = {}  # classes of lambdas that launches are given
        self.effects: dict[str, Any] = {}  # of host_effects: what functions change, by name
        self.idle: set[str] | None = None
        self.methods: set[str] | None = None  # the names of methods, once they are asked for
        self.outside: set[str] | None = None  # the functions that take data from outside
        self.said: set[str] = set()
        self.doubles: set[tuple[object, Span | None]] = set()  # literals that are doubles in C and floats here
        self._lines: set[int] | None = None
        self.comments: dict[int, str] = {}
        self.kernel: Definition | None = None  # that is being read
        self._axes: dict[int, set[str]] = {}
        self.outside_methods: dict[str, list[Item]] = {}
        types = {i.name for i in unit.items if i.kind == "type" and i.name}
        for item in unit.items:
            if item.kind in ("device", "host") and item.name and (of := outside.owner(unit, item)) in types:
                self.outside_methods.setdefault(of, []).append(item)
            elif item.kind in ("kernel", "device", "host") and item.name:
                name = self._operator_name(item) if item.name == "operator" else item.name
                self.functions.setdefault(name, []).append(Definition(name, item.kind, item))
                if self._takes_references(item):
                    self.reference_functions.add(name)
            elif item.kind in ("type", "variable"):
                for name in self._declares(item):
                    self.items.setdefault(name, item)
                if item.name and self.items[item.name] is not item:
                    self.specialised.setdefault(item.name, []).append(item)

    # --- the scan's items

    def _takes_references(self, item: Item) -> bool:
        toks = self.unit.tokens
        for k in range(item.first, item.last):
            if toks[k].text == "{":
                return False
            if toks[k].text == "&":
                return True
        return False

    def _operator_name(self, item: Item) -> str:
        toks = self.unit.tokens
        for k in range(item.first, item.last):
            if toks[k].text == "operator":
                symbol = toks[k + 1].text
                if symbol in ("(", "["):
                    symbol += toks[k + 2].text
                return f"operator{symbol}"
        return "operator"

    def _declares(self, item: Item) -> list[str]:
        """The names that a type or variable item may declare: every name of its tokens is cheap and enough."""
        toks = self.unit.tokens
        names: list[str] = [item.name] if item.name else []
        in_enum = False
        for k in range(item.first, item.last + 1):
            t = toks[k]
            if t.kind != "NAME":
                if t.text == "}":
                    in_enum = False
                continue
            if t.text == "enum":
                in_enum = True
            nxt = toks[k + 1].text if k + 1 < len(toks) else ""
            ends = nxt in (";", ",", "=", "[", "(", "{", ")") or in_enum
            if (ends and t.text not in names) or toks[k - 1].text in ("struct", "class", "using"):
                names.append(t.text)
        return names

    def uses_axis(self, axis: int) -> bool:
        """Does the kernel that is read, or a function that it may call, mention the y (1) or z (2) axis of an index?

        A device function is read once for all kernels: there every kernel of the file counts.
        """
        item = None if self.active or self.kernel is None else self.kernel.item
        key = -1 if item is None else item.first
        if key not in self._axes:
            toks = self.unit.tokens
            others = (
                [] if item is None else [o for o in self.unit.items if o.kind in ("kernel", "host") and o is not item]
            )
            skipped = {k for o in others for k in range(o.first, o.last + 1)}
            self._axes[key] = {
                toks[k + 2].text
                for k in range(len(toks) - 2)
                if toks[k].text in ("threadIdx", "blockIdx", "blockDim", "gridDim")
                and toks[k + 1].text == "."
                and k not in skipped
            }
        found = self._axes[key]
        return "yz"[axis - 1] in found or (axis == 1 and "z" in found)

    def instance_name(self, d: Definition) -> str:
        """The name of a new instance of a device function: its own, then with a number."""
        base = d.name if d.name.isidentifier() else "function"
        k = self.instance_names.get(base, 0) + 1
        self.instance_names[base] = k
        return base if k == 1 else f"{base}_{k}"

    def comment_before(self, tree: Tree, item: Item | None = None) -> str:
        """The comment that stands on the lines before a function; before its ``template <...>`` if it has one."""
        first = item.first if item is not None else tree.meta.start_pos if not tree.meta.empty else None
        if not isinstance(first, int) or self.unit.tokens[first].file != self.file:
            return ""
        line = self.unit.tokens[first].line
        if first > 0 and self.unit.tokens[first - 1].line == line:
            return ""
        found: list[str] = []
        for start in sorted((k for k in self.comments if k < line), reverse=True):
            text = self.comments[start]
            if start + text.count("\n") + 1 != line or self._code_on(start):
                break
            found.append("\n".join(x.strip().lstrip("*").strip() for x in text.split("\n")))
            line = start
        return "\n".join(reversed(found)).strip(" *-=/\n")

    def _code_on(self, line: int) -> bool:
        if self._lines is None:
            self._lines = {t.line for t in self.unit.tokens if t.file == self.file}
        return line in self._lines

    # --- parsing

    def parse(self, item: Item) -> Tree:
        """The item's tree. Raises Refused; names taken for types without a declaration are noted."""
        inferred: dict[str, Raw] = {}
        tree = parse_item(self.unit, item, inferred)
        for name, token in inferred.items():
            if name not in self.inferred:
                self.inferred[name] = token
        return tree

    def load(self, d: Definition) -> Tree:
        """The definition's function tree, its template parameters read."""
        if d.tree is None:
            assert d.item is not None
            unit_tree = self.parse(self._without_tries(d.item))
            node = unit_tree.children[0]
            assert isinstance(node, Tree)
            while node.data == "template_declaration":
                d.parameters += template_parameters(node)
                node = node.children[-1]  # type: ignore[assignment]
            while node.data == "linkage_specification":
                node = node.children[-1]  # type: ignore[assignment]
            d.tree = node
        return d.tree

    def _without_tries(self, item: Item) -> Item:
        """The item with its ``try`` blocks as plain ones, of tokens behind those of the file."""
        text = self.unit.tokens[item.first : item.last + 1]
        if not any(t.text == "try" for t in text):
            return item
        start = len(self.unit.tokens)
        self.unit.tokens.extend(replace(t) for t in without_tries(text))
        return replace(item, first=start, last=len(self.unit.tokens) - 1)

    # --- names

    def entity(self, name: str) -> Any:
        """What a name of the file means, or None. Raises Refused where its declaration cannot be read."""
        if name in self.entities:
            return self.entities[name]
        item = self.items.get(name)
        if item is None:
            return None
        self.entities[name] = None  # while it is being read
        try:
            self._read(item)
        except Refused:
            self.entities.pop(name, None)
            raise
        return self.entities.get(name)

    def _read(self, item: Item) -> None:
        low = self.lowering(self)
        low.scopes = [self.entities]
        tree = self.parse(item)
        for node in trees(tree):
            template: list[TemplateParameter] = []
            while node.data == "template_declaration":
                template += template_parameters(node)
                node = node.children[-1]  # type: ignore[assignment]
            while node.data == "linkage_specification":
                node = node.children[-1]  # type: ignore[assignment]
            if node.data != "declaration":
                continue
            if template and (alias := child(node, "alias_declaration")) is not None:
                self.struct_templates.setdefault(str(alias.children[0]), (alias, template))
                continue
            if template:
                head_node = child(node, "decl_specifiers")
                found = child(head_node, "class_specifier") if head_node is not None else None
                if found is not None:
                    head = child(found, "class_head_name")
                    name = str(last_name(head)) if head is not None else ""
                    self.struct_templates.setdefault(name, (found, template))
                continue
            self._read_declaration(low, node, item)

    def _read_declaration(self, low: Any, node: Tree, item: Item) -> None:
        alias = child(node, "alias_declaration")
        if alias is not None:
            self.entities[str(alias.children[0])] = TypeName(low.type_id(alias.children[1]))
            return
        specifier_node = child(node, "decl_specifiers")
        if specifier_node is None:
            return
        specifiers = low.specifiers(specifier_node)
        low.by_name = "typedef" in specifiers.words
        for d in node.children:
            if not isinstance(d, Tree) or d.data not in (
                "init_declarator",
                "braced_declarator",
                "constructor_declarator",
            ):
                continue
            declarator = child(d, "declarator")
            if declarator is None:
                continue
            token, t = low.declarator(declarator, specifiers.type)
            if token is None:
                continue
            if "typedef" in specifiers.words:
                if isinstance(t, Struct) and t.name.startswith("struct_"):  # typedef struct { … } Name;
                    t = replace(t, name=str(token))
                self.entities[str(token)] = TypeName(t)
                continue
            initial = next((c for c in d.children if isinstance(c, Tree) and c is not declarator), None)
            self._variable(low, str(token), t, specifiers.words, initial, d)

    def _variable(self, low: Any, name: str, t: CType, flags: frozenset[str], initial: Tree | None, d: Tree) -> None:
        fixed = bool(flags & {"const", "constexpr", "__constant__"})
        if not flags & {"__device__", "__managed__", "extern", "volatile"} and isinstance(t, ScalarType):
            fixed = fixed or self.is_never_written(name)
        spelled = spelled_out(initial, t)
        plain = strip(spelled) if spelled is not None else None
        if isinstance(t, ScalarType) and fixed and plain is not None:
            braced = isinstance(plain, Tree) and plain.data == "braced_init_list"
            value = low.braced(plain, t) if braced else low.convert(low.value(plain), t, d)
            known = fold(value)
            if known is not None:
                self.use_constant(name, known)
                self.entities[name] = Constant(Const(known.value, known.type, name=name, span=low.span(d)))
                return
        if isinstance(t, Array) and t.extent is None and isinstance(plain, Tree):
            t = Array(t.of, Const(len(trees(plain)), INT32))
        if isinstance(t, Array) and fixed and isinstance(plain, Tree) and plain.data == "braced_init_list":
            self._table(low, name, t, plain, d)
            return
        if "__shared__" in flags:
            self.shared[name] = (t, flags)
        place: Any
        if isinstance(t, ScalarType) and "__constant__" in flags:
            place = VarPlace(name, t)
        elif isinstance(t, Array):
            place = Cell(name, (), t)
        elif isinstance(t, Struct) and "__constant__" in flags:
            place = struct_parameter(name, t)
        else:
            place = Cell(name, (Const(0, INT32),), t)
        self.entities[name] = GlobalVariable(name, t, place, "__constant__" in flags or "const" in flags, low.span(d))

    def is_never_written(self, name: str) -> bool:
        """Does nothing in the file change a variable of the file, or take its address?"""
        toks = self.unit.tokens
        places = [n for n, t in enumerate(toks) if t.text == name][1:]  # the first is its declaration
        after = {toks[n + 1].text for n in places if n + 1 < len(toks)}
        before = {toks[n - 1].text for n in places}
        changes = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"}
        return not after & changes and not before & {"&", "++", "--", ">>"}

    def _table(self, low: Any, name: str, t: Array, initial: Tree, d: Tree) -> None:
        values = low.array_values(initial, t, d)
        shape: list[int] = []
        inner: CType = t
        while isinstance(inner, Array):
            extent = fold(inner.extent) if inner.extent is not None else None
            if extent is None:
                raise low.refuse("KR104", f"the extent of `{name}` is not a constant", d)
            shape.append(int(extent.value))  # type: ignore[arg-type]
            inner = inner.of
        if isinstance(inner, Struct) and inner.vector:
            shape.append(len(inner.members))
            inner = inner.members[0][1]
        if not isinstance(inner, ScalarType):
            raise low.refuse("KR299", f"the table `{name}` of structs is not raised", d)
        known = [fold(v) for v in values]
        if any(k is None for k in known):
            raise low.refuse("KR104", f"the table `{name}` is not constant", d)
        total = 1
        for n in shape:
            total *= n
        numbers = [k.value for k in known if k is not None]
        numbers += [0.0 if inner.is_inexact else 0] * (total - len(numbers))
        self.tables[name] = kernel.Constant(name, inner, tuple(numbers), tuple(shape), span=low.span(d))
        self.entities[name] = Cell(name, (), t)

    def is_table(self, array: str) -> bool:
        """Is this the name of a constant table?"""
        return array in self.tables

    def use_constant(self, name: str, c: Const) -> bool:
        """Claim a module constant's name for a value; False where another value has it."""
        known = self.constants.get(name)
        if known is None and name not in self.functions:
            self.constants[name] = Const(c.value, c.type)
            return True
        same = known is not None and known.value == c.value
        if not same:
            self.clashes.add(name)
        return same

    # --- structs


def struct_parameter(name: str, t: Struct) -> StructPlace:
    """The place of a struct that is passed by value: members are ``name.member``."""
    from kraise.frontends.cuda_c.values import PointerPlace, PointerValue

    fields: list[tuple[str, Any]] = []
    for n, m in t.members:
        path = f"{name}.{n}"
        if isinstance(m, ScalarType):
            fields.append((n, VarPlace(path, m)))
        elif isinstance(m, Struct):
            fields.append((n, struct_parameter(path, m)))
        elif isinstance(m, Pointer):
            fields.append((n, PointerPlace(path, m, PointerValue(path, (), None, m.to))))
        else:
            fields.append((n, Cell(path, (), m)))
    return StructPlace(t, tuple(fields))
