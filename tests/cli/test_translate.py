"""``kraise translate``: what is read, where it is written, what is said, with which status."""

import os
import stat
from pathlib import Path

import pytest


def put(path, text):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text) if isinstance(text, str) else path.write_bytes(text)
    return path


def module(name, *kernels):
    head = f'"""Vectorized twin of {name}, written by kraise; edit the source, not this file."""\n\n'
    return head + "".join(f"{k} = 0\n" for k in kernels)


def test_prints_to_stdout(kraise):
    put("a.py", "kernel f\n")
    ran = kraise("translate", "a.py")
    assert (ran.code, ran.out, ran.err) == (0, module("a.py", "f"), "")


def test_highlights_on_a_terminal_only(kraise):
    put("a.py", "kernel f\n")
    assert "\x1b[" in kraise("translate", "a.py", tty=True).out
    assert "\x1b[" not in kraise("translate", "a.py").out


def test_output_file(kraise):
    put("a.py", "kernel f\n")
    ran = kraise("translate", "a.py", "-o", "b.py")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert Path("b.py").read_text() == module("a.py", "f")
    assert sorted(os.listdir()) == ["a.py", "b.py"]  # no temporary file stays


def test_stdin(kraise):
    ran = kraise("translate", "-", input="kernel f\n")
    assert (ran.code, ran.out) == (0, module("stdin.py", "f"))
    ran = kraise("translate", "-", "--stdin-name", "x/k.cu", input="refuse f\n")
    assert ran.code == 1
    assert "x/k.cu:1:8: error KR201: a race" in ran.err


def test_several_files_into_a_folder(kraise):
    put("src/a.py", "kernel f\n")
    put("src/deep/b.cu", "kernel g\n")
    put("src/none.py", "x\n")
    ran = kraise("translate", "src", "-o", "out")
    assert ran.code == 0
    assert Path("out/a_raised.py").read_text() == module("a.py", "f")
    assert Path("out/deep/b_raised.py").read_text() == module("b.cu", "g")
    assert "2 raised, 0 refused" in ran.err
    assert not Path("out/none_raised.py").exists()


def test_several_files_on_stdout_in_order(kraise):
    put("b.py", "kernel g\n")
    put("a.py", "kernel f\n")
    out = kraise("translate", "b.py", "a.py").out
    assert out.index("# ---- b.py ----") < out.index("# ---- a.py ----")


def test_a_folder_is_walked_in_order_without_hidden_and_own_files(kraise):
    put("d/b.py", "kernel g\n")
    put("d/a.py", "kernel f\n")
    put("d/.venv/x.py", "kernel hidden\n")
    put("d/env/pyvenv.cfg", "")
    put("d/env/x.py", "kernel hidden\n")
    put("d/__pycache__/x.py", "kernel hidden\n")
    put("d/a_raised.py", module("a.py", "f") + "kernel again\n")
    put("d/notes.txt", "kernel text\n")
    ran = kraise("translate", "d")
    assert [line for line in ran.out.split("\n") if line.startswith("#")] == [
        "# ---- d/a.py ----",
        "# ---- d/b.py ----",
    ]


def test_one_file_is_read_once(kraise):
    put("d/a.py", "kernel f\n")
    assert kraise("translate", "d", "d/a.py", "./d/../d/a.py").out == module("a.py", "f")


def test_refused_beside_raised(kraise):
    put("a.py", "refuse bad\nkernel good\nrefuse worse\n")
    ran = kraise("translate", "a.py", "-o", "out.py")
    assert ran.code == 1
    assert Path("out.py").read_text() == module("a.py", "good")
    assert ran.err == (
        "a.py: in kernel `bad`:\n"
        "a.py:1:8: error KR201: a race\n"
        "  1 | refuse bad\n"
        "    |        ^^^\n"
        "  hint: use an atomic\n"
        "a.py: in kernel `worse`:\n"
        "a.py:3:8: error KR201: a race\n"
        "  3 | refuse worse\n"
        "    |        ^^^^^\n"
        "  hint: use an atomic\n"
        "1 raised, 2 refused\n"
    )


def test_nothing_is_written_where_all_is_refused(kraise):
    put("a.py", "refuse bad\n")
    ran = kraise("translate", "a.py", "-o", "out.py")
    assert (ran.code, ran.out) == (1, "")
    assert not Path("out.py").exists()
    assert ran.err.endswith("0 raised, 1 refused\n")


def test_a_warning_is_no_refusal(kraise):
    put("a.py", "warn f\n")
    ran = kraise("translate", "a.py")
    assert ran.code == 0 and "a.py:1:1: warning KR208" in ran.err and "refused" not in ran.err


