"""The page of figures: every contest that was held, as tables and plots in `docs/benchmarks.md`.

python benchmarks/page.py
"""

import json
from math import ceil, floor, log10
from pathlib import Path
from typing import Any

from contest import OURS, questions

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
PLOTS = HERE.parent / "docs" / "benchmarks"
COLOURS = ("#0b6e4f", "#c1440e", "#5b5fc7", "#b8860b", "#8a2f6b", "#4a6572", "#a0522d")
WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 320, 64, 44, 16, 190

INTRODUCTION = """# Measured against everybody

One question a section. Every contender answers in a process of its own with one thread and is asked larger and larger
sizes until it needs more than {limit:g} CPU seconds or 4 GiB. CPU seconds are those of the work, without imports.
What Dalenius needs includes the exact channel and the proof of its promises, of its value and of a bound that nothing
can pass. No rival gives one, so [the table of all sizes](#in-one-table) also says how much of ours is the proof.
*Right* means that the answer lies in the interval that was proved.

[In one table](#in-one-table) stands every question and size; [where somebody was faster](#where-somebody-was-faster),
what [checking](#checking-kind-by-kind) costs and [where the time of a command goes](#where-the-time-of-a-command-goes)
stand at the end. SYNDISC is in no package registry and sdcMicro could not be installed: the paper's Algorithm 1, which
is SYNDISC's method, and the programs behind post-randomisation stand in for them.

`make bench-page` rebuilds this page. Machine: {machine}. Versions: {versions}.
"""

FASTER = (
    "## Where somebody was faster",
    "",
    "Every size at which a rival needed less CPU time than Dalenius, with its time as a multiple of ours, and of ours",
    "without the proof, which no rival has. What ours includes and theirs does not, and what we did about each, stands",
    "in [decision 039](decisions/039-where-a-rival-is-faster.md).",
    "",
    "### With the same answer",
    "",
    "The rival's answer lies in the interval that was proved. It proves nothing itself.",
    "",
    "| question | rival | sizes (its time, ours is 1; ours without the proof is 1) |",
    "|---|---|---|",
)

OTHERWISE = (
    "### With another answer",
    "",
    "The rival's answer misses the gap that was asked for, or what it makes lacks what was asked for.",
    "",
    "| question | rival | sizes (its time, ours is 1; ours without the proof is 1) | its answers there |",
    "|---|---|---|---|",
)


KINDS = (
    "## Checking, kind by kind",
    "",
    "CPU seconds of the search with its proof, and of the kernel's check of the file, one design of each kind.",
    "",
    "| kind | solving | checking | checking as a share | file |",
    "|---|---|---|---|---|",
)

COMMANDS = (
    "## Where the time of a command goes",
    "",
    "`dalenius solve` of least leakage as a process, from the problem file to the design.",
    "Search and proof are what `solve` takes in a process that has imported everything. Python with the libraries that",
    "they compute with (numpy, HiGHS, flint) has to start before anything is searched for: `python -c 'import numpy,",
    "highspy, flint'` is the floor of the command. The rest is what ours opens, reads, writes and says.",
    "",
    "| values of the secret | released values | the command | search and proof | Python and its libraries "
    "| the rest | outside search and proof | the rest as a share | `dalenius verify` |",
    "|---|---|---|---|---|---|---|---|---|",
)

SAMPLING = (
    "## Drawing rows, beside what cannot be saved",
    "",
    "Nanoseconds of processor time for one row of a random recipe: ours, the key stream alone (one block of AES-256",
    "a row) and the memory alone (codes read, letters written), in turns in one run.",
    "Machine: {machine}.",
    "",
    "| letters | ours | key stream | memory | ours, the larger floor is 1 |",
    "|---|---|---|---|---|",
)

SUMMARY = (
    "## In one table",
    "",
    "Behind each rival its CPU time as a multiple of ours: above 1 we are faster. Then its answer, where there is an",
    "interval to compare it with. No rival proves anything; what of our time is the proof stands beside it.",
    "",
    "| question | size | ours | of that, the proof | proved | rivals |",
    "|---|---|---|---|---|---|",
)


def stored(question: str) -> dict[str, Any] | None:
    return stored_as(f"contest_{question}")


def stored_as(name: str) -> dict[str, Any] | None:
    file = HERE / "results" / f"{name}.json"
    return json.loads(file.read_text()) if file.exists() else None


def seconds(value: float) -> str:
    """CPU seconds with two digits, in a unit that reads well.

    >>> seconds(0.00034), seconds(1.26), seconds(51.7)
    ('0.34 ms', '1.3 s', '52 s')
    """
    if value < 0.9995:
        value, unit = 1000 * value, "ms"
    else:
        unit = "s"
    digits = max(0, 1 - floor(log10(value))) if value > 0 else 0
    return f"{value:.{digits}f} {unit}"


