// Optimality by lines.
//
// A mechanism is a set of columns c_t(x) = p(t | x). Multipliers of the right sign turn every promise, limit and margin
// into a line L_t(x) such that what a column gains is at most sum_x L_t(x) c_t(x); then nobody gains more than
// sum_x max_t L_t(x) plus the constants. Lines are whole numbers in units of 2^-SCALE / total; the only roundings are those
// of logarithms, of e^epsilon and of divisions, all upwards. Here the released letters are the cases; other divisions of
// the columns are in modules of their own.
import { ceiling, floor, fraction, HELD, less, minus, over, plus, require, spend, times, Unknown, ZERO } from "./numbers.mjs";
import { outcomesOf } from "./setting.mjs";
import { distance } from "./distortion.mjs";
import { allowance, Frame, massOf, raised, SCALE, scores, UNIT } from "./frames.mjs";
import { RULES } from "./check.mjs";

/** How further divisions of the columns read what is told about, by their name; see simplices.mjs. */
export const DIVISIONS = new Map();

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

/** The lines of a proof: for each input a number for each leaf, and the constants beside them. */
class Lines {
  constructor(setting, leaves) {
    this.setting = setting;
    this.leaves = leaves;
    this.inputs = setting.inputs();
    this.mass = massOf(setting);
    this.numbers = new Map([...this.mass.keys()].map((x) => [x, leaves.map(() => 0n)]));
    this.constant = ZERO;
    this.frames = new Map();
  }

  frame(about) {
    const key = String(about);
    return this.frames.get(key) ?? this.frames.set(key, new Frame(this.setting, about)).get(key);
  }

  of(x) {
    return this.numbers.get(x) ?? this.numbers.set(x, this.leaves.map(() => 0n)).get(x);
  }

  /** The scores of one leaf, for each record. */
  add(frame, found, j) {
    if (found === null) return;
    this.inputs.forEach((x, i) => (this.of(x)[j] += this.setting.law.atoms[i].count * found.get(frame.pair[i])));
  }

  promise(promise, k, weight) {
    const { law } = this.setting;
    spend(20 * this.leaves.length * law.atoms.length);
    if (promise.about.length > 0) {
      const frame = this.frame(promise.about);
      this.constant = plus(this.constant, allowance(promise, frame, weight));
      this.leaves.forEach((leaf, j) => this.add(frame, scores(promise, frame, weight, leaf.rows[k]), j));
    } else if (promise.gauge) {
      this.constant = plus(this.constant, allowance(promise, null, weight));
      this.leaves.forEach((leaf, j) =>
        promise.gauge.inputs(weight, leaf.rows[k]).forEach(([x, w]) => (this.of(x)[j] -= raised(w) * law.total)),
      );
    } else {
      require(weight === 0n, "this promise has no weight for all letters");
      this.leaves.forEach((leaf, j) => leaf.rows[k].items().forEach((item) => this.pair(promise, item, j)));
    }
  }

  pair(promise, item, j) {
    if (!promise.pair) throw new Unknown(`a bound that uses ${promise.kind}`);
    const { x, z, v, r } = promise.pair(item);
    const units = raised(v) * this.setting.law.total;
    this.of(x)[j] -= units;
    this.of(z)[j] += ceiling(units * r.n, r.d);
  }

  /** A leakage or a rate lies above its tangents. Returns how many posteriors each leaf has for it. */
  tangents(objective) {
    if (objective.aim !== "leakage") return 0;
    const { theta, about: secret } = objective;
    const shares = [[theta, secret], [minus(fraction(1n), theta), this.setting.mechanism.observe]];
    const told = shares.filter(([share]) => share.n > 0n);
    told.forEach(([share, about], k) => {
      const frame = this.frame(about);
      this.leaves.forEach((leaf, j) => this.add(frame, frame.tangent(floor(share.n << UNIT, share.d), leaf.own.items()[k]), j));
    });
    if (theta.n > 0n) this.constant = minus(this.constant, times(theta, this.frame(secret).already()));
    return told.length;
  }
}

