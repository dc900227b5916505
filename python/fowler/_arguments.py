"""What the compiled module takes: dictionaries with these keys, all of them there."""

from __future__ import annotations

from typing import TypedDict


class Drive(TypedDict):
    """A drive: a name or a description, and what is changed."""

    device: str
    text: str | None
    set: list[str]
    seed: int | None


class Source(TypedDict):
    """Requests: a generator, a trace, or custom requests."""

    workload: str | None
    trace: str | None
    custom: tuple[str, object] | None
    format: str | None
    lenient_pct: float | None
    trace_device: int | None
    side_by_side: bool
    remap: str


class Policy(TypedDict):
    """A policy that schemes join by its name."""

    name: str
    label: str
    methods: list[str]
    object: object


class Run(TypedDict):
    """A run."""

    drive: Drive
    source: Source
    scheme: str | None
    queue_depth: int | None
    speed: float | None
    idle: float | None
    limit: int | None
    requests_file: str | None
    detail: bool
    policies: list[Policy]


class Life(TypedDict):
    """A life."""

    drive: Drive
    source: Source
    scheme: str | None
    limit: int | None
    dilation: int | None
    check: bool
    checkpoint: str | None
    policies: list[Policy]
