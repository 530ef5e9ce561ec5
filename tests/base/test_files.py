from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest

from oddhop.base.checkpoints import RunFolder, discard_run, locked, open_run, recorded
from oddhop.base.files import (
    atomic_file,
    digest,
    pack_arrays,
    sweep_beside,
    unpack_arrays,
    write_atomically,
)
from oddhop.errors import ModelFileError, RunFolderError


def test_a_failed_write_leaves_the_old_file_and_no_debris(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "file"
    write_atomically(target, b"old")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(target, b"new")
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_two_writers_of_one_file_do_not_meet(tmp_path: Path) -> None:
    with atomic_file(tmp_path / "file") as first, atomic_file(tmp_path / "file") as second:
        first.write(b"whole")
        second.write(b"of the other")
    assert (tmp_path / "file").read_bytes() == b"whole"


def test_what_a_manifest_records_is_given_or_none(tmp_path: Path) -> None:
    assert recorded(tmp_path, "seed") is None
    (tmp_path / "manifest.json").write_text('{"seed": 3}')
    assert recorded(tmp_path, "seed") == 3
    (tmp_path / "manifest.json").write_text("[1]")
    assert recorded(tmp_path, "seed") is None


def test_what_a_killed_writer_left_is_swept_when_the_folder_is_held_again(tmp_path: Path) -> None:
    (tmp_path / ".manifest.json.4711.tmp").write_bytes(b"half")
    (tmp_path / "notes.tmp").write_bytes(b"the user's")
    with locked(tmp_path):
        assert sorted(file.name for file in tmp_path.iterdir()) == [".lock", "notes.tmp"]


def test_an_array_of_a_run_lives_in_its_folder_and_must_have_its_size(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    kept = folder.array("mean", (2, 3), np.float32, fresh=True)
    kept[1, 2] = 5.0
    del kept
    assert folder.array("mean", (2, 3), np.float32, fresh=False)[1].tolist() == [0.0, 0.0, 5.0]
    assert folder.array("none", (2, 0), np.float32, fresh=True).shape == (2, 0)
    with pytest.raises(RunFolderError, match="has the wrong size"):
        folder.array("mean", (2, 4), np.float32, fresh=False)


def test_what_a_killed_writer_left_is_swept_by_the_next_and_a_living_one_is_let_be(tmp_path: Path) -> None:
    target = tmp_path / "file[1]"
    dead, living, other = (tmp_path / f".file[1].{name}.tmp" for name in ("1", "2", "3"))
    for left_over in (dead, living):
        left_over.write_bytes(b"half")
    other.symlink_to(tmp_path / "elsewhere")
    (tmp_path / ".another.1.tmp").write_bytes(b"half")
    with living.open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sweep_beside(target)
        write_atomically(target, b"new")
    assert sorted(file.name for file in tmp_path.iterdir()) == [".another.1.tmp", living.name, target.name]


def test_no_link_leads_a_write_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    (tmp_path / ".file.1.tmp").symlink_to(victim)
    sweep_beside(tmp_path / "file")
    write_atomically(tmp_path / "file", b"new")
    run = tmp_path / "run"
    run.mkdir()
    (run / "mean.bin").symlink_to(victim)
    with pytest.raises(RunFolderError, match="missing or has the wrong size"):
        RunFolder(run).array("mean", (1,), np.float32, fresh=False)
    RunFolder(run).array("mean", (1,), np.float32, fresh=True)[:] = 1
    (run / ".lock").symlink_to(victim)
    with pytest.raises(RunFolderError, match="cannot write to the folder"), locked(run):
        pass
    assert victim.read_bytes() == b"mine"
    (tmp_path / ".guessed.tmp").symlink_to(victim)
    monkeypatch.setattr("oddhop.base.files.temporary_name", lambda path: tmp_path / ".guessed.tmp")
    with pytest.raises(FileExistsError):
        write_atomically(tmp_path / "file", b"new")
    assert (victim.read_bytes(), (tmp_path / "file").read_bytes()) == (b"mine", b"new")


def test_a_mapped_array_finds_its_room_on_the_disk_before_it_is_mapped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    RunFolder(tmp_path).array("mean", (1000,), np.float64, fresh=True)
    assert (tmp_path / "mean.bin").stat().st_blocks * 512 >= 8000

    def full(descriptor: int, start: int, size: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match="No space left"):
        RunFolder(tmp_path).array("mean", (1000,), np.float64, fresh=True)
    monkeypatch.delattr(os, "posix_fallocate")
    assert RunFolder(tmp_path).array("mean", (10,), np.float64, fresh=True).tolist() == [0.0] * 10


def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    with (
        open_run(tmp_path / "one", {"seed": 1}, resume=False) as one,
        open_run(tmp_path / "two", {"seed": 2}, resume=False) as two,
    ):
        one.save("chain-0", {"w": np.zeros(2)}, {"step": 3})
        two.save("chain-0", {"w": np.ones(2)}, {"step": 4})
        assert one.load("chain-0")[1] == {"step": 3}
        assert one.load("chain-1") is None
        (tmp_path / "two" / "chain-0.safetensors").replace(tmp_path / "one" / "chain-0.safetensors")
        with pytest.raises(RunFolderError, match="a checkpoint of another run"):
            one.load("chain-0")
        write_atomically(tmp_path / "one" / "chain-0.safetensors", pack_arrays({}, {"run": one.run, "info": 3}))
        with pytest.raises(RunFolderError, match="a checkpoint of another run"):
            one.load("chain-0")


def test_a_run_is_taken_away_at_one_stroke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_run(tmp_path / "run", {"seed": 1}, resume=False) as run:
        run.save("chain-0", {"w": np.zeros(2)}, {})
        (run.path / "spill").mkdir()
    with monkeypatch.context() as killed:
        killed.setattr("shutil.rmtree", lambda folder: None)
        discard_run(tmp_path / "run")
    assert not (tmp_path / "run").exists()
    assert len(list(tmp_path.iterdir())) == 1
    with open_run(tmp_path / "run", {"seed": 2}, resume=True) as run:
        assert run.load("chain-0") is None
    assert [file.name for file in tmp_path.iterdir()] == ["run"]
    discard_run(tmp_path / "run")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["{", "3", "[" * 100_000])
def test_a_manifest_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    assert recorded(tmp_path, "seed") is None
    with pytest.raises(RunFolderError, match="cannot be read"), open_run(tmp_path, {"seed": 1}, resume=True):
        pass


def test_a_run_that_failed_with_nothing_to_keep_leaves_no_folder(tmp_path: Path) -> None:
    def failed(name: str, keep: bool) -> None:
        with locked(tmp_path / name) as folder:
            if keep:
                (folder / "result").touch()
            raise KeyError("it failed")

    (tmp_path / "was there").mkdir()
    for name, keep in (("new", False), ("kept", True), ("was there", False)):
        with pytest.raises(KeyError, match="it failed"):
            failed(name, keep)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["kept", "was there"]


def test_the_order_in_which_things_are_told_makes_no_other_file_and_no_other_run(tmp_path: Path) -> None:
    one, other = {"a": 1, "b": 2}, {"b": 2, "a": 1}
    assert pack_arrays({}, one) == pack_arrays({}, other)
    with open_run(tmp_path / "new" / "run", one, resume=False) as first:  # the folder above is made too
        written = (first.path / "manifest.json").read_bytes()
    with open_run(tmp_path / "new" / "run", other, resume=True) as second:
        assert second.run == first.run
    with open_run(tmp_path / "other", other, resume=False) as third:
        assert (third.path / "manifest.json").read_bytes() == written


def test_a_file_system_without_locks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(RunFolderError, match=r"without locks \(No locks available\)"), locked(tmp_path / "run"):
        pass


def test_a_folder_is_held_by_one(tmp_path: Path) -> None:
    with locked(tmp_path / "run"):
        with pytest.raises(RunFolderError, match="another run is writing to"), locked(tmp_path / "run"):
            pass
        assert (tmp_path / "run" / ".lock").exists()
    with locked(tmp_path / "run"):
        pass
    (tmp_path / "file").touch()
    with pytest.raises(RunFolderError, match="cannot write to the folder"), locked(tmp_path / "file" / "run"):
        pass


def test_only_the_same_run_goes_on_and_only_when_asked(tmp_path: Path) -> None:
    with open_run(tmp_path / "run", {"seed": 1, "hops": 4}, resume=False):
        pass
    with open_run(tmp_path / "run", {"seed": 1, "hops": 4}, resume=True):
        pass
    with (
        pytest.raises(RunFolderError, match="already has a run"),
        open_run(tmp_path / "run", {"seed": 1, "hops": 4}, resume=False),
    ):
        pass
    with (
        pytest.raises(RunFolderError, match="another run: seed was 1 and is 2, size was None and is 3;"),
        open_run(tmp_path / "run", {"seed": 2, "hops": 4, "size": 3}, resume=True),
    ):
        pass


@pytest.mark.parametrize("part", ["sha256", "document", "array", "space"])
def test_every_seal_of_a_packed_file_is_looked_at(part: str) -> None:
    content = pack_arrays({"x": np.arange(3.0)}, {"a": 1})
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    sealed = json.loads(header["__metadata__"]["oddhop"])
    document = json.loads(sealed["document"])
    body = content[8 + size :]
    if part == "sha256":
        sealed["sha256"] = "0" * 64
    elif part == "document":
        document["info"] = {"a": 2}
        sealed["document"] = json.dumps(document, sort_keys=True)
    elif part == "array":
        document["sha256"]["x"] = "0" * 64
        text = json.dumps(document, sort_keys=True)
        sealed = {"document": text, "sha256": hashlib.sha256(text.encode()).hexdigest()}
    header["__metadata__"]["oddhop"] = json.dumps(sealed, sort_keys=True)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8 + (8 if part == "space" else 0))
    with pytest.raises(ModelFileError, match="was changed after it was written"):
        unpack_arrays(len(text).to_bytes(8, "little") + text + body, "it")


def test_a_digest_tells_types_and_shapes_apart() -> None:
    zeros = [np.zeros(4, np.float32), np.zeros(2, np.float64), np.zeros((2, 2), np.float32), np.zeros(4, np.int32)]
    assert len({digest(array) for array in zeros}) == 4
    grid = np.arange(12.0).reshape(3, 4)
    assert digest(grid[:, ::2]) == digest(grid[:, ::2].copy())
    assert unpack_arrays(pack_arrays({"x": np.float64(3.0)}, {}), "it")[0]["x"].shape == ()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full disk")
def test_a_full_disk_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oddhop.base.files.temporary_name", lambda path: path.with_name("temporary"))

    def write() -> None:
        with atomic_file(tmp_path / "results.csv") as file:
            os.dup2(os.open("/dev/full", os.O_WRONLY), file.fileno())
            file.write(b"x" * 100_000)

    with pytest.raises(OSError, match="No space left") as caught:
        write()
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(tmp_path / "results.csv")
    assert not list(tmp_path.iterdir())
