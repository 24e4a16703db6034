// Optimality by lines, for mechanisms whose released letters are the cases.
//
// A mechanism is a set of columns c_t(x) = p(t | x). Multipliers of the right sign turn every promise, limit and margin
// into a line L_t(x) such that what a column gains is at most sum_x L_t(x) c_t(x); then nobody gains more than
// sum_x max_t L_t(x) plus the constants. Lines are whole numbers in units of 2^-SCALE / total; the only roundings are those
// of logarithms, of e^epsilon and of divisions, all upwards.
import { BITS, ceiling, exponential, floor, fraction, HELD, less, log2, minus, over, plus, require, spend, times, Unknown, ZERO } from "./numbers.mjs";
import { outcomesOf } from "./setting.mjs";
import { information } from "./release.mjs";
import { distance } from "./distortion.mjs";
import { SCORES } from "./promises.mjs";
import { RULES } from "./check.mjs";

const UNIT = 60n; // bits after the point of a multiplier

const SCALE = UNIT + BITS;
const raised = (multiplier) => multiplier << BITS;

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
class Frame {
  constructor(setting, secret) {
    const { law, mechanism } = setting;
    const counts = law.atoms.map((atom) => atom.count);
    const labels = (names) => {
      const at = names.map((name) => law.variables.indexOf(name));
      return law.atoms.map(({ outcome }) => at.map((i) => outcome[i]));
    };
    const [own, beside] = [labels(secret), labels(mechanism.beside)];
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
function scores(promise, frame, weight, node) {
  if (promise.kind === "leakage") return weight ? frame.tangent(weight, node) : null;
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

/** The letters that an input may be released as. */
function allowed(setting, letters) {
  const m = setting.mechanism;
  return outcomesOf(setting.sizes).map((outcome) => {
    const before = new Map(m.reads.map((name, k) => [name, setting.alphabets.get(name)[outcome[k]]]));
    return letters.map((told) => {
      const moves = m.release.map((name, k) => [before.get(name), told[k]]).filter(([from]) => from !== undefined);
      const barred = moves.some(([from, to]) => (from !== to && m.freeze.includes(from)) || m.forbid.some(([a, b]) => a === from && b === to));
      return !barred && !m.never.some((some) => [...some].every(([name, among]) => among.includes(told[m.release.indexOf(name)])));
    });
  });
}

/** What a distortion with a weight adds, for each input that occurs and each letter; null: infinitely far. */
function costs(parts, weight, setting, letters, inputs) {
  if (parts.some((part) => part.kind === "kl")) throw new Unknown("a bound on divergences");
  const sums = new Map();
  spend((10 * setting.law.atoms.length * parts.length + HELD * new Set(inputs).size) * letters.length);
  setting.law.atoms.forEach(({ outcome, count }, i) => {
    const row = sums.get(inputs[i]) ?? letters.map(() => ZERO);
    sums.set(
      inputs[i],
      row.map((sum, t) =>
        parts.reduce((total, part) => {
          const far = total === null ? null : distance(part, setting, part.of.map((name) => outcome[setting.law.variables.indexOf(name)]), letters[t], t);
          return far === null ? null : plus(total, times(times(part.weight, far), fraction(count)));
        }, sum),
      ),
    );
  });
  return (x, t) => {
    const cost = sums.get(x)[t];
    return cost === null ? null : -floor(raised(weight) * cost.n, cost.d);
  };
}

function boundByLines(proof, setting, promises, limits, objective) {
  const [, division, weights, byLimit, margins, cuts, prices, trees, leafList, relations] = proof.fields(
    "rule", "division", "promises", "limits", "margins", "cuts", "prices", "trees", "leaves", "relations",
  );
  const m = setting.mechanism;
  const others = cuts.items().length + prices.items().length + relations.items().length;
  if (division.text() !== "letters" || others > 0 || !["distortion", "leakage"].includes(objective.aim))
    throw new Unknown("this proof of optimality");
  const { law } = setting;
  const letters = setting.letters();
  if (letters === null) throw new Unknown("a bound over letters that are not listed");
  const inputs = setting.inputs();
  const mass = new Map();
  inputs.forEach((x, k) => mass.set(x, (mass.get(x) ?? 0n) + law.atoms[k].count));
  const leaves = leafList.items().map((leaf) => {
    const [own, rows] = leaf.fields("objective", "promises");
    return { own, rows: rows.pair(promises.length) };
  });
  require(leaves.length > 0, "a proof has no lines");
  const lines = new Map([...mass.keys()].map((x) => [x, leaves.map(() => 0n)]));
  const line = (x) => lines.get(x) ?? lines.set(x, leaves.map(() => 0n)).get(x);
  let constant = ZERO;
  const frames = new Map();
  const frame = (about) => frames.get(String(about)) ?? frames.set(String(about), new Frame(setting, about)).get(String(about));
  const add = (at, found, j) => {
    if (found === null) return;
    inputs.forEach((x, i) => (line(x)[j] += law.atoms[i].count * found.get(at.pair[i])));
  };

  weights.pair(promises.length).forEach((item, k) => {
    const promise = promises[k];
    const weight = item.whole(0n);
    spend(20 * leaves.length * law.atoms.length);
    if (promise.about.length > 0) {
      const here = frame(promise.about);
      if (promise.gauge) {
        if (!weight) return;
        constant = plus(constant, times(fraction(weight, 1n << UNIT), promise.gauge.limit()));
        leaves.forEach((leaf, j) => add(here, promise.gauge.scores(here, weight, leaf.rows[k]), j));
        return;
      }
      if (promise.kind === "leakage") constant = plus(constant, times(fraction(weight, 1n << UNIT), minus(promise.limit, here.already())));
      leaves.forEach((leaf, j) => add(here, scores(promise, here, weight, leaf.rows[k]), j));
      return;
    }
    if (promise.gauge) {
      if (weight) constant = plus(constant, times(fraction(weight, 1n << UNIT), promise.gauge.limit()));
      leaves.forEach((leaf, j) => promise.gauge.inputs(weight, leaf.rows[k]).forEach(([x, w]) => (line(x)[j] -= raised(w) * law.total)));
      return;
    }
    require(weight === 0n, "this promise has no weight for all letters");
    leaves.forEach((leaf, j) =>
      leaf.rows[k].items().forEach((item_) => {
        if (promise.kind !== "local_dp" || promise.share.n > 0n) throw new Unknown(`a bound that uses ${promise.kind}`);
        const [first, second, multiplier] = item_.pair(3);
        const [x, z, v] = [first.place(setting.many), second.place(setting.many), multiplier.whole(0n)];
        const worlds = setting.worlds(promise.given);
        item_.require(worlds[x] === worlds[z], "the promise does not speak of these two inputs");
        const far = times(promise.limit, promise.distances === null ? fraction(1n) : promise.distances[x][z]);
        const r = exponential(over(far, promise.rows))[1];
        line(x)[j] -= raised(v) * law.total;
        line(z)[j] += ceiling(raised(v) * law.total * r.n, r.d);
      }),
    );
  });

  const shares = objective.aim === "distortion" ? [] : [[objective.theta, objective.about], [minus(fraction(1n), objective.theta), m.observe]];
  const told = shares.filter(([share]) => share.n > 0n);
  leaves.forEach((leaf, j) =>
    leaf.own.pair(told.length).forEach((node, k) => add(frame(told[k][1]), frame(told[k][1]).tangent(floor(told[k][0].n << UNIT, told[k][0].d), node), j)),
  );
  if (objective.aim === "leakage" && objective.theta.n > 0n) constant = minus(constant, times(objective.theta, frame(objective.about).already()));

  const weighed = objective.aim === "distortion" ? [costs(objective.parts, 1n << UNIT, setting, letters, inputs)] : [];
  byLimit.pair(limits.length).forEach((item, k) => {
    const weight = item.whole(0n);
    if (weight && !limits[k].parts) throw new Unknown("a bound that uses such a limit");
    if (!weight) return;
    constant = plus(constant, times(fraction(weight, 1n << UNIT), limits[k].most));
    weighed.push(costs(limits[k].parts, weight, setting, letters, inputs));
  });
  const priced = margins.items().map((item) => item.whole());
  if (priced.length > 0) {
    margins.require(m.preserve && priced.length === letters.length, "margins that are not preserved prove nothing");
    const at = m.release.map((name) => law.variables.indexOf(name));
    for (const { outcome, count } of law.atoms) {
      const place = at.reduce((p, i, j) => p * setting.alphabets.get(m.release[j]).length + outcome[i], 0);
      constant = plus(constant, fraction(priced[place] * count, law.total << UNIT));
    }
  }
  const one = trees.items().length === 1 && weighed.length + priced.length === 0;
  trees.require(one || trees.items().length === letters.length, "there is not a tree for each letter");
  const cases = trees.items().map((tree) => {
    const [leaf] = tree.pair(1);
    leaf.require(leaf.items().length === 2 && leaf.value[0] === "leaf", "letters are not divided");
    return leaf.items()[1].place(leaves.length);
  });
  const may = one ? null : allowed(setting, letters);
  let sum = 0n;
  for (const [x, numbers] of lines) {
    let best = null;
    cases.forEach((j, t) => {
      let here = numbers[j];
      if (may !== null) {
        if (!may[x][t]) return;
        for (const cost of mass.has(x) ? weighed : []) {
          const more = cost(x, t);
          if (more === null) return;
          here += more;
        }
        if (priced.length > 0) here -= raised(priced[t]) * (mass.get(x) ?? 0n);
      }
      if (best === null || here > best) best = here;
    });
    require(best !== null, "an input has no letter that it may be released as");
    sum += best;
  }
  const gain = plus(constant, fraction(sum, law.total << SCALE));
  return less(gain, ZERO) ? minus(ZERO, gain) : ZERO;
}

RULES.set("lines", boundByLines);
