"""What a problem allows, in words."""

from collections.abc import Sequence
from typing import Any

__all__ = ["foreseen"]

SHOWN = 8


def bits(value: float) -> str:
    """A figure in doubles, which nobody claims to be proved.

    >>> bits(0.5), bits(1.0)
    ('0.5 bits', '1 bit')
    """
    return f"{max(value, 0.0):.9g} bit{'' if value == 1 else 's'}"


def foreseen(found: dict[str, Any]) -> list[str]:
    """The document of `papers.outlook` as sentences and tables; nothing is computed here."""
    lines: list[str] = []
    if "observed" in found:
        lines += _told(found)
    if "hidden" in found:
        lines += _hidden(found)
    if "efficiency" in found:
        what = "each sample" if found["window"] == 1 else f"every {found['window']} neighbouring samples jointly"
        lines += [
            f"n independent samples, the release independent of {what}: bits that the best mechanism tells of H(X^n) "
            "(Theorem 4).",
            *_table(
                ("n", "H(X^n)", "at least", "at most"),
                [
                    [row[k] for k in ("n", "entropy_bits", "at_least_bits", "at_most_bits")]
                    for row in found["efficiency"]
                ],
            ),
        ]
    return lines or [
        "Nothing is known about this problem before it is solved: its samples are too many, and not alike."
    ]


def _told(found: dict[str, Any]) -> list[str]:
    about = ", ".join(found["about"])
    seen = ", ".join(found["observed"])
    lines = [f"{seen} tell {bits(found['observed_tell_bits'])} of the {bits(found['entropy_bits'])} of {about}."]
    at_most = found["at_most"]
    lines.append(
        f"Whatever keeps the promises tells at most {bits(at_most['views_bits'])} about {about} (Proposition 2, eq. 4)"
        + (f", at most {bits(at_most['surprisal_bits'])} by rare values" if "surprisal_bits" in at_most else "")
        + (f", at most {bits(at_most['latent_bits'])} by each letter of it" if "latent_bits" in at_most else "")
        + f"; the promises withhold at least {bits(at_most['withheld_at_least_bits'])} (eq. 8)."
    )
    if "feasible" not in found:
        return [*lines, "There are too many outcomes for an exact test of whether anything can be told."]
    if not found["feasible"]:
        return [
            *lines,
            f"Nothing at all can be told about {about} in private: Null(P) lies in Null(P_W) (Proposition 1).",
        ]
    witness = found["witness"]
    lines.append(
        f"Something can be told (Proposition 1): two letters with p(x | y) = p(x) +- {witness['epsilon']} v(x) tell "
        f"{bits(witness['told_bits'])}, with v below. The best mechanism needs at most {found['letters']} letters "
        f"(rank {found['rank']}, nullity {found['nullity']}; Proposition 3)."
    )
    lines += [
        f"  v({', '.join(f'{n}={a}' for n, a in entry['outcome'].items())}) = {entry['v']}"
        for entry in witness["direction"][:SHOWN]
    ]
    if len(witness["direction"]) > SHOWN:
        lines.append(f"  ... {len(witness['direction'])} entries; all of them with --json")
    open_ = found["observed_open_at_most_bits"]
    lines.append(
        f"The best mechanism for {seen} themselves leaves at most {bits(open_['rank_bits'])} of them open (log of the "
        f"rank, eq. 18; {bits(open_['count_bits'])} by counting letters, eq. 19), so it tells at least "
        f"{bits(found['observed_tell_at_least_bits'])}."
    )
    if "efficiency_at_most" in found:
        lines.append(f"The share of all that is told is at most {100 * found['efficiency_at_most']:.4g} % (Lemma 6).")
    if "incidence" in found:
        many = len(found["incidence"]["vertices"]), len(found["incidence"]["edges"])
        lines.append(f"The hypergraph of Remark 1 has {many[0]} vertices and {many[1]} edges; --json lists them.")
    return lines


def _hidden(found: dict[str, Any]) -> list[str]:
    name, limit = found["hidden"], found["limit"]
    same = (
        f"{found['hidden_letters']} letters, of which samples can tell {found['merged_letters']} apart"
        if found["merged_letters"] < found["hidden_letters"]
        else f"{found['hidden_letters']} letters, which samples can tell apart"
    )
    lines = [f"{name} has {same}; C_X = {bits(found['merged_entropy_bits'])} (eq. 27), what endless samples tell."]
    if found["nothing_to_tell"]:
        lines.append(f"One sample gives {name} away as far as it can be known, so nothing can be told (Corollary 3.1).")
    lines.append(
        f"In private the figure tends to C_1(0) = {bits(limit['C_1_bits'])} (Theorem 3), between "
        f"{bits(limit['at_least_bits'])} and {bits(limit['at_most_bits'])} by Proposition 5; J falls from C_2(0) = "
        f"{bits(limit['C_2_bits'])} to it (eq. 47)."
        + (" It vanishes: with many samples nothing can be told." if found["vanishes"] else "")
    )
    names = (
        "n",
        "I_s",
        "bound",
        "sandwich (45)",
        "",
        "J (41)",
        "I(W;X^n)",
        "decoder (33)",
        "Fano (36)",
        "outside (43)",
    )
    keys = ("full_observation_bits", "information_bits", "decoder_error", "fano_bits", "outside_leakage_bits")
    rows = [
        [row["n"], row["value_bits"], row["bound_bits"], *row["sandwich_bits"], *(row[key] for key in keys)]
        for row in found["curve"]
    ]
    lines += ["Bits by the number of samples; the decoder's column is its chance of error.", *_table(names, rows)]
    for row in found.get("traded", []):
        ends = " and ".join(f"{k} in [{row[k][0]:.9f}, {row[k][1]:.9f}]" for k in ("C_1", "C_2"))
        lines.append(f"With a leakage of alpha = {row['alpha_bits']:g} bits about a sample: {ends} (eq. 38, 39).")
    return lines


def _table(names: Sequence[str], rows: Sequence[Sequence[float]]) -> list[str]:
    head = "  " + " ".join(f"{name:>13}" if k else f"{name:>6}" for k, name in enumerate(names))
    body = [
        "  " + " ".join(f"{entry:>13.9f}" if k else f"{int(entry):>6}" for k, entry in enumerate(row)) for row in rows
    ]
    return [head, *body]
