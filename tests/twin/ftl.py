"""The readable twin: where a drive puts data, what it moves, and what it erases. Read this first.

This file states every rule of the translation layer once, in the shortest clear form. It has no dies at work,
no queues and no buffer, and nothing takes time. A test (crates/device/tests/all/twin.rs) gives the same
writes and trims to the simulator and to the twin. Every location, valid count, erase count and the write
amplification must then be equal.

The host writes and trims *logical units*. Flash cannot be overwritten: it is programmed in a fixed order, and
erased only as a whole. Hence:

* A *reclaim unit* is opened, filled, emptied and erased as a whole. Its *places* are numbered in the order in
  which they are programmed. The location of a logical unit is a reclaim unit and a place in it.
* The *map* has the location of each logical unit. When a logical unit is bound to a new place, its old copy
  dies; a trim kills it without a new one. Places with live copies are *valid*.
* A *stream* is data that shares reclaim units. It has at most one open, and fills it before the next.
* In a *reclaim group*, erased reclaim units are counted and victims compete. When too few are erased, garbage
  collection chooses a full one, the *victim*, moves its valid data and erases it. What is moved has streams
  of its own, so that survivors do not mix with what the host has just written.
* A *program unit* is what the flash programs at once. On some drives every n-th one is parity over those
  before it. Parity is not in the map: it is skipped when data is placed, and dies with its reclaim unit.
* The *write amplification* is the number of units written and moved, per unit that the host has written.

`Drive` has what all drives share. Two classes have what a kind of drive decides for itself:

                    PageMapped: a drive of 2010           Superblocks: a drive of today
    logical unit    a flash page                          4 KiB; several share a flash page
    reclaim unit    a block                               a superblock: a block of every plane of every die
    reclaim group   a plane                               the whole drive
    program unit    a page                                a word line of all planes of one die
    streams         host and moved, each one or one for   host and moved
                    each access class; wear leveling
    next place      dies in turn or by address, then      the next of the superblock: program units go round
                    planes in turn                        the dies, word line by word line
    collects        after a write, in the plane that      when the host's stream needs a superblock, before
                    took it                               that is opened
    a candidate     as soon as its last page is bound     once its stream has opened the next one
    equal victims   the one that changed last             the one with the lowest number

`python3 tests/twin/ftl.py CASES.json` compares the drives of a file, and ends at the first difference.
"""

from __future__ import annotations

import json
import math
import sys
from collections import deque
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Any

Case = dict[str, Any]

# --- The parts of every drive -------------------------------------------------------------------------


class Flash:
    """The flash array: channels have dies, dies have planes, planes have blocks, blocks have pages."""

    def __init__(self, shape: Case) -> None:
        self.channels: int = shape["channels"]
        self.dies_per_channel: int = shape["dies_per_channel"]
        self.planes_per_die: int = shape["planes_per_die"]
        self.blocks_per_plane: int = shape["blocks_per_plane"]
        self.pages_per_block: int = shape["pages_per_block"]
        if shape["independent_planes"]:
            # A plane that works on its own is a die of one plane.
            self.dies_per_channel *= self.planes_per_die
            self.planes_per_die = 1
        self.dies = self.channels * self.dies_per_channel

    def dies_in_turn(self) -> list[int]:
        """The order in which dies take data. Neighbors are on different channels."""
        rows, channels = range(self.dies_per_channel), range(self.channels)
        return [channel * self.dies_per_channel + row for row in rows for channel in channels]


class ReclaimUnit:
    """A block or a superblock: it is opened, filled, emptied and erased as a whole."""

    def __init__(self, number: int, group: Group, places: list[int]) -> None:
        self.number, self.group = number, group
        # The places of data, in the order in which they are programmed, without the places of parity.
        self.places = places
        self.programmed = 0
        # The logical unit whose live copy is at a place.
        self.holds: dict[int, int] = {}
        self.erases = 0
        # The stream that has opened the unit; then, true if the unit is full and may become a victim.
        self.stream: Stream
        self.is_candidate = False
        group.members.append(self)
        group.erased.append(self)
        # The time at which the unit became a candidate, and the turn among all changes of the drive.
        self.filled_at = self.filled_turn = 0
        # The turn in which the unit became a candidate or last lost a valid unit.
        self.changed_turn = 0

    @property
    def valid(self) -> int:
        """The number of valid places."""
        return len(self.holds)

    @property
    def is_full(self) -> bool:
        """True when every place has been programmed since the last erase."""
        return self.programmed == len(self.places)


