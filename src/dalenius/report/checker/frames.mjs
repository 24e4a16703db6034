// What promises about a secret lend to proofs of optimality: the records by their value s of the secret and what leaves beside
// the letter, k; and for each (s, k) a score, so that the scores of a column's records sum up to at least the multiplier
// times what the column has left of the promise. Scores are whole numbers in units of 2^-SCALE, rounded upwards.
import { BITS, ceiling, exponential, fraction, log2, minus, require, spend, times, Unknown, ZERO } from "./numbers.mjs";
import { information } from "./release.mjs";
import { SCORES } from "./promises.mjs";

export const UNIT = 60n; // bits after the point of a multiplier

export const SCALE = UNIT + BITS;
export const raised = (multiplier) => multiplier << BITS;

const compare = (a, b) => {
  const k = a.findIndex((value, i) => value !== b[i]);
  return k < 0 ? 0 : a[k] - b[k];
};

/** Counts of labels, in the order of the labels. */
function counted(labels, counts) {
  const found = new Map();
  labels.forEach((label, k) => {
    const key = label.join(",");
    const entry = found.get(key) ?? { label, count: 0n };
    entry.count += counts[k];
    found.set(key, entry);
  });
  return new Map([...found].sort(([, a], [, b]) => compare(a.label, b.label)));
}

/** The records by their value s of a secret and what leaves beside the letter, k. */
export class Frame {
  constructor(setting, secret, called = null) {
    const { law, mechanism } = setting;
    const counts = law.atoms.map((atom) => atom.count);
    const labels = (names) => {
      const at = names.map((name) => law.variables.indexOf(name));
      return law.atoms.map(({ outcome }) => at.map((i) => outcome[i]));
    };
    const [own, beside] = [called ?? labels(secret), labels(mechanism.beside)];
    this.total = law.total;
    this.own = own.map(String);
    this.beside = beside.map(String);
    this.pair = own.map((s, k) => [...s, ...beside[k]]).map(String);
    this.keys = counted(own.map((s, k) => [...s, ...beside[k]]), counts);
    this.alone = counted(own, counts);
    this.worlds = counted(beside, counts);
    this.parts = new Map(this.pair.map((key, k) => [key, { s: this.own[k], k: this.beside[k] }]));
  }

  /** I(S; K) from below: what is told without any letter. */
  already() {
    if (this.worlds.size === 1 && this.worlds.has("")) return ZERO;
    return information([...this.keys].map(([key, { count }]) => [this.parts.get(key).s, "", this.parts.get(key).k, count]))[0];
  }

  /** -weight log2(b / p(s | k)) for a law b(s | k) that is given by positive numbers. */
  tangent(weight, node) {
    const law = node.items().map((item) => item.whole(1n));
    node.require(law.length === this.keys.size, "a posterior lacks a value of its secret");
    const sums = new Map();
    const keys = [...this.keys.keys()];
    keys.forEach((key, i) => sums.set(this.parts.get(key).k, (sums.get(this.parts.get(key).k) ?? 0n) + law[i]));
    return new Map(
      keys.map((key, i) => {
        const { k } = this.parts.get(key);
        return [key, -weight * log2(law[i] * this.worlds.get(k).count, sums.get(k) * this.keys.get(key).count)[0]];
      }),
    );
  }
}

/** What a promise about a secret adds to the score of each record in one case; null: nothing. */
export function scores(promise, frame, weight, node) {
  if (promise.gauge) return weight ? promise.gauge.scores(frame, weight, node) : node.numbersAlone();
  if (promise.kind === "leakage") return weight ? frame.tangent(weight, node) : node.numbersAlone();
  require(weight === 0n, "this promise holds letter by letter: it has no weight for all of them");
  if (node.items().length === 0) return null;
  if (SCORES.has(promise.kind)) return SCORES.get(promise.kind)(promise, frame, node);
  const pairs = [...frame.alone.keys()].flatMap((s) => [...frame.worlds.keys()].map((k) => ({ s, k, n: frame.alone.get(s).count })));
  const spread = (own, base) =>
    new Map([...frame.keys.keys()].map((key) => [key, raised(own(frame.parts.get(key))) + base(frame.parts.get(key).k)]));
  const at = ({ s, k }) => pairs.findIndex((pair) => pair.s === s && pair.k === k);
  spend(pairs.length * frame.keys.size);
  if (promise.kind === "independent") {
    const v = node.pair(pairs.length).map((item) => item.whole());
    const sum = (k) => pairs.reduce((total, pair, i) => (pair.k === k ? total - v[i] * pair.n : total), 0n);
    return spread((part) => v[at(part)], (k) => ceiling(raised(sum(k)), frame.total));
  }
  if (promise.kind === "information_privacy") {
    const [low, high] = node.pair().map((side) => {
      const found = side.items().map((item) => item.whole(0n));
      side.require(found.length === 0 || found.length === pairs.length, "not a multiplier for each value");
      return found.length ? found : pairs.map(() => 0n);
    });
    const r = exponential(promise.limit)[1];
    const sum = (k) => pairs.reduce((total, pair, i) => (pair.k === k ? total + pair.n * (high[i] * r.n * r.n - low[i] * r.d * r.d) : total), 0n);
    return spread((part) => low[at(part)] - high[at(part)], (k) => ceiling(raised(sum(k)), frame.total * r.n * r.d));
  }
  throw new Unknown(`a bound that uses ${promise.kind}`);
}

/** What a weight on the sum over all letters allows of a promise about a secret. */
export function allowance(promise, frame, weight) {
  const share = fraction(weight, 1n << UNIT);
  if (promise.gauge) return weight ? times(share, promise.gauge.limit()) : ZERO;
  return promise.kind === "leakage" ? times(share, minus(promise.limit, frame.already())) : ZERO;
}

/** The inputs that occur, in the order in which the law has them first, and how many records each has. */
export function massOf(setting) {
  const found = new Map();
  setting.inputs().forEach((x, k) => found.set(x, (found.get(x) ?? 0n) + setting.law.atoms[k].count));
  return found;
}