BAD = {
    "missing": (None, "there is no such file"),
    "empty": (b"", "the file is empty"),
    "blank": (b" \n\n", "the file is empty"),
    "binary": (b"kernel\0f", "binary"),
    "latin1": ("kernel f\n# caf\xe9\n".encode("latin1"), "bad.py:2:6: error KR105: the file is not UTF-8: byte 0xe9"),
    "syntax": (b"broken\n", "bad.py:1:1: error KR100"),
    "nothing": (b"x = 1\n", "there is no kernel in this file"),
    "ours": (module("z.py", "f").encode(), "written by kraise: translate its source instead"),
}


@pytest.mark.parametrize("case", BAD)
def test_unreadable_input(kraise, case):
    data, message = BAD[case]
    if data is not None:
        put("bad.py", data)
    put("out.py", module("bad.py", "old"))
    ran = kraise("translate", "bad.py", "-o", "out.py")
    assert ran.code == 2
    assert message in ran.err and "Traceback" not in ran.err
    assert Path("out.py").read_text() == module("bad.py", "old")


def test_unreadable_input_does_not_stop_the_others(kraise):
    put("a.py", "broken\n")
    put("b.py", "kernel g\n")
    ran = kraise("translate", "a.py", "b.py", "gone.py", "--twin")
    assert ran.code == 2
    assert Path("b_raised.py").exists()
    assert "1 raised, 0 refused, 2 files not read" in ran.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_permission(kraise):
    put("a.py", "kernel f\n").chmod(0)
    ran = kraise("translate", "a.py")
    assert ran.code == 2 and "Permission denied" in ran.err


def test_unknown_suffix_wants_a_language(kraise):
    put("a.txt", "kernel f\n")
    ran = kraise("translate", "a.txt")
    assert ran.code == 2 and "--language" in ran.err
    assert kraise("translate", "a.txt", "--language", "python").code == 0


def test_a_folder_without_kernels(kraise):
    Path("empty").mkdir()
    ran = kraise("translate", "empty")
    assert ran.code == 2 and "no Python or CUDA file in this folder" in ran.err
    put("plain/a.py", "x = 1\n")
    ran = kraise("translate", "plain")
    assert ran.code == 2 and "no kernel" in ran.err


def test_one_of_several_files_without_kernels_is_a_warning(kraise):
    put("a.py", "kernel f\n")
    put("b.py", "x = 1\n")
    ran = kraise("translate", "a.py", "b.py")
    assert ran.code == 0 and "b.py:1:1: warning KR106" in ran.err


def test_crlf_gives_the_same_bytes(kraise):
    put("a.py", b"kernel f\r\nkernel g\r\n")
    assert kraise("translate", "a.py").out == module("a.py", "f", "g")


def test_a_foreign_target_is_kept(kraise):
    put("a.py", "kernel f\n")
    put("out.py", "precious = 1\n")
    ran = kraise("translate", "a.py", "-o", "out.py")
    assert ran.code == 2 and "KR403" in ran.err and Path("out.py").read_text() == "precious = 1\n"
    assert kraise("translate", "a.py", "-o", "out.py", "--force").code == 0
    assert Path("out.py").read_text() == module("a.py", "f")


def test_the_source_is_never_a_target(kraise):
    put("a.py", "kernel f\n")
    os.symlink("a.py", "link.py")
    for target in ("a.py", "link.py"):
        ran = kraise("translate", "a.py", "-o", target, "--force")
        assert ran.code == 2 and "is an input" in ran.err
    assert Path("a.py").read_text() == "kernel f\n"


def test_two_inputs_with_one_target(kraise):
    put("a.py", "kernel f\n")
    put("a.cu", "kernel g\n")
    ran = kraise("translate", "a.py", "a.cu", "--twin")
    assert ran.code == 2 and "same target" in ran.err and not Path("a_raised.py").exists()


def test_targets_that_cannot_be_written(kraise):
    put("a.py", "kernel f\n")
    assert "No such file" in kraise("translate", "a.py", "-o", "no/such/out.py").err
    Path("a_raised.py").mkdir()
    ran = kraise("translate", "a.py", "--twin")
    assert ran.code == 2 and "is a folder" in ran.err
    put("ro.py", module("a.py", "old")).chmod(0o444)
    ran = kraise("translate", "a.py", "-o", "ro.py")
    assert ran.code == 2 and "read-only" in ran.err and "old" in Path("ro.py").read_text()
    ran = kraise("translate", "a.py", "a.py", "-o", "a" * 300 + ".py")
    assert ran.code == 2 and "cannot be written" in ran.err


