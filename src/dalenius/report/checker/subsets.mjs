// All of the input under local DP: a column of least value 1 and ratio r is a mixture of columns 1 + c 1_A, c = r - 1, and
// what columns tell is convex. With K beside, 1 + c 1_A adds h(A) = sum_k p(k) g(p(A | k)) to I(X; K), where
// g(P) = P r log2 r - (1 + c P) log2(1 + c P) is concave: at a leaf its tangents stand for it, and inputs are chosen one by
// one. With prices y of the mass nobody adds more than sum_x y p + max(0, most of h(A) - sum_x y p (1 + c 1_A)).
//
// All of the input under maximal leakage: the same with columns 1_A and g(P) = -P log2 P, whose largest values sum up to at
// most 2^at_most.
import {
  BITS,
  bits,
  ceiling,
  exponential,
  floor,
  fraction,
  HELD,
  larger,
  lcm,
  less,
  log2,
  LOG2_E,
  minus,
  ONE,
  over,
  plus,
  require,
  smaller,
  spend,
  times,
  ZERO,
} from "./numbers.mjs";
import { information } from "./release.mjs";
import { massOf, UNIT } from "./frames.mjs";
import { leavesOf } from "./posteriors.mjs";
import { ceilingOf, leastRatio, MOST_NATS, tellsAll } from "./ratios.mjs";
import { RULES } from "./check.mjs";

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0n);
const E_UNITS = [floor(LOG2_E.n << BITS, LOG2_E.d) - 1n, ceiling(LOG2_E.n << BITS, LOG2_E.d)]; // around log2 e in 2^-BITS

/** [run, k]: more than k inputs of the run are in A, or at most k. */
const byRuns = (sizes) => (known, node) => {
  const [, place, count] = node.pair(3);
  const run = place.place(sizes.length);
  const [low, high] = known.get(run) ?? [0, sizes[run]];
  const k = count.place(high);
  count.require(k >= low, "the split does not divide its run");
  return [new Map(known).set(run, [k + 1, high]), new Map(known).set(run, [low, k])];
};

/** How many records each input that occurs has with each k, the commonest input first; and how many have each k. */
function vectors(setting) {
  const { mechanism, law } = setting;
  const beside = setting.labels(mechanism.beside);
  const order = [...new Set(beside)].map((k) => k.split(",").map(Number)).sort((a, b) => a.map((v, i) => v - b[i]).find((d) => d !== 0) ?? 0);
  const place = new Map(order.map((k, i) => [String(mechanism.beside.length > 0 ? k : ""), i]));
  const found = new Map([...massOf(setting).keys()].map((x) => [x, order.map(() => 0n)]));
  const worlds = order.map(() => 0n);
  setting.inputs().forEach((x, i) => {
    found.get(x)[place.get(beside[i])] += law.atoms[i].count;
    worlds[place.get(beside[i])] += law.atoms[i].count;
  });
  spend(HELD * found.size * order.length);
  const falling = (a, b) => [sum(b) - sum(a), ...b.map((n, k) => n - a[k])].find((d) => d !== 0n) ?? 0n;
  return { worlds, letters: [...found.values()].sort((a, b) => Number(falling(a, b) > 0n) - Number(falling(a, b) < 0n)) };
}

/** The runs of a proof: inputs that have one price together. */
function readRuns(node, letters, worlds) {
  let start = 0;
  const runs = node.items().map((item) => {
    const [many, price] = item.pair();
    const size = Number(many.whole(1n));
    const prices = price.items().map((p) => p.number());
    item.require(prices.length === 1 || prices.length === worlds.length, "there is neither one price nor one for each kept value");
    const members = letters.slice(start, start + size);
    start += size;
    require(start <= letters.length, "the runs are not made of all letters");
    return {
      size,
      prices: worlds.map((_, k) => prices[k % prices.length]),
      alike: String(members[0]) === String(members.at(-1)),
      one: members.at(-1),
      all: worlds.map((_, k) => sum(members.map((n) => n[k]))),
    };
  });
  require(start === letters.length && start > 0, "the runs are not made of all letters");
  const bottom = runs.flatMap((run) => run.prices).reduce((common, p) => lcm(common, p.d), 1n);
  require(bottom.toString(2).length <= 4096, "the prices have no small common denominator");
  return runs;
}

/** sum_x y p + tau, for a ratio r above 1. */
function mostAdded(runs, worlds, r, tree) {
  const total = sum(worlds);
  const c = minus(r, ONE);
  const top = times(r, bits(log2(r.n, r.d)[1])); // r log2 r from above
  // c y in units of 2^-BITS, from below.
  const costs = runs.map((run) => run.prices.map((y) => floor((c.n * y.n) << BITS, c.d * y.d)));
  const paid = runs.reduce((whole, run) => run.prices.reduce((part, y, k) => plus(part, times(y, fraction(run.all[k]))), whole), ZERO);
  const sizes = runs.map((run) => (run.alike ? run.size : 0)); // others are not divided
  let worst = 0n;
  for (const [known, node] of leavesOf(tree, new Map(), byRuns(sizes))) {
    const points = node.items().slice(1).map((item) => item.number(0n));
    const good = points.length === worlds.length && points.every((p) => !less(ONE, p));
    node.require(good, "a leaf has not one point of [0, 1] for each kept value");
    spend(4 * runs.length * worlds.length);
    let gain = 0n;
    const slopes = points.map((at, k) => {
      const raise = times(c, at);
      const [below] = log2(raise.n + raise.d, raise.d);
      gain += worlds[k] * (ceiling(raise.n * E_UNITS[1], raise.d) - below);
      return ceiling(top.n << BITS, top.d) - floor(c.n * (below + E_UNITS[0]), c.d);
    });
    runs.forEach((run, i) => {
      if (run.alike) {
        const [low, high] = known.get(i) ?? [0, run.size];
        const worth = run.one.reduce((all, n, k) => all + n * (slopes[k] - costs[i][k]), 0n);
        gain += worth * BigInt(worth > 0n ? high : low);
      } else run.all.forEach((n, k) => (gain += slopes[k] > costs[i][k] ? n * (slopes[k] - costs[i][k]) : 0n));
    });
    if (gain > worst) worst = gain;
  }
  return larger(over(paid, fraction(total)), fraction(worst, total << BITS));
}

