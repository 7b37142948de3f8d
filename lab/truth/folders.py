"""The folders that labels are about, fetched over git or from repositories on disk. The project keeps none of them."""

from __future__ import annotations

import codecs
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from kafka_hindsight.settings.home import HOME
from lab.truth.labels import LogLine, Truth, digest_of

BUILT = HOME / ".build" / "truth"
BROKERS, CLIENTS = "logs", "clients"
"""What is audited as LOGS and as CLIENT_LOGS, within the folder that is fetched."""

HOST = "https://github.com"
FOLDERS = "TRUTH_FOLDERS"
"""The environment's name for a folder of repositories, `owner+name` or `owner/name`, each a git directory."""


class NotFetched(Exception):
    """A folder could not be had, or is not the one that was labelled. The message says why."""


def fetch(truth: Truth) -> Path:
    """The files of a truth on this disk: fetched where they are not yet here.

    Raises NotFetched where they are not available, or a line is not the labelled one.
    """
    folder = BUILT / truth.name / f"files-{key_of(truth)}"
    if not folder.exists():
        part = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        git = _repository(truth)
        for path, blob in _list_files(git, truth):
            target = part / (CLIENTS if matches(path, truth.client_logs) else BROKERS) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(_git(git, "cat-file", "blob", blob))
        if not part.exists():
            raise NotFetched(f"{truth.repository} has no files in {truth.folder} at {truth.commit[:12]}")
        part.rename(folder)
    text_of(folder, truth.lines())
    return folder


def key_of(truth: Truth) -> str:
    """A value that changes with the files of a truth and the options of their audit."""
    return hashlib.sha256(repr((truth.commit, truth.folder, truth.files, truth.client_logs)).encode()).hexdigest()[:12]


def text_of(folder: Path, lines: set[LogLine]) -> dict[LogLine, str]:
    """The text of each of these lines.

    Raises NotFetched where a line is missing, or is not the labelled one.
    """
    paths = ((name, folder / part / name) for name in {line.file for line in lines} for part in (BROKERS, CLIENTS))
    files = {name: _lines_of(path.read_bytes()) for name, path in paths if path.is_file()}
    texts: dict[LogLine, str] = {}
    for line in sorted(lines, key=lambda line: (line.file, line.number)):
        of_file = files.get(line.file)
        if of_file is None or line.number > len(of_file) or digest_of(of_file[line.number - 1]) != line.digest:
            raise NotFetched(f"{line.file}:{line.number} is not the line that was labelled; fetch the commit again")
        texts[line] = of_file[line.number - 1].decode("utf-8", "replace").rstrip("\r")
    return texts


def _lines_of(file: bytes) -> list[bytes]:
    """The lines of a file, in UTF-8."""
    wide = file[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    return (file.decode("utf-16", "replace").encode() if wide else file).split(b"\n")


def matches(path: str, patterns: Sequence[str]) -> bool:
    """Whether a path within the folder is one of those that the patterns name."""
    return any(fnmatchcase(path, pattern) for pattern in patterns)


def _repository(truth: Truth) -> Path:
    """A git directory that holds the commit."""
    root = os.environ.get(FOLDERS)
    if root:
        owner, name = truth.repository.split("/")
        for path in (Path(root) / f"{owner}+{name}", Path(root) / owner / name):
            for git in (path, path / "repo", path / ".git", path / "repo" / ".git"):
                if (git / "objects").is_dir():
                    return git
        raise NotFetched(f"{truth.repository} is not in {FOLDERS}={root}; put its git directory there")
    git = BUILT / truth.name / "git"
    if not (git / "objects").is_dir():
        git.mkdir(parents=True, exist_ok=True)
        _git(git, "init", "--quiet", "--bare")
    _git(git, "fetch", "--quiet", "--depth", "1", f"{HOST}/{truth.repository}.git", truth.commit)
    return git


def _list_files(git: Path, truth: Truth) -> Iterator[tuple[str, str]]:
    """The path within the folder, and the blob, of each file that is to be audited."""
    root = PurePosixPath(truth.folder)
    for entry in (
        _git(git, "ls-tree", "-r", "-z", truth.commit, "--", truth.folder).decode("utf-8", "replace").split("\0")
    ):
        about, _, name = entry.partition("\t")
        mode, _, blob = about.partition(" ")[0], None, about.split(" ")[-1]
        if not name or not mode.startswith("100"):
            continue
        path = PurePosixPath(name)
        inside = path.relative_to(root).as_posix() if root != path else path.name
        if ".." not in path.parts and matches(inside, truth.files):
            yield inside, blob


def _git(git: Path, *arguments: str) -> bytes:
    command: Sequence[str] = ["git", f"--git-dir={git}", *arguments]
    process = subprocess.run(command, capture_output=True, check=False, env={**os.environ, "GIT_TERMINAL_PROMPT": "0"})
    if process.returncode:
        reason = process.stderr.decode("utf-8", "replace").strip().splitlines() or ["no reason"]
        raise NotFetched(f"git {arguments[0]} failed: {reason[-1]}")
    return process.stdout
