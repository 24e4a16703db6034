// Form "records": every input that occurs is released as one of the records of the table. Rows are sparse, and nothing is
// said about inputs that do not occur, so that promises which speak of them, or of another law, are refused.
import { fraction, HELD, lcm, over, plus, Refused, require, spend, times, ZERO } from "./numbers.mjs";
import { distance } from "./distortion.mjs";
import { FORMS } from "./channels.mjs";
import { Release } from "./release.mjs";

/** Different lists of places, in their order, and for each of the given lists which of them it is. */
export function listed(labels) {
  const keys = labels.map(String);
  const different = [...new Map(labels.map((label, k) => [keys[k], label]))].sort(([, a], [, b]) => {
    const k = a.findIndex((place, i) => place !== b[i]);
    return k < 0 ? 0 : a[k] - b[k];
  });
  const place = new Map(different.map(([key], k) => [key, k]));
  return { all: different.map(([, label]) => label), of: keys.map((key) => place.get(key)) };
}

/** The channel; its rows by inputs are not there for anybody who asks. */
class Records {
  constructor(setting, rows, others = []) {
    const { atoms, variables } = setting.law;
    const labels = (names) => {
      const at = names.map((name) => variables.indexOf(name));
      return atoms.map(({ outcome }) => at.map((k) => outcome[k]));
    };
    spend(4 * atoms.length);
    this.form = "records";
    this.inputs = listed(labels(setting.mechanism.reads));
    this.records = listed(labels(setting.mechanism.release));
    if (others.length) this.readOthers(others, setting);
    this.width = this.records.all.length;
    this.mass = this.inputs.all.map(() => 0n);
    this.own = this.inputs.all.map(() => 0);
    this.before = this.records.all.map(() => 0n);
    atoms.forEach(({ count }, k) => {
      this.mass[this.inputs.of[k]] += count;
      this.own[this.inputs.of[k]] = this.records.of[k];
      this.before[this.records.of[k]] += count;
    });
    this.lines = rows.pair(this.inputs.all.length).map((item) => {
      const [where, weights] = item.pair();
      const places = where.items().map((place) => place.place(this.width));
      const numbers = weights.items().map((weight) => weight.whole(1n));
      item.require(places.length === numbers.length && places.length > 0, "a row has a positive weight for each of its records");
      where.require(places.every((place, k) => k === 0 || place > places[k - 1]), "the records of a row do not rise");
      spend(places.length);
      return { places, numbers, total: numbers.reduce((a, b) => a + b, 0n) };
    });
    this.scale = this.lines.reduce((common, line) => lcm(common, line.total), 1n);
  }

  /** Outcomes of the released columns that are no records of the table, rising; they follow the records. */
  readOthers(others, setting) {
    const sizes = setting.mechanism.release.map((name) => setting.alphabets.get(name).length);
    const known = new Set(this.records.all.map(String));
    let last = null;
    for (const item of others) {
      spend(sizes.length);
      const label = item.pair(sizes.length).map((code, k) => code.place(sizes[k]));
      item.require(!known.has(String(label)), "a record of the table stands among the others");
      const differs = last === null ? -1 : label.findIndex((place, i) => place !== last[i]);
      item.require(last === null || (differs >= 0 && label[differs] > last[differs]), "the others do not rise, or one stands twice");
      last = label;
      this.records.all.push(label);
    }
  }

  get rows() {
    throw new Refused("form records proves nothing about inputs that do not occur, or under another law");
  }

  release(setting) {
    return new ReleasedRecords(setting, this);
  }
}

class ReleasedRecords extends Release {
  joint(secret, given = []) {
    const [secrets, givens] = [this.setting.labels(secret), this.setting.labels(given)];
    const { lines, scale, inputs } = this.channel;
    const found = new Map();
    this.setting.law.atoms.forEach(({ count }, k) => {
      const { places, numbers, total } = lines[inputs.of[k]];
      const one = (count * scale) / total;
      spend(4 * places.length);
      places.forEach((y, j) => {
        const key = JSON.stringify([secrets[k], givens[k], y]);
        if (!found.has(key)) spend(HELD);
        found.set(key, (found.get(key) ?? 0n) + one * numbers[j]);
      });
    });
    return [...found].map(([key, weight]) => [...JSON.parse(key), weight]);
  }

