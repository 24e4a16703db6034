r"""What a problem of perfect sample privacy allows, before anything is searched: feasibility, bounds, limits in n.

`outlook` is what `dalenius explain problem.toml` says. For a joint pmf: whether anything can be told (Proposition 1,
with a witness), the bounds (4), (8), (18), (19) and Lemma 6, and the hypergraph of Remark 1. For samples that are alike
given a hidden W: C_X(W), the decoder (33) and Fano (36), C_1 and C_2 (38)(39), J (41), the sandwich (45), Proposition 5
and Lemma 4, along any numbers of samples. For independent samples that are alike: Theorem 4. Whether anything can be
told is decided exactly; the figures are in doubles, and no part of a certificate.

References: Rassouli, Rosas & Gündüz, "Data Disclosure under Perfect Sample Privacy" (paper 000).
"""

from collections.abc import Sequence
from math import inf
from typing import Any

from dalenius.core import Independent, MaximizeInformation, Pmf, Problem, ProductPmf, Samples
from dalenius.core.numbers import written
from dalenius.errors import Unsupported
from dalenius.measures import conditional_mutual_information, entropy, mutual_information
from dalenius.measures.disclosure import disclosure_bounds, efficiency_bound, incidence, withheld_bound
from dalenius.measures.latent import LatentModel, decoder_error, fano_bound, information, latent_entropy
from dalenius.mechanisms.alike.exchangeable import full_observation
from dalenius.papers.asymptotics import limit_bounds, nothing_to_disclose, sandwich, self_disclosure_curve, vanishes
from dalenius.papers.feasibility import equivocation_bounds, feasible, latent_bound
from dalenius.papers.perturbation import full_observation_tradeoff, output_perturbation

__all__ = ["outlook"]

WITHOUT = "Leave out --samples and --alpha: then the problem is explained in words."
OUTCOMES = 4096  # of the observed columns; beyond, exact ranks take too long
ALONG = (1, 2, 5, 10, 20, 50, 100)


def outlook(problem: Problem, *, samples: Sequence[int] = (), alpha: Sequence[Any] = ()) -> dict[str, Any]:
    r"""The figures as a document; information in bits.

    `samples` are numbers of samples to follow, where they are alike; `alpha` leakages for C_1 and C_2.

    >>> from dalenius.testing import xor
    >>> found = outlook(xor())
    >>> found["feasible"], found["witness"]["epsilon"], found["at_most"]["views_bits"]
    (True, '1/4', 1.0)
    """
    if not isinstance(problem.objective, MaximizeInformation) or problem.kept:
        raise Unsupported(
            "--samples and --alpha are for problems that maximise information and keep no column", do=WITHOUT
        )
    if not problem.guarantees or not all(isinstance(promise, Independent) for promise in problem.guarantees):
        raise Unsupported(
            "--samples and --alpha are for problems that promise independence, and nothing else", do=WITHOUT
        )
    law = problem.law
    if isinstance(law, Samples):
        return _hidden(law, samples or sorted({*ALONG, law.n} & set(range(1, law.n + 1))), alpha)
    if isinstance(law, ProductPmf):
        found = _alike(problem, law, samples)
        few = _outcomes(law) <= OUTCOMES
        return found | (_joint(problem, law.multiplied) if few else {})
    return _joint(problem, problem.pmf)


def _outcomes(law: ProductPmf) -> int:
    many = 1
    for group in law.groups:
        many = min(many * len(group), OUTCOMES + 1)
    return many


