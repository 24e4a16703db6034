// Divisions of the columns of an information by simplicial cells of their posteriors. A linear function that is not below
// phi at the corners of a cell is not below it in the cone over the cell, because phi is convex and 1-homogeneous.
import { ceiling, floor, HELD, lcm, ONE, plus, require, same, spend, ZERO } from "./numbers.mjs";
import { raised, UNIT } from "./frames.mjs";
import { DIVISIONS } from "./lines.mjs";
import { leavesOf, Told } from "./posteriors.mjs";
import { leastRatio } from "./ratios.mjs";

/** The point with these weights on the corners of a cell. */
function pointOf(weights, cell, told) {
  const whole = weights.reduce((common, t, i) => (t.n > 0n ? lcm(common, t.d * cell[i].whole) : common), 1n);
  require(whole.toString(2).length <= 1 << 14, "a point of a cell has no small common denominator");
  spend(HELD * cell.length);
  const u = cell[0].u.map(() => 0n);
  weights.forEach((t, i) => {
    if (t.n === 0n) return;
    const share = t.n * (whole / (t.d * cell[i].whole));
    cell[i].u.forEach((n, w) => (u[w] += share * n));
  });
  return { u, whole, phi: told.phi(u, whole) };
}

export function splitting(told) {
  return (cell, node) => {
    const weights = node.items().slice(1).map((item) => item.number(0n));
    const good = weights.length === cell.length && same(weights.reduce(plus, ZERO), ONE);
    node.require(good, "a split is not a point of its cell");
    const point = pointOf(weights, cell, told);
    return weights.flatMap((t, i) => (t.n > 0n ? [cell.map((corner, j) => (i === j ? point : corner))] : []));
  };
}

function bySimplices(lines, objective, wanted, leaves) {
  const maximised = objective.aim === "information";
  require(!maximised || wanted.length === 0, "what is maximised and what must be told are not bounded together");
  require(maximised || wanted.length === 1, "cells of posteriors are for one information");
  const [about, weight] = maximised ? [objective.about, 1n << UNIT] : wanted[0];
  const told = new Told(lines.setting, about);
  const slopes = leaves.map((leaf, j) => {
    const node = maximised ? leaf.own : leaf.own.items().at(-1);
    const found = node.items().map((item) => item.whole());
    node.require(found.length === told.labels.length, "a leaf has not one number for each label");
    lines.add(told, new Map(told.labels.map((key, i) => [key, raised(found[i])])), j);
    return found;
  });
  const root = told.labels.map((_, i) => {
    const u = told.labels.map((__, w) => (w === i ? 1n : 0n));
    return { u, whole: 1n, phi: told.phi(u, 1n) };
  });
  return (tree) => {
    const needs = new Map();
    for (const [cell, node] of leavesOf(tree, root, splitting(told))) {
      const leaf = node.pair()[1].place(leaves.length);
      spend(8 * cell.length ** 2);
      for (const { u, whole, phi } of cell) {
        const below = u.reduce((sum, t, w) => sum + t * slopes[leaf][w], 0n);
        const need = weight * phi - floor(raised(below), whole);
        if (!needs.has(leaf) || needs.get(leaf) < need) needs.set(leaf, need);
      }
    }
    require(needs.size > 0, "a tree leaves no case");
    return [...needs].map(([leaf, shift]) => ({ leaf, shift }));
  };
}

/**
 * Prices z beside the lines: with a ratio r between all inputs a column lies in [m, r m], m its least value, so that
 * l.c <= z.c + m sum_x [r (l - z)_+ - (l - z)_-], and the m of all columns sum up to at most one.
 */
bySimplices.beyond = (lines, cases, prices, promises) => {
  const { law } = lines.setting;
  const r = leastRatio(promises, lines.setting);
  require(r !== null, "no promise bounds the ratio of all pairs of inputs");
  require(prices.length === lines.mass.size, "there is not one price for each input that occurs");
  const price = new Map([...lines.mass.keys()].map((x, k) => [x, raised(prices[k].whole()) * law.total]));
  const over = cases.map(() => 0n);
  for (const [x, numbers] of lines.numbers) {
    const own = lines.mass.get(x) ?? 0n;
    spend(10 * cases.length);
    cases.forEach(({ leaf, shift }, k) => {
      const more = numbers[leaf] + own * shift - (price.get(x) ?? 0n);
      over[k] += more > 0n ? ceiling(more * r.n, r.d) : more;
    });
  }
  const most = over.reduce((a, b) => (a > b ? a : b), 0n);
  return [...price.values()].reduce((a, b) => a + b, most);
};

DIVISIONS.set("simplices", bySimplices);
