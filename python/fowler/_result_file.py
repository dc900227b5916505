"""Results in files: sealed by the compiled module with a format version and a checksum.

A file has the length of a description, the description as JSON, and the tables that it refers to.
"""

from __future__ import annotations

import json
import os
import struct
from pathlib import Path
from typing import Any

from fowler import _core
from fowler.errors import Diagnostic, InputError, path_of

LENGTH = struct.Struct("<Q")


def write(path: str | os.PathLike[str], result: Any) -> Path:
    """Saves a run, a comparison, a table or a sweep.

    Raises:
        InputError: if the file cannot be written.
        OSError: if the disk is full or fails.
    """
    from fowler.comparison import Comparison  # noqa: PLC0415
    from fowler.points import Sweep  # noqa: PLC0415  (these modules import this one)
    from fowler.runs import Run  # noqa: PLC0415

    file = Path(path_of("path", path))
    tables: list[bytes] = []
    if isinstance(result, Comparison):
        runs = [_described(run, tables) for run in result]
        facts: dict[str, Any] = {"runs": runs, "verdict": result._findings(), "spread": result._spread_text()}
        kind = "comparison"
    elif isinstance(result, Run):
        kind, facts = "run", {"runs": [_described(result, tables)]}
    else:
        kind = "sweep" if isinstance(result, Sweep) else "table"
        facts = {"folder": str(result.folder)} if isinstance(result, Sweep) else {}
        tables.append(result._its.bytes())
    described = json.dumps({**facts, "tables": [len(table) for table in tables]}).encode()
    _core.save(str(file), kind, b"".join([LENGTH.pack(len(described)), described, *tables]))
    return file


def _described(run: Any, tables: list[bytes]) -> dict[str, Any]:
    facts: dict[str, Any] = run._facts()
    requests = facts.pop("requests")
    if requests is not None:
        facts["table"] = len(tables)
        tables.append(requests.bytes())
    return facts


def read(path: str | os.PathLike[str]) -> Any:
    """Reads what :func:`write` saved.

    Raises:
        InputError: if the file is damaged, is no result, or is of a newer version.
    """
    from fowler.comparison import Comparison  # noqa: PLC0415
    from fowler.points import Sweep  # noqa: PLC0415
    from fowler.runs import Run  # noqa: PLC0415
    from fowler.table import Table  # noqa: PLC0415

    file = path_of("path", path)
    kind, body = _core.read_saved(file)
    (length,) = LENGTH.unpack_from(body)
    start = LENGTH.size + length
    facts = json.loads(body[LENGTH.size : start])
    tables = []
    for size in facts["tables"]:
        tables.append(_core.Table.of_bytes(body[start : start + size]))
        start += size
    match kind:
        case "run" | "comparison":
            runs = []
            for described in facts["runs"]:
                at = described.pop("table", None)
                runs.append(Run._of_facts({**described, "requests": None if at is None else tables[at]}))
            if kind == "run":
                return runs[0]
            return Comparison._of_facts(runs, facts["verdict"], facts["spread"])
        case "table":
            return Table(tables[0])
        case "sweep":
            return Sweep(tables[0], Path(facts["folder"]))
    raise InputError([Diagnostic(file, None, "", f"holds a result of unknown kind `{kind}`")])