def _joint(problem: Problem, joint: Pmf) -> dict[str, Any]:
    about = list(problem.objective.names)
    views = [list(view) for view in problem.views]
    inputs = list(problem.inputs)
    bounds = disclosure_bounds(joint, about, inputs, views)
    found: dict[str, Any] = {
        "about": about,
        "observed": inputs,
        "views": views,
        "entropy_bits": bounds.entropy_bits,
        "observed_tell_bits": mutual_information(joint, about, inputs),
        "given_views_bits": {", ".join(v): conditional_mutual_information(joint, about, inputs, v) for v in views},
    }
    at_most = {"views_bits": bounds.view_bits, "surprisal_bits": bounds.surprisal_bits}
    at_most |= {"withheld_at_least_bits": withheld_bound(joint, about, inputs, views)}
    outcomes = len(joint.grouped(inputs)[0])
    if outcomes <= OUTCOMES:
        test = feasible(problem)
        told = equivocation_bounds(problem)
        found |= {"feasible": test.feasible, "rank": test.rank, "nullity": test.nullity, "letters": test.nullity + 1}
        if test.direction is not None and test.epsilon is not None and test.channel is not None:
            places = joint.grouped(inputs)[0]
            after = test.channel.after(joint)
            found["witness"] = {
                "direction": [
                    {
                        "outcome": {n: joint.variables[n][code] for n, code in zip(inputs, codes, strict=True)},
                        "v": written(value),
                    }
                    for codes, value in zip(places, test.direction, strict=True)
                    if value
                ],
                "epsilon": written(test.epsilon),
                "told_bits": mutual_information(after, about, list(test.channel.output)),
            }
        found["observed_open_at_most_bits"] = {"rank_bits": told.rank_bits, "count_bits": told.count_bits}
        found["observed_tell_at_least_bits"] = told.self_disclosure_at_least_bits
        at_most["latent_bits"] = latent_bound(problem)
    observed = all(set(view) <= set(inputs) for view in views)
    if observed and set(about) == set(inputs) and entropy(joint, inputs):
        found["efficiency_at_most"] = efficiency_bound(joint.marginal(inputs), views)
    found["at_most"] = {k: v for k, v in at_most.items() if v != inf}
    if observed and outcomes <= OUTCOMES:
        found["incidence"] = incidence(joint, inputs, views)
    return found


def _hidden(law: Samples, numbers: Sequence[int], alpha: Sequence[Any]) -> dict[str, Any]:
    """Sections IV-A and IV-B: what many samples tell about W, and how much of it in private."""
    model = LatentModel.of(law.masses, law.kernel.rows)
    merged = model.merged()
    limits = limit_bounds(model)
    curve = []
    for number in numbers:
        here = sandwich(model, number)
        curve.append(
            {
                "n": number,
                "value_bits": here.value_bits,
                "bound_bits": here.bound_bits,
                "sandwich_bits": [here.lower_bits, here.upper_bits],
                "full_observation_bits": full_observation(merged, number).value_bits,
                "information_bits": information(model, number),
                "decoder_error": decoder_error(model, number),
                "fano_bits": fano_bound(model, number),
                "outside_leakage_bits": here.outside_leakage_bits,
            }
        )
    traded = []
    for level in alpha:
        ends = {"C_1": output_perturbation(model, level), "C_2": full_observation_tradeoff(model, level)}
        traded.append({"alpha_bits": float(level), **{k: [v.value_bits, v.bound_bits] for k, v in ends.items()}})
    return {
        "hidden": law.hidden,
        "samples": law.sample,
        "hidden_letters": len(model.prior),
        "merged_letters": len(merged.prior),
        "merged_entropy_bits": latent_entropy(model),
        "nothing_to_tell": nothing_to_disclose(model),
        "vanishes": vanishes(model),
        "limit": {
            "at_least_bits": limits.lower_bits,
            "C_1_bits": limits.output_perturbation_bits,
            "C_2_bits": limits.full_observation_bits,
            "at_most_bits": limits.merged_given_sample_bits,
        },
        "curve": curve,
        **({"traded": traded} if traded else {}),
    }


def _alike(problem: Problem, law: ProductPmf, numbers: Sequence[int]) -> dict[str, Any]:
    """Theorem 4 and Corollary 4.1, for independent samples with one law that tell about themselves."""
    groups = [law.groups[law.place(n)] for n in problem.observe]
    laws = {
        tuple(group.probability(**{n: a}) for a in group.variables[n])
        for n, group in zip(problem.observe, groups, strict=True)
    }
    window = max(map(len, problem.views))
    if (
        len(laws) > 1
        or any(len(g.variables) > 1 for g in groups)
        or set(problem.objective.names) != set(problem.observe)
    ):
        return {}
    (p,) = laws
    listed = [n for n in numbers or sorted({*ALONG, len(problem.observe)}) if n > window]
    curve = self_disclosure_curve(p, listed, window=window)
    return {
        "efficiency": [
            {"n": int(n), "entropy_bits": float(h), "at_least_bits": float(low), "at_most_bits": float(high)}
            for n, h, low, high in zip(curve.n, curve.entropy_bits, curve.lower_bits, curve.upper_bits, strict=True)
        ],
        "window": window,
    }
