// What leaves: the joint law of a secret and the letter, and every figure that follows from it.
import {
  bits,
  ceiling,
  floor,
  fraction,
  HELD,
  larger,
  log2,
  nats,
  ONE,
  over,
  plus,
  require,
  spend,
  times,
  ZERO,
} from "./numbers.mjs";
import { outcomesOf } from "./setting.mjs";
import { distance } from "./distortion.mjs";

/** A setting and the channel that is claimed for it. */
export class Release {
  constructor(setting, channel) {
    this.setting = setting;
    this.channel = channel;
  }

  /** Weights, out of total * scale, of (secret, given, told), told being the letter and what leaves beside it. */
  joint(secret, given = []) {
    const setting = this.setting;
    const secrets = setting.labels(secret);
    const givens = setting.labels(given);
    const beside = setting.labels(setting.mechanism.beside);
    const found = new Map();
    spend(4 * setting.law.atoms.length * this.channel.width);
    setting.inputs().forEach((e, k) => {
      const count = setting.law.atoms[k].count;
      this.channel.rows[e].forEach((value, y) => {
        if (value === 0n) return;
        const key = JSON.stringify([secrets[k], givens[k], `${y};${beside[k]}`]);
        if (!found.has(key)) spend(HELD);
        found.set(key, (found.get(key) ?? 0n) + count * value);
      });
    });
    return [...found].map(([key, weight]) => [...JSON.parse(key), weight]);
  }

  /** Figures about a secret: on average, by the worst letter, as odds, and the best guesses. */
  told(secret) {
    const joint = this.joint(secret);
    const setting = this.setting;
    const [about, out] = [sums(joint, 0), sums(joint, 2)];
    const total = setting.law.total * this.channel.scale;
    const worst = new Map();
    const best = new Map();
    let odds = ONE;
    for (const [s, , y, weight] of joint) {
      if (weight > (best.get(y) ?? 0n)) best.set(y, weight);
      const ratio = fraction(weight * total, about.get(s) * out.get(y));
      odds = larger(odds, ratio.n < ratio.d ? { n: ratio.d, d: ratio.n } : ratio);
      worst.set(y, (worst.get(y) ?? 0n) + weight * log2(ratio.n, ratio.d)[1]);
    }
    const m = setting.mechanism;
    const side = m.side !== null && m.beside.includes(m.side) ? setting.labels([m.side]) : setting.labels([]);
    const pairs = new Map();
    setting.labels(secret).forEach((s, k) => {
      const key = JSON.stringify([side[k], s]);
      pairs.set(key, (pairs.get(key) ?? 0n) + setting.law.atoms[k].count);
    });
    const before = new Map();
    for (const [key, weight] of pairs) {
      const [z] = JSON.parse(key);
      if (weight > (before.get(z) ?? 0n)) before.set(z, weight);
    }
    const add = (values) => [...values].reduce((a, b) => a + b, 0n);
    return {
      leakage_bits: information(joint)[1],
      worst_letter_bits: [...worst].map(([y, units]) => bits(units, out.get(y))).reduce(larger, ZERO),
      odds_nats: joint.length < about.size * out.size ? null : nats(odds),
      guess_before: fraction(add(before.values()), setting.law.total),
      guess_after: fraction(add(best.values()), total),
      entropy_bits: this.entropy(secret),
    };
  }

  /** The entropy of a secret from below. */
  entropy(secret) {
    const counts = new Map();
    this.setting.labels(secret).forEach((s, k) => counts.set(s, (counts.get(s) ?? 0n) + this.setting.law.atoms[k].count));
    const total = this.setting.law.total;
    // In lowest terms, so that shares of 1/2, 1/4, .. are exact.
    const shares = [...counts.values()].map((n) => fraction(n, total));
    return shares.reduce((sum, share) => plus(sum, times(share, bits(log2(share.d, share.n)[0]))), ZERO);
  }

  independent(secret) {
    const joint = this.joint(secret);
    const [about, out] = [sums(joint, 0), sums(joint, 2)];
    const total = this.setting.law.total * this.channel.scale;
    require(joint.length === about.size * out.size, "a released letter rules a value out");
    for (const [s, , y, weight] of joint)
      require(weight * total === about.get(s) * out.get(y), `a released letter is not independent of ${secret}`);
  }

