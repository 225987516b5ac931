"""What the scripts in this folder share: the facts of the project, the table of targets, and files with the same bytes each time."""

import gzip
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import time
import tomllib
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# The scope of the packages on npm.
NPM_SCOPE = "@openprose-tools"
# The completions of each shell, as `prose completions` calls it, and the name of the file.
SHELLS = {"bash": "prose.bash", "zsh": "_prose", "fish": "prose.fish", "powershell": "prose.ps1", "nushell": "prose.nu"}


def fail(message):
    """Ends the script with an error of the user."""
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


def arguments(usage, count):
    """The arguments of a script, which takes so many."""
    found = sys.argv[1:]
    if len(found) != count or any(argument.startswith("-") for argument in found):
        fail(f"usage: deploy/packages/{Path(sys.argv[0]).name} {usage}")
    return found


def manifest(path):
    return tomllib.loads((ROOT / path).read_text(encoding="utf-8"))


WORKSPACE = manifest("Cargo.toml")["workspace"]["package"]
VERSION = WORKSPACE["version"]
LICENCE = WORKSPACE["license"]
REPOSITORY = WORKSPACE["repository"]
DESCRIPTION = manifest("crates/prose-cli/Cargo.toml")["package"]["description"]
TARGETS = json.loads((HERE / "targets.json").read_text(encoding="utf-8"))


def target_of(name):
    """The row of a target in the table."""
    for row in TARGETS:
        if row["target"] == name:
            return row
    known = ", ".join(row["target"] for row in TARGETS)
    return fail(f"unknown target {name}; expected one of {known}")


def is_windows(target):
    return "-windows-" in target


def program_name(target):
    return "prose.exe" if is_windows(target) else "prose"


def binary_of(path):
    """The path of a program that was built."""
    path = Path(path).resolve()
    if not path.is_file():
        fail(f"`{path}` does not exist; build it with deploy/packages/build")
    return path


def folder_of(path):
    """A folder for what is made, which is created."""
    path = Path(path).resolve()
    path.mkdir(parents=True, exist_ok=True)
    return path


def epoch():
    """The time of all files in packages, so that the same sources give the same bytes."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if given:
        return int(given)
    log = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%ct"], capture_output=True, text=True)
    return int(log.stdout) if log.returncode == 0 else int(time.time())


def ask(binary, *words):
    """What the program writes, started by its name alone: completions contain how it was started."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PROSE_")}
    run = subprocess.run(["prose", *words], executable=binary, env=environment, capture_output=True)
    if run.returncode != 0:
        fail(f"`{binary} {' '.join(words)}` fails:\n{run.stderr.decode(errors='replace')}")
    return run.stdout


def completions(binary):
    """The names and texts of the completions."""
    return {name: ask(binary, "completions", shell) for shell, name in SHELLS.items()}


def manual_pages(binary, folder):
    """The names and texts of the manual pages, which are written into a folder first."""
    ask(binary, "man", "--output-dir", str(folder))
    return {page.name: page.read_bytes() for page in sorted(Path(folder).iterdir())}


def documents():
    """The documents that each package has: the licences, also those of the crates in the program, and what is new."""
    licences = subprocess.run([sys.executable, HERE / "licences"], capture_output=True)
    if licences.returncode != 0:
        fail(licences.stderr.decode(errors="replace").removeprefix("error: ").strip())
    own = {name: (ROOT / name).read_bytes() for name in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"]}
    return own | {"LICENSE-THIRD-PARTY": licences.stdout}


def write_tar(path, files, executables=()):
    """Writes a `.tar.gz` of names and texts."""
    mtime = epoch()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, text in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(text), mtime
            member.mode = 0o755 if name in executables else 0o644
            archive.addfile(member, io.BytesIO(text))
    Path(path).write_bytes(gzip.compress(packed.getvalue(), compresslevel=9, mtime=mtime))


def write_zip(path, files, executables=()):
    """Writes a `.zip` of names and texts."""
    # The format has no date before 1980.
    moment = time.gmtime(max(epoch(), 315_532_800))[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, text in sorted(files.items()):
            member = zipfile.ZipInfo(name, moment)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.create_system = 3
            member.external_attr = (0o755 if name in executables else 0o644) << 16
            archive.writestr(member, text)


def archive_name(target):
    """The name of the folder in the archive of a target, and, with an extension, of the archive."""
    return f"prose-{VERSION}-{target}"


def archive_file(target):
    return archive_name(target) + (".zip" if is_windows(target) else ".tar.gz")


def program_in(archives, target):
    """The program in the archive of a target, or `None` if there is no archive."""
    path = Path(archives) / archive_file(target)
    member = f"{archive_name(target)}/{program_name(target)}"
    if not path.is_file():
        return None
    if is_windows(target):
        with zipfile.ZipFile(path) as archive:
            return archive.read(member)
    with tarfile.open(path) as archive:
        return archive.extractfile(member).read()


def debian_version():
    """The version for Debian, where `~` comes before a release."""
    return re.sub(r"-", "~", VERSION)
