"""Before a long solve: how large a problem is, what it will take, and what would make it smaller.

Figures are counted from the alphabets and the rows that occur, before anything of that size is made. The times are
those of one machine for each entry of the matrix (rows that occur times letters): right within a factor of two or
three, which is enough to say seconds, minutes or hours, and the same on a busy machine, so that it designs the same.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from dalenius.core import Independent, Leakage, MinimizeLeakage, Problem, WorstCaseLeakage
from dalenius.errors import NOTHING_DONE, SolverFailed, Unsupported
from dalenius.mechanisms.records.takes import FORM, RECORDS
from dalenius.stopping import asked

__all__ = ["SHARE", "Size", "by_records", "free_memory", "late_words", "memory_words", "size_words", "time_words"]

PROOF = 40e-6  # seconds for each entry, of model and proof together
WRITTEN = 0.5e-6  # seconds for each entry of the channel that is written, with a row for every input that can be
STEP = 3.5e-9  # seconds for each entry, value of a secret and row of one step of the interior point
STEPS = 60
HELD = 420  # bytes for each entry of the matrix while it is searched, at 2 values of a secret
KEPT = 60  # bytes for each entry of the written channel
SHARE = 0.8  # of the memory that is free
SHORT = 5.0  # seconds that nobody is refused for
GROUP = Path("/sys/fs/cgroup")  # where Linux says what a container may have
LONG = 10.0  # seconds from which on somebody wants to know how to wait for less


def free_memory() -> int | None:
    """Bytes that can be had without swapping, where the system says so, and within the limits of this process."""
    found = [free for free in (_of_the_machine(), _of_the_group(), _of_the_process()) if free is not None]
    return min(found) if found else None


def _of_the_machine() -> int | None:
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _of_the_group() -> int | None:
    """What a container may have: its own limit, less what it has and could not give back."""
    try:
        most, used = ((GROUP / name).read_text(encoding="ascii").strip() for name in ("memory.max", "memory.current"))
        parts = dict(line.split() for line in (GROUP / "memory.stat").read_text(encoding="ascii").splitlines())
        files = int(parts["file"]) - int(parts["shmem"])  # copies of what is on the disk
        return None if most == "max" else max(0, int(most) - int(used) + files)
    except (KeyError, OSError, ValueError):
        return None


def _of_the_process() -> int | None:
    """What the limit of its addresses (`ulimit -v`) leaves."""
    try:
        import resource

        most, _ = resource.getrlimit(resource.RLIMIT_AS)
        used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    except (ImportError, OSError, ValueError):  # systems without such limits
        return None
    return None if most == resource.RLIM_INFINITY else max(0, most - used)


@dataclass(frozen=True)
class Size:
    """The matrix of a problem: rows that occur, letters that may be released, inputs that could occur.

    Examples
    --------
    >>> from dalenius.testing import binary_tradeoff
    >>> Size.of(binary_tradeoff("1/10", "1/20")).entries
    4
    """

    rows: int
    letters: int
    inputs: int
    secrets: int
    columns: dict[str, int]

    @classmethod
    def of(cls, problem: Problem) -> "Size":
        """Count without making anything of that size."""
        variables = problem.pmf.variables
        names = problem.release or problem.observe
        columns = {name: len(variables[name]) for name in names}
        about = [
            promise.secret
            for promise in problem.guarantees
            if isinstance(promise, Independent | Leakage | WorstCaseLeakage)
        ]
        about += [problem.objective.names] if isinstance(problem.objective, MinimizeLeakage) else []
        secrets = max((prod(len(variables[n]) for n in names_) for names_ in about), default=1)
        return cls(
            rows=len(problem.pmf.grouped(problem.inputs)[0]),
            letters=prod(columns.values()),
            inputs=prod(len(variables[n]) for n in problem.inputs),
            secrets=secrets,
            columns=columns,
        )

    @property
    def entries(self) -> int:
        """Rows that occur times letters."""
        return self.rows * self.letters

    @property
    def proof_seconds(self) -> float:
        """The time of everything but the search."""
        return PROOF * self.entries + WRITTEN * self.inputs * self.letters

    @property
    def search_seconds(self) -> float:
        """The time of a search that takes the usual number of steps."""
        return STEPS * STEP * self.entries * (self.secrets + 1) * (4 + self.rows) / 10

    @property
    def memory(self) -> int:
        """Bytes."""
        return int(HELD * self.entries * (1 + self.secrets / 4) + KEPT * self.inputs * self.letters)

    def words(self) -> str:
        """One line for whoever waits."""
        size = f"{self.rows:,}" if self.rows == self.letters else f"{self.rows:,} to {self.letters:,}"
        return size_words(size, self.search_seconds + self.proof_seconds, self.memory, self.columns)

    def late_words(self, seconds: float) -> str | None:
        """What is said before the search where the time is too short for any."""
        return late_words(f"{self.rows:,} to {self.letters:,} combinations", self.proof_seconds, seconds)

    def refuse_pairs(self, pairs: int) -> None:
        """Refuse a promise about pairs of inputs, a limit for each, of more than memory holds before they are written.

        Raises
        ------
        SolverFailed
            With their number; more time would not help.
        """
        from dalenius.solvers.leakage.searching import gauges_beyond_memory  # imports scipy, which takes a second

        if gauges_beyond_memory(self.rows, self.letters, pairs):
            raise SolverFailed(
                f"contraction is a limit for each of {pairs:,} pairs of {self.rows} observed values, more than the "
                "search has memory for",
                do="Merge values, or minimise a distortion without limits; more time would not help.",
            )

    def refuse_too_large(self, seconds: float, also: str = "") -> None:
        """Refuse, before anything is allocated, what fits neither the memory nor the time.

        Raises
        ------
        Unsupported
            With the size, what it needs, and which column to group.
        """
        free = free_memory()
        if free is not None and self.memory > SHARE * free:
            need = f"{memory_words(self.memory)} of memory, and {memory_words(free)} are free"
        # Whoever asked for what there is has no time left by that, and is not refused for it.
        elif self.proof_seconds > max(seconds, SHORT) and not asked():
            need = f"about {time_words(self.proof_seconds)} for the proof alone"
            need += f", and {time_words(seconds)} of --seconds are left"
        else:
            return
        raise Unsupported(
            f"this problem is too large: {self.rows:,} combinations occur and {self.letters:,} may be released; it "
            f"needs {need}.",
            do=f"{self._way_out(seconds, free)}{also}.",
            state=NOTHING_DONE,
            code="too-large",
        )

    def _way_out(self, seconds: float, free: int | None) -> str:
        """Which column to group, into how many values, for the rest to fit."""
        column = max(self.columns, key=lambda name: self.columns[name])
        for values in range(self.columns[column] - 1, 1, -1):
            share = values / self.columns[column]
            small = Size(
                rows=max(1, round(self.rows * share)),
                letters=max(1, round(self.letters * share)),
                inputs=max(1, round(self.inputs * share)),
                secrets=self.secrets,
                columns=self.columns,
            )
            if small.proof_seconds <= 0.5 * seconds and (free is None or small.memory <= SHARE * free):
                return (
                    f"Group {column} into {values} values or fewer (it has {self.columns[column]}), or release it apart"
                )
        largest = sorted(self.columns, key=lambda name: -self.columns[name])[:2]
        return f"Group {' and '.join(largest)}, or release fewer columns together"


def by_records(problem: Problem) -> str:
    """How a problem that is too large for a matrix is solved record by record, where it is.

    Parameters
    ----------
    problem : Problem
        Bound to its data.

    Returns
    -------
    str
        The end of a sentence, or nothing.
    """
    return f', or say form = "{FORM}"' if RECORDS.why_not(replace(problem, form=FORM)) is None else ""


def size_words(size: str, seconds: float, memory: int, columns: Mapping[str, int]) -> str:
    """The size of a problem and what it takes, in one line of a terminal; where it takes long also what shortens it.

    Parameters
    ----------
    size : str
        How many combinations there are.
    seconds : float
        That are expected.
    memory : int
        Bytes.
    columns : dict
        How many values each released column has.

    Returns
    -------
    str

    >>> size_words("32", 2.0, 1 << 20, {"a": 4, "b": 8})
    '32 combinations, about 2 s, 1 MiB'
    >>> size_words("900", 40.0, 1 << 30, {"a": 20, "b": 45})
    '900 combinations, about 40 s, 1.0 GiB; fewer with b (45 values) grouped'
    """
    words = f"{size} combinations, about {time_words(seconds)}, {memory_words(memory)}"
    column = max(columns, key=lambda name: columns[name])
    return words if seconds < LONG else f"{words}; fewer with {column} ({columns[column]} values) grouped"


def late_words(size: str, needed: float, seconds: float) -> str | None:
    """What is said before a search that cannot end in its time: a sentence, or nothing.

    Parameters
    ----------
    size : str
        Of the problem, in words.
    needed : float
        Seconds until a first recipe is found, proved and written.
    seconds : float
        That are left; of a search without any nothing is expected.

    Returns
    -------
    str, or None
    """
    if needed <= seconds or not seconds:
        return None
    return (
        f"{size}; to prove and write a first recipe takes about {time_words(needed)}, longer than the {seconds:.1f} s "
        "that are left of --seconds"
    )


def time_words(seconds: float) -> str:
    """A time as somebody who waits says it."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def memory_words(number: int) -> str:
    """An amount of memory with its unit."""
    return f"{number / 2**30:.1f} GiB" if number > 2**29 else f"{max(1, number >> 20)} MiB"
