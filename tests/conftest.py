"""What holds for every test: JAX computes in 32 bits until a test, or a module that it loads, says otherwise."""

import functools
import gc
import os
import sys

import pytest

from tests import checks, tiers

# tests of a file share fixtures, translations and what is proved of kernels that are near to each other, those of one
# sample its translation: one process runs them
# (marks would say so, but pytest-xdist 3.8 does not get them into the ids of pytest 9.2)
BY_PARAMETER = "tests/test_samples.py"

# thousands of small functions are compiled, each is run a few times: half of the time was LLVM's.
# At this level (and no other) tangents of `jnp.max(expression)` may be wrong: see tests/fuzz/run.py
# (nor does it pay to cut so small a module into parts that are compiled by several threads: a third of what is left)
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1",
)
# trees and expressions are many small objects that live on: a young generation of 700 is looked through all the time
gc.set_threshold(50_000, 20, 20)


def pytest_configure(config):
    checks.IN_FULL[0] = "not long" not in config.option.markexpr


def pytest_itemcollected(item):
    tiers.mark(item)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    tiers.remember(config, items)


@pytest.fixture(autouse=True)
def _one_context():
    """JAX makes a context of MLIR for each function that is compiled, which takes a third as long as to compile it."""
    mlir = sys.modules.get("jax._src.interpreters.mlir")
    make = getattr(mlir, "make_ir_context", None)
    if make is not None and not hasattr(make, "cache_clear"):
        mlir.make_ir_context = functools.cache(make)


@pytest.fixture(autouse=True)
def _in_32_bits():
    """Modules with 64-bit numbers turn these on for the whole process when they are imported."""
    yield
    jax = sys.modules.get("jax")
    if jax is not None and jax.config.jax_enable_x64:
        jax.config.update("jax_enable_x64", False)


def _together(nodeid: str) -> str:
    """What one process runs: a file, or the tests of one sample."""
    path, _, name = nodeid.partition("::")
    return name[name.index("[") :] if path.endswith(BY_PARAMETER) and "[" in name else path


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Tests by :func:`_together`, where ``--dist loadgroup`` asks for groups."""
    from xdist.scheduler.loadgroup import LoadGroupScheduling

    class Scheduling(LoadGroupScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _together(nodeid)

        def mark_test_complete(self, node, item_index, duration=0):
            super().mark_test_complete(node, item_index, duration)
            # the scheduler counts at each test what is pending of all that it ever gave: what is done is forgotten
            given, scope = self.assigned_work[node], self._split_scope(self.registered_collections[node][item_index])
            if all(given[scope].values()):
                del given[scope]

    return Scheduling(config, log) if config.getvalue("dist") == "loadgroup" else None