  cost(parts) {
    const setting = this.setting;
    const { records, lines, own, mass, scale } = this.channel;
    const m = setting.mechanism;
    const letters = records.all.map((places) => places.map((k, i) => setting.alphabets.get(m.release[i])[k]));
    let sum = ZERO;
    for (const part of parts) {
      require(["hamming", "absolute", "lost"].includes(part.kind), `records are not compared by ${part.kind}`);
      const at = part.of.map((name) => m.release.indexOf(name));
      const cached = new Map();
      let total = ZERO;
      lines.forEach(({ places, numbers, total: whole }, e) => {
        const from = at.map((i) => records.all[own[e]][i]);
        spend(2 * places.length);
        let here = ZERO;
        places.forEach((y, j) => {
          const key = `${from};${at.map((i) => records.all[y][i])}`;
          if (!cached.has(key)) {
            spend(HELD);
            cached.set(key, distance(part, setting, from, letters[y], y));
          }
          const far = cached.get(key);
          if (far.n > 0n) here = plus(here, times(far, fraction(numbers[j])));
        });
        if (here.n > 0n) total = plus(total, times(here, fraction((mass[e] * scale) / whole)));
      });
      sum = plus(sum, times(part.weight, total));
    }
    return over(sum, fraction(setting.law.total * scale));
  }

  leastRows() {
    return this.channel.lines.flatMap(({ places }) => places.map((y) => this.channel.before[y])).reduce((a, b) => (a < b ? a : b));
  }

  keepShape() {
    const m = this.setting.mechanism;
    const { records, lines, own, mass, scale, before } = this.channel;
    require(m.form === "any" && m.each === null, "records are released whole, and not by a form");
    if (m.forbid.length + m.freeze.length + m.never.length > 0) {
      const letters = records.all.map((places) => places.map((k, i) => this.setting.alphabets.get(m.release[i])[k]));
      lines.forEach(({ places }, e) =>
        places.forEach((y) => {
          spend(m.release.length * (1 + m.forbid.length + m.freeze.length + m.never.length));
          m.release.forEach((_, i) => {
            const [from, to] = [letters[own[e]][i], letters[y][i]];
            require(!m.forbid.some(([a, b]) => a === from && b === to), "a forbidden letter can be released");
            require(from === to || !m.freeze.includes(from), "a frozen letter can change");
          });
          for (const combination of m.never)
            require(
              ![...combination].every(([name, among]) => among.includes(letters[y][m.release.indexOf(name)])),
              "a combination that never leaves can be released",
            );
        }),
      );
    }
    if (!m.preserve) return;
    const after = before.map(() => 0n);
    lines.forEach(({ places, numbers, total }, e) => places.forEach((y, j) => (after[y] += (mass[e] * numbers[j] * scale) / total)));
    require(after.every((n, y) => n === before[y] * scale), "the law of the released records is not that of the table");
  }
}

function readRecords(node, setting, form) {
  const [, ...parts] = form === "medians" ? node.fields("form", "others", "rows") : node.fields("form", "rows");
  const rows = parts.at(-1);
  const m = setting.mechanism;
  require(m.release.length > 0, "form records releases columns of the table");
  require(m.beside.length === 0, "form records has no column that leaves as it is");
  require(m.release.every((name) => m.observe.includes(name)), "form records observes what it releases");
  require(setting.law !== null, "this needs the law of the records, which a card does not carry");
  return new Records(setting, rows, parts.length > 1 ? parts[0].items() : []);
}

/** What a card says of a channel that would show the table: nothing can be proved from it. */
class Withheld {
  form = "withheld";
  width = 0;
  scale = 1n;

  get rows() {
    throw new Refused("this card does not show its channel: it proves nothing that depends on it");
  }
}

function readWithheld(node, setting) {
  node.fields("form");
  node.require(setting.law === null, "a design shows its channel");
  return new Withheld();
}

FORMS.set("records", readRecords);
FORMS.set("medians", readRecords);
FORMS.set("withheld", readWithheld);
