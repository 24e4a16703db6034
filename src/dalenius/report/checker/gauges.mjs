// Promises about sums over all letters: the best guess, maximal leakage, total variation.
//
// Each letter uses up h(J) of its joint weights J(s), h being the largest of some linear functions y. A proof of
// optimality names such a function for each case, times the weight of the promise; what it uses is rounded down.
import { absolute, BITS, bits, ceiling, exponential, floor, fraction, larger, less, log2, nats, ONE, plus, require, spend, times, ZERO } from "./numbers.mjs";
import { names, outcomesOf } from "./setting.mjs";
import { atMost, noEvidence, PROMISES, SCORES } from "./promises.mjs";

/** The weights of each letter by the value of the secret: told -> Map(value -> weight). */
function byLetter(joint) {
  const found = new Map();
  for (const [s, , y, weight] of joint) (found.get(y) ?? found.set(y, new Map()).get(y)).set(s, weight);
  return found;
}

/** The values of a secret and their counts, apart for what a user knows anyway. */
function beforehand(setting, secret) {
  const m = setting.mechanism;
  const side = setting.labels(m.side !== null && m.beside.includes(m.side) ? [m.side] : []);
  const found = new Map();
  setting.labels(secret).forEach((s, k) => {
    const held = found.get(side[k]) ?? found.set(side[k], new Map()).get(side[k]);
    held.set(s, (held.get(s) ?? 0n) + setting.law.atoms[k].count);
  });
  return found;
}

/** What the best action of each part gains, as a share of everything; without gains an action names a value. */
function gained(parts, rows) {
  let total = 0n;
  let best = ZERO;
  for (const held of parts.values()) {
    spend(4 * held.size * (1 + (rows?.length ?? 0)));
    for (const weight of held.values()) total += weight;
    const choices = rows
      ? rows.map((row) => [...held].reduce((sum, [s, weight]) => plus(sum, times(row.get(s), fraction(weight))), ZERO))
      : [...held.values()].map((weight) => fraction(weight));
    best = plus(best, choices.reduce(larger));
  }
  return fraction(best.n, best.d * total);
}

/** What each part of a case, one for each value of what leaves beside the letter, uses up: key -> -used. */
function weighed(frame, weight, node, used, many) {
  const found = new Map([...frame.keys.keys()].map((key) => [key, 0n]));
  if (node.items().length === 0) return found;
  spend(8 * many * frame.worlds.size);
  const worlds = [...frame.worlds.keys()];
  node.pair(worlds.length).forEach((part, i) => {
    const numbers = part.items().map((item) => item.whole(0n));
    part.require(numbers.length === many, "not a number for each value or action");
    part.require(numbers.reduce((a, b) => a + b, 0n) <= weight, "the weights of a case exceed that of the promise");
    for (const [key, { s, k }] of frame.parts) if (k === worlds[i]) found.set(key, -used(s, numbers));
  });
  return found;
}

const placeOf = (frame, s) => [...frame.alone.keys()].indexOf(s);

function readGuess(node, setting) {
  const [, secret, most, factor, gain] = node.fields("promise", "secret", "at_most", "times", "gain");
  const about = names(secret, setting.alphabets);
  secret.require(about.length > 0, "no column is named");
  node.require(most.isNull() !== factor.isNull(), "a guess has one limit: at_most, or times the blind guess");
  const stated = (most.isNull() ? factor : most).number(0n);
  let rows = null;
  if (!gain.isNull()) {
    gain.require(gain.items().length > 0, "a gain has a row for each action");
    const values = outcomesOf(about.map((name) => setting.alphabets.get(name).length)).map(String);
    // A card does not say which values a secret has that is neither read nor released.
    const width = setting.law === null ? gain.items()[0].items().length : values.length;
    rows = gain.items().map((row) => new Map(row.pair(width).map((item, k) => [values[k], item.number(0n)])));
  }
  const before = () => gained(beforehand(setting, about), rows);
  const limit = () => (most.isNull() ? times(stated, before()) : stated);
  const figures = (release, evidence) => {
    noEvidence(evidence);
    const found = release.told(about);
    if (rows === null) {
      atMost(found.guess_after, limit(), "the chance of the best guess");
      return found;
    }
    const after = gained(byLetter(release.joint(about)), rows);
    atMost(after, limit(), "the gain of the best action");
    return { ...found, gain_before: before(), gain_after: after };
  };
  const scores = (frame, weight, part) => {
    const used = (s, numbers) => {
      if (rows === null) return numbers[placeOf(frame, s)] << BITS;
      const sum = rows.reduce((total, row, a) => plus(total, times(row.get(s), fraction(numbers[a]))), ZERO);
      return floor(sum.n << BITS, sum.d);
    };
    return weighed(frame, weight, part, used, rows === null ? frame.alone.size : rows.length);
  };
  return { kind: "guess", about, needsLaw: true, figures, gauge: { limit, scores } };
}

