// What a column tells about W: phi(u) = sum u(w, k) log2(u(w, k) / (p(w) s(k))) of its joint weights u, which is convex and
// 1-homogeneous; and the trees by which proofs divide what they bound.
import { BITS, ceiling, log2, require, spend } from "./numbers.mjs";
import { Frame, massOf } from "./frames.mjs";

/** The leaves of a tree in pre-order, each with its case; `split` gives the cases that together cover one. */
export function* leavesOf(tree, root, split) {
  const open = [root];
  for (const node of tree.items()) {
    spend(30);
    node.require(open.length > 0, "the tree goes on after its last leaf");
    const kind = Array.isArray(node.value) ? node.value[0] : null;
    node.require(kind === "split" || kind === "leaf", "a node is a split or a leaf");
    const here = open.pop();
    if (kind === "leaf") yield [here, node];
    else for (const part of split(here, node).reverse()) open.push(part);
  }
  require(open.length === 0, "a tree of cases lacks leaves");
}

/** For each atom its value of W, where values whose weights p(x, w, k) are proportional have the name of the first. */
function merged(setting, about) {
  const { atoms, variables } = setting.law;
  const at = about.map((name) => variables.indexOf(name));
  const values = atoms.map(({ outcome }) => at.map((k) => outcome[k]));
  const where = setting.inputs();
  const beside = setting.labels(setting.mechanism.beside);
  const shapes = new Map();
  values.forEach((value, k) => {
    const shape = shapes.get(String(value)) ?? shapes.set(String(value), { value, weights: new Map() }).get(String(value));
    const key = `${where[k]};${beside[k]}`;
    shape.weights.set(key, (shape.weights.get(key) ?? 0n) + atoms[k].count);
  });
  const first = new Map();
  const names = new Map();
  const rising = [...shapes.values()].sort((a, b) => a.value.map((v, k) => v - b.value[k]).find((d) => d !== 0) ?? 0);
  for (const { value, weights } of rising) {
    spend(40 * weights.size);
    const sorted = [...weights].sort(([a], [b]) => (a < b ? -1 : 1));
    const [, one] = sorted[0];
    // Proportional weights have the same ratios to the first of them.
    const ratios = sorted.map(([key, n]) => `${key}:${ratioText(n, one)}`).join("|");
    if (!first.has(ratios)) first.set(ratios, value);
    names.set(String(value), first.get(ratios));
  }
  return values.map((value) => names.get(String(value)));
}

function ratioText(a, b) {
  let [x, y] = [a, b];
  while (y) [x, y] = [y, x % y];
  return `${a / x}/${b / x}`;
}

export class Told extends Frame {
  constructor(setting, about) {
    super(setting, about, merged(setting, about));
    this.labels = [...this.keys.keys()];
    this.place = new Map(this.labels.map((key, i) => [key, i]));
    this.world = this.labels.map((key) => this.parts.get(key).k);
    this.prior = this.labels.map((key) => this.alone.get(this.parts.get(key).s).count);
    // For each input that occurs, how many of its records have each label.
    this.byInput = new Map([...massOf(setting).keys()].map((x) => [x, new Map()]));
    setting.inputs().forEach((x, k) => {
      const held = this.byInput.get(x);
      const i = this.place.get(this.pair[k]);
      held.set(i, (held.get(i) ?? 0n) + setting.law.atoms[k].count);
    });
  }

  /** phi(u / whole) from above in units of 2^-BITS, u >= 0 in the order of the labels. */
  phi(u, whole) {
    const sums = new Map();
    u.forEach((t, i) => sums.set(this.world[i], (sums.get(this.world[i]) ?? 0n) + t));
    let sum = 0n;
    u.forEach((t, i) => {
      if (t > 0n) sum += t * log2(t * this.total, this.prior[i] * sums.get(this.world[i]))[1];
    });
    return ceiling(sum, whole);
  }

  /** phi of a column, which is given by a whole number for each input that occurs, in their order, divided by its mass. */
  ofColumn(column) {
    const u = this.labels.map(() => 0n);
    [...this.byInput.values()].forEach((held, x) => {
      if (column[x] > 0n) for (const [i, n] of held) u[i] += column[x] * n;
    });
    const mass = u.reduce((a, b) => a + b, 0n);
    return { phi: this.phi(u, mass), mass };
  }
}
