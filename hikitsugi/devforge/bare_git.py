"""A bare git repository, read and written by the git command without hooks, shell or foreign configuration."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

from hikitsugi.devforge.refusals import Invalid, NotMergeable, NotThere
from hikitsugi.domain.errors import WillNeverWork

DEFAULT_BRANCH = "main"
IDENTITY = "Development Forge <forge@localhost>"
_ABSENT = "0" * 40
_SETTINGS = {
    "core.hooksPath": os.devnull,
    "gc.auto": "0",
    "http.receivepack": "true",
    "receive.autogc": "false",
    "transfer.fsckObjects": "true",
    "uploadpack.allowAnySHA1InWant": "true",
    "uploadpack.allowFilter": "true",
}


@dataclass(frozen=True)
class Entry:
    """A file or folder in a commit."""

    path: str
    kind: str
    mode: str
    hash: str
    size: int


@dataclass(frozen=True)
class Commit:
    """One commit's facts."""

    hash: str
    tree: str
    parents: tuple[str, ...]
    author: str
    email: str
    at: datetime
    message: str


@dataclass(frozen=True)
class Difference:
    """How much a head changes against its base."""

    commits: int = 0
    files: int = 0
    additions: int = 0
    deletions: int = 0


class BareGit:
    """The git half of a repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def create(cls, folder: Path, files: Mapping[str, str]) -> "BareGit":
        """Make a bare repository whose default branch holds these files in a first commit."""
        if folder.exists():
            raise WillNeverWork(f"{folder} exists already; give the development forge an empty data folder.")
        folder.mkdir(parents=True)
        git = cls(folder)
        git._run("init", "--quiet", "--bare", "--template=", f"--initial-branch={DEFAULT_BRANCH}")
        for key, value in _SETTINGS.items():
            git._run("config", key, value)
        git._run("fast-import", "--quiet", stdin=_first_commit(files))
        return git

    def commit_of(self, name: str) -> str | None:
        """The commit a branch, a tag or a full hash stands for."""
        whole = (name,) if re.fullmatch("[0-9a-f]{40}", name) else ()
        for ref in (*whole, f"refs/heads/{name}", f"refs/tags/{name}"):
            found = self._try("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
            if found is not None:
                return found.strip()
        return None

    def refs(self, prefix: str) -> dict[str, str]:
        """Full ref names below (or equal to) a prefix, with their objects."""
        listed = self._run("for-each-ref", "--format=%(objectname) %(refname)", prefix)
        return {ref: commit for commit, ref in (line.split(" ", 1) for line in listed.splitlines())}

    def create_ref(self, ref: str, commit: str) -> None:
        """Point a new ref at an existing commit."""
        if not ref.startswith("refs/") or ref.count("/") < 2 or self._try("check-ref-format", ref) is None:  # noqa: PLR2004 - refs/heads/name
            raise Invalid("Reference", "ref", "invalid", "Reference name is not valid")
        if not re.fullmatch("[0-9a-f]{40}", commit) or self.commit_of(commit) is None:
            raise Invalid("Reference", "sha", "invalid", "Object does not exist")
        if self._try("update-ref", ref, commit, _ABSENT) is None:
            if ref in self.refs(ref):
                raise Invalid("Reference", "ref", "already_exists", "Reference already exists")
            raise Invalid("Reference", "ref", "invalid", "Reference update failed")

    def delete_ref(self, ref: str, commit: str) -> None:
        """Remove a ref that still points at this commit."""
        self._run("update-ref", "-d", ref, commit)

    def commit(self, commit: str) -> Commit:
        """Read one commit."""
        told = self._run("log", "-1", "--format=%H%x00%T%x00%P%x00%an%x00%ae%x00%cI%x00%B", commit)
        name, tree, parents, author, email, at, message = told.split("\0", 6)
        return Commit(name, tree, tuple(parents.split()), author, email, datetime.fromisoformat(at), message.rstrip())

    def entry(self, commit: str, path: str) -> Entry:
        """What stands at a path of a commit; an empty path is the root folder."""
        if not path:
            return Entry("", "tree", "040000", self.commit(commit).tree, 0)
        folder, _, name = path.rpartition("/")
        for entry in self.listing(commit, folder):
            if entry.path == path and name:
                return entry
        raise NotThere(path)

    def listing(self, commit: str, folder: str) -> list[Entry]:
        """The entries of a folder of a commit."""
        listed = self._try("ls-tree", "-l", "-z", f"{commit}:{folder}")
        if listed is None:
            raise NotThere(folder)
        prefix = f"{folder}/" if folder else ""
        return [_entry(line, prefix) for line in listed.split("\0") if line]

    def content(self, blob: str) -> bytes:
        """The bytes of a file."""
        return self._bytes("cat-file", "blob", blob).stdout

    def diff(self, base: str, head: str) -> str:
        """What the head adds since it left the base, as a patch."""
        return self._run("diff", "--no-color", "--no-ext-diff", "--no-textconv", "-M", f"{base}...{head}")

    def difference(self, base: str, head: str) -> Difference:
        """How much the head adds since it left the base."""
        commits = int(self._run("rev-list", "--count", f"{base}..{head}"))
        rows = [line.split("\t") for line in self._run("diff", "--numstat", f"{base}...{head}").splitlines()]
        return Difference(
            commits=commits,
            files=len(rows),
            additions=sum(int(row[0]) for row in rows if row[0] != "-"),
            deletions=sum(int(row[1]) for row in rows if row[1] != "-"),
        )

    def commits_between(self, base: str, head: str) -> list[str]:
        """The commits that the head has and the base does not, newest last."""
        return self._run("rev-list", "--reverse", f"{base}..{head}").split()

    def have_common_history(self, base: str, head: str) -> bool:
        """Whether the two commits share an ancestor."""
        return self._try("merge-base", base, head) is not None

    def merges_cleanly(self, base: str, head: str) -> bool:
        """Whether a merge would meet no conflict."""
        return self._try("merge-tree", "--write-tree", base, head) is not None

    def merge(self, branch: str, head: str, message: str) -> str:
        """Merge a commit into a branch; the merge commit."""
        base = self.commit_of(branch)
        tree = base and self._try("merge-tree", "--write-tree", base, head)
        if not base or not tree:
            raise NotMergeable("Pull Request is not mergeable")
        commit = self._run("commit-tree", tree.strip(), "-p", base, "-p", head, "-m", message).strip()
        self._run("update-ref", f"refs/heads/{branch}", commit, base)
        return commit

    def _run(self, *arguments: str, stdin: bytes = b"") -> str:
        done = self._bytes(*arguments, stdin=stdin)
        done.check_returncode()
        return done.stdout.decode(errors="replace")

    def _try(self, *arguments: str) -> str | None:
        done = self._bytes(*arguments)
        return None if done.returncode else done.stdout.decode(errors="replace")

    def _bytes(self, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        command = [git_command(), f"--git-dir={self.folder}", *arguments]
        return subprocess.run(command, input=stdin, capture_output=True, env=git_environment(), check=False)  # noqa: S603 - no shell; the arguments are ours or checked


@cache
def git_command() -> str:
    """Where git is."""
    found = shutil.which("git")
    if not found:
        raise WillNeverWork("git is not installed; install it and start again.")
    return found


def git_environment() -> dict[str, str]:
    """An environment in which no setting of the machine or its user reaches git."""
    name, _, email = IDENTITY.rstrip(">").partition(" <")
    who = {
        f"GIT_{role}_{part}": value
        for role in ("AUTHOR", "COMMITTER")
        for part, value in (("NAME", name), ("EMAIL", email))
    }
    return who | {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
    }


def _entry(line: str, prefix: str) -> Entry:
    facts, name = line.split("\t", 1)
    mode, kind, blob, size = facts.split()
    return Entry(prefix + name, kind, mode, blob, 0 if size == "-" else int(size))


def _first_commit(files: Mapping[str, str]) -> bytes:
    parts = [f"commit refs/heads/{DEFAULT_BRANCH}\ncommitter {IDENTITY} {int(time.time())} +0000\n".encode()]
    parts.append(_data(b"First commit\n"))
    for path, text in files.items():
        mode = "100755" if text.startswith("#!") else "100644"
        parts += [f"M {mode} inline {path}\n".encode(), _data(text.encode())]
    return b"".join(parts)


def _data(content: bytes) -> bytes:
    return b"data %d\n%b\n" % (len(content), content)
