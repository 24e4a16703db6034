// Matrices of form pram under local DP. M(q) keeps letter x with probability q_x and spreads the rest evenly. Under a ratio a at
// most one letter is kept more often than a / (a + S - 1), at s, and at most one less often than 1 / (1 + a (S - 1)), at t; the
// others range between two ends that are piecewise linear in s and t. What is told is convex in q, so that it is largest
// where pieces meet and every other letter is at an end. For any law r of the output it is at most the sum over x of
// p_x D(M_x(q_x) || r): at a leaf each letter takes its worse end, and of several r the best one counts.
import { bits, ceiling, fraction, larger, lcm, less, log2, minus, ONE, over, plus, require, same, smaller, spend, times, ZERO } from "./numbers.mjs";
import { massOf } from "./frames.mjs";
import { leavesOf } from "./posteriors.mjs";
import { leastRatio, tellsAll } from "./ratios.mjs";
import { RULES } from "./check.mjs";

const opposite = (v) => minus(ZERO, v);
/** x s + y t + c at a point. */
const at = ([x, y, c], s, t) => plus(plus(times(x, s), times(y, t)), c);
const apart = (f, g) => f.map((v, k) => minus(v, g[k]));
const pairsOf = (list) => list.flatMap((a, i) => list.slice(i + 1).map((b) => [a, b]));

/** Linear functions of (s, t): upper and lower ends of the other letters, and what s and t keep together (not below 0). */
function pieces(many, a) {
  const n = fraction(BigInt(many - 1));
  const one = over(ONE, n);
  const b = over(a, n); // a times what another letter gets of all that is spread
  const [most, least] = [over(a, plus(a, n)), over(ONE, plus(ONE, times(a, n)))];
  const high = [[ZERO, ZERO, most], [opposite(over(n, a)), ZERO, ONE], [opposite(b), ZERO, b]];
  const small = over(ONE, times(a, n));
  const low = [[ZERO, ZERO, least], [ZERO, opposite(times(n, a)), ONE], [ZERO, opposite(small), small]];
  const both = [[opposite(ONE), opposite(b), b], [opposite(b), opposite(ONE), b], [a, one, opposite(one)], [one, a, opposite(one)]];
  if (many > 2) {
    high.push([ZERO, over(ONE, a), minus(ONE, over(ONE, a))]);
    low.push([a, ZERO, minus(ONE, a)]);
    both.push([one, opposite(b), minus(b, one)], [opposite(b), one, minus(b, one)]);
  }
  return { most, least, high, low, both };
}

/** Where two of these are zero at once. */
function meetings(planes) {
  return pairsOf(planes).flatMap(([[x, y, c], [u, v, d]]) => {
    const across = minus(times(x, v), times(y, u));
    if (across.n === 0n) return [];
    return [[over(minus(times(y, d), times(c, v)), across), over(minus(times(c, u), times(x, d)), across)]];
  });
}

const ranked = (a, b) => {
  for (const key of ["above", "below", "low", "high"]) {
    if ((a[key] === null) !== (b[key] === null)) return a[key] === null ? -1 : 1;
    if (a[key] !== null && !same(a[key], b[key])) return less(a[key], b[key]) ? -1 : 1;
  }
  return 0;
};

/** Every way in which pieces meet: the letter above, the one below (null: there is none), and the ends of the others; rising. */
function shapesOf(many, a) {
  const { most, least, high, low, both } = pieces(many, a);
  const found = new Map();
  const add = (shape) => found.set(Object.values(shape).map((v) => (v === null ? "-" : `${v.n}/${v.d}`)).join(), shape);
  add({ above: null, below: null, low: least, high: most });
  for (const [above, below] of [[true, true], [true, false], [false, true]]) {
    const own = (planes) => planes.filter(([x, y]) => (above || x.n === 0n) && (below || y.n === 0n));
    const alone = many === 2 && above && below; // no letter is left to be held back
    const [highs, lows] = alone ? [[high[0]], [high[0]]] : [own(high), own(low)];
    const together = above && below ? both : [];
    const bends = [...pairsOf(highs), ...pairsOf(lows), ...highs.flatMap((f) => lows.map((g) => [f, g]))].map(([f, g]) => apart(f, g));
    const edges = [[ONE, ZERO, opposite(most)], [ZERO, ONE, opposite(least)], [ONE, ZERO, opposite(ONE)], [ZERO, ONE, ZERO]];
    for (const [s, t] of meetings([...bends, ...edges, ...together])) {
      if (less(s, most) || less(ONE, s) || less(t, ZERO) || less(least, t)) continue;
      if ((above && same(s, most)) || (below && same(t, least))) continue;
      const bottom = lows.map((f) => at(f, s, t)).reduce(larger);
      const top = highs.map((f) => at(f, s, t)).reduce(smaller);
      if (less(top, bottom) || together.some((f) => at(f, s, t).n < 0n)) continue;
      add({ above: above ? s : null, below: below ? t : null, low: bottom, high: top });
    }
  }
  return [...found.values()].sort(ranked);
}