/** What each letter costs, margins included: weights of limits and of the objective. */
function weighing(lines, letters, limits, objective, byLimit, margins) {
  const { setting, inputs } = lines;
  const { mechanism: m, law } = setting;
  const weighed = objective.aim === "distortion" ? [[objective.parts, 1n << UNIT]] : [];
  const wanted = [];
  byLimit.pair(limits.length).forEach((item, k) => {
    const weight = item.whole(0n);
    if (!weight) return;
    const share = fraction(weight, 1n << UNIT);
    require(!limits[k].rows, "this limit has no weight for letters");
    if (limits[k].parts) {
      lines.constant = plus(lines.constant, times(share, limits[k].most));
      weighed.push([limits[k].parts, weight]);
    } else {
      lines.constant = minus(lines.constant, times(share, limits[k].bits));
      wanted.push([limits[k].about, weight]);
    }
  });
  const priced = margins.items().map((item) => item.whole());
  if (priced.length > 0) {
    margins.require(m.preserve && priced.length === letters?.length, "margins that are not preserved prove nothing");
    const at = m.release.map((name) => law.variables.indexOf(name));
    for (const { outcome, count } of law.atoms) {
      const place = at.reduce((p, i, j) => p * setting.alphabets.get(m.release[j]).length + outcome[i], 0);
      lines.constant = plus(lines.constant, fraction(priced[place] * count, law.total << UNIT));
    }
  }
  if (weighed.length > 0 && letters === null) throw new Unknown("a bound over letters that are not listed");
  const far = weighed.map(([parts, weight]) => costs(parts, weight, setting, letters, inputs));
  const may = letters === null ? null : allowed(setting, letters);
  /** What letter t adds for input x; null where x may not be released as t. */
  const gain = (x, t) => {
    if (!may[x][t]) return null;
    const own = lines.mass.get(x);
    if (own === undefined) return 0n;
    let sum = priced.length > 0 ? -raised(priced[t]) * own : 0n;
    for (const cost of far) {
      const more = cost(x, t);
      if (more === null) return null;
      sum += more;
    }
    return sum;
  };
  return { matter: far.length + priced.length > 0, gain, wanted };
}

/** One leaf, for one letter. */
function undivided(tree, leaves) {
  const [leaf] = tree.pair(1);
  leaf.require(Array.isArray(leaf.value) && leaf.value[0] === "leaf", "letters are not divided");
  return [{ leaf: leaf.pair()[1].place(leaves.length), shift: 0n }];
}

function boundByLines(proof, setting, promises, limits, objective) {
  const [, division, weights, byLimit, margins, cuts, prices, trees, leafList, relations] = proof.fields(
    "rule", "division", "promises", "limits", "margins", "cuts", "prices", "trees", "leaves", "relations",
  );
  const maximised = objective.aim === "information";
  const dividing = division.text() === "letters" ? null : DIVISIONS.get(division.text());
  if (dividing === undefined || cuts.items().length + relations.items().length > 0 || objective.aim === "variance")
    throw new Unknown("this proof of optimality");
  const leaves = leafList.items().map((leaf) => {
    const [own, rows] = leaf.fields("objective", "promises");
    return { own, rows: rows.pair(promises.length) };
  });
  require(leaves.length > 0, "a proof has no lines");
  const lines = new Lines(setting, leaves);
  weights.pair(promises.length).forEach((item, k) => lines.promise(promises[k], k, item.whole(0n)));
  const tangents = lines.tangents(objective);
  const letters = setting.letters();
  const { matter, gain, wanted } = weighing(lines, letters, limits, objective, byLimit, margins);
  if (dividing?.whole) {
    require(maximised && wanted.length === 0 && !matter, "this division is for information, under promises about secrets alone");
    return dividing.whole(lines, objective, promises, weights, prices, trees);
  }
  if (dividing === null && (maximised || prices.items().length > 0)) throw new Unknown("this proof of optimality");
  require(dividing !== null || wanted.length === 0, "what must be told is bounded in cells of posteriors");
  if (!maximised) leaves.forEach((leaf) => leaf.own.pair(tangents + wanted.length));
  const one = trees.items().length === 1 && !matter;
  trees.require(one || trees.items().length === letters?.length, "there is not a tree for each letter");
  const divided = dividing === null ? (tree) => undivided(tree, leaves) : dividing(lines, objective, wanted, leaves);
  const cases = trees.items().flatMap((tree, t) => divided(tree).map((found) => ({ ...found, t })));
  let sum = 0n;
  const listed = prices.items();
  if (listed.length > 0) {
    trees.require(one, "prices are for one tree");
    sum = dividing.beyond(lines, cases, listed, promises);
  } else
    for (const [x, numbers] of lines.numbers) {
      const own = lines.mass.get(x) ?? 0n;
      spend(2 * cases.length);
      let best = null;
      for (const { leaf, shift, t } of cases) {
        const more = one ? 0n : gain(x, t);
        const here = numbers[leaf] + own * shift;
        if (more !== null && (best === null || here + more > best)) best = here + more;
      }
      require(best !== null, "an input has no letter that it may be released as");
      sum += best;
    }
  const found = plus(lines.constant, fraction(sum, setting.law.total << SCALE));
  if (maximised) return found;
  return less(found, ZERO) ? minus(ZERO, found) : ZERO;
}

RULES.set("lines", boundByLines);
