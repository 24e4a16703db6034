// Records by their distance: sums of hamming (also of classes) and absolute, which keep the triangle inequality. The least of
// distance plus a number over all records is found in floats, and every record that could be it is then compared in whole
// numbers.
import { fraction, lcm, ONE, over, plus, require, spend, times, Unknown, ZERO } from "./numbers.mjs";
import { numberOf } from "./reading.mjs";

const EXACT = 2 ** 50; // whole numbers below it are added as floats without any error

/** Whole codes of the records along one column, or all columns of one comparison, and the weight of a step. */
function axesOf(part, weight, setting, records) {
  const at = part.of.map((name) => setting.mechanism.release.indexOf(name));
  spend(4 * records.length * at.length);
  if (part.kind === "hamming") {
    const group = (letter) => {
      const k = part.groups.findIndex((members) => members.includes(letter));
      return k >= 0 ? `in ${k}` : `of ${letter}`;
    };
    const names = part.of.map((name) => setting.alphabets.get(name).map(group));
    const known = new Map();
    const codes = records.map((record) => {
      const key = JSON.stringify(at.map((i, j) => names[j][record[i]]));
      return known.get(key) ?? known.set(key, known.size).get(key);
    });
    return [{ codes, weight, ordered: false }];
  }
  return part.of.map((name, j) => {
    const numbers = setting.alphabets.get(name).map((letter) => {
      const value = numberOf(letter);
      require(value !== null, "a letter is not a number");
      return value;
    });
    const step = numbers.reduce((common, v) => lcm(common, v.d), 1n);
    const least = numbers.map((v) => v.n * (step / v.d)).reduce((a, b) => (a < b ? a : b));
    const codes = records.map((record) => numbers[record[at[j]]]).map((v) => Number(v.n * (step / v.d) - least));
    return { codes, weight: over(weight, fraction(step)), ordered: true };
  });
}

/** The distance between records in whole units, of which `unit` are a distance of one. */
export class Distances {
  /** `priced` has distortions with their prices; what compares the same columns in the same way is one part. */
  constructor(priced, setting, records) {
    const parts = new Map();
    for (const [distortion, price] of priced)
      for (const part of distortion) {
        require(part.kind === "hamming" || part.kind === "absolute", `records are not compared by ${part.kind}`);
        const key = JSON.stringify([part.kind, part.of, part.groups]);
        const weight = plus(parts.get(key)?.weight ?? ZERO, times(price, part.weight));
        parts.set(key, { part, weight });
      }
    const used = [...parts.values()].filter(({ weight }) => weight.n > 0n);
    const axes = used.flatMap(({ part, weight }) => axesOf(part, weight, setting, records));
    this.unit = axes.reduce((common, { weight }) => lcm(common, weight.d), ONE.d);
    this.axes = axes.map(({ codes, weight, ordered }) => {
      const whole = weight.n * (this.unit / weight.d);
      const longest = ordered ? codes.reduce((a, b) => (a > b ? a : b), 0) : 1;
      if (longest >= EXACT) throw new Unknown("numbers that are too long for this checker");
      return { codes, ordered, whole, weight: Number(whole), longest };
    });
    this.farthest = this.axes.reduce((far, { weight, longest }) => far + weight * longest, 0);
    this.short = this.farthest < EXACT; // then floats are exact
  }

  between(x, y) {
    let far = 0;
    for (const { codes, ordered, weight } of this.axes)
      if (codes[x] !== codes[y]) far += weight * (ordered ? Math.abs(codes[x] - codes[y]) : 1);
    return far;
  }

  exactly(x, y) {
    const steps = ({ codes, ordered }) => BigInt(ordered ? Math.abs(codes[x] - codes[y]) : Number(codes[x] !== codes[y]));
    return this.axes.reduce((far, axis) => far + axis.whole * steps(axis), 0n);
  }
}

/** Asked for the least of scale * distance(x, y) + number(y) over some records y. */
export class Nearest {
  constructor(distances, records, numbers, scale) {
    this.distances = distances;
    this.scale = scale;
    const fine = 64n;
    // number / scale as a float, not wrong by more than 2^-52 of itself and 2^-64
    const near = numbers.map((n) => Number((n << fine) / scale) / 2 ** Number(fine));
    const order = records.map((_, k) => k).sort((a, b) => near[a] - near[b] || Number(numbers[a] > numbers[b]) - Number(numbers[a] < numbers[b]));
    this.records = order.map((k) => records[k]);
    this.numbers = order.map((k) => numbers[k]);
    this.place = new Map(this.records.map((record, k) => [record, k]));
    this.near = Float64Array.from(order, (k) => near[k]);
    const largest = this.near.reduce((most, v) => Math.max(most, Math.abs(v)), distances.farthest + 1);
    this.wrong = largest * 2 ** -44; // more than conversions and sums of up to a hundred axes are wrong by, together
    if (distances.axes.length > 100) throw new Unknown("so many columns");
    spend(40 * records.length);
  }

  least(x) {
    const { distances, records, near, wrong } = this;
    let best = Infinity;
    // The record itself is at no distance; nothing after a number that is not below the least found so far is nearer.
    const own = this.place.get(x);
    const enough = own === undefined ? null : this.numbers[own];
    const candidates = new Map(); // where distances are exact, the first one at each of them has the least number
    let k = 0;
    if (own !== undefined) {
      candidates.set("own", own); // another one that is alike may have a smaller number
      best = near[own];
    }
    for (; k < records.length && near[k] <= best + wrong; k += 1) {
      if (enough !== null && near[k] >= best - wrong && this.numbers[k] >= enough) break;
      const far = distances.between(x, records[k]);
      const here = far + near[k];
      if (here > best + wrong || (distances.short && candidates.has(far))) continue;
      candidates.set(distances.short ? far : k, k);
      best = Math.min(best, here);
    }
    spend(1 + (k * distances.axes.length) / 50 + 4 * candidates.size);
    const exact = [...candidates.values()].map((c) => this.scale * distances.exactly(x, records[c]) + this.numbers[c]);
    return exact.reduce((a, b) => (a < b ? a : b));
  }
}
