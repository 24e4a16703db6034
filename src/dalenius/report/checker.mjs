// A second, independent checker of the promises of dalenius-design/2 and dalenius-card/2 files.
//
// It shares the file format with the checker in Python and nothing else: another language, another logarithm, another
// way through the numbers. It proves privacy: that the channel is one, that every promise holds, that every limit and
// every shape is kept, and that no claimed figure is better than the proved one. It proves no bound.
//
// What it does not know it never passes: an `Unknown` is thrown for parts of the format that this checker does not
// prove, a `Refused` for a file that is wrong. Numbers are whole (BigInt) or fractions of whole numbers; a logarithm is
// an interval of two whole numbers.

export class Refused extends Error {}
export class Unknown extends Error {}

const LONGEST_FILE = 1 << 26;
const LONGEST_NUMBER = 4000;
const LONGEST_LABEL = 1000;
const DEEPEST = 16;
const MOST_WORK = 20_000_000n;
const MOST_PROMISES = 1000;
const ENTRIES = 1 << 22;
const MOST_ROWS = 1 << 20;

function require(holds, otherwise) {
  if (!holds) throw new Refused(otherwise);
}

// What a page may do before its reader loses patience; a file that needs more is for the checker in Python.
const MOST_STEPS = 3_000_000;
let steps = 0;

function spend(many) {
  steps += many;
  if (steps > MOST_STEPS) throw new Unknown("a proof that is too long for this checker");
}

// --- fractions --------------------------------------------------------------------------------------------------------
const absolute = (a) => (a < 0n ? -a : a);

function gcd(a, b) {
  a = absolute(a);
  b = absolute(b);
  while (b) [a, b] = [b, a % b];
  return a;
}

const lcm = (a, b) => (a / gcd(a, b)) * b;

/** n / d in lowest terms, d > 0. */
function fraction(n, d = 1n) {
  if (d < 0n) [n, d] = [-n, -d];
  const common = gcd(n, d);
  return common > 1n ? { n: n / common, d: d / common } : { n, d };
}

const ZERO = fraction(0n);
const ONE = fraction(1n);
const plus = (a, b) => fraction(a.n * b.d + b.n * a.d, a.d * b.d);
const minus = (a, b) => fraction(a.n * b.d - b.n * a.d, a.d * b.d);
const times = (a, b) => fraction(a.n * b.n, a.d * b.d);
const over = (a, b) => fraction(a.n * b.d, a.d * b.n);
const less = (a, b) => a.n * b.d < b.n * a.d;
const same = (a, b) => a.n === b.n && a.d === b.d;
const larger = (a, b) => (less(a, b) ? b : a);
const smaller = (a, b) => (less(b, a) ? b : a);

/** The whole number at or below a / b, for b > 0. BigInt division rounds towards zero. */
function floor(a, b) {
  const quotient = a / b;
  return a % b < 0n ? quotient - 1n : quotient;
}

const ceiling = (a, b) => -floor(-a, b);

/** A decimal not below q, for sentences. */
function shown(q) {
  const units = ceiling(q.n * 10n ** 12n, q.d);
  const text = String(absolute(units)).padStart(13, "0");
  return `${units < 0n ? "-" : ""}${text.slice(0, -12)}.${text.slice(-12)}`.replace(/\.?0+$/, "");
}

// --- logarithms: intervals of whole numbers in units of 2^-BITS -----------------------------------------------------------
const BITS = 192n;
const GUARD = 64n;
const FINE = BITS + GUARD;

/**
 * 2^FINE * 2 atanh(n/d) for 0 <= n/d <= 1/3, from below and not 400 units too low:
 * at most 82 terms of 2 sum z^(2k+1)/(2k+1), each of which loses less than four units by its floors.
 */
function twiceAtanh(n, d) {
  let power = (n << (FINE + 1n)) / d;
  const square = ((n * n) << FINE) / (d * d);
  let total = 0n;
  for (let k = 1n; power > 0n; k += 2n) {
    total += power / k;
    power = (power * square) >> FINE;
  }
  return total;
}

const SLACK = 400n;
const LN2 = twiceAtanh(1n, 3n); // ln 2 = 2 atanh(1/3)
const known = new Map();

const bitLength = (a) => BigInt(a.toString(2).length);

/** [low, high] with low <= 2^BITS log2(a / b) <= high, for a, b > 0; equal for powers of two. */
function log2(a, b = 1n) {
  const key = `${a}/${b}`;
  const found = known.get(key);
  if (found) return found;
  spend(100);
  require(a > 0n && b > 0n, "a logarithm of what is not positive");
  // a / b = 2^e m with 1 <= m < 2
  let e = bitLength(a) - bitLength(b);
  if (e >= 0n ? a < b << e : a << -e < b) e -= 1n;
  const top = e >= 0n ? a : a << -e;
  const bottom = e >= 0n ? b << e : b;
  let ends;
  if (top === bottom) {
    ends = [e << BITS, e << BITS];
  } else {
    const ln = twiceAtanh(top - bottom, top + bottom); // ln m, z = (m - 1) / (m + 1) < 1/3
    // ln m / ln 2 lies between ln / (LN2 + SLACK) and (ln + SLACK) / LN2
    ends = [(e << BITS) + (ln << BITS) / (LN2 + SLACK), (e << BITS) + ceiling((ln + SLACK) << BITS, LN2)];
  }
  if (known.size < 100_000) known.set(key, ends);
  return ends;
}

