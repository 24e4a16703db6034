// What the file speaks of: variables, the law of the records, the mechanism, and the two together.
import { HELD, require, spend, Unknown } from "./numbers.mjs";

export function readVariables(node) {
  const alphabets = new Map();
  for (const item of node.items()) {
    const [name, letters] = item.fields("name", "letters");
    name.require(!alphabets.has(name.text()), "a variable stands twice");
    alphabets.set(name.text(), letters.texts());
    letters.require(letters.texts().length > 0, "an alphabet is empty");
  }
  return alphabets;
}

export function names(node, alphabets) {
  const found = node.texts();
  node.require(found.every((name) => alphabets.has(name)), "there is no such variable");
  return found;
}

/** Readers of further laws, by their kind; see each.mjs. */
export const LAWS = new Map();

/** Forms of a mechanism that are proved here; see noise.mjs. */
export const KNOWN_FORMS = new Set(["any", "pram"]);

export function readLaw(node, alphabets) {
  const kind = node.tag();
  if (LAWS.has(kind)) return LAWS.get(kind)(node, alphabets);
  if (kind !== "table" && kind !== "known") {
    if (["independent", "margins", "alike", "markov"].includes(kind)) throw new Unknown(`a law of kind ${kind}`);
    node.refuse("there is no such law");
  }
  const [, named, outcomes] = node.fields("law", "variables", "outcomes");
  const variables = [...alphabets.keys()];
  const stated = named.texts();
  named.require(stated.length === variables.length && stated.every((n, k) => n === variables[k]), "not the variables in their order");
  const sizes = variables.map((name) => alphabets.get(name).length);
  let last = null;
  const atoms = outcomes.items().map((item) => {
    const parts = item.pair(sizes.length + 1);
    const outcome = sizes.map((size, k) => parts[k].place(size));
    if (last !== null) {
      const k = outcome.findIndex((place, i) => place !== last[i]);
      item.require(k >= 0 && outcome[k] > last[k], "the outcomes do not rise, or one stands twice");
    }
    last = outcome;
    return { outcome, count: parts[sizes.length].whole(1n) };
  });
  outcomes.require(atoms.length > 0 && sizes.length > 0, "the law is empty");
  const total = atoms.reduce((sum, atom) => sum + atom.count, 0n);
  return { variables, atoms, total, rows: kind === "table" ? total : null };
}