/** Not below 2^exponent; whole exponents are exact. */
function powerOfTwo(exponent) {
  require(!less(fraction(100n), exponent), "this promise restricts nothing that a proof could use");
  const whole = floor(exponent.n, exponent.d);
  const rest = fraction(exponent.n - whole * exponent.d, exponent.d);
  const more = rest.n === 0n ? ONE : exponential(times(rest, nats(fraction(2n))))[1];
  return times(more, fraction(1n << whole));
}

function readMaximalLeakage(node, setting) {
  const [, secret, most] = node.fields("promise", "secret", "at_most_bits");
  const about = names(secret, setting.alphabets);
  const stated = most.number(0n);
  const limit = () => powerOfTwo(stated);
  const proved = (whole) => {
    const found = bits(log2(whole.n, whole.d)[1]);
    atMost(found, stated, "the maximal leakage");
    return found;
  };
  if (about.length === 0) {
    const m = setting.mechanism;
    const worlds = () => setting.worlds(m.strata);
    const figures = (release, evidence) => {
      noEvidence(evidence);
      require(m.keep.length === 0, "what leaves as it is and is not read has no bound here");
      const largest = new Map();
      const of = worlds();
      spend(4 * setting.many * release.channel.width);
      release.channel.rows.forEach((row, x) =>
        row.forEach((value, y) => {
          const key = `${of[x]};${y}`;
          if (value > (largest.get(key) ?? 0n)) largest.set(key, value);
        }),
      );
      const sum = [...largest.values()].reduce((a, b) => a + b, 0n);
      return { maximal_bits: proved(fraction(sum, release.channel.scale)) };
    };
    // For each case the weights of inputs, of each stratum at most that of the promise together.
    const inputs = (weight, part) => {
      require(m.keep.length === 0, "maximal leakage has no limit beside columns that are not read");
      const sums = new Map();
      const of = part.items().length > 0 ? worlds() : [];
      return part.items().map((item) => {
        const [place, number] = item.pair();
        const [x, w] = [place.place(setting.many), number.whole(0n)];
        sums.set(of[x], (sums.get(of[x]) ?? 0n) + w);
        item.require(sums.get(of[x]) <= weight, "the weights of a case exceed that of the promise");
        return [x, w];
      });
    };
    return { kind: "maximal_leakage", about, needsLaw: false, figures, gauge: { limit, inputs }, stated };
  }
  const figures = (release, evidence) => {
    noEvidence(evidence);
    const joint = release.joint(about);
    const own = new Map();
    for (const [s, , , weight] of joint) own.set(s, (own.get(s) ?? 0n) + weight);
    let whole = ZERO;
    for (const held of byLetter(joint).values())
      whole = plus(whole, [...held].map(([s, weight]) => fraction(weight, own.get(s))).reduce(larger));
    return { ...release.told(about), maximal_bits: proved(whole) };
  };
  const scores = (frame, weight, part) => {
    const used = (s, numbers) => floor((numbers[placeOf(frame, s)] * frame.total) << BITS, frame.alone.get(s).count);
    return weighed(frame, weight, part, used, frame.alone.size);
  };
  return { kind: "maximal_leakage", about, needsLaw: true, figures, gauge: { limit, scores } };
}