const bits = (units) => fraction(units, 1n << BITS);

/** An upper bound of ln q, for q >= 1. */
const nats = (q) => fraction(log2(q.n, q.d)[1] * (LN2 + SLACK), 1n << (BITS + FINE));

/** [low, high] around e^x as fractions, for 0 <= x <= 100. */
function exponential(x) {
  require(!less(x, ZERO) && !less(fraction(100n), x), "an exponent is not between 0 and 100");
  // e^x = (e^(x / 2^8))^(2^8); the series is in units of 2^-320, each step of it and each squaring rounded outwards.
  const unit = 320n;
  const one = 1n << unit;
  const halvings = 8n;
  const argument = [(x.n << unit) / (x.d << halvings), ((x.n << unit) / (x.d << halvings)) + 1n];
  const ends = argument.map((t, upwards) => {
    let term = one;
    let total = one;
    for (let k = 1n; k < 200n; k += 1n) {
      term = (term * t) / (k << unit) + (upwards ? 1n : 0n);
      total += term;
    }
    if (upwards) total += 1000n; // the rest of the series: t < 0.4, so that it is far below a unit
    for (let k = 0n; k < halvings; k += 1n) total = ((total * total) >> unit) + (upwards ? 1n : 0n);
    return fraction(total, one);
  });
  return [larger(ends[0], ONE), ends[1]];
}

// --- the file -----------------------------------------------------------------------------------------------------------
/** A value of the file and where it stands; it gives itself away by typed methods alone. */
class Node {
  constructor(value, path) {
    this.value = value;
    this.path = path;
  }

  refuse(what) {
    throw new Refused(`${this.path}: ${what}`);
  }

  require(holds, otherwise) {
    if (!holds) this.refuse(otherwise);
  }

  fields(...keys) {
    this.require(this.value !== null && typeof this.value === "object" && !Array.isArray(this.value), "an object is expected");
    const found = Object.keys(this.value);
    this.require(found.length === keys.length && found.every((key, k) => key === keys[k]), `the keys must be ${keys}`);
    return keys.map((key) => new Node(this.value[key], `${this.path}.${key}`));
  }

  /** The text under the first key of an object, which says what kind of object it is. */
  tag() {
    this.require(this.value !== null && typeof this.value === "object" && !Array.isArray(this.value), "an object is expected");
    const first = Object.values(this.value)[0];
    this.require(typeof first === "string", "the kind of an object is a text");
    return first;
  }

  items() {
    this.require(Array.isArray(this.value), "a list is expected");
    return this.value.map((value, k) => new Node(value, `${this.path}[${k}]`));
  }

  pair(length = 2) {
    const found = this.items();
    this.require(found.length === length, `a list of ${length} is expected`);
    return found;
  }

  isNull() {
    return this.value === null;
  }

  text() {
    const length = typeof this.value === "string" ? [...this.value].length : 0;
    this.require(length > 0 && length <= LONGEST_LABEL, "a short text is expected");
    return this.value;
  }

  texts() {
    const found = this.items().map((item) => item.text());
    this.require(new Set(found).size === found.length, "a text stands twice");
    return found;
  }

  flag() {
    this.require(typeof this.value === "boolean", "true or false is expected");
    return this.value;
  }

  place(below, least = 0) {
    this.require(Number.isInteger(this.value) && this.value >= least && this.value < below, "a place is expected");
    return this.value;
  }

  whole(least = null) {
    const good = typeof this.value === "string" && this.value.length <= LONGEST_NUMBER && /^-?(0|[1-9][0-9]*)$/.test(this.value);
    this.require(good, "an integer is expected, as a text");
    const found = BigInt(this.value);
    this.require(least === null || found >= least, `an integer from ${least} on is expected`);
    return found;
  }

  number(least = null) {
    this.require(typeof this.value === "string", "a number is expected, as a text");
    const found = numberOf(this.value);
    this.require(found !== null, "this is not an integer, a decimal or a fraction");
    this.require(least === null || !less(found, fraction(least)), `a number from ${least} on is expected`);
    return found;
  }
}

function numberOf(text) {
  const match = text.length <= LONGEST_NUMBER ? /^(-?(?:0|[1-9][0-9]*))(?:\/([1-9][0-9]*)|\.([0-9]+))?$/.exec(text) : null;
  if (match === null) return null;
  const [, front, bottom, decimals] = match;
  if (decimals !== undefined) return fraction(BigInt(front + decimals), 10n ** BigInt(decimals.length));
  return fraction(BigInt(front), BigInt(bottom ?? "1"));
}