def test_permissions_and_links_of_a_target_stay(kraise):
    put("a.py", "kernel f\n")
    put("real/out.py", module("a.py", "old")).chmod(0o640)
    os.symlink("real/out.py", "out.py")
    assert kraise("translate", "a.py", "-o", "out.py").code == 0
    assert Path("out.py").is_symlink() and Path("real/out.py").read_text() == module("a.py", "f")
    assert stat.S_IMODE(Path("real/out.py").stat().st_mode) == 0o640


def test_a_new_target_has_the_usual_permissions(kraise):
    put("a.py", "kernel f\n")
    old = os.umask(0o027)
    try:
        kraise("translate", "a.py", "-o", "out.py")
    finally:
        os.umask(old)
    assert stat.S_IMODE(Path("out.py").stat().st_mode) == 0o640


def test_an_equal_target_is_not_touched(kraise):
    put("a.py", "kernel f\n")
    kraise("translate", "a.py", "--twin")
    os.utime("a_raised.py", (1, 1))
    ran = kraise("translate", "a.py", "--twin")
    assert Path("a_raised.py").stat().st_mtime == 1 and ran.err == ""


def test_a_failed_write_leaves_nothing(kraise, monkeypatch):
    put("a.py", "kernel f\n")
    put("out.py", module("a.py", "old"))
    for error in (OSError(28, "No space left on device"), KeyboardInterrupt()):

        def fail(*_, error=error):
            raise error

        monkeypatch.setattr(os, "replace", fail)
        ran = kraise("translate", "a.py", "-o", "out.py")
        assert ran.code == (130 if isinstance(error, KeyboardInterrupt) else 2)
        assert sorted(os.listdir()) == ["a.py", "out.py"] and "old" in Path("out.py").read_text()


def test_usage_errors(kraise):
    put("a.py", "kernel f\n")
    put("b.py", "kernel f\n")
    put("file", "x")
    for args in (
        ["translate"],
        ["translate", "a.py", "--twin", "-o", "x.py"],
        ["translate", "-", "--twin"],
        ["translate", "-", "-"],
        ["translate", "a.py", "b.py", "-o", "file"],
        ["translate", "a.py", "--assume", "nonsense"],
        ["translate", "a.py", "--format", "xml"],
        ["translate", "a.py", "--frobnicate"],
        ["frobnicate"],
        ["a.py"],
    ):
        ran = kraise(*args)
        assert ran.code == 2 and ran.err and "Traceback" not in ran.err, args
    assert "kraise translate a.py" in kraise("a.py").err


def test_only_names_must_exist(kraise):
    put("a.py", "kernel f\n")
    assert kraise("translate", "a.py", "--only", "f").code == 0
    ran = kraise("translate", "a.py", "--only", "g")
    assert ran.code == 2 and "there is no kernel `g`" in ran.err


def test_a_function_that_launches_nothing_is_named(kraise):
    put("a.cu", "__global__ void k(float *x) { x[threadIdx.x] = 1; }\nvoid run(float *);\n\nint main() { run(0); }\n")
    ran = kraise("translate", "a.cu", "--entry", "main")
    assert ran.code == 2 and "a.cu:4:" in ran.err and "`main` launches no kernel of this file" in ran.err


def test_parallel_gives_the_same_as_one_process(kraise, monkeypatch):
    from kraise.cli import run

    for i in range(9):
        put(f"d/k{i}.py", f"kernel f{i}\nrefuse g{i}\n" + ("broken\n" if i == 5 else ""))
    alone = kraise("translate", "d")
    monkeypatch.setattr(run, "PARALLEL_BYTES", 0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    together = kraise("translate", "d")
    assert together == alone and alone.code == 2 and "8 raised, 8 refused, 1 file not read" in alone.err


def test_a_process_that_dies_is_one_message(kraise, monkeypatch):
    from kraise import pipeline
    from kraise.cli import run

    whole = pipeline.translate

    def die(source, file, options):
        if "k1" in file:
            os._exit(9)
        return whole(source, file, options)

    for i in range(3):
        put(f"d/k{i}.py", f"kernel f{i}\n")
    monkeypatch.setattr(pipeline, "translate", die)
    monkeypatch.setattr(run, "PARALLEL_BYTES", 0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    ran = kraise("translate", "d")
    assert ran.code == 2 and "KR900" in ran.err and "2 raised, 0 refused, 1 file not read" in ran.err
