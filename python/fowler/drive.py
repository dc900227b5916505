"""Drives: a preset, a file or one's own description, with changes."""

from __future__ import annotations

import dataclasses
import html
import os
import tomllib
from collections.abc import Iterable, Mapping
from typing import Self

from fowler import _arguments, _core
from fowler._settings import Setting, settings
from fowler.config import Config
from fowler.errors import Diagnostic, InputError

__all__ = ["Device", "Preset", "device", "presets"]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Device(Config):
    """A drive: every key of its configuration, and the name it goes by.

    Made by :func:`device` it is complete and checked. One that is put together by hand is checked when it
    is first used, or by :meth:`check`.
    """

    name: str = "device"
    """What it is called in tables and messages."""

    def with_(self, changes: Mapping[str, Setting] | None = None, **keys: Setting) -> Self:
        """The same drive with some keys changed, checked as a whole.

        A key goes by its path, with ``_`` for the dots (``buffer_size="64MiB"``), by its last part where no
        other key ends so (``over_provisioning=0.28``), or with a unit at the end (``read_us=30``). Keys as
        they are written in files go into ``changes``: ``{"timing.read": "30us"}``.

        Raises:
            InputError: for every key that is not known and every value that does not do.
        """
        return type(self)._resolved(self.name, self.toml(), settings({**(changes or {}), **keys}))

    def under(self, scheme: str) -> Self:
        """The same drive with the policies of a scheme."""
        return type(self)._resolved(self.name, self.toml(), [], scheme)

    def check(self) -> Self:
        """The same drive, if it can be built.

        Raises:
            InputError: for everything that is wrong with it.
        """
        return self.with_()

    def toml(self) -> str:
        """The drive as the text of a device file."""
        # A name is none of the keys.
        lines = (line for line in self.lines() if not line.startswith("name = "))
        return "\n".join(lines) + "\n"

    @property
    def hash(self) -> str:
        """The hash of its complete configuration: ``config_hash`` of every result on it."""
        return _core.resolve(self._drive([]))[1]

    def __repr__(self) -> str:
        """Its name and its configuration's hash; ``toml()`` is all of it."""
        return f"<Device {self.name}: {self.hash}>"

    def _repr_html_(self) -> str:
        text = _core.resolve(self._drive([]))[0]
        name = html.escape(self.name)
        return f"<details><summary>Drive <b>{name}</b></summary><pre>{html.escape(text)}</pre></details>"

    def _drive(self, changes: list[str], seed: int | None = None) -> _arguments.Drive:
        return {"device": self.name, "text": self.toml(), "set": changes, "seed": seed}

    @classmethod
    def _resolved(cls, name: str, text: str | None, set_: list[str], scheme: str | None = None) -> Self:
        drive: _arguments.Drive = {"device": name, "text": text, "set": set_, "seed": None}
        whole, _ = _core.resolve(drive, scheme)
        return dataclasses.replace(cls.of(tomllib.loads(whole)), name=name)


def device(name: str | os.PathLike[str], /, **keys: Setting) -> Device:
    """The drive of a preset or of a file that ends in ``.toml``, with some keys changed.

    >>> device("pes-mlc").with_(buffer_size="64MiB").buffer.size
    '64MiB'

    Raises:
        InputError: for everything that is wrong with it.
    """
    return Device._resolved(os.fspath(name), None, settings(keys))


@dataclasses.dataclass(frozen=True, slots=True)
class Preset:
    """A device, a workload or a scheme that comes with Fowler."""

    kind: str
    """``device``, ``workload`` or ``scheme``."""
    name: str
    """The name by which it is asked for."""
    about: str
    """What it is, in a line."""

    @property
    def text(self) -> str:
        """Its file."""
        return _core.preset(self.kind, self.name)


def presets(kind: str | None = None) -> list[Preset]:
    """What comes with Fowler, of one kind or of all three.

    Raises:
        InputError: if there is no such kind.
    """
    if kind not in (None, "device", "workload", "scheme"):
        expected = "device, workload or scheme"
        raise InputError([Diagnostic("kind", None, "", f"there are no presets of kind `{kind}`", expected)])
    return [Preset(*facts) for facts in _core.presets() if kind in (None, facts[0])]


def as_drive(
    given: Device | str | os.PathLike[str], set_: Iterable[str], seed: int | None
) -> _arguments.Drive:
    """A drive as the simulator takes it."""
    if isinstance(given, Device):
        return given._drive(list(set_), seed)
    return {"device": os.fspath(given), "text": None, "set": list(set_), "seed": seed}