function readTotalVariation(node, setting) {
  const [, secret, most] = node.fields("promise", "secret", "at_most");
  const about = names(secret, setting.alphabets);
  secret.require(about.length > 0, "no column is named");
  const stated = most.number(0n);
  const figures = (release, evidence) => {
    noEvidence(evidence);
    const letters = byLetter(release.joint(about));
    const own = new Map();
    let total = 0n;
    for (const held of letters.values())
      for (const [s, weight] of held) {
        own.set(s, (own.get(s) ?? 0n) + weight);
        total += weight;
      }
    spend(6 * own.size * letters.size);
    let apart = 0n;
    for (const held of letters.values()) {
      const mass = [...held.values()].reduce((a, b) => a + b, 0n);
      // Also values that this letter rules out: there p(s) p(y) itself is the distance.
      for (const [s, n] of own) apart += absolute((held.get(s) ?? 0n) * total - n * mass);
    }
    const found = fraction(apart, 2n * total * total);
    atMost(found, stated, "the total variation");
    return { ...release.told(about), total_variation: found };
  };
  /** w(s) [J(s, k) - p(s) J(k)] with 0 <= w <= weight: the positive parts of these are half of what is apart. */
  const scores = (frame, weight, part) => {
    const pairs = [...frame.alone.keys()].flatMap((s) => [...frame.worlds.keys()].map((k) => ({ s, k })));
    const stood = part.items().map((item) => item.whole(0n));
    part.require(stood.length === 0 || stood.length === pairs.length, "not a multiplier for each value");
    const numbers = stood.length > 0 ? stood : pairs.map(() => 0n);
    part.require(numbers.every((w) => w <= weight), "a weight of a case exceeds that of the promise");
    spend(6 * pairs.length * frame.keys.size);
    const base = new Map();
    pairs.forEach(({ s, k }, i) => base.set(k, (base.get(k) ?? 0n) + numbers[i] * frame.alone.get(s).count));
    return new Map(
      [...frame.parts].map(([key, { s, k }]) => {
        const own = numbers[pairs.findIndex((pair) => pair.s === s && pair.k === k)];
        return [key, ceiling(base.get(k) << BITS, frame.total) - (own << BITS)];
      }),
    );
  };
  return { kind: "total_variation", about, needsLaw: true, figures, gauge: { limit: () => stated, scores } };
}

/** v [at_most J(k) - sum_s J(s, k) log2(b(s) / p(s))] for a multiplier v >= 0 and a law b of each world k (Gibbs). */
function worstCase(promise, frame, node) {
  const found = new Map([...frame.keys.keys()].map((key) => [key, 0n]));
  const worlds = [...frame.worlds.keys()];
  node.pair(worlds.length).forEach((item, i) => {
    const [multiplier, posterior] = item.pair();
    const v = multiplier.whole(0n);
    if (!v) {
      posterior.numbersAlone();
      return;
    }
    const keys = [...frame.keys.keys()].filter((key) => frame.parts.get(key).k === worlds[i]);
    const law = posterior.items().map((weight) => weight.whole(1n));
    posterior.require(law.length === keys.length, "a posterior lacks a value of its secret");
    const whole = law.reduce((a, b) => a + b, 0n);
    const level = ceiling((v << BITS) * promise.limit.n, promise.limit.d);
    keys.forEach((key, j) => {
      const own = frame.alone.get(frame.parts.get(key).s).count;
      found.set(key, level - v * log2(law[j] * frame.total, whole * own)[0]);
    });
  });
  return found;
}

SCORES.set("worst_case_leakage", worstCase);
PROMISES.set("guess", readGuess);
PROMISES.set("maximal_leakage", readMaximalLeakage);
PROMISES.set("total_variation", readTotalVariation);
