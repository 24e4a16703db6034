// Information under independence: columns of mass one that keep it are a polytope, and what a convex function exceeds prices
// by is largest at one of its corners. The corners are found by cutting: from the unit vectors on, one equation after the
// other keeps the corners on its plane and adds one on every edge that crosses it.
import { BITS, floor, fraction, plus, require, spend } from "./numbers.mjs";
import { Frame, massOf } from "./frames.mjs";
import { Told } from "./posteriors.mjs";
import { RULES } from "./check.mjs";

const PRICE = 100n; // bits after the point of a price

function shortened(vector) {
  const common = vector.reduce((a, b) => {
    let [x, y] = [a, b < 0n ? -b : b];
    while (y) [x, y] = [y, x % y];
    return x;
  }, 0n);
  return common > 1n ? vector.map((v) => v / common) : vector;
}

/** sum_x [p(s, k | x) - p(s) p(k | x)] v(x) = 0, in whole numbers, for every value s of an independent secret and every k. */
function independence(setting, promises, mass) {
  const places = new Map([...mass.keys()].map((x, i) => [x, i]));
  const product = [...mass.values()].reduce((a, b) => a * b, 1n);
  require(product.toString(2).length <= 1 << 14, "the counts of the inputs are too long");
  const inputs = setting.inputs();
  return promises
    .filter((promise) => promise.kind === "independent")
    .flatMap((promise) => {
      const frame = new Frame(setting, promise.about);
      spend(40 * frame.alone.size * frame.worlds.size * mass.size);
      return [...frame.alone].flatMap(([s, { count: whole }]) =>
        [...frame.worlds.keys()].map((k) => {
          const row = [...mass].map(() => 0n);
          setting.law.atoms.forEach(({ count }, i) => {
            if (frame.beside[i] !== k) return;
            const share = (frame.own[i] === s ? frame.total : 0n) - whole;
            row[places.get(inputs[i])] += count * share * (product / mass.get(inputs[i]));
          });
          return shortened(row);
        }),
      );
    })
    .filter((row) => row.some((v) => v !== 0n));
}

const inner = (row, v) => row.reduce((sum, a, i) => (v[i] ? sum + a * v[i] : sum), 0n);

/** Extreme rays of {v >= 0, rows . v = 0}: those with the fewest inputs. */
function rays(many, rows) {
  const bit = (v) => v.reduce((set, a, i) => (a ? set | (1n << BigInt(i)) : set), 0n);
  let found = Array.from({ length: many }, (_, i) => Array.from({ length: many }, (__, j) => (i === j ? 1n : 0n))).map((v) => ({ v, set: bit(v) }));
  for (const row of rows) {
    spend(4 * found.length * many);
    const sides = found.map((ray) => ({ ...ray, side: inner(row, ray.v) }));
    const [up, down] = [sides.filter(({ side }) => side > 0n), sides.filter(({ side }) => side < 0n)];
    const next = sides.filter(({ side }) => side === 0n).map(({ v, set }) => ({ v, set }));
    for (const a of up)
      for (const b of down) {
        // Two rays have an edge between them where no third lives on the inputs of both.
        const both = a.set | b.set;
        spend(2 * sides.length);
        if (sides.some((ray) => ray.set !== a.set && ray.set !== b.set && (ray.set & ~both) === 0n)) continue;
        const v = shortened(a.v.map((n, i) => b.v[i] * a.side - n * b.side));
        next.push({ v, set: bit(v) });
      }
    found = next;
  }
  return found.map(({ v }) => v);
}

/** The basis of the file: columns of the equations that are independent, span all of them, and meet in a corner. */
function basisHolds(rows, basis) {
  require(new Set(basis).size === basis.length, "an input stands twice");
  const some = [...basis].sort((a, b) => a - b);
  let left = [[...rows[0].map(() => 1n), 1n], ...rows.map((row) => [...row, 0n])];
  const used = [];
  for (const j of some) {
    const at = left.findIndex((row) => row[j] !== 0n);
    require(at >= 0, "the starting basis is singular");
    const pivot = left[at];
    spend(10 * left.length * pivot.length);
    const without = (row) => (row[j] === 0n ? row : shortened(row.map((v, i) => (v * pivot[j] - pivot[i] * row[j]) * (pivot[j] > 0n ? 1n : -1n))));
    left = left.filter((_, i) => i !== at).map(without);
    for (const one of used) one.row = without(one.row);
    used.push({ j, row: pivot });
  }
  require(left.every((row) => row.every((v) => v === 0n)), "the starting basis does not span the constraints");
  require(used.every(({ j, row }) => row.at(-1) * row[j] >= 0n), "the starting basis is infeasible");
}

function boundByCorners(proof, setting, promises, _limits, objective) {
  proof.require(objective.aim === "information", "corners are for information");
  const [, prices, basis] = proof.fields("rule", "prices", "basis");
  const z = prices.items().map((item) => item.whole());
  const mass = massOf(setting);
  require(z.length === mass.size, "there is not one price for each input that occurs");
  const told = new Told(setting, objective.about);
  const rows = independence(setting, promises, mass);
  basisHolds(rows.length > 0 ? rows : [z.map(() => 0n)], basis.items().map((item) => item.place(mass.size)));
  const counts = [...mass.values()];
  const product = counts.reduce((a, b) => a * b, 1n);
  let need = null;
  for (const v of rays(mass.size, rows)) {
    // The column c(x) = v(x) / p(x), up to a factor; its prices and phi are divided by its mass.
    const column = v.map((n, i) => n * (product / counts[i]));
    const { phi, mass: weight } = told.ofColumn(column);
    const price = column.reduce((sum, c, i) => sum + c * z[i], 0n) * setting.law.total;
    const over = phi - floor(price << (BITS - PRICE), weight);
    if (need === null || over > need) need = over;
  }
  require(need !== null, "no column keeps the promises");
  return plus(fraction(z.reduce((a, b) => a + b, 0n), 1n << PRICE), fraction(need, 1n << BITS));
}

RULES.set("corners", boundByCorners);
