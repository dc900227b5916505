"""The dictionaries that the compiled module takes. Every key is required."""

from __future__ import annotations

from typing import TypedDict


class Drive(TypedDict):
    """A drive: its name or its description, and the keys to change."""

    device: str
    text: str | None
    set: list[str]
    seed: int | None


class Source(TypedDict):
    """The source of requests: a generator, a trace, or custom requests."""

    workload: str | None
    trace: str | None
    custom: tuple[str, object] | None
    format: str | None
    lenient_pct: float | None
    columns: str | None
    spread: str | None
    device_id: int | None
    side_by_side: bool
    remap: str


class Policy(TypedDict):
    """A policy written in Python, and the name that schemes use for it."""

    name: str
    label: str
    methods: list[str]
    object: object


class Given(TypedDict):
    """The objects that a sweep names: drives as TOML, policies and requests."""

    devices: list[tuple[str, str]]
    policies: list[Policy]
    requests: list[tuple[str, object]]


class Run(TypedDict):
    """The arguments of a run. A comparison of drives has these in ``devices``, which is empty otherwise."""

    drive: Drive
    devices: list[Drive]
    source: Source
    scheme: str | None
    queue_depth: int | None
    speed: float | None
    idle: float | None
    limit: int | None
    faults: list[str]
    requests_file: str | None
    detail: bool
    policies: list[Policy]


class Fleet(TypedDict):
    """The arguments of a fleet; ``None`` for an assumption that keeps its default."""

    drives: int
    load_spread: float | None
    early_share: float | None
    early_shape: float | None
    worn_blocks: float | None
    confidence: float | None


class Life(TypedDict):
    """The arguments of a lifetime run."""

    drive: Drive
    source: Source
    scheme: str | None
    limit: int | None
    dilation: int | None
    check: bool
    checkpoint: str | None
    policies: list[Policy]
    fleet: Fleet | None