class Group:
    """A reclaim group: reclaim units among which victims compete."""

    def __init__(self) -> None:
        self.members: list[ReclaimUnit] = []
        # Erased reclaim units: the one that has been erased for longest is opened first.
        self.erased: deque[ReclaimUnit] = deque()
        self.valid = 0


class Stream:
    """Data that shares reclaim units, and the stream of what survives in them."""

    def __init__(self, group: Group, survivors: Stream | None = None) -> None:
        self.group = group
        self.open: ReclaimUnit | None = None
        self.survivors: Stream = survivors or self


class Drive:
    """The rules that all drives share."""

    # True if a full reclaim unit is a candidate at once, and not only when its stream opens the next.
    closes_at_once: bool

    def __init__(self, case: Case, groups: list[Group], places: list[int]) -> None:
        self.flash = Flash(case["flash"])
        self.rules: Case = case["rules"]
        each = case["reclaim_units"] // len(groups)
        self.reclaim_units = [
            ReclaimUnit(number, groups[number // each], places) for number in range(case["reclaim_units"])
        ]
        # The places of a reclaim unit, parity included.
        self.places = len(places)
        # Most valid units of a reclaim unit that is worth emptying before it is necessary: the average.
        self.worth_emptying = case["logical_units"] // case["reclaim_units"]
        self.locations: list[tuple[ReclaimUnit, int] | None] = [None] * case["logical_units"]
        self.turns = count(1)
        self.now = 0
        # Units written by the host and units moved in this phase.
        self.phase: Case = {}
        self.written = self.moved = 0
        self.write_amplification: list[float] = []

    # The places of logical units.

    def bind(self, lpn: int, reclaim_unit: ReclaimUnit) -> None:
        """Programs a logical unit at the next place of a reclaim unit. Its old copy dies."""
        self.forget(lpn)
        place = reclaim_unit.places[reclaim_unit.programmed]
        reclaim_unit.programmed += 1
        reclaim_unit.holds[place] = lpn
        reclaim_unit.group.valid += 1
        self.locations[lpn] = (reclaim_unit, place)

    def forget(self, lpn: int) -> None:
        """The copy of a logical unit dies: by a trim, an overwrite or a move."""
        if old := self.locations[lpn]:
            reclaim_unit, place = old
            del reclaim_unit.holds[place]
            reclaim_unit.group.valid -= 1
            reclaim_unit.changed_turn = next(self.turns)
            self.locations[lpn] = None

    # The places of new units.

    def append(self, stream: Stream, lpn: int) -> None:
        """Puts a logical unit at the next place of its stream."""
        last = reclaim_unit = stream.open
        if reclaim_unit is None or reclaim_unit.is_full:
            stream.open = reclaim_unit = self.open_for(stream)
            reclaim_unit.stream = stream
            if last is not None:
                self.close(last)
        self.bind(lpn, reclaim_unit)
        if reclaim_unit.is_full and self.closes_at_once:
            self.close(reclaim_unit)
            stream.open = None

    def open_for(self, stream: Stream) -> ReclaimUnit:
        """Returns the erased reclaim unit that a stream opens: the one erased for longest."""
        return stream.group.erased.popleft()

    def close(self, reclaim_unit: ReclaimUnit) -> None:
        """A full reclaim unit becomes a candidate for garbage collection."""
        reclaim_unit.is_candidate = True
        reclaim_unit.filled_at = self.now
        reclaim_unit.filled_turn = reclaim_unit.changed_turn = next(self.turns)

    # The choice of the reclaim unit to empty.

    def victim(self, group: Group) -> ReclaimUnit | None:
        """Returns the candidate to empty next. None if all their data is valid: nothing is gained."""
        candidates = [each for each in group.members if each.is_candidate]
        if all(each.valid == len(each.places) for each in candidates):
            return None
        order: dict[str, Callable[[ReclaimUnit], Any]] = {
            "greedy": lambda each: (each.valid, self.among_equals(each)),
            "fifo": lambda each: each.filled_turn,
            "cost_benefit": lambda each: (-self.benefit(each), each.filled_turn),
        }
        return min(candidates, key=order[self.rules["victim"]])

    def among_equals(self, reclaim_unit: ReclaimUnit) -> int:
        """Returns the first of the candidates with the fewest valid units: the one with the least number."""
        raise NotImplementedError

    def benefit(self, reclaim_unit: ReclaimUnit) -> Fraction | float:
        """The benefit of cost-benefit cleaning: places gained per unit moved, times the age."""
        if reclaim_unit.valid == 0:
            return math.inf
        gained = len(reclaim_unit.places) - reclaim_unit.valid
        return Fraction((self.now - reclaim_unit.filled_at + 1) * gained, reclaim_unit.valid)

    # Moves and erases.

    def keep_erased(self, group: Group, kept: int) -> None:
        """Collects until so many are erased. Beyond what is necessary, only where it is worth it."""
        while len(group.erased) < kept:
            victim = self.victim(group)
            is_necessary = len(group.erased) < self.rules["foreground_below"]
            if victim is None or (not is_necessary and victim.valid > self.worth_emptying):
                return
            self.collect(group)

    def collect(self, group: Group) -> None:
        """Empties the victim of a group, if there is one."""
        if victim := self.victim(group):
            self.empty(victim, victim.stream.survivors)
            self.after_collecting(victim)

    def empty(self, victim: ReclaimUnit, into: Stream) -> None:
        """Moves the valid data of a reclaim unit, in the order of its places, and erases it."""
        victim.is_candidate = False
        for place in sorted(victim.holds):
            self.append(into, victim.holds[place])
            self.moved += 1
        victim.programmed = 0
        victim.erases += 1
        victim.group.erased.append(victim)

    def after_collecting(self, erased: ReclaimUnit) -> None:
        """Called when a victim has been erased. Usually nothing follows."""

    # Requests of the host.

    def write(self, lpn: int) -> None:
        """The host writes a logical unit."""
        raise NotImplementedError

    def read(self, lpn: int) -> None:
        """The host reads a logical unit, which moves nothing."""

    def run(self, phases: list[Case]) -> None:
        """Performs all operations: a kind, a logical unit and a time each."""
        act = {"write": self.write, "trim": self.forget, "read": self.read}
        for phase in phases:
            self.phase, self.written, self.moved = phase, 0, 0
            for kind, lpn, self.now in phase["operations"]:
                act[kind](lpn)
                self.written += kind == "write"
            if phase["is_measured"] and self.written > 0:
                self.write_amplification = [(self.written + self.moved) / self.written]

    def facts(self) -> Case:
        """Everything that can be compared with the simulator."""
        at = [None if it is None else it[0].number * self.places + it[1] for it in self.locations]
        return {
            "locations": at,
            "valid": [each.valid for each in self.reclaim_units],
            "erases": [each.erases for each in self.reclaim_units],
            "write_amplification": self.write_amplification,
        }


# --- A drive of 2010 ----------------------------------------------------------------------------------

# The access classes of data: both read and written, mostly read, mostly written.
MIXED, READ_HOT, WRITE_HOT = range(3)


class Plane(Group):
    """The blocks of a plane, and its streams."""

    def __init__(self, classes: int, survivors_apart: bool) -> None:
        super().__init__()
        # A stream of each class for what is moved, and one for the host unless they share blocks.
        moved = [Stream(self) for _ in range(classes)]
        self.host = [Stream(self, it) for it in moved] if survivors_apart else moved
        # Data that wear leveling puts into worn blocks. It loses its class.
        self.swapped = Stream(self, moved[MIXED])


class PageMapped(Drive):
    """A drive that maps pages: each plane fills, empties and erases its own blocks."""

    closes_at_once = True

    def __init__(self, case: Case) -> None:
        flash, rules = Flash(case["flash"]), case["rules"]
        self.by_class: Case | None = rules["streams_by_class"]
        self.classes = 3 if self.by_class else 1
        # The reads and writes of the pages used last, the latest at the end.
        self.uses: dict[int, list[int]] = {}
        width = flash.planes_per_die
        planes = [Plane(self.classes, rules["survivors_apart"]) for _ in range(flash.dies * width)]
        super().__init__(case, list(planes), list(range(flash.pages_per_block)))
        self.planes_of = [planes[die * width : (die + 1) * width] for die in range(flash.dies)]
        # A die takes a stripe unit of pages before the next one takes any.
        self.order = [die for die in flash.dies_in_turn() for _ in range(rules["stripe_unit"])]
        self.turn = 0
        # The next plane of each die, for each stream of the host.
        self.plane_turns = [[0] * self.classes for _ in range(flash.dies)]
        # Blocks of a plane that data never fills: those open for the host, for moved data and for wear
        # leveling, and the erased one that garbage collection needs to begin.
        self.threshold: int | None = rules["wear_threshold"]
        reserve = 1 + 2 * self.classes + (self.threshold is not None)
        self.limit = (flash.blocks_per_plane - reserve) * flash.pages_per_block

    def write(self, lpn: int) -> None:
        """The die of a page is chosen first, then its plane. Collecting follows in that plane."""
        which = self.stream_for(lpn, wrote=True)
        die = self.die_for(lpn)
        while (plane := self.plane_for(die, which)) is None:
            for each in self.planes_of[die]:
                self.collect(each)
        self.append(plane.host[which], lpn)
        self.keep_erased(plane, self.phase["kept"])

    def read(self, lpn: int) -> None:
        """A read decides the class of what is written later."""
        self.stream_for(lpn, wrote=False)

    def stream_for(self, lpn: int, wrote: bool) -> int:
        """Returns the host's stream for a page: that of its class, by how the page has been used of late."""
        if self.by_class is None or self.phase["is_preconditioning"]:
            return MIXED
        uses = self.uses.pop(lpn, None) or [0, 0]
        if len(self.uses) == self.by_class["pages"]:
            del self.uses[next(iter(self.uses))]
        self.uses[lpn] = uses
        uses[wrote] += 1
        reads, writes = uses
        above = self.by_class["watermark"] * (reads + writes)
        return READ_HOT if reads > above else WRITE_HOT if writes > above else MIXED

    def die_for(self, lpn: int) -> int:
        """Returns the die for a page: that of its address, if there is such a rule, or the next with room."""
        home = self.order[lpn % len(self.order)]
        if self.rules["dies_by_address"] and self.has_room(home):
            return home
        for _ in self.order:
            die = self.order[self.turn]
            self.turn = (self.turn + 1) % len(self.order)
            if self.has_room(die):
                return die
        raise ValueError("more data than the drive holds")

    def has_room(self, die: int) -> bool:
        """True if one more page may be valid on a die. The old copy is still valid when the new one comes."""
        planes = self.planes_of[die]
        return sum(plane.valid for plane in planes) < self.limit * len(planes)

    def plane_for(self, die: int, which: int) -> Plane | None:
        """Returns the plane of a die for a page: the next in turn. None if that must collect first.

        Only one full of valid data is passed over. If others were, open blocks would get out of step, and
        their pages could no longer be programmed together.
        """
        planes, turns = self.planes_of[die], self.plane_turns[die]
        for step in range(len(planes)):
            turn = (turns[which] + step) % len(planes)
            plane = planes[turn]
            if plane.valid < self.limit:
                # The last erased block is left to garbage collection. A plane that collects after each write
                # hardly ever comes to that.
                if plane.host[which].open is None and len(plane.erased) <= 1:
                    return None
                turns[which] = (turn + 1) % len(planes)
                return plane
        return None

    def among_equals(self, reclaim_unit: ReclaimUnit) -> int:
        """The one that changed last is first."""
        return -reclaim_unit.changed_turn

    def after_collecting(self, erased: ReclaimUnit) -> None:
        """Wear leveling: a block far more worn than others takes cold data, that of the least worn one."""
        plane = erased.group
        candidates = [each for each in plane.members if each.is_candidate]
        if self.threshold is None or self.phase["is_preconditioning"] or not candidates:
            return
        cold = min(candidates, key=lambda each: each.erases)
        # The last erased block is left to garbage collection.
        if erased.erases - cold.erases <= self.threshold or len(plane.erased) <= 1:
            return
        assert isinstance(plane, Plane)
        if plane.swapped.open is None:
            plane.erased.remove(erased)
            plane.swapped.open = erased
            erased.stream = plane.swapped
        self.empty(cold, plane.swapped)


# --- A drive of today ---------------------------------------------------------------------------------


class Superblocks(Drive):
    """A drive that empties and erases superblocks. A program stores one page or more of every plane."""

    closes_at_once = False

    def __init__(self, case: Case) -> None:
        flash, rules = Flash(case["flash"]), case["rules"]
        self.units_per_page: int = rules["units_per_page"]
        self.pages_of_program: int = rules["pages_of_program"]
        self.program_unit = self.pages_of_program * flash.planes_per_die * self.units_per_page
        self.programs = flash.pages_per_block // self.pages_of_program * flash.dies
        drive = Group()
        super().__init__(case, [drive], list(self.places_of_data(rules["parity"])))
        self.places = self.programs * self.program_unit
        self.host = Stream(drive, survivors=Stream(drive))

    def places_of_data(self, stripe: int) -> Iterator[int]:
        """Yields the places of data: all but those of the last program unit of each stripe, which is parity.

        The last stripe is shorter or, where one program unit would be left, longer.
        """
        ends = set(range(stripe, self.programs - 1, stripe)) | {self.programs} if stripe > 0 else set()
        for program in range(self.programs):
            if program + 1 not in ends:
                yield from range(program * self.program_unit, (program + 1) * self.program_unit)

    def write(self, lpn: int) -> None:
        """Data goes to the next place of the host's superblock, whatever its address."""
        self.append(self.host, lpn)

    def open_for(self, stream: Stream) -> ReclaimUnit:
        """Before the host opens a superblock, garbage collection sees to it that enough are erased."""
        if stream is self.host:
            self.keep_erased(stream.group, self.rules["foreground_below"])
        return super().open_for(stream)

    def among_equals(self, reclaim_unit: ReclaimUnit) -> int:
        """The one with the lowest number is first."""
        return reclaim_unit.number

    def flash_page(self, superblock: int, place: int) -> tuple[int, int]:
        """Where is a place? Program units go round the dies; neighboring pages are on different planes."""
        flash = self.flash
        program, slot = divmod(place, self.program_unit)
        round_of_dies, turn = divmod(program, flash.dies)
        die = flash.dies_in_turn()[turn]
        page_of_program, plane = divmod(slot // self.units_per_page, flash.planes_per_die)
        block = (die * flash.planes_per_die + plane) * flash.blocks_per_plane + superblock
        return die, block * flash.pages_per_block + round_of_dies * self.pages_of_program + page_of_program

    def facts(self) -> Case:
        """The flash page of each logical unit as well."""
        pages = [None if it is None else [*self.flash_page(it[0].number, it[1])] for it in self.locations]
        return {**super().facts(), "pages": pages}


# --- The twin and the simulator -----------------------------------------------------------------------


def first_difference(case: Case) -> str | None:
    """Runs a drive. Returns the first fact in which twin and simulator differ."""
    drive: Drive = {"page_mapped": PageMapped, "superblocks": Superblocks}[case["kind"]](case)
    drive.run(case["phases"])
    facts = drive.facts()
    for name, expected in case["expected"].items():
        for at, (ours, theirs) in enumerate(zip(facts[name], expected, strict=True)):
            if ours != theirs:
                return f"{name}[{at}]: {ours} in the twin, {theirs} in the simulator"
    return None


def main() -> None:
    """Compares all drives of a file."""
    cases = json.loads(Path(sys.argv[1]).read_text())
    for case in cases:
        if difference := first_difference(case):
            sys.exit(f"seed {case['seed']}, {case['kind']}: {difference}")
    print(f"{len(cases)} drives agree")


if __name__ == "__main__":
    main()