  cost(parts) {
    const setting = this.setting;
    const letters = setting.letters();
    require(letters !== null, "a distortion needs to know the letters that may be released");
    const inputs = setting.inputs();
    let total = ZERO;
    for (const part of parts) {
      spend(4 * setting.law.atoms.length * this.channel.width);
      const at = part.of.map((name) => setting.law.variables.indexOf(name));
      const cached = new Map();
      setting.law.atoms.forEach(({ outcome, count }, k) => {
        const places = at.map((i) => outcome[i]);
        this.channel.rows[inputs[k]].forEach((value, t) => {
          const key = `${places};${t}`;
          if (!cached.has(key)) {
            spend(HELD);
            cached.set(key, distance(part, setting, places, letters[t], t));
          }
          const far = cached.get(key);
          require(far !== null || value === 0n, "a released letter is infinitely far from its record");
          if (far !== null && value > 0n) total = plus(total, times(times(part.weight, far), fraction(count * value)));
        });
      });
    }
    return over(total, fraction(setting.law.total * this.channel.scale));
  }

  /** Nothing forbidden happens, nothing frozen changes, marginals are preserved. */
  keepShape() {
    const setting = this.setting;
    const m = setting.mechanism;
    require(m.each === null, "the columns do not have a matrix each");
    require(m.form !== "pram" || this.channel.form === "pram", "the matrix is not of form pram");
    const letters = setting.letters();
    if (letters !== null && m.forbid.length + m.freeze.length + m.never.length > 0) {
      spend(4 * setting.many * letters.length * (1 + m.forbid.length + m.never.length));
      outcomesOf(setting.sizes).forEach((outcome, e) => {
        const before = new Map(m.reads.map((name, k) => [name, setting.alphabets.get(name)[outcome[k]]]));
        letters.forEach((told, t) => {
          if (this.channel.rows[e][t] === 0n) return;
          const after = new Map(m.release.map((name, k) => [name, told[k]]));
          for (const name of m.release) {
            if (!before.has(name)) continue;
            const [from, to] = [before.get(name), after.get(name)];
            require(!m.forbid.some(([a, b]) => a === from && b === to), "a forbidden letter can be released");
            require(from === to || !m.freeze.includes(from), "a frozen letter can change");
          }
          for (const combination of m.never)
            require(
              ![...combination].every(([name, among]) => among.includes(after.get(name))),
              "a combination that never leaves can be released",
            );
        });
      });
    }
    if (!m.preserve) return;
    require(setting.law !== null, "this needs the law of the records, which a card does not carry");
    const at = m.release.map((name) => setting.law.variables.indexOf(name));
    const after = Array.from({ length: setting.width }, () => 0n);
    const before = Array.from({ length: setting.width }, () => 0n);
    const inputs = setting.inputs();
    setting.law.atoms.forEach(({ outcome, count }, k) => {
      const place = at.reduce((p, i, j) => p * setting.alphabets.get(m.release[j]).length + outcome[i], 0);
      before[place] += count * this.channel.scale;
      this.channel.rows[inputs[k]].forEach((value, t) => {
        after[t] += count * value;
      });
    });
    require(before.every((n, t) => n === after[t]), "a marginal is not preserved");
  }
}

function sums(joint, at) {
  const found = new Map();
  for (const entry of joint) found.set(entry[at], (found.get(entry[at]) ?? 0n) + entry[3]);
  return found;
}

/** Bounds of I(S; Y | G) in bits from weights of (s, g, y). */
export function information(joint) {
  const pair = (a, b) => JSON.stringify([a, b]);
  const [sg, gy, g] = [new Map(), new Map(), new Map()];
  let total = 0n;
  for (const [s, given, y, weight] of joint) {
    total += weight;
    sg.set(pair(s, given), (sg.get(pair(s, given)) ?? 0n) + weight);
    gy.set(pair(given, y), (gy.get(pair(given, y)) ?? 0n) + weight);
    g.set(given, (g.get(given) ?? 0n) + weight);
  }
  let [low, high] = [0n, 0n];
  for (const [s, given, y, weight] of joint) {
    const ratio = fraction(weight * g.get(given), sg.get(pair(s, given)) * gy.get(pair(given, y)));
    const ends = log2(ratio.n, ratio.d);
    low += weight * ends[0];
    high += weight * ends[1];
  }
  return [larger(bits(floor(low, total)), ZERO), larger(bits(ceiling(high, total)), ZERO)];
}