function entropyOf(counts) {
  const total = sum(counts);
  return bits(sum(counts.map((n) => n * log2(total, n)[1])), total);
}

function boundBySubsets(proof, setting, promises, _limits, objective) {
  tellsAll(setting, objective);
  const [, runNode, tree] = proof.fields("rule", "runs", "tree");
  const { worlds, letters } = vectors(setting);
  const hidden = entropyOf([...massOf(setting).values()]);
  const alone = setting.mechanism.beside.length === 0;
  const found = [hidden];
  const r = leastRatio(promises, setting);
  if (r !== null) {
    const beside = setting.labels(setting.mechanism.beside);
    const joint = new Map();
    setting.inputs().forEach((x, i) => {
      const key = `${x};${beside[i]}`;
      joint.set(key, [x, "", beside[i], (joint.get(key)?.[3] ?? 0n) + setting.law.atoms[i].count]);
    });
    const already = alone ? ZERO : information([...joint.values()])[1];
    const added = less(ONE, r) ? smaller(ceilingOf(r), mostAdded(readRuns(runNode, letters, worlds), worlds, r, tree)) : ZERO;
    found.push(plus(already, added));
  }
  for (const promise of promises) {
    if (promise.kind !== "local_dp" || promise.share.n === 0n || promise.distances !== null || !alone) continue;
    const epsilon = over(promise.limit, promise.rows);
    if (less(MOST_NATS, epsilon)) continue;
    // Of every row at most eta is cut away so that the rest keeps the ratio; what is cut away tells at most eta H(X).
    const eta = times(fraction(BigInt(letters.length - 1)), over(promise.share, promise.rows));
    const [, ratio] = exponential(epsilon);
    let first = ZERO;
    if (less(ONE, ratio)) {
      const runs = readRuns(runNode, letters, worlds);
      const below = runs.reduce((all, run) => (run.prices[0].n < 0n ? minus(all, times(run.prices[0], fraction(run.all[0]))) : all), ZERO);
      const most = plus(mostAdded(runs, worlds, ratio, tree), times(eta, over(below, fraction(sum(worlds)))));
      first = smaller(ceilingOf(ratio), most);
    }
    found.push(plus(first, times(eta, hidden)));
  }
  require(found.length > 1, "no promise bounds the ratio of all pairs of inputs");
  return found.reduce(smaller);
}

function boundByBlocks(proof, setting, promises, _limits, objective) {
  tellsAll(setting, objective);
  require(setting.mechanism.beside.length === 0, "blocks are for a letter alone");
  const everything = promises.filter((promise) => promise.kind === "maximal_leakage" && promise.about.length === 0);
  const limits = everything.map((promise) => promise.gauge.limit());
  require(limits.length > 0, "blocks need a promise of maximal leakage about everything");
  const [, prices, tree] = proof.fields("rule", "prices", "tree");
  const y = prices.items().map((item) => item.whole());
  const counts = [...massOf(setting).values()];
  require(y.length === counts.length, "there is not one price for each input that occurs");
  const runs = new Map();
  counts.forEach((n, i) => {
    const key = `${n};${y[i]}`;
    const run = runs.get(key) ?? runs.set(key, { n, price: y[i] << (BITS - UNIT), size: 0 }).get(key);
    run.size += 1;
  });
  const total = setting.law.total;
  const all = [...runs.values()];
  let worst = 0n;
  for (const [known, node] of leavesOf(tree, new Map(), byRuns(all.map((run) => run.size)))) {
    const at = node.pair()[1].number(0n);
    node.require(at.n > 0n && !less(ONE, at), "a leaf has not a point above 0 and up to 1");
    spend(10 * all.length);
    // g(P) <= P0 log2 e - P (log2 P0 + log2 e)
    const slope = -log2(at.n, at.d)[0] - E_UNITS[0];
    let gain = ceiling(total * at.n * E_UNITS[1], at.d);
    all.forEach(({ n, price, size }, i) => {
      const [low, high] = known.get(i) ?? [0, size];
      const worth = n * (slope - price);
      gain += worth * BigInt(worth > 0n ? high : low);
    });
    if (gain > worst) worst = gain;
  }
  const paid = fraction(sum(counts.map((n, i) => n * y[i])), total << UNIT);
  return plus(paid, times(limits.reduce(smaller), fraction(worst, total << BITS)));
}

RULES.set("blocks", boundByBlocks);
RULES.set("subsets", boundBySubsets);
