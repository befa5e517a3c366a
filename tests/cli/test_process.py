"""The real command in a process of its own: streams that fail, signals, start-up."""

import os
import resource
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from kraise import __version__, pipeline
from tests.cli.conftest import _entry

KRAISE = [sys.executable, "-m", "kraise"]


def run(*args, **extra):
    return subprocess.run([*KRAISE, *args], capture_output="stdout" not in extra, text=True, timeout=60, **extra)


def here(*args):
    """The command line in this process, where it is not the process that matters: its start takes a second."""
    return CliRunner().invoke(_entry, [str(a) for a in args])


def test_version_and_help():
    assert run("--version").stdout == f"kraise, version {__version__}\n"
    assert "translate" in run("--help").stdout
    for verb in ("translate", "verify", "explain", "check", "diff", "rule"):
        done = run(verb, "--help")
        assert done.returncode == 0 and "Usage: kraise " + verb in done.stdout


def test_no_arguments_is_usage():
    done = run()
    assert done.returncode == 2 and "Usage" in done.stdout + done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_output_is_one_message():
    with open("/dev/full", "w") as full:
        done = run("rule", stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2 and done.stderr == "kraise: cannot write the output: No space left on device\n"


def test_a_full_disk_leaves_the_old_target(tmp_path):
    source, target = tmp_path / "k.py", tmp_path / "out.py"
    source.write_text(KERNEL)
    assert here("translate", source, "-o", target).exit_code == 0
    old = target.read_bytes()
    source.write_text(KERNEL.replace("a * x", "2.0 * a * x"))

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))  # a write beyond it fails, as on a full disk

    done = run("translate", str(source), "-o", str(target), preexec_fn=small)
    assert done.returncode == 2 and "KR404" in done.stderr and "Traceback" not in done.stderr
    assert target.read_bytes() == old and sorted(os.listdir(tmp_path)) == ["k.py", "out.py"]


def test_runs_at_once_leave_one_whole_target(tmp_path):
    sources = [tmp_path / f"k{j}.py" for j in range(3)]
    texts = []
    for j, source in enumerate(sources):
        source.write_text(KERNEL.replace("a * x", f"{j}.5 * a * x"))
        texts.append(pipeline.translate(source.read_text(), str(source)).text)
    target = tmp_path / "out.py"
    running = [subprocess.Popen([*KRAISE, "translate", str(s), "-o", str(target)]) for s in sources]
    while any(p.poll() is None for p in running):
        assert not target.exists() or target.read_text() in texts
        time.sleep(0.001)
    assert [p.returncode for p in running] == [0] * 3 and target.read_text() in texts
    assert sorted(os.listdir(tmp_path)) == ["k0.py", "k1.py", "k2.py", "out.py"]


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="needs /dev/stdout")
def test_devices_as_targets(tmp_path):
    source = tmp_path / "k.py"
    source.write_text(KERNEL)
    printed = here("translate", source).stdout
    assert run("translate", str(source), "-o", "/dev/stdout").stdout == printed
    assert here("translate", source, "-o", "/dev/null").exit_code == 0
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE, text=True) as reader:
        assert here("translate", source, "-o", pipe).exit_code == 0
        assert reader.communicate(timeout=30)[0] == printed


def test_a_reader_that_goes_away_is_silent():
    read, write = os.pipe()
    os.close(read)
    done = run("rule", stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert done.returncode == 141 and done.stderr == ""


def test_closed_streams_are_no_traceback():
    for close in ("<&-", ">&-", "2>&-"):
        done = subprocess.run(
            ["sh", "-c", f"{' '.join(KRAISE)} translate - {close}"], capture_output=True, text=True, input=""
        )
        assert done.returncode == 2 and "Traceback" not in done.stderr


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals(number, code):
    process = subprocess.Popen(
        [*KRAISE, "translate", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.default_int_handler
        ),  # a job in the background ignores it
    )
    time.sleep(1.0)  # by now it waits for its input
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == code and out == "" and "Traceback" not in err


KERNEL = """\
def scale(x, y, a, n):
    \"\"\"Größe times a.\"\"\"
    for i in range(n):
        y[i] = a * x[i]
"""


RACY = """\
from numba import cuda


@cuda.jit
def shift(x, n):
    i = cuda.grid(1)
    if i < n - 1:
        x[i] = x[i + 1]
"""


def test_output_is_utf8_in_any_locale():
    environment = {
        **os.environ,
        "LC_ALL": "C",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONUTF8": "0",
        "PYTHONIOENCODING": "ascii",
    }
    for source, code in ((KERNEL, 0), (KERNEL.replace("y[i]", "ü[i]"), 1), (KERNEL.replace("range(", "range(ä("), 2)):
        done = subprocess.run(
            [*KRAISE, "translate", "-"], input=source.encode(), capture_output=True, env=environment, timeout=60
        )
        assert done.returncode == code and b"Traceback" not in done.stderr, done.stderr
        assert code or "Größe times a." in done.stdout.decode()


def test_one_real_kernel_all_the_way(tmp_path, monkeypatch):
    (tmp_path / "kernel.py").write_text(KERNEL, encoding="utf-8")
    assert run("translate", "kernel.py", "--twin", cwd=tmp_path).returncode == 0
    monkeypatch.chdir(tmp_path)
    assert here("check", "kernel.py").exit_code == 0 == here("diff", "kernel.py").exit_code
    assert "y[i] = a * x[i]" in here("explain", "kernel.py").stdout
    done = run("verify", "kernel.py", cwd=tmp_path)
    assert done.returncode == 0 and "vjp" in done.stdout, done.stdout + done.stderr
    twin = (tmp_path / "kernel_raised.py").read_text(encoding="utf-8")
    (tmp_path / "bad.py").write_text(RACY)
    done = run("translate", "bad.py", "kernel.py", cwd=tmp_path)
    assert done.returncode == 1 and done.stdout == twin
    assert "bad.py:8:9: error KR201" in done.stderr and done.stderr.endswith("1 raised, 1 refused\n")