/** The law of the output of M(base): log2 of each of its letters from below, in units of 2^-BITS. */
function readOutput(node, counts, order) {
  const kept = counts.map(() => null);
  let place = 0;
  for (const item of node.items()) {
    const [many, q] = item.pair();
    const [size, value] = [Number(many.whole(1n)), q.number(0n)];
    item.require(!less(ONE, value) && place + size <= order.length, "a base has a q above 1, or more of them than letters");
    for (const x of order.slice(place, place + size)) kept[x] = value;
    place += size;
  }
  node.require(place === order.length, "a base has not a q for each letter");
  const rest = fraction(BigInt(counts.length - 1));
  const spread = kept.map((q) => over(minus(ONE, q), rest));
  const whole = [...kept, ...spread].reduce((common, v) => lcm(common, v.d), 1n);
  spend(20 * counts.length);
  const units = (v) => v.n * (whole / v.d);
  const moved = counts.reduce((sum, n, x) => sum + n * units(spread[x]), 0n);
  const total = counts.reduce((a, b) => a + b, 0n) * whole;
  return counts.map((n, x) => {
    const out = moved + n * (units(kept[x]) - units(spread[x]));
    require(out > 0n, "a base leaves out a letter");
    return log2(out, total)[0];
  });
}

/** D(M_x(q) || r) <= u - v log2 r(x), u in units of 2^-BITS, for a law of the output whose logarithms sum up to so much. */
function divergence(q, many, logs) {
  const b = over(minus(ONE, q), fraction(BigInt(many - 1)));
  const own = (share, value) => (value.n === 0n ? ZERO : times(share, fraction(log2(value.n, value.d)[1])));
  const u = minus(plus(own(q, q), own(minus(ONE, q), b)), times(b, fraction(logs.reduce((a, c) => a + c, 0n))));
  return { u, v: minus(q, b) };
}

/** For each letter that deviates first, a bound over all corners of a shape in which some letters are fixed. */
function boundsOf(shape, fixed, first, counts, logs) {
  const S = counts.length;
  const away = [shape.above, shape.below].filter((v) => v !== null);
  const lines = [shape.low, shape.high, ...away].map((q) => divergence(q, S, logs));
  const one = lines.reduce((common, { u, v }) => lcm(lcm(common, u.d), v.d), 1n);
  const exact = lines.map(({ u, v }) => [u.n * (one / u.d), v.n * (one / v.d)]);
  spend(6 * S);
  const on = (x, line) => counts[x] * (exact[line][0] - exact[line][1] * logs[x]);
  const worse = (x) => (on(x, 0) > on(x, 1) ? on(x, 0) : on(x, 1));
  const taken = counts.map((_, x) => (fixed.has(x) ? on(x, fixed.get(x)) : worse(x)));
  const total = taken.reduce((a, b) => a + b, 0n);
  let more = away.length > 0 ? first.map((x) => [x, on(x, 2) - taken[x]]) : [[null, 0n]];
  if (away.length === 2) {
    const named = [...fixed].filter(([x, yes]) => x >= S && yes).map(([x]) => x - S);
    const among = named.length > 0 ? named.slice(0, 1) : counts.map((_, x) => x).filter((x) => !fixed.has(S + x));
    const second = among.map((x) => [x, on(x, 3) - taken[x]]).sort(([, a], [, b]) => (a > b ? -1 : 1)).slice(0, 2);
    more = more.flatMap(([x, extra]) => {
      const others = second.filter(([y]) => y !== x).map(([, gain]) => gain);
      return others.length > 0 ? [[x, extra + others.reduce((a, b) => (a > b ? a : b))]] : [];
    });
  }
  return new Map(more.map(([x, extra]) => [x, ceiling(total + extra, one)]));
}

function boundByMarginals(proof, setting, promises, _limits, objective) {
  const m = setting.mechanism;
  const alike = (a, b) => String(a) === String(b);
  const own = m.form === "pram" && alike(m.reads, m.observe) && alike(m.reads, m.release) && m.beside.length === 0;
  tellsAll(setting, objective);
  require(own, "this proof is for form pram and what tells about all of its input");
  const [, bases, trees] = proof.fields("rule", "bases", "trees");
  const S = setting.many;
  if (S === 1) {
    const plain = ["[[],[]]", '[[],[[["leaf"]]]]'].includes(JSON.stringify([bases.value, trees.value]));
    proof.require(plain, "of a single letter there is nothing to divide");
    return ZERO;
  }
  const r = leastRatio(promises, setting);
  require(r !== null, "no promise bounds the ratio of all pairs of inputs");
  const mass = massOf(setting);
  const counts = Array.from({ length: S }, (_, x) => mass.get(x) ?? 0n);
  const order = counts.map((_, x) => x).sort((a, b) => (counts[a] === counts[b] ? a - b : counts[a] > counts[b] ? -1 : 1));
  const first = order.filter((x, k) => k === 0 || counts[order[k - 1]] !== counts[x]);
  const outputs = bases.items().map((base) => readOutput(base, counts, order));
  const split = (fixed, node) => {
    const x = node.pair()[1].place(2 * S);
    node.require(!fixed.has(x), "a tree names a letter twice");
    return [new Map(fixed).set(x, 0), new Map(fixed).set(x, 1)];
  };
  const shapes = shapesOf(S, r);
  let worst = 0n;
  trees.pair(shapes.length).forEach((tree, k) => {
    for (const [fixed, node] of leavesOf(tree, new Map(), split)) {
      const named = node.items().slice(1).map((item) => outputs[item.place(outputs.length)]);
      node.require(named.length > 0, "a leaf names no base");
      const found = named.map((logs) => boundsOf(shapes[k], fixed, first, counts, logs));
      for (const x of found[0].keys()) {
        const best = found.map((one) => one.get(x)).reduce((a, b) => (a < b ? a : b));
        if (best > worst) worst = best;
      }
    }
  });
  return bits(worst, setting.law.total);
}

RULES.set("marginals", boundByMarginals);
