"""Drives: a preset, a file or your own description, with changes."""

from __future__ import annotations

import dataclasses
import difflib
import html
import os
import textwrap
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any, Self, SupportsIndex, Unpack, overload

from fowler import _arguments, _core
from fowler._keywords import DriveKeys
from fowler._settings import Setting, settings
from fowler.config import Config
from fowler.errors import Diagnostic, InputError, path_of, shown

__all__ = ["Device", "Preset", "Presets", "device", "presets"]

DEVICE = "a preset's name or a file that ends in .toml"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Device(Config):
    """A drive: its name and every key of its configuration.

    A drive that :func:`device` returns is complete and valid. A drive that you assemble yourself is checked
    when it is first used, or by :meth:`check`.

    >>> drive.with_(buffer_size="64MiB").buffer.size.bytes
    67108864
    """

    name: str = "device"
    """The name shown in tables and messages."""

    def with_(self, changes: Mapping[str, Setting] | None = None, **keys: Unpack[DriveKeys]) -> Self:
        """Returns the drive with some keys changed, and checks the result as a whole.

        Write a key as its path with ``_`` for the dots (``buffer_size="64MiB"``), or as its last part if no
        other key ends the same way (``over_provisioning=0.28``). Times, sizes and rates have their units;
        a time may be a ``timedelta``. Keys as they are written in files go into ``changes``:
        ``{"timing.read": "30us"}``.

        >>> its = drive.with_(read="30us", over_provisioning=0.28)
        >>> its.timing.read, its.timing.read.us
        ('30us', 30.0)

        Raises:
            InputError: for every unknown key and every invalid value.
        """
        if not isinstance(changes or {}, Mapping):
            expected = 'a dictionary, such as {"timing.read": "30us"}'
            what = f"invalid value {shown(changes)}"
            raise InputError([Diagnostic("changes", None, "", what, expected)])
        return type(self)._resolved(self.name, self.toml(), settings({**(changes or {}), **_given(keys)}))

    def under(self, scheme: str) -> Self:
        """Returns the drive with the policies of a scheme.

        >>> drive.under("pes_ipc").policy.suspension.name
        'ipc'
        """
        if not isinstance(scheme, str):
            what = f"invalid value {shown(scheme)}"
            raise InputError(
                [Diagnostic("scheme", None, "", what, "a scheme's name, or several joined by +")]
            )
        return type(self)._resolved(self.name, self.toml(), [], scheme)

    def check(self) -> Self:
        """Returns the drive, completed, if its configuration is valid.

        >>> drive.check() == drive
        True

        Raises:
            InputError: for everything that is wrong with it.
        """
        return self.with_()

    def toml(self) -> str:
        """Returns the drive as the text of a device file.

        >>> "geometry.over_provisioning" in drive.toml()
        True
        """
        # The name is not a configuration key.
        lines = (line for line in self.lines() if not line.startswith("name = "))
        return "\n".join(lines) + "\n"

    @property
    def hash(self) -> str:
        """The hash of the complete configuration, which every result on the drive has as ``config_hash``."""
        return _core.resolve(self._drive([]))[1]

    def __repr__(self) -> str:
        """Shows the name and the configuration's hash. ``toml()`` returns every key."""
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


def device(name: str | os.PathLike[str], /, **keys: Unpack[DriveKeys]) -> Device:
    """Returns the drive of a preset or of a file that ends in ``.toml``, with some keys changed.

    >>> device("pes-mlc").with_(buffer_size="64MiB").buffer.size
    '64MiB'

    Raises:
        InputError: for everything that is wrong with it.
    """
    return Device._resolved(path_of("name", name, DEVICE), None, settings(_given(keys)))


@dataclasses.dataclass(frozen=True, slots=True)
class Preset:
    """A device, a workload or a scheme that comes with Fowler.

    >>> fowler.presets()["tlc"].kind
    'device'
    """

    kind: str
    """``device``, ``workload`` or ``scheme``."""
    name: str
    """The name to pass to :func:`fowler.run` and the command line."""
    about: str
    """A description in one line."""

    @property
    def text(self) -> str:
        """The text of the preset's file."""
        return _core.preset(self.kind, self.name)

    def __repr__(self) -> str:
        """Shows the kind and the name. ``about`` describes it."""
        return f"<Preset {self.kind} {self.name}>"


class Presets(list[Preset]):
    """A list of presets, which shows their names and finds them by name.

    >>> fowler.presets("scheme")["rps"]
    <Preset scheme rps>
    """

    @overload
    def __getitem__(self, which: str | SupportsIndex) -> Preset: ...
    @overload
    def __getitem__(self, which: slice) -> Presets: ...

    def __getitem__(self, which: str | SupportsIndex | slice) -> Preset | Presets:
        """Returns a preset by its name or its index, or some of them.

        Raises:
            KeyError: if there is no preset of that name.
        """
        if isinstance(which, slice):
            return Presets(super().__getitem__(which))
        if not isinstance(which, str):
            return super().__getitem__(which)
        for preset in self:
            if preset.name == which:
                return preset
        near = difflib.get_close_matches(which, [entry.name for entry in self], n=1)
        raise KeyError(f"no preset {which!r}" + (f"; did you mean {near[0]!r}?" if near else ""))

    def __repr__(self) -> str:
        """Shows the names, by kind."""
        lines = ["<Presets:"]
        for kind in dict.fromkeys(preset.kind for preset in self):
            names = ", ".join(entry.name for entry in self if entry.kind == kind)
            text = textwrap.wrap(f"{kind}: {names}", 94, subsequent_indent="  ", break_on_hyphens=False)
            lines += [f"  {line}" for line in text]
        return "\n".join([*lines, ">"])

    def _repr_html_(self) -> str:
        rows = [(entry.kind, entry.name, entry.about) for entry in self]
        cells = "".join(f"<tr>{''.join(f'<td>{html.escape(it)}</td>' for it in row)}</tr>" for row in rows)
        return f"<table><thead><tr><th>kind</th><th>name</th><th>about</th></tr></thead>{cells}</table>"


def presets(kind: str | None = None) -> Presets:
    """Returns the presets of one kind, or of all three kinds.

    >>> presets("workload")["demo"]
    <Preset workload demo>

    Raises:
        InputError: if ``kind`` is none of ``device``, ``workload`` and ``scheme``.
    """
    if kind not in (None, "device", "workload", "scheme"):
        expected = "device, workload or scheme"
        raise InputError([Diagnostic("kind", None, "", f"unknown kind of preset `{kind}`", expected)])
    return Presets(Preset(*facts) for facts in _core.presets() if kind in (None, facts[0]))


def _given(keys: DriveKeys) -> dict[str, Any]:
    return dict(keys)


def as_drive(
    given: Device | str | os.PathLike[str], set_: Iterable[str], seed: int | None
) -> _arguments.Drive:
    """Returns a drive as the compiled module takes it."""
    if isinstance(given, Device):
        return given._drive(list(set_), seed)
    name = path_of("device", given, f"{DEVICE}, or a Device")
    return {"device": name, "text": None, "set": list(set_), "seed": seed}
