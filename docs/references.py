"""Sphinx extension: generated reference tables, links out of the documentation, and a check for fetches."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util import logging

import fowler
from fowler import _core

ROOT = Path(__file__).parents[1]
LOG = logging.getLogger(__name__)

PLACE = re.compile(r"^<!-- written by the build: (?P<what>\w+) -->$", re.MULTILINE)
# Anything that looks like a placeholder. A misspelled one would silently leave its page empty.
LIKELY = re.compile(r"<!--(?:(?!-->).)*\b(?:written|build)\b(?:(?!-->).)*-->", re.IGNORECASE | re.DOTALL)
LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<target>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
# Files outside of docs that are pages of the documentation.
PAGES = {
    "ARCHITECTURE.md": "/project/architecture.md",
    "CONTRIBUTING.md": "/project/contributing.md",
    "CHANGELOG.md": "/project/changelog.md",
    "README.md": "/index.md",
}
# References that a browser would fetch: scripts, styles, images and fonts from another host.
FETCHED = re.compile(
    r"""<(?:script|img|iframe|link)\b[^>]*?\b(?:src|href)=["'](?:https?:)?//"""
    r"""|@import\s+["'(]*(?:https?:)?//|url\(\s*["']?(?:https?:)?//"""
)


def asked(*arguments: str) -> str:
    """Returns what the command prints."""
    command = [sys.executable, "-m", "fowler", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def listed(text: str) -> list[str]:
    """Returns the subcommands that a help text lists."""
    block = re.search(r"^Commands:\n(?P<lines>(?:  .*\n|\n(?=  ))+)", text, re.MULTILINE)
    names = re.findall(r"^  ([\w-]+)", block["lines"], re.MULTILINE) if block else []
    # A command that also runs without a subcommand has a usage of two lines.
    if bool(names) != bool(re.search(r"^(?:Usage:| +fowler ).*<COMMAND>", text, re.MULTILINE)):
        raise ExtensionError(f"cannot find the subcommands in this help text:\n{text}")
    return names


def commands() -> str:
    """Returns the help of every command, each followed by its subcommands."""

    def below(above: tuple[str, ...]) -> Iterator[str]:
        text = asked(*above, "--help")
        names = listed(text)
        if above:
            yield f"{'#' * (len(above) + 1)} fowler {' '.join(above)}\n"
        yield f"```text\n{text.rstrip()}\n```\n"
        for name in names:
            if name != "help":
                yield from below((*above, name))

    return "\n".join(below(()))


def keys() -> str:
    """Returns a table for each section of a drive's keys."""
    sections: dict[str, list[str]] = {}
    for path, _kind, about, expected, words, required, default, needs in _core.keys():
        section = path.rpartition(".")[0]
        takes = "; ".join(f"`{word}`: {means}" for word, means in words) or expected
        otherwise = "required" if required else f"`{default}`" if default else ""
        meaning = f"{about}. Needs {needs}" if needs else about
        cells = (f"`{path}`", meaning, takes, otherwise)
        row = " | ".join(cell.replace("|", "\\|") for cell in cells)
        sections.setdefault(section, []).append(f"| {row} |")
    text = []
    for section, rows in sections.items():
        name = f"`[{section}]`" if section else "Top level"
        head = "| key | meaning | values | default |\n|---|---|---|---|"
        text.append(f"## {name}\n\n{head}\n" + "\n".join(rows) + "\n")
    title = "keys of a workload"
    workload = asked("presets", "--keys").partition(f"{title}\n")[2]
    if not workload.strip():
        raise ExtensionError(f"`fowler presets --keys` has no heading `{title}`")
    text.append(f"## {title.capitalize()}\n\n```text\n{textwrap.dedent(workload)}```\n")
    return "\n".join(text)


def metrics() -> str:
    """Returns a table for each part of a summary."""
    sections: dict[str, list[str]] = {}
    for it in fowler.metrics():
        section = it.name.partition(".")[0] if "." in it.name else ""
        cells = (f"`{it.name}`", it.unit, it.about)
        row = " | ".join(cell.replace("|", "\\|") for cell in cells)
        sections.setdefault(section, []).append(f"| {row} |")
    text = []
    for section, rows in sections.items():
        name = f"`{section}`" if section else "Top level"
        text.append(f"## {name}\n\n| name | unit | meaning |\n|---|---|---|\n" + "\n".join(rows) + "\n")
    return "\n".join(text)


def presets() -> str:
    """Returns a table of presets for each kind."""
    text = []
    for kind in ("device", "scheme", "workload"):
        rows = [f"| `{it.name}` | {it.about} |" for it in fowler.presets(kind)]
        if not rows:
            raise ExtensionError(f"there are no presets of kind {kind}")
        text.append(f"## {kind.capitalize()}s\n\n| name | description |\n|---|---|\n" + "\n".join(rows))
    return "\n\n".join(text) + "\n"


def file(name: str) -> Callable[[], str]:
    """Returns a page at the root of the repository, with links adjusted to a folder in `docs`."""

    def text() -> str:
        def moved(link: re.Match[str]) -> str:
            target = link["target"]
            if "://" in target:
                return link[0]
            whole = "/" + target.removeprefix("docs/") if target.startswith("docs/") else f"../../{target}"
            return f"[{link['text']}]({whole}{link['anchor'] or ''})"

        return LINK.sub(moved, (ROOT / name).read_text())

    return text


WRITTEN: dict[str, Callable[[], str]] = {
    "commands": commands,
    "keys": keys,
    "metrics": metrics,
    "presets": presets,
    "architecture": file("ARCHITECTURE.md"),
    "contributing": file("CONTRIBUTING.md"),
    "changelog": file("CHANGELOG.md"),
}


def written(page: str, what: str) -> str:
    """Returns the text for a placeholder in a page."""
    if what not in WRITTEN:
        raise ExtensionError(f"{page}: unknown text `{what}`, expected one of {', '.join(WRITTEN)}")
    text = WRITTEN[what]()
    if not text.strip():
        raise ExtensionError(f"{page}: the generated text `{what}` is empty")
    return text


def complete(app: Sphinx, page: str, content: list[str]) -> None:
    """Replaces placeholders by generated text, and resolves links that leave the documentation."""
    text = PLACE.sub(lambda place: written(page, place["what"]), content[0])
    if (place := LIKELY.search(PLACE.sub("", content[0]))) is not None:
        raise ExtensionError(f"{page}: `{place[0]}` is not a valid placeholder, which is {PLACE.pattern}")
    here = app.env.doc2path(page).parent

    def followed(link: re.Match[str]) -> str:
        if not link["target"].startswith("../"):
            return link[0]
        target = (here / link["target"]).resolve()
        inside = target.relative_to(ROOT).as_posix() if target.is_relative_to(ROOT) else ""
        if inside in PAGES:
            return f"[{link['text']}]({PAGES[inside]}{link['anchor'] or ''})"
        # Sphinx offers files for download. Folders cannot be downloaded, so the link is dropped.
        return link["text"] if target.is_dir() and not inside.startswith("docs") else link[0]

    content[0] = LINK.sub(followed, text)


def offline(app: Sphinx, failed: Exception | None) -> None:
    """Warns about pages that would fetch something."""
    if failed is not None:
        return
    for path in sorted(Path(app.outdir).rglob("*")):
        if path.suffix in (".html", ".css") and (found := FETCHED.search(path.read_text())):
            LOG.warning("%s: the page fetches %s", path.relative_to(app.outdir), found[0])


def alone(app: Sphinx) -> None:
    """Makes cells run the same way everywhere: without user configuration and kernel messages."""
    profile = Path(app.doctreedir) / "ipython" / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "ipython_kernel_config.py").write_text("c = get_config()\nc.IPKernelApp.log_level = 40\n")
    os.environ["IPYTHONDIR"] = str(profile.parent)


def whole(app: Sphinx, what: str, name: str, item: object, options: object, lines: list[str]) -> None:
    """Rejoins attribute texts that napoleon split: it takes text before a colon for the attribute's type."""
    for at, line in enumerate(lines):
        if what == "attribute" and line.startswith(":type: "):
            lines[:] = [f"{line.removeprefix(':type: ')}: {lines[0]}", *lines[1:at], *lines[at + 1 :]]
            return


def setup(app: Sphinx) -> dict[str, bool]:
    """Registers the hooks of this file with Sphinx."""
    app.connect("builder-inited", alone)
    app.connect("autodoc-process-docstring", whole, priority=600)
    app.connect("source-read", complete)
    app.connect("build-finished", offline)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
