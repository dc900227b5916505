"""Built-in policies, written in Python for the tests and the measurements of `docs/policies.md`."""

import math


class ReadFirst:
    """`read_first`: the oldest read that the host waits for, else the oldest of all."""

    def pick(self, view):
        return view.head("host_read") or view.oldest()


class YoungestFirst:
    """`rhio` without its deadline's effect: the youngest data first, then the smallest requests."""

    def pick(self, view):
        read = view.first("host_read")
        if read is not None:
            return read
        oldest = view.oldest()
        return view.first("host_program") if oldest.kind == "host_program" else oldest


class Cancel:
    """`ipc`: at once, and the phase is lost."""

    def allows(self, running, read):
        return "at_once"


class AtPhaseEnd:
    """`ips`: at the end of the running phase."""

    def allows(self, running, read):
        return "phase_end"


class BufferHits:
    """`buffer_hits`: by the share of reads and writes among a page's hits."""

    def __init__(self, watermark=0.95):
        self.watermark = watermark

    def classify(self, page):
        least = self.watermark * (page.reads + page.writes)
        if page.reads > least:
            return "read_hot"
        return "write_hot" if page.writes > least else "mixed"


class Greedy:
    """`greedy`: the block with the fewest valid pages."""

    def collect(self, plane):
        return plane.fewest_valid()


class FirstFilled:
    """`fifo` of `policy.victim`: the block that became full first."""

    def collect(self, plane):
        return min(plane.blocks(), key=lambda block: block.order)


class OneStream:
    """`single_stream`: one open block per plane for all data."""

    def stream(self, data):
        return 0


class StreamPerKind:
    """`streams`: a stream for each kind of data; hot data goes to strong blocks if asked for."""

    access = ("mixed", "read_hot", "write_hot")

    def __init__(self, hot_to_strong=False):
        self.hot_to_strong = hot_to_strong

    def stream(self, data):
        return 2 * self.access.index(data.access) + data.hot

    def opens(self, data):
        if not self.hot_to_strong:
            return "oldest"
        return "strongest" if data.hot else "weakest"


class StreamPerHandle:
    """`handles`: a stream for each placement handle."""

    def stream(self, data):
        return data.handle


class FixedRate:
    """`fixed_rate`: no more in a second than the rated capacity over the whole life allows."""

    period = 1_000_000_000

    def __init__(self):
        self.share = None
        self.number = self.taken_before = 0
        self.owed = 0.0

    def admit(self, write):
        now = write.now_ns
        if now >= write.ends_ns:
            return 0
        if self.share is None:
            rated = write.left() + write.taken
            self.share = max(rated / max(write.ends_ns / self.period, 1), 0.0)
            self.number, self.taken_before = now // self.period, write.taken
        taken = max(write.taken, self.taken_before)
        self.go_on(now // self.period, taken)
        number, left = self.number, write.pages
        while left > 0:
            used = taken - self.taken_before + self.owed
            if used < self.share:
                fits = min(math.ceil(self.share - used), left)
                taken, left = taken + fits, left - fits
            else:
                number += max(math.floor(used / self.share), 1)
                self.go_on(number, taken)
        return min(max(number * self.period, now), max(write.ends_ns, now)) - now

    def go_on(self, number, taken):
        if number > self.number:
            used = taken - self.taken_before + self.owed
            self.owed = max(used - self.share * (number - self.number), 0.0)
            self.number, self.taken_before = number, taken