function parsed(text) {
  require(text.length <= LONGEST_FILE, "the file is too long");
  let depth = 0;
  let quoted = false;
  for (let k = 0; k < text.length; k += 1) {
    const sign = text[k];
    if (quoted) {
      if (sign === "\\") k += 1;
      else if (sign === '"') quoted = false;
    } else if (sign === '"') quoted = true;
    else if (sign === "[" || sign === "{") depth += 1;
    else if (sign === "]" || sign === "}") depth -= 1;
    require(depth >= 0 && depth <= DEEPEST, "the brackets do not match, or stand in each other too deep");
  }
  // Halves of a pair of surrogates are no letters; the canonical text never writes a whole pair as escapes.
  require(!/\\u[dD][89a-fA-F]/.test(text) && text.isWellFormed(), "the file has a letter that does not exist");
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Refused("the file is not JSON");
  }
  require(JSON.stringify(value) === text, "the file is not in canonical form");
  return new Node(value, "$");
}

// --- what the file speaks of ----------------------------------------------------------------------------------------------
function readVariables(node) {
  const alphabets = new Map();
  for (const item of node.items()) {
    const [name, letters] = item.fields("name", "letters");
    name.require(!alphabets.has(name.text()), "a variable stands twice");
    alphabets.set(name.text(), letters.texts());
    letters.require(letters.texts().length > 0, "an alphabet is empty");
  }
  return alphabets;
}

function names(node, alphabets) {
  const found = node.texts();
  node.require(found.every((name) => alphabets.has(name)), "there is no such variable");
  return found;
}