export function readMechanism(node, alphabets) {
  const [observe, strata, keep, release, fresh, form, each, forbid, never, freeze, preserve, side] = node.fields(
    "observe", "strata", "keep", "release", "fresh", "form", "each", "forbid", "never", "freeze", "preserve_marginals", "side",
  );
  const m = {
    observe: names(observe, alphabets),
    strata: names(strata, alphabets),
    keep: names(keep, alphabets),
    release: names(release, alphabets),
    fresh: fresh.isNull() ? null : fresh.texts(),
    form: form.text(),
    preserve: preserve.flag(),
    each: null,
    side: null,
    encoder: null,
  };
  if (!side.isNull()) {
    const [variable, encoder] = side.fields("variable", "encoder");
    variable.require(alphabets.has(variable.text()), "there is no such variable");
    encoder.require(["informed", "statistically-informed", "uninformed"].includes(encoder.text()), "there is no such encoder");
    m.side = variable.text();
    m.encoder = encoder.text();
  }
  const used = [...m.observe, ...m.strata, ...m.keep, ...(m.side === null ? [] : [m.side])];
  node.require(new Set(used).size === used.length, "a column is both looked at and kept, or stands twice");
  observe.require(m.observe.length > 0, "nothing is observed");
  const leaving = used.slice(m.observe.length);
  release.require(!m.release.some((name) => leaving.includes(name)), "a column that leaves as it is is released again");
  if (m.fresh !== null) {
    fresh.require(m.release.length === 0, "released columns have their own letters");
    fresh.require(m.fresh.length > 0, "an alphabet is empty");
  }
  form.require(["any", "pram", "noise"].includes(m.form), "there is no such form");
  if (!each.isNull()) {
    m.each = each.pair(m.observe.length).map((level) => level.number(0n));
    const own = m.fresh === null && (m.release.length === 0 || String(m.release) === String(m.observe));
    each.require(own, "columns with a matrix each release all of themselves, or letters of their own");
  }
  const letters = new Set(m.release.flatMap((name) => alphabets.get(name)));
  m.forbid = forbid.items().map((item) => {
    const pair = item.pair().map((part) => part.text());
    item.require(pair.every((letter) => letters.has(letter)), "no released column has these letters");
    return pair;
  });
  const changes = new Set(m.forbid.map((pair) => JSON.stringify(pair)));
  forbid.require(changes.size === m.forbid.length, "a change stands twice");
  m.never = never.items().map((item) => {
    const combination = new Map();
    for (const part of item.items()) {
      const [column, among] = part.fields("column", "letters");
      column.require(m.release.includes(column.text()), "this column is not released");
      column.require(!combination.has(column.text()), "a column stands twice in one combination");
      const alphabet = alphabets.get(column.text());
      const chosen = among.texts();
      among.require(chosen.length > 0 && chosen.every((letter) => alphabet.includes(letter)), "the column has no such letter");
      combination.set(column.text(), chosen);
    }
    item.require(combination.size > 0, "a combination is empty");
    return combination;
  });
  const ends = new Set(m.never.map((combination) => JSON.stringify([...combination])));
  never.require(ends.size === m.never.length, "a combination stands twice");
  m.freeze = freeze.texts();
  freeze.require(m.freeze.every((letter) => letters.has(letter)), "no released column has this letter");
  const held = m.forbid.length + m.freeze.length > 0 || m.preserve;
  node.require(!held || m.release.every((name) => m.observe.includes(name)), "a column is held fast that is not observed");
  node.require(m.release.length > 0 || !m.preserve, "an output of its own has no marginal before");
  if (!KNOWN_FORMS.has(m.form)) throw new Unknown("noise on grids");
  if (m.each !== null && !LAWS.has("margins")) throw new Unknown("a matrix for each column");
  if (m.encoder === "statistically-informed") throw new Unknown("maps of side information");
  m.reads = [...m.observe, ...m.strata, ...(m.encoder === "informed" ? [m.side] : [])];
  m.leaving = [...m.keep, ...m.strata];
  m.beside = [...m.leaving, ...(m.side !== null && m.encoder !== "uninformed" ? [m.side] : [])];
  return m;
}

/** All outcomes of some alphabets, last fastest. */
export function outcomesOf(sizes) {
  let found = [[]];
  for (const size of sizes) {
    spend(HELD * found.length * size);
    found = found.flatMap((outcome) => Array.from({ length: size }, (_, k) => [...outcome, k]));
  }
  return found;
}

/** Law and mechanism together. */
export class Setting {
  constructor(alphabets, law, mechanism) {
    this.alphabets = alphabets;
    this.law = law;
    this.mechanism = mechanism;
    this.sizes = mechanism.reads.map((name) => alphabets.get(name).length);
    this.many = this.sizes.reduce((product, size) => product * size, 1);
    this.width = null;
    if (mechanism.release.length > 0)
      this.width = mechanism.release.reduce((product, name) => product * alphabets.get(name).length, 1);
    else if (mechanism.fresh !== null) this.width = mechanism.fresh.length;
  }

  /** For each atom, its outcome of the named variables, as a text that tells outcomes apart. */
  labels(wanted) {
    require(this.law !== null, "this needs the law of the records, which a card does not carry");
    const at = wanted.map((name) => this.law.variables.indexOf(name));
    return this.law.atoms.map(({ outcome }) => at.map((k) => outcome[k]).join(","));
  }

  /** The input of each atom. */
  inputs() {
    const at = this.mechanism.reads.map((name) => this.law.variables.indexOf(name));
    return this.law.atoms.map(({ outcome }) => at.reduce((place, k, i) => place * this.sizes[i] + outcome[k], 0));
  }

  /** The released letters, each a list of texts; null: as many as one likes. */
  letters() {
    if (this.width === null) return null;
    if (this.mechanism.fresh !== null) return this.mechanism.fresh.map((letter) => [letter]);
    const columns = this.mechanism.release.map((name) => this.alphabets.get(name));
    return outcomesOf(columns.map((letters) => letters.length)).map((places) => places.map((k, i) => columns[i][k]));
  }

  /** For each input, its letters of the given columns that are read, as a text. */
  worlds(given) {
    const at = this.mechanism.reads.flatMap((name, k) => (given.includes(name) ? [k] : []));
    return outcomesOf(this.sizes).map((outcome) => at.map((k) => outcome[k]).join(","));
  }
}