def times(ratio: float) -> str:
    """A ratio with two digits and no exponent.

    >>> times(0.58), times(6.31), times(1284.0)
    ('0.58', '6.3', '1,300')
    """
    digits = 1 - floor(log10(ratio))
    return f"{round(ratio, digits):,.{max(0, digits)}f}"


def table(found: dict[str, Any]) -> list[str]:
    """The largest size that each contender answered, and what happened there and beyond."""
    ours = {a["size"]: a for a in found["results"][0]["answers"] if "cpu_seconds" in a}
    lines = [
        f"| contender | largest size answered ({found['size']}) | CPU there | ours at that size | times ours | memory "
        "| grows like | its answers | ends with |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for each in found["results"]:
        answers = [a for a in each["answers"] if "cpu_seconds" in a and "died" not in a]
        dead = next((a for a in each["answers"] if "died" in a), None)
        end = f"{dead['died']} at {dead['size']:,}" if dead else "was asked no more"
        if not answers:
            lines.append(f"| {each['contender']} | none | | | | | | | {end} |")
            continue
        last = answers[-1]
        mine = ours.get(last["size"])
        ratio = times(last["cpu_seconds"] / mine["cpu_seconds"]) if mine else ""
        power = f"size^{each['exponent']:.1f}" if each["exponent"] is not None else ""
        wrong = [f"{a['size']:,}: {a['verdict']}" for a in answers if a.get("verdict") not in ("right", "", None)]
        if len({a.get("verdict") for a in answers}) == 1 and wrong:
            wrong = [answers[0]["verdict"]]
        judged = "; ".join(wrong) if wrong else "right" if any(a.get("verdict") for a in answers) else ""
        gaps = [a["high"] - a["low"] for a in answers if "high" in a and a.get("proved", True)]
        if gaps and max(gaps) > 0:
            judged = ", ".join([*filter(None, [judged]), f"proved within {max(gaps):.0e}"])
        lines.append(
            f"| {each['contender']} | {last['size']:,} | {seconds(last['cpu_seconds'])} "
            f"| {seconds(mine['cpu_seconds']) if mine else ''} | {ratio} | {last['peak_mib']:.0f} MiB | {power} "
            f"| {judged} | {end} |"
        )
    return lines


def summary(found: dict[str, Any]) -> list[str]:
    """One row for each size: our time, and every rival's time and answer there."""
    lines = []
    ours, *others = found["results"]
    if all(each["contender"].startswith(OURS) for each in others):
        return []
    for mine in ours["answers"]:
        if "cpu_seconds" not in mine:
            continue
        told = []
        for each in others:
            answer = next((a for a in each["answers"] if a["size"] == mine["size"]), None)
            if answer is None or each["contender"].startswith(OURS):
                continue
            if "cpu_seconds" not in answer or "died" in answer:
                told.append(f"{each['contender']}: {answer.get('died', 'no answer')}")
                continue
            verdict = f", {answer['verdict']}" if answer.get("verdict") else ""
            told.append(f"{each['contender']} {times(answer['cpu_seconds'] / mine['cpu_seconds'])}{verdict}")
        proved = ""
        if "low" in mine and mine.get("proved", True):
            gap = mine["high"] - mine["low"]
            proved = f"within {gap:.0e}" if gap > 0 else "exactly"
        proof = seconds(mine["proof_seconds"]) if "proof_seconds" in mine else ""
        lines.append(
            f"| {found['question']} | {mine['size']:,} | {seconds(mine['cpu_seconds'])} | {proof} | {proved} "
            f"| {'; '.join(told) or 'none came so far'} |"
        )
    return lines


def kinds_and_commands() -> list[str]:
    """What checking costs beside solving, and the shares of a command."""
    found = stored_as("kinds")
    if found is None:
        return []
    lines = list(KINDS)
    for row in found["results"]:
        share = row["check_seconds"] / row["solve_seconds"]
        size = f"{row['bytes'] / 1000:,.0f} kB"
        solving, checking = seconds(row["solve_seconds"]), seconds(row["check_seconds"])
        lines.append(f"| {row['kind']} | {solving} | {checking} | {share:.0%} | {size} |")
    lines += ["", *COMMANDS]
    for row in found["commands"]:
        whole, work, libraries = (row[f"{key}_seconds"] for key in ("command", "search_and_proof", "libraries"))
        rest = max(0.0, whole - work - libraries)
        lines.append(
            f"| {row['secrets']} | {row['values']} | {seconds(whole)} | {seconds(work)} | {seconds(libraries)} "
            f"| {seconds(rest)} | {1 - work / whole:.0%} | {rest / whole:.0%} | {seconds(row['verify_seconds'])} |"
        )
    return [*lines, ""]


def _machine(found: dict[str, Any]) -> str:
    """Where results were found."""
    machine = found["machine"]
    return f"{machine['processor']}, {machine['cpus']} cores, {machine['system']}"


def sampling() -> list[str]:
    """What drawing a row costs beside its floors."""
    found = stored_as("sampler")
    if found is None:
        return []
    lines = [line.format(machine=_machine(found)) for line in SAMPLING]
    for row in found["results"]:
        own = row["floors"]
        figures = " | ".join(f"{own[name]:.2f}" for name in ("exact", "key stream", "memory", "ratio"))
        lines.append(f"| {row['letters']:,} | {figures} |")
    return [*lines, ""]


def faster(found: dict[str, Any], *, right: bool) -> list[str]:
    """One row for each rival that needed less CPU time than we did, at the sizes where its answer was right, or not."""
    ours = {a["size"]: a for a in found["results"][0]["answers"] if "cpu_seconds" in a}
    lines = []

    def beside(answer: dict[str, Any]) -> str:
        mine = ours[answer["size"]]
        ratios = [times(answer["cpu_seconds"] / mine["cpu_seconds"])]
        if "proof_seconds" in mine:
            ratios.append(times(answer["cpu_seconds"] / (mine["cpu_seconds"] - mine["proof_seconds"])))
        return f"{answer['size']:,} ({'; '.join(ratios)})"

    for each in found["results"][1:]:
        if each["contender"].startswith(OURS):
            continue
        common = [a for a in each["answers"] if a["size"] in ours and "died" not in a]
        ahead = [a for a in common if a["cpu_seconds"] < ours[a["size"]]["cpu_seconds"]]
        ahead = [a for a in ahead if (a.get("verdict") in ("right", "", None)) == right]
        if ahead:
            sizes = ", ".join(map(beside, ahead))
            wrong = "" if right else f" {'; '.join(dict.fromkeys(a['verdict'] for a in ahead))} |"
            lines.append(f"| {found['question']} | {each['contender']} | {sizes} |{wrong}")
    return lines


def plot(found: dict[str, Any]) -> str | None:
    """CPU seconds against size, both by their logarithms, as SVG; None where there is only one size."""
    drawn = [
        (each["contender"], [(a["size"], a["cpu_seconds"]) for a in each["answers"] if a.get("cpu_seconds")])
        for each in found["results"]
    ]
    drawn = [(name, points) for name, points in drawn if points]
    sizes = [size for _, points in drawn for size, _ in points]
    times = [spent for _, points in drawn for _, spent in points]
    if len(set(sizes)) < 2:
        return None
    left, right = log10(min(sizes)), log10(max(sizes))
    low, high = floor(log10(min(times))), ceil(log10(max(times)))

    def at(size: float, spent: float) -> tuple[float, float]:
        x = LEFT + (log10(size) - left) / (right - left) * (WIDTH - LEFT - RIGHT)
        y = HEIGHT - BOTTOM - (log10(spent) - low) / (high - low) * (HEIGHT - BOTTOM - TOP)
        return round(x, 1), round(y, 1)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" font-family="sans-serif" '
        f'font-size="11"><title>{found["question"]}</title><rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>'
    ]
    for power in range(low, high + 1):
        _, y = at(min(sizes), 10.0**power)
        label = f"{10**power:g} s"
        parts.append(f'<path d="M{LEFT} {y}H{WIDTH - RIGHT}" stroke="#dddddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end">{label}</text>')
    for size in sorted(set(sizes)):
        x, _ = at(size, 10.0**low)
        parts.append(f'<text x="{x}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{size:,}</text>')
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 8}">{found["size"]}</text>')
    for number, (name, points) in enumerate(drawn):
        colour = COLOURS[number % len(COLOURS)]
        line = " ".join(f"{x},{y}" for x, y in (at(*point) for point in points))
        width = 3 if name.startswith(OURS) else 1.5
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="{width}"/>')
        parts += [f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in (at(*point) for point in points)]
        y = TOP + 14 + 18 * number
        parts.append(f'<path d="M{WIDTH - RIGHT + 12} {y - 4}h16" stroke="{colour}" stroke-width="{width}"/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 34}" y="{y}">{name[:26]}</text>')
    return "".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    held = [(question, found) for question in questions() if (found := stored(question))]
    first = held[0][1]
    versions = ", ".join(f"{name} {number}" for name, number in first["versions"].items())
    lines = [INTRODUCTION.format(limit=first["limit_seconds"], machine=_machine(first), versions=versions)]
    PLOTS.mkdir(exist_ok=True)
    for question, found in held:
        lines += [f"## {found['question']}", ""]
        if (picture := plot(found)) is not None:
            (PLOTS / f"{question}.svg").write_text(picture)
            lines += [f"![CPU seconds against {found['size']}](benchmarks/{question}.svg)", ""]
        lines += [*table(found), ""]
    lines += [*SUMMARY, *(row for _, found in held for row in summary(found)), ""]
    for heading, right in ((FASTER, True), (OTHERWISE, False)):
        lines += [*heading, *(row for _, found in held for row in faster(found, right=right)), ""]
    lines += [*kinds_and_commands(), *sampling()]
    PAGE.write_text("\n".join(lines))
    print(PAGE)


if __name__ == "__main__":
    main()
