// The promises: how each is written, what must hold, and which figures are proved with it.
import { less, require, shown, Unknown, ZERO } from "./numbers.mjs";
import { names } from "./setting.mjs";

/** Readers of further promises, by their name; see local.mjs and adversary.mjs. */
export const PROMISES = new Map();
/** What further promises lend to bounds letter by letter; see gauges.mjs. */
export const SCORES = new Map();
const NOT_HERE = new Set(["local_dp", "dalenius", "contraction", "guess", "maximal_leakage", "total_variation", "sibson"]);

export const LOWER = new Set(["guess_before", "gain_before", "entropy_bits"]);

export function atMost(figure, limit, what) {
  require(figure !== null, `${what} is not bounded`);
  require(!less(limit, figure), `${what} is ${shown(figure)}, more than promised`);
}

export function noEvidence(node) {
  node.require(node.isNull(), "this promise needs no evidence");
}

export function readPromise(node, setting) {
  const secretOf = (item) => {
    const found = names(item, setting.alphabets);
    item.require(found.length > 0, "no column is named");
    return found;
  };
  switch (node.tag()) {
    case "independent": {
      const [, secret] = node.fields("promise", "secret");
      return { kind: "independent", about: secretOf(secret), needsLaw: true, figures: independentFigures };
    }
    case "information_privacy": {
      const [, secret, epsilon] = node.fields("promise", "secret", "epsilon");
      const [about, limit] = [secretOf(secret), epsilon.number(0n)];
      return { kind: "information_privacy", limit, about, needsLaw: true, figures: toldFigures("odds_nats", limit, "the level of information privacy") };
    }
    case "leakage": {
      const [, secret, most, within] = node.fields("promise", "secret", "at_most_bits", "within");
      const [about, limit] = [secretOf(secret), most.number(0n)];
      if (!within.isNull()) throw new Unknown("a leakage within a ball of laws");
      return { kind: "leakage", limit, about, needsLaw: true, figures: toldFigures("leakage_bits", limit, "the leakage") };
    }
    case "worst_case_leakage": {
      const [, secret, most] = node.fields("promise", "secret", "at_most_bits");
      const [about, limit] = [secretOf(secret), most.number(0n)];
      return { kind: "worst_case_leakage", limit, about, needsLaw: true, figures: toldFigures("worst_letter_bits", limit, "the worst-case leakage") };
    }
    default:
      if (PROMISES.has(node.tag())) return PROMISES.get(node.tag())(node, setting);
      if (NOT_HERE.has(node.tag())) throw new Unknown(`the promise ${node.tag()}`);
      return node.refuse("there is no such promise");
  }
}

function independentFigures(release, evidence) {
  noEvidence(evidence);
  release.independent(this.about);
  return { ...release.told(this.about), leakage_bits: ZERO, worst_letter_bits: ZERO, odds_nats: ZERO };
}

function toldFigures(figure, limit, what) {
  return function figures(release, evidence) {
    noEvidence(evidence);
    const found = release.told(this.about);
    atMost(found[figure], limit, what);
    return found;
  };
}
