// A division of the columns of an information by the inputs that they are made of. A promise about a secret is kept by
// mixtures, so that an optimal column needs no more inputs than the secrets have values; on each choice of so many inputs
// phi is convex, and lies below lines that do so at the corners of cells.
import { ceiling, fraction, HELD, plus, require, spend } from "./numbers.mjs";
import { raised, SCALE, UNIT } from "./frames.mjs";
import { DIVISIONS } from "./lines.mjs";
import { leavesOf, Told } from "./posteriors.mjs";
import { splitting } from "./simplices.mjs";

/** All choices of so many things, in the order of the things. */
function* choices(things, many, from = 0) {
  if (many === 0) yield [];
  else
    for (let k = from; k + many <= things.length; k += 1)
      for (const rest of choices(things, many - 1, k + 1)) yield [things[k], ...rest];
}

function binomial(n, k) {
  let found = 1n;
  for (let i = 1n; i <= BigInt(k); i += 1n) found = (found * (BigInt(n) - BigInt(k) + i)) / i;
  return found;
}

/** phi of columns that consist of some inputs alone. */
function faceOf(told, mass, inputs) {
  const common = inputs.reduce((product, x) => product * mass.get(x), 1n);
  return {
    phi(weights, whole) {
      const u = told.labels.map(() => 0n);
      weights.forEach((t, i) => {
        if (t > 0n) for (const [w, n] of told.byInput.get(inputs[i])) u[w] += t * n * (common / mass.get(inputs[i]));
      });
      return told.phi(u, whole * common);
    },
  };
}

function byFaces() {
  throw new Error("faces are bounded as a whole");
}

byFaces.whole = (lines, objective, promises, weights, prices, trees) => {
  const { setting, mass, leaves } = lines;
  const told = new Told(setting, objective.about);
  leaves.forEach((leaf) => leaf.own.pair(0));
  const secrets = new Map();
  weights.items().forEach((weight, k) => {
    if (weight.whole(0n) === 0n && leaves.every((leaf) => leaf.rows[k].items().length === 0)) return;
    require(promises[k].about.length > 0, "faces are for promises about secrets alone");
    secrets.set(String(promises[k].about), promises[k].about);
  });
  const values = [...secrets.values()].reduce((sum, about) => sum + lines.frame(about).keys.size - 1, 1);
  const atoms = Math.min(mass.size, values);
  const inputs = [...mass.keys()];
  const price = prices.pair(inputs.length).map((item) => item.whole());
  trees.require(BigInt(trees.items().length) === binomial(inputs.length, atoms), "there is not a tree for each choice of inputs");
  spend((50 + HELD * atoms) * trees.items().length);
  // What each line is above its price, for an input of mass one.
  const over = new Map(inputs.map((x, k) => [x, lines.of(x).map((line) => ceiling(line, mass.get(x)) - raised(price[k]))]));
  const faces = choices(inputs, atoms);
  let most = null;
  for (const tree of trees.items()) {
    const face = faces.next().value;
    const own = faceOf(told, mass, face);
    const root = face.map((_, i) => {
      const u = face.map((__, j) => (i === j ? 1n : 0n));
      return { u, whole: 1n, phi: own.phi(u, 1n) };
    });
    for (const [cell, node] of leavesOf(tree, root, splitting(own))) {
      const leaf = node.pair()[1].place(leaves.length);
      spend(8 * atoms ** 2);
      for (const { u, whole, phi } of cell) {
        const linear = u.reduce((sum, t, i) => sum + t * over.get(face[i])[leaf], 0n);
        const value = ceiling(linear, whole) + (phi << UNIT);
        if (most === null || value > most) most = value;
      }
    }
  }
  require(most !== null, "a tree leaves no case");
  const paid = inputs.reduce((sum, x, k) => sum + raised(price[k]) * mass.get(x), 0n);
  return plus(lines.constant, fraction(paid + most * setting.law.total, setting.law.total << SCALE));
};

DIVISIONS.set("faces", byFaces);
