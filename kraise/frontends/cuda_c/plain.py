"""Which functions of a C file are loop nests over arrays, to be raised like plain Python ones."""

from __future__ import annotations

from kraise.frontends.cuda_c.scan import Unit
from kraise.frontends.cuda_c.structs import Definition

_OUTSIDE = frozenset(
    [
        "printf",
        "fprintf",
        "sprintf",
        "scanf",
        "fscanf",
        "puts",
        "fopen",
        "fclose",
        "fread",
        "fwrite",
        "getc",
        "getchar",
        "exit",
        "cout",
        "cerr",
        "malloc",
        "calloc",
        "realloc",
        "free",
        "rand",
        "srand",
        "gettimeofday",
        "clock_gettime",
        "omp_get_wtime",
        "system",
        "strcmp",
        "strcpy",
        "atoi",
        "atof",
        "argv",
        "fflush",
        "sscanf",
        "memcpy",
        "memset",
        "strtol",
        "fputs",
        "fgets",
    ]
)


def is_plain_candidate(unit: Unit, d: Definition) -> bool:
    """A loop, a subscripted store, no input or output."""
    if d.item is None or d.name == "main":
        return False
    toks = unit.tokens[d.item.first : d.item.last + 1]
    texts = [t.text for t in toks]
    names = set(texts)
    if names & _OUTSIDE or not names & {"for", "while"}:
        return False
    assigns = ("=", "+=", "-=", "*=", "/=")
    return any(a == "]" and b in assigns for a, b in zip(texts, texts[1:], strict=False)) or "*" in names
