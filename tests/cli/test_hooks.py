"""The hooks, run by the real pre-commit on a scratch repository, offline (the installed kraise, language: system)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kraise import pipeline

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
KERNEL = "def scale(x, y, a, n):\n    for i in range(n):\n        y[i] = a * x[i]\n"
CUDA = """\
from numba import cuda


@cuda.jit
def scale(x, y, a):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = a * x[i]
"""

pytestmark = pytest.mark.skipif(not (BIN / "pre-commit").exists(), reason="pre-commit is not installed")


def config() -> str:
    """The entries of .pre-commit-hooks.yaml as local hooks of the system's language."""
    import yaml

    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    for hook in hooks:
        hook["language"] = "system"
    return yaml.safe_dump({"repos": [{"repo": "local", "hooks": hooks}]})


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A scratch repository with the hooks; runs a command in it."""
    environment = dict(os.environ)
    for name in [n for n in environment if n.startswith(("GIT_", "PRE_COMMIT"))]:
        del environment[name]
    environment |= {
        "PATH": f"{BIN}{os.pathsep}{environment['PATH']}",
        "PRE_COMMIT_HOME": str(tmp_path / "cache"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    for role in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{role}_NAME": "a", f"GIT_{role}_EMAIL": "a@b.c"}
    folder = tmp_path / "repository"
    folder.mkdir()

    def run(*command: str) -> subprocess.CompletedProcess:
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)

    run("git", "init", "-q")
    (folder / ".pre-commit-config.yaml").write_text(config())
    run("git", "add", ".")
    run.folder = folder
    return run


def hook(run, name):
    run("git", "add", "*.py")
    return run("pre-commit", "run", name)


def test_the_manifest_is_valid(repository):
    done = repository("pre-commit", "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml"))
    assert done.returncode == 0, done.stdout


def test_twins_follow_their_sources(repository):
    folder = repository.folder
    (folder / "kernel.py").write_text(CUDA)
    (folder / "other.py").write_text("import os\n\nprint(os.sep)\n")
    (folder / "__init__.py").write_text("")
    done = hook(repository, "kraise-check")
    assert done.returncode == 1 and "kernel_raised.py is missing" in done.stdout, done.stdout + done.stderr
    done = hook(repository, "kraise-twin")
    assert done.returncode == 1 and "wrote kernel_raised.py" in done.stdout, done.stdout + done.stderr
    (folder / "kernel.py").write_text(CUDA.replace("a * x[i]", "a + x[i]"))
    assert hook(repository, "kraise-check").returncode == 1
    assert hook(repository, "kraise-twin").returncode == 1
    assert "a + x" in (folder / "kernel_raised.py").read_text()
    assert hook(repository, "kraise-check").returncode == 0


def test_a_commit_goes_through_the_hook(repository):
    """Both hooks: they have nothing to say of a twin that is up to date."""
    folder = repository.folder
    repository("pre-commit", "install")
    (folder / "kernel.py").write_text(CUDA)
    repository("git", "add", ".")
    done = repository("git", "commit", "-qm", "kernel")
    assert done.returncode == 1 and (folder / "kernel_raised.py").exists(), done.stdout + done.stderr
    repository("git", "add", ".")
    done = repository("git", "commit", "-qm", "kernel and twin")
    assert done.returncode == 0, done.stdout + done.stderr


def test_plain_functions_are_left_alone_until_they_have_a_twin(repository):
    folder = repository.folder
    (folder / "kernel.py").write_text(KERNEL)
    assert hook(repository, "kraise-twin").returncode == 0
    assert not (folder / "kernel_raised.py").exists()
    (folder / "kernel_raised.py").write_text(pipeline.translate(KERNEL, "kernel.py").text)
    assert hook(repository, "kraise-twin").returncode == 0
    (folder / "kernel.py").write_text(KERNEL.replace("a * x[i]", "a + x[i]"))
    assert hook(repository, "kraise-twin").returncode == 1