function readLaw(node, alphabets) {
  const kind = node.tag();
  if (kind !== "table" && kind !== "known") {
    if (["independent", "margins", "alike"].includes(kind)) throw new Unknown(`a law of kind ${kind}`);
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

function readMechanism(node, alphabets) {
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
    each.pair(m.observe.length).forEach((level) => level.number(0n));
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
  m.freeze = freeze.texts();
  freeze.require(m.freeze.every((letter) => letters.has(letter)), "no released column has this letter");
  const held = m.forbid.length + m.freeze.length > 0 || m.preserve;
  node.require(!held || m.release.every((name) => m.observe.includes(name)), "a column is held fast that is not observed");
  node.require(m.release.length > 0 || !m.preserve, "an output of its own has no marginal before");
  if (m.form === "noise") throw new Unknown("noise on grids");
  if (!each.isNull()) throw new Unknown("a matrix for each column");
  if (m.encoder === "statistically-informed") throw new Unknown("maps of side information");
  m.reads = [...m.observe, ...m.strata, ...(m.encoder === "informed" ? [m.side] : [])];
  m.leaving = [...m.keep, ...m.strata];
  m.beside = [...m.leaving, ...(m.side !== null && m.encoder !== "uninformed" ? [m.side] : [])];
  return m;
}

/** All outcomes of some alphabets, last fastest. */
function outcomesOf(sizes) {
  let found = [[]];
  for (const size of sizes) {
    spend(found.length * size);
    found = found.flatMap((outcome) => Array.from({ length: size }, (_, k) => [...outcome, k]));
  }
  return found;
}

/** Law and mechanism together. */
class Setting {
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

// --- channels: whole numbers over one scale -----------------------------------------------------------------------------
function readChannel(node, setting) {
  const form = node.tag();
  if (form === "dense") return readDense(node, setting);
  if (form === "pram" || form === "resample") return readEven(node, setting, form);
  if (form === "staircase") return readStaircase(node, setting);
  if (["windows", "strata", "sums", "types", "orbits", "noise", "maps", "filled", "records"].includes(form))
    throw new Unknown(`a channel of form ${form}`);
  return node.refuse("there is no such form");
}

function readDense(node, setting) {
  const [, width, scale, rows] = node.fields("form", "letters", "scale", "rows");
  const many = width.place(ENTRIES, 1);
  const one = scale.whole(1n);
  width.require(setting.width === null || setting.width === many, "the released letters are not those of the problem");
  const table = rows.pair(setting.many).map((row) => {
    const numbers = row.items().map((item) => item.whole(0n));
    row.require(numbers.length === many && numbers.reduce((a, b) => a + b, 0n) === one, "the row is not a law of the letters");
    return numbers;
  });
  return { form: "dense", width: many, scale: one, rows: table };
}

function written(form, exact) {
  const scale = exact.flat().reduce((common, value) => lcm(common, value.d), 1n);
  return { form, width: exact[0].length, scale, rows: exact.map((row) => row.map((v) => v.n * (scale / v.d))) };
}

function readEven(node, setting, form) {
  const many = setting.many;
  const [, stay, others] = form === "pram" ? node.fields("form", "stay") : node.fields("form", "stay", "others");
  const probabilities = (part) =>
    part.pair(many).map((item) => {
      const value = item.number(0n);
      item.require(!less(ONE, value), "a probability lies between 0 and 1");
      return value;
    });
  const stays = probabilities(stay);
  const drawn = form === "pram" ? null : probabilities(others);
  const m = setting.mechanism;
  node.require(setting.width === many && String(m.release) === String(m.reads), "this form releases the columns that it reads");
  node.require(drawn === null || same(drawn.reduce(plus, ZERO), ONE), "what is drawn is not a law of the letters");
  node.require(drawn !== null || many > 1 || same(stays[0], ONE), "a single letter stays");
  spend(10 * many * many);
  return written(
    form,
    stays.map((p, x) =>
      stays.map((_, y) => {
        const left = minus(ONE, p);
        if (drawn !== null) return plus(times(left, drawn[y]), x === y ? p : ZERO);
        return x === y ? p : over(left, fraction(BigInt(many - 1)));
      }),
    ),
  );
}

function readStaircase(node, setting) {
  const [, ratio, classes, columns] = node.fields("form", "ratio", "classes", "columns");
  const r = ratio.number(1n);
  const of = classes.pair(setting.many).map((item) => item.place(setting.many));
  const used = new Set(of);
  const letters = columns.items().map((item) => {
    const [weight, members] = item.pair();
    const inside = members.items().map((member) => member.place(setting.many));
    const among = new Set(inside);
    members.require(among.size === inside.length && inside.every((c) => used.has(c)), "these are not classes of inputs");
    return { weight: weight.number(0n), among };
  });
  columns.require(letters.length > 0, "there is no letter");
  columns.require(setting.width === null || setting.width === letters.length, "the released letters are not those of the problem");
  spend(10 * setting.many * letters.length);
  const exact = of.map((c) => letters.map(({ weight, among }) => (among.has(c) ? times(weight, r) : weight)));
  exact.forEach((row) => columns.require(same(row.reduce(plus, ZERO), ONE), "a row does not sum to one"));
  return written("staircase", exact);
}

// --- distortions -----------------------------------------------------------------------------------------------------------
function readDistortion(node, setting) {
  const parts = node.items().map((item) => readPart(item, setting));
  node.require(parts.length > 0, "a distortion is empty");
  return parts;
}

function readPart(node, setting) {
  const kind = node.tag();
  if (kind === "norm") {
    node.fields("distance", "of", "p");
    throw new Unknown("a norm of noise");
  }
  node.require(["hamming", "absolute", "squared", "kl", "erasure", "matrix"].includes(kind), "there is no such distance");
  const [, of, weight, classes, matrix] = node.fields("distance", "of", "weight", "classes", "matrix");
  const columns = of.texts();
  of.require(columns.length > 0 && columns.every((name) => setting.alphabets.has(name)), "there is no such variable");
  of.require(kind !== "kl" || columns.length === 1, "kl compares one column of probabilities");
  const groups = classes.items().map((group) => group.texts());
  const members = groups.flat();
  const all = new Set(columns.flatMap((name) => setting.alphabets.get(name)));
  classes.require(new Set(members).size === members.length && members.every((letter) => all.has(letter)), "not classes of letters");
  classes.require(groups.length === 0 || kind === "hamming", "classes are for hamming");
  const rows = matrix.items().map((row) => row.items().map((value) => value.number(0n)));
  if (kind === "matrix") {
    const many = columns.reduce((product, name) => product * setting.alphabets.get(name).length, 1);
    matrix.require(rows.length === many && rows.every((row) => row.length === setting.width), "the matrix has another shape");
  } else {
    matrix.require(rows.length === 0, "this distance has no matrix");
    const own = kind === "erasure" && setting.mechanism.release.length === 0 && columns.length === 1;
    of.require(own || columns.every((name) => setting.mechanism.release.includes(name)), "a column is compared that is not released");
  }
  return { kind, of: columns, weight: weight.number(0n), groups, rows };
}

/** The distance of one record from one letter, rounded up; null: infinitely far. */
function distance(part, setting, places, letters, t) {
  if (part.kind === "matrix") {
    const row = part.of.reduce((place, name, k) => place * setting.alphabets.get(name).length + places[k], 0);
    return part.rows[row][t];
  }
  const before = part.of.map((name, k) => setting.alphabets.get(name)[places[k]]);
  const release = setting.mechanism.release;
  const after = release.length > 0 ? part.of.map((name) => letters[release.indexOf(name)]) : letters;
  const equal = before.every((letter, k) => letter === after[k]) && before.length === after.length;
  if (part.kind === "erasure") {
    if (equal) return ZERO;
    return after.length === part.of.length && after.every((letter) => letter === "(missing)") ? ONE : null;
  }
  if (part.kind === "hamming") {
    const group = (letter) => {
      const k = part.groups.findIndex((members) => members.includes(letter));
      return k >= 0 ? k : letter;
    };
    return before.every((letter, k) => group(letter) === group(after[k])) ? ZERO : ONE;
  }
  const numbers = [before, after].map((side) =>
    side.map((letter) => {
      const value = numberOf(letter);
      require(value !== null, "a letter is not a number");
      return value;
    }),
  );
  if (part.kind === "kl") return coins(numbers[0][0], numbers[1][0]);
  return numbers[0].reduce((sum, value, k) => {
    const apart = minus(value, numbers[1][k]);
    const size = apart.n < 0n ? minus(ZERO, apart) : apart;
    return plus(sum, part.kind === "squared" ? times(size, size) : size);
  }, ZERO);
}

function coins(x, y) {
  for (const p of [x, y]) require(!less(p, ZERO) && !less(ONE, p), "the letters of kl are probabilities");
  let units = ZERO;
  for (const [a, b] of [[x, y], [minus(ONE, x), minus(ONE, y)]]) {
    if (a.n === 0n) continue;
    if (b.n === 0n) return null;
    const q = over(a, b);
    units = plus(units, times(a, bits(log2(q.n, q.d)[1])));
  }
  return larger(units, ZERO);
}

// --- what leaves ---------------------------------------------------------------------------------------------------------
/** A setting and the channel that is claimed for it. */
class Release {
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
      odds = larger(odds, larger(ratio, over(ONE, ratio)));
      const bitsHere = times(fraction(weight, out.get(y)), bits(log2(ratio.n, ratio.d)[1]));
      worst.set(y, plus(worst.get(y) ?? ZERO, bitsHere));
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
      worst_letter_bits: [...worst.values()].reduce(larger, ZERO),
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
    return [...counts.values()].reduce((sum, n) => plus(sum, times(fraction(n, total), bits(log2(total, n)[0]))), ZERO);
  }

  independent(secret) {
    const joint = this.joint(secret);
    const [about, out] = [sums(joint, 0), sums(joint, 2)];
    const total = this.setting.law.total * this.channel.scale;
    require(joint.length === about.size * out.size, "a released letter rules a value out");
    for (const [s, , y, weight] of joint)
      require(weight * total === about.get(s) * out.get(y), `a released letter is not independent of ${secret}`);
  }

  /** The level of local DP between inputs that agree in `given`. */
  level(given, metric) {
    const worlds = this.setting.worlds(given);
    let level = ZERO;
    spend(this.setting.many ** 2 * this.channel.width);
    this.channel.rows.forEach((row, x) => {
      this.channel.rows.forEach((other, z) => {
        if (x === z || worlds[x] !== worlds[z] || row.every((value, y) => value === other[y])) return;
        let most = ONE;
        row.forEach((value, y) => {
          if (value === 0n) return;
          require(other[y] > 0n, "a letter has probability 0 under one input and not under another");
          most = larger(most, fraction(value, other[y]));
        });
        const apart = metric === null ? ONE : metric[x][z];
        require(apart.n > 0n, "inputs at distance 0 are released differently");
        level = larger(level, over(nats(most), apart));
      });
    });
    return level;
  }

  /** max over pairs of sum_y max(0, p(y|x) - e^epsilon p(y|x')), with e^epsilon from below. */
  delta(given, epsilon) {
    const worlds = this.setting.worlds(given);
    const [factor] = exponential(epsilon);
    let worst = ZERO;
    spend(this.setting.many ** 2 * this.channel.width);
    this.channel.rows.forEach((row, x) => {
      this.channel.rows.forEach((other, z) => {
        if (worlds[x] !== worlds[z]) return;
        const units = row.reduce((sum, value, y) => {
          const here = value * factor.d - other[y] * factor.n;
          return here > 0n ? sum + here : sum;
        }, 0n);
        worst = larger(worst, fraction(units, this.channel.scale * factor.d));
      });
    });
    return worst;
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
          if (!cached.has(key)) cached.set(key, distance(part, setting, places, letters[t], t));
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
function information(joint) {
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

// --- what any adversary learns, and what passes -----------------------------------------------------------------------------
function combinations(many, size, start = 0) {
  spend(1);
  if (size === 0) return [[]];
  const found = [];
  for (let k = start; k <= many - size; k += 1)
    for (const rest of combinations(many, size - 1, k + 1)) found.push([k, ...rest]);
  return found;
}

function readTrees(node) {
  return node.items().map((tree) =>
    tree.items().map((item) => {
      if (item.tag() === "centre") {
        const [, law] = item.fields("node", "law");
        return { law: law.items().map((weight) => weight.whole(1n)) };
      }
      item.require(item.tag() === "choice", "a node of a tree is a centre or a choice");
      const [, value, rows] = item.fields("node", "value", "rows");
      const among = rows.items().map((row) => row.place(1 << 20));
      rows.require(new Set(among).size === among.length, "a row stands twice");
      return { value: value.place(1 << 20), rows: new Set(among) };
    }),
  );
}

/** A bound of I(X_group; Y) over all laws: rows tell no more than their largest divergence from any one law. */
function capacity(setting, channel, group, evidence) {
  const place = new Map();
  const which = channel.rows.map((row) => {
    const key = row.join(",");
    if (!place.has(key)) place.set(key, { number: place.size, row });
    return place.get(key).number;
  });
  const rows = [...place.values()].map(({ row }) => row);
  const groups = combinations(setting.sizes.length, group);
  let trees = evidence.isNull() ? null : readTrees(evidence);
  if (trees === null) {
    const mean = rows[0].map((_, y) => rows.reduce((sum, row) => sum + row[y], 1n));
    trees = [[{ law: mean }]];
  }
  require(trees.length === 1 || trees.length === groups.length, "there is not one tree for each group");
  const divergence = (row, law) => {
    require(law.length === row.length, "a centre is not a law of the letters");
    spend(20 * row.length);
    const total = law.reduce((a, b) => a + b, 0n);
    let units = 0n;
    row.forEach((value, y) => {
      if (value > 0n) units += value * log2(value * total, channel.scale * law[y])[1];
    });
    return bits(ceiling(units, channel.scale));
  };
  const outcomes = outcomesOf(setting.sizes);
  let worst = ZERO;
  groups.forEach((members, k) => {
    const values = new Map();
    outcomes.forEach((outcome, x) => {
      const key = members.map((i) => outcome[i]).join(",");
      if (!values.has(key)) values.set(key, new Set());
      values.get(key).add(which[x]);
    });
    const stack = [[...values.values()]];
    for (const part of trees[k % trees.length]) {
      require(stack.length > 0, "a tree goes on after its last leaf");
      const allowed = stack.pop();
      if (part.law) {
        for (const x of new Set(allowed.flatMap((some) => [...some]))) worst = larger(worst, divergence(rows[x], part.law));
      } else {
        require(part.value < allowed.length, "a node divides no value of the group");
        const chosen = [...allowed[part.value]];
        const halves = [chosen.filter((x) => !part.rows.has(x)), chosen.filter((x) => part.rows.has(x))];
        for (const half of halves) stack.push(allowed.map((some, i) => (i === part.value ? new Set(half) : some)));
      }
    }
    require(stack.length === 0, "a tree lacks leaves");
  });
  return worst;
}

/**
 * A bound of max over pairs of rows and 0 <= b <= 1 of f(b) = 1 - sum p q / (b p + (1-b) q), which is concave in b: on
 * an interval it lies below both tangents at its ends. Intervals are halved until their bound is within 2^-80 of a value.
 */
function contraction(channel) {
  const rows = [...new Map(channel.rows.map((row) => [row.join(","), row])).values()];
  let best = ZERO;
  for (let i = 0; i < rows.length; i += 1)
    for (let j = i + 1; j < rows.length; j += 1) {
      spend(rows[i].length);
      const apart = rows[i].reduce((sum, value, y) => sum + absolute(value - rows[j][y]), 0n);
      const variation = fraction(apart, 2n * channel.scale);
      if (less(best, variation)) best = larger(best, smaller(variation, mostOfPair(rows[i], rows[j], channel.scale)));
    }
  return best;
}

function mostOfPair(first, second, scale) {
  const both = first.flatMap((p, y) => (p > 0n && second[y] > 0n ? [[p, second[y]]] : []));
  const unit = 200n;
  const at = 1n << 60n; // b is a multiple of 2^-60
  // f and f' at b, in units of 2^-200 of their own, each with its two ends
  const value = (b) => {
    spend(4 * both.length);
    let [fall, least, most] = [0n, 0n, 0n];
    for (const [p, q] of both) {
      const mean = b * p + (at - b) * q;
      fall += ((p * q * at) << unit) / (mean * scale);
      const slope = (p * q * (p - q) * at * at) << unit;
      least += floor(slope, mean * mean * scale);
      most += ceiling(slope, mean * mean * scale);
    }
    return { value: (1n << unit) - fall, least, most };
  };
  let [low, high] = [0n, at];
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (value(middle).least > 0n) low = middle;
    else high = middle;
  }
  const [left, right] = [value(low), value(high)];
  // Left of `low` f still rises or its tangent there bounds it; right of `high` the tangent at `high` does.
  const fromLeft = left.value + ceiling((left.most > 0n ? left.most : 0n) * (high - low), at);
  const before = left.value + ceiling((left.least < 0n ? -left.least : 0n) * low, at);
  const after = right.value + ceiling((right.most > 0n ? right.most : 0n) * (at - high), at);
  const bound = [fromLeft, before, after].reduce((a, b) => (a > b ? a : b));
  return fraction(bound, 1n << unit);
}

// --- promises ----------------------------------------------------------------------------------------------------------------
const LOWER = new Set(["guess_before", "entropy_bits"]);

function atMost(figure, limit, what) {
  require(figure !== null, `${what} is not bounded`);
  require(!less(limit, figure), `${what} is ${shown(figure)}, more than promised`);
}

function noEvidence(node) {
  node.require(node.isNull(), "this promise needs no evidence");
}

function readPromise(node, setting) {
  const secretOf = (item) => {
    const found = names(item, setting.alphabets);
    item.require(found.length > 0, "no column is named");
    return found;
  };
  switch (node.tag()) {
    case "independent": {
      const [, secret] = node.fields("promise", "secret");
      return { about: secretOf(secret), needsLaw: true, figures: independentFigures };
    }
    case "information_privacy": {
      const [, secret, epsilon] = node.fields("promise", "secret", "epsilon");
      const [about, limit] = [secretOf(secret), epsilon.number(0n)];
      return { about, needsLaw: true, figures: toldFigures("odds_nats", limit, "the level of information privacy") };
    }
    case "leakage": {
      const [, secret, most, within] = node.fields("promise", "secret", "at_most_bits", "within");
      const [about, limit] = [secretOf(secret), most.number(0n)];
      if (!within.isNull()) throw new Unknown("a leakage within a ball of laws");
      return { about, needsLaw: true, figures: toldFigures("leakage_bits", limit, "the leakage") };
    }
    case "worst_case_leakage": {
      const [, secret, most] = node.fields("promise", "secret", "at_most_bits");
      const [about, limit] = [secretOf(secret), most.number(0n)];
      return { about, needsLaw: true, figures: toldFigures("worst_letter_bits", limit, "the worst-case leakage") };
    }
    case "local_dp":
      return readLocalDP(node, setting);
    case "dalenius": {
      const [, most, group, rows] = node.fields("promise", "at_most_bits", "group", "rows");
      const limit = most.number(0n);
      const members = group.place(setting.sizes.length + 1, 1);
      return { about: [], needsLaw: false, figures: daleniusFigures(limit, members, rows.whole(1n)) };
    }
    case "contraction": {
      const [, most] = node.fields("promise", "at_most");
      return { about: [], needsLaw: false, figures: contractionFigures(most.number(0n)) };
    }
    case "guess":
    case "maximal_leakage":
    case "total_variation":
    case "sibson":
      throw new Unknown(`the promise ${node.tag()}`);
    default:
      return node.refuse("there is no such promise");
  }
}

function independentFigures(release, evidence) {
  noEvidence(evidence);
  release.independent(this.about);
  return { ...release.told(this.about), leakage_bits: ZERO, worst_letter_bits: ZERO, odds_nats: ZERO };
}

function toldFigures(figure, limit, what) {
  return function figures(release, evidence) {
    noEvidence(evidence);
    const found = release.told(this.about);
    atMost(found[figure], limit, what);
    return found;
  };
}

function readLocalDP(node, setting) {
  const [, epsilon, metric, delta, given, rows] = node.fields("promise", "epsilon", "metric", "delta", "given", "rows");
  const [level, share] = [epsilon.number(0n), delta.number(0n)];
  let distances = null;
  if (!metric.isNull()) {
    distances = metric.pair(setting.many).map((row) => row.pair(setting.many).map((d) => d.number(0n)));
    distances.forEach((row, x) =>
      row.forEach((d, z) => metric.require(same(d, distances[z][x]) && (x !== z || d.n === 0n), "this is not a metric")),
    );
    delta.require(share.n === 0n, "delta is 0 under a metric");
  }
  delta.require(!less(ONE, share), "delta lies between 0 and 1");
  const agreeing = names(given, setting.alphabets);
  given.require(agreeing.every((name) => setting.mechanism.leaving.includes(name)), "given names a column that does not leave");
  const many = fraction(BigInt(rows.place(MOST_ROWS, 1)));
  const figures = (release, evidence) => {
    noEvidence(evidence);
    require(setting.mechanism.leaving.every((name) => agreeing.includes(name)), "records that differ in what leaves have no level");
    if (share.n > 0n) {
      const found = times(many, release.delta(agreeing, over(level, many)));
      atMost(found, share, "the delta of local_dp");
      return { epsilon_nats: level, delta: found };
    }
    const found = times(many, release.level(agreeing, distances));
    atMost(found, level, "the level of local_dp");
    return { epsilon_nats: found, delta: ZERO };
  };
  return { about: [], needsLaw: false, figures };
}

function daleniusFigures(limit, group, rows) {
  return (release, evidence) => {
    const setting = release.setting;
    require(setting.mechanism.leaving.length === 0, "an adversary learns all of what leaves as it is");
    const largest = [...setting.sizes].sort((a, b) => a - b).slice(-group);
    const everything = bits(log2(largest.reduce((product, size) => product * BigInt(size), 1n))[1]);
    // In other rows every input may be tied to the group: what a row tells about all inputs counts then.
    const whole = rows > 1n ? setting.sizes.length : group;
    const one = capacity(setting, release.channel, whole, evidence);
    const found = smaller(times(fraction(rows), one), everything);
    atMost(found, limit, "what an adversary may learn");
    return { capacity_bits: found };
  };
}

function contractionFigures(limit) {
  return (release, evidence) => {
    noEvidence(evidence);
    require(release.setting.mechanism.leaving.length === 0, "all information about what leaves as it is passes");
    const found = contraction(release.channel);
    atMost(found, limit, "the contraction coefficient");
    return { eta_kl: found };
  };
}

// --- the document -----------------------------------------------------------------------------------------------------------
function readObjective(node, setting) {
  const aim = node.tag();
  if (aim === "capacity") throw new Unknown("the least capacity");
  if (aim === "distortion") {
    readDistortion(node.fields("aim", "distortion")[1], setting);
    return;
  }
  if (aim === "variance") {
    names(node.fields("aim", "about")[1], setting.alphabets);
    return;
  }
  node.require(["information", "information_of_each", "leakage"].includes(aim), "there is no such aim");
  const [, about, theta] = node.fields("aim", "about", "theta");
  const found = names(about, setting.alphabets);
  const share = theta.number(0n);
  theta.require(!less(ONE, share), "theta lies between 0 and 1");
  theta.require(same(share, ONE) || aim === "leakage", "theta is 1 where information is wanted");
  about.require(found.length > 0 === share.n > 0n, "columns are named where they count, and nowhere else");
  node.require(same(share, ONE) || setting.mechanism.leaving.length === 0, "a rate is without columns that leave as they are");
  node.require(aim !== "information_of_each", "columns are counted one by one where each has a matrix of its own");
}

function readFigures(node, promises, setting, card) {
  return node.pair(promises.length).map((item, k) => {
    const claims = item.items().map((one) => {
      const [figure, given, value] = one.fields("figure", "given", "value");
      const column = given.isNull() ? null : given.text();
      given.require(column === null || setting.alphabets.has(column), "there is no such variable");
      return { figure: figure.text(), given: column, value: value.isNull() ? null : value.number() };
    });
    const different = new Set(claims.map((claim) => JSON.stringify([claim.figure, claim.given])));
    item.require(different.size === claims.length, "a figure stands twice");
    item.require(!card || !promises[k].needsLaw || claims.length === 0, "without the law a card proves no such figure");
    return claims;
  });
}

function proveClaim(claim, promise, figures, release) {
  let name = claim.figure;
  if (claim.given !== null) {
    require(name === "leakage_bits" && promise.about.length > 0, `${name} is not a figure that is given a column`);
    name = `${name}|${claim.given}`;
    figures[name] = information(release.joint(promise.about, [claim.given]))[1];
  }
  require(Object.hasOwn(figures, name), `${name} is not a figure of this promise`);
  if (claim.value === null) return;
  const figure = figures[name];
  require(figure !== null, `the claimed ${name} is not bounded`);
  const enough = LOWER.has(name) ? !less(figure, claim.value) : !less(claim.value, figure);
  require(enough, `the claimed ${name} is not proved: it is ${shown(figure)}`);
}

/**
 * Prove every promise, limit and shape of a design or a card.
 *
 * Returns { format, rows, promises: [figures or null], limits }; figures are fractions { n, d } or null where nothing
 * bounds them; a promise is null where a card lacks the law that it needs. Throws Refused or Unknown.
 */
export function check(text) {
  steps = 0;
  const root = parsed(text);
  const format = root.tag();
  root.require(format === "dalenius-design/2" || format === "dalenius-card/2", "this is not a design or a card of version 2");
  const card = format === "dalenius-card/2";
  const keys = card
    ? ["format", "work", "variables", "mechanism", "promises", "channel", "evidence", "claims"]
    : ["format", "work", "variables", "law", "mechanism", "objective", "promises", "limits", "channel", "evidence", "claims", "proof"];
  const part = Object.fromEntries(root.fields(...keys).map((node, k) => [keys[k], node]));
  const most = MOST_WORK * BigInt(1 + ([...text].length >> 20));
  part.work.require(part.work.whole(0n) <= most, "the file asks for more operations than are allowed");
  const alphabets = readVariables(part.variables);
  const mechanism = readMechanism(part.mechanism, alphabets);
  const law = card ? null : readLaw(part.law, alphabets);
  const setting = new Setting(alphabets, law, mechanism);
  spend(setting.many);
  const stated = part.promises.items();
  part.promises.require(stated.length <= MOST_PROMISES, "there are too many promises");
  part.promises.require(new Set(stated.map((item) => meaning(item.value))).size === stated.length, "a promise stands twice");
  const promises = stated.map((item) => readPromise(item, setting));
  const limits = card
    ? []
    : part.limits.items().map((item) => {
        const [parts, limit] = item.fields("distortion", "at_most");
        return { parts: readDistortion(parts, setting), most: limit.number(0n) };
      });
  if (!card) readObjective(part.objective, setting);
  const release = new Release(setting, readChannel(part.channel, setting));
  const evidence = part.evidence.pair(promises.length);
  let figures;
  let limited = [];
  if (card) [figures] = part.claims.fields("promises");
  else {
    const [stated_, expected, value, bound, gap] = part.claims.fields("promises", "limits", "value", "bound", "gap");
    figures = stated_;
    limited = expected.pair(limits.length).map((item) => item.number(0n));
    value.number();
    bound.number();
    gap.number(0n);
  }
  const claims = readFigures(figures, promises, setting, card);
  const proved = promises.map((promise, k) => {
    if (promise.needsLaw && card) {
      noEvidence(evidence[k]);
      return null;
    }
    const found = promise.figures(release, evidence[k]);
    claims[k].forEach((claim) => proveClaim(claim, promise, found, release));
    return found;
  });
  const costs = limits.map((limit, k) => {
    const cost = release.cost(limit.parts);
    require(!less(limit.most, cost), `the distortion is ${shown(cost)}, more than allowed`);
    require(!less(limited[k], cost), `the claimed distortion is not proved: it is ${shown(cost)}`);
    return cost;
  });
  release.keepShape();
  return { format, rows: law === null ? null : law.rows, promises: proved, limits: costs };
}

/** A promise as a text in which equal numbers are written alike. */
function meaning(value) {
  if (typeof value === "string") {
    const number = numberOf(value);
    return number === null ? JSON.stringify(value) : `${number.n}/${number.d}`;
  }
  if (Array.isArray(value)) return `[${value.map(meaning)}]`;
  if (value !== null && typeof value === "object")
    return `{${Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${meaning(item)}`)}}`;
  return JSON.stringify(value);
}
