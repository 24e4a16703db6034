// Distortions: how far a released letter is from its record.
import { bits, larger, less, log2, minus, ONE, over, plus, require, times, Unknown, ZERO } from "./numbers.mjs";
import { numberOf } from "./reading.mjs";

export function readDistortion(node, setting) {
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
  node.require(["hamming", "absolute", "squared", "kl", "erasure", "lost", "matrix"].includes(kind), "there is no such distance");
  const [, of, weight, classes, matrix] = node.fields("distance", "of", "weight", "classes", "matrix");
  const columns = of.texts();
  of.require(columns.length > 0 && columns.every((name) => setting.alphabets.has(name)), "there is no such variable");
  of.require(kind !== "kl" || columns.length === 1, "kl compares one column of probabilities");
  const groups = classes.items().map((group) => group.texts());
  const members = groups.flat();
  const all = new Set(columns.flatMap((name) => setting.alphabets.get(name)));
  classes.require(new Set(members).size === members.length && members.every((letter) => all.has(letter)), "not classes of letters");
  classes.require(groups.length === 0 || kind === "hamming" || kind === "lost", "classes are for hamming and for what is lost");
  of.require(kind !== "lost" || (columns.length === 1 && groups.length === 1), "what is lost is one class of letters of a column");
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
export function distance(part, setting, places, letters, t) {
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
  if (part.kind === "lost") return part.groups[0].includes(after[0]) ? ZERO : ONE;
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
