// Noise on the grid of one column: a matrix of whole numbers like any other, and what every release must err or reveal.
import {
  bits,
  ceiling,
  exponential,
  floor,
  fraction,
  larger,
  lcm,
  less,
  log2,
  LOG2_E,
  minus,
  nats,
  ONE,
  over,
  plus,
  require,
  same,
  smaller,
  spend,
  times,
  Unknown,
  ZERO,
} from "./numbers.mjs";
import { numberOf } from "./reading.mjs";
import { KNOWN_FORMS, Setting } from "./setting.mjs";
import { FORMS } from "./channels.mjs";
import { information, Release } from "./release.mjs";
import { RULES } from "./check.mjs";

const WIDEST = 2 ** 31;
const LONGEST = 1n << 21n;
const COMPARED = 1 << 22; // entries of laws that are compared one by one
const LINE_BITS = 96n; // binary places of the powers that a line is made of
const TWO_PI_E = numberOf("17.07946844534713413092710174"); // from above
const NATURAL = [over(ONE, LOG2_E), nats(fraction(2n))];
const squareOf = (q) => times(q, q);
const ALONE = "noise releases the columns that it reads and no others, under a mechanism of form noise";

/** Whether the mechanism is of this form, about its own columns alone. */
function asked({ mechanism: m }) {
  const own = [m.reads, m.release].every((columns) => String(columns) === String(m.observe));
  return m.form === "noise" && own && m.leaving.length === 0 && m.side === null;
}

/** The numbers of the one column, as a first one and a step. */
function gridOf(setting) {
  if (setting.mechanism.observe.length > 1) throw new Unknown("noise on several columns");
  const points = setting.alphabets.get(setting.mechanism.observe[0]).map(numberOf);
  spend(10 * points.length);
  require(points.every((point) => point !== null), "a letter of the column is not a number");
  const step = points.length > 1 ? minus(points[1], points[0]) : ONE;
  const even = points.every((point, k) => same(point, plus(points[0], times(fraction(BigInt(k)), step))));
  require(step.n > 0n && even, "the numbers are not the points of a grid");
  return { size: points.length, step };
}

/** Positive weights of rising whole numbers in a range. */
function weightsOf(node, least, most) {
  const found = new Map();
  let last = least - 1n;
  for (const item of node.items()) {
    const [place, weight] = item.pair();
    const at = place.whole();
    item.require(at > last && at <= most, "an integer is out of range, or they do not rise");
    last = at;
    found.set(at, weight.whole(1n));
  }
  node.require(found.size > 0, "no weight is given");
  return found;
}

function readNoise(node, setting) {
  const [, first, letters, axes, give, shift] = node.fields("form", "first", "letters", "axes", "give", "shift");
  node.require(asked(setting), ALONE);
  const { size, step } = gridOf(setting);
  if (axes.items().length !== 1) throw new Unknown("noise along several axes");
  const [start] = first.pair(1).map((item) => item.whole());
  const [width] = letters.pair(1).map((item) => item.place(WIDEST, 1));
  const axis = readAxis(axes.items()[0], size);
  const [given] = give.pair(1).map((row) => row.pair(1)[0].number());
  const [moved] = shift.pair(1).map((item) => item.number());
  const plain = same(given, ONE) && axis.low === start && same(moved, fraction(-start)) && axis.high === start + BigInt(width) - 1n;
  if (!plain) throw new Unknown("noise whose values are not the letters");
  const laws = new Map();
  const rows = Array.from({ length: size }, (_, x) => {
    const c = axis.shift(BigInt(x));
    if (!laws.has(c)) laws.set(c, lawOf(axis, c, width));
    return laws.get(c);
  });
  const channel = { form: "noise", width, scale: axis.total, rows, axis, step, size };
  return { ...channel, release: (here) => new NoisyRelease(here, channel) };
}

function readAxis(node, size) {
  const [take, move, low, high, weights, prior, variance] = node.fields("take", "move", "low", "high", "weights", "prior", "variance");
  const [slope] = take.pair(1).map((item) => item.number());
  const start = move.number();
  const one = lcm(slope.d, start.d);
  const [a, m] = [slope, start].map((q) => (q.n * one) / q.d);
  const shift = (x) => floor(a * x + m, one);
  const ends = [shift(0n), shift(BigInt(size - 1))];
  const [least, most] = ends[0] <= ends[1] ? ends : [ends[1], ends[0]];
  const half = weights.items().map((item) => item.whole(0n));
  weights.require(half.some((weight) => weight > 0n), "the weights of the noise are not a law");
  const reach = BigInt(half.length - 1);
  const bottom = low.whole();
  const top = high.whole(bottom);
  const long = [most - least, top - bottom, reach].every((many) => many < LONGEST);
  node.require(long, "an axis is too long");
  const shifts = weightsOf(prior, least, most);
  const total = half.reduce((sum, weight, k) => sum + (k ? 2n : 1n) * weight, 0n);
  return { a, one, shift, least, most, low: bottom, high: top, half, reach, total, prior: shifts, variance: variance.number(0n) };
}

/** The weights of all values under a shift: beyond an end they are collected there. */
function lawOf(axis, c, width) {
  spend(4 * width + 4 * axis.half.length);
  const found = Array.from({ length: width }, () => 0n);
  for (let k = -axis.reach; k <= axis.reach; k += 1n) {
    const t = c + k < axis.low ? axis.low : c + k > axis.high ? axis.high : c + k;
    found[Number(t - axis.low)] += axis.half[Number(k < 0n ? -k : k)];
  }
  return found;
}

/**
 * Whether the ratio of the laws of two shifts falls from the first value to the last, so that the two shifts that are
 * furthest apart are the easiest to distinguish. A last weight that is only ever collected may be a tail: geometric, and
 * no slower than the two weights before it.
 */
function falling({ half: w, low, high, least, most, reach }) {
  const last = w.length - 1;
  if (w.some((weight) => weight <= 0n) || (last > 0 && w[0] < w[1])) return false;
  const bent = (k) => w[k] * w[k] >= w[k - 1] * w[k + 1];
  for (let k = 1; k < last - 1; k += 1) if (!bent(k)) return false;
  if (last < 2 || bent(last - 1)) return true;
  const collected = low >= most - reach && high <= least + reach;
  return collected && w[last] * (w[last - 2] - w[last - 1]) <= w[last - 1] * w[last - 1];
}

class NoisyRelease extends Release {
  constructor(setting, channel) {
    super(setting, channel);
    const { axis } = channel;
    this.constant = axis.low === axis.high || axis.least === axis.most;
    this.laws = new Map();
    this.mixed = this.constant ? [] : this.mixture();
    if (setting.law === null) return;
    const at = setting.law.variables.indexOf(setting.mechanism.observe[0]);
    let [sum, squares] = [0n, 0n];
    for (const { outcome, count } of setting.law.atoms) {
      const u = axis.a * BigInt(outcome[at]);
      sum += count * u;
      squares += count * u * u;
    }
    const total = setting.law.total;
    const spread = fraction(squares * total - sum * sum, total * total * axis.one * axis.one);
    require(!less(axis.variance, spread), "the records have a larger variance than said");
  }

  joint(secret, given = []) {
    require(given.length === 0, "form noise does not prove what is told given a column");
    return super.joint(secret);
  }

  told(secret) {
    return { leakage_bits: information(this.joint(secret))[1], entropy_bits: this.entropy(secret) };
  }

  independent() {
    throw new Unknown("noise that reveals nothing");
  }

  lawOf(c) {
    if (!this.laws.has(c)) this.laws.set(c, lawOf(this.channel.axis, c, this.channel.width));
    return this.laws.get(c);
  }

  /** All shifts between the two ends. */
  shifts() {
    const { least, most } = this.channel.axis;
    spend(Number(most - least));
    return Array.from({ length: Number(most - least) + 1 }, (_, k) => least + BigInt(k));
  }

  /** The weights of all values under the prior, which leaves none out that can be released. */
  mixture() {
    const { axis, width } = this.channel;
    const found = Array.from({ length: width }, () => 0n);
    spend(4 * axis.prior.size * width);
    for (const [c, weight] of axis.prior) this.lawOf(c).forEach((value, t) => (found[t] += weight * value));
    const place = (t) => Number((t < axis.low ? axis.low : t > axis.high ? axis.high : t) - axis.low);
    const [from, to] = [place(axis.least - axis.reach), place(axis.most + axis.reach)];
    require(found.every((weight, t) => t < from || t > to || weight > 0n), "the prior of an axis leaves out a released value");
    return found;
  }

  /** The laws of the pairs of shifts that are to be compared. */
  pairs() {
    const { axis, width } = this.channel;
    if (this.constant) return [];
    if (falling(axis)) {
      const ends = [this.lawOf(axis.least), this.lawOf(axis.most)];
      return [ends, [ends[1], ends[0]]];
    }
    const shifts = this.shifts();
    if (shifts.length ** 2 * width > COMPARED) throw new Unknown("noise with too many shifts to be compared");
    const laws = shifts.map((c) => this.lawOf(c));
    return laws.flatMap((p) => laws.map((q) => [p, q]));
  }

  /** What anybody learns about so many records: the largest divergence from what is released under the prior. */
  capacity(group, evidence, rows) {
    evidence.require(evidence.isNull(), "the axes have all that proves their capacity");
    require(rows === 1n || rows >= BigInt(group), "there are fewer rows than the group has records");
    if (this.constant) return ZERO;
    const { axis, width } = this.channel;
    const many = [...axis.prior.values()].reduce((a, b) => a + b, 0n);
    const cost = this.mixed.map((weight) => (weight > 0n ? -log2(weight, axis.total * many)[0] : 0n));
    spend(4 * this.shifts().length * width);
    const worst = this.shifts()
      .map((c) => this.lawOf(c).reduce((sum, value, t) => (value > 0n ? sum + value * (log2(value, axis.total)[1] + cost[t]) : sum), 0n))
      .reduce((a, b) => (a < b ? b : a));
    const most = BigInt(group) > rows ? BigInt(group) : rows;
    return times(fraction(most), larger(ZERO, bits(ceiling(worst, axis.total))));
  }

  /** The share of any information that passes: by Cauchy and Schwarz, or by the total variation. */
  contraction() {
    const { scale } = this.channel;
    const alike = this.pairs().map(([p, q]) => p.reduce((sum, value, t) => sum + root(value * q[t]), 0n));
    const least = fraction(alike.reduce((a, b) => (a < b ? a : b), scale), scale);
    return smaller(minus(ONE, squareOf(least)), this.excess(ONE));
  }

  /** The largest sum_t (W_c - much W_d)^+ of two shifts. */
  excess(much) {
    const parts = this.pairs().map(([p, q]) =>
      p.reduce((sum, value, t) => {
        const here = value * much.d - q[t] * much.n;
        return here > 0n ? sum + here : sum;
      }, 0n),
    );
    return fraction(parts.reduce((a, b) => (a < b ? b : a), 0n), this.channel.scale * much.d);
  }

  level(given, metric) {
    require(given.length === 0 && metric === null, "form noise does not prove local_dp with a metric or a given column");
    let most = ONE;
    for (const [p, q] of this.pairs()) {
      p.forEach((value, t) => {
        require(value > 0n === q[t] > 0n, "the noise has an end: it has no pure level of local_dp");
        if (value > 0n && most.n * q[t] < value * most.d) most = { n: value, d: q[t] };
      });
    }
    return nats(fraction(most.n, most.d));
  }

  delta(given, epsilon) {
    require(given.length === 0, "form noise does not prove local_dp with a given column");
    return this.excess(exponential(epsilon)[0]);
  }

  cost(parts) {
    const { setting, channel } = this;
    const at = setting.law.variables.indexOf(setting.mechanism.observe[0]);
    spend(4 * setting.law.atoms.length * channel.width);
    let units = 0n;
    for (const { outcome, count } of setting.law.atoms) {
      const away = channel.axis.low - BigInt(outcome[at]);
      channel.rows[outcome[at]].forEach((value, t) => {
        units += count * value * (away + BigInt(t)) ** 2n;
      });
    }
    const error = times(fraction(units, setting.law.total * channel.scale), squareOf(channel.step));
    return parts.reduce((sum, part) => {
      require(part.kind === "squared", "noise has a squared distortion or a norm");
      return plus(sum, times(part.weight, error));
    }, ZERO);
  }

  keepShape() {
    const m = this.setting.mechanism;
    const held = m.forbid.length + m.never.length + m.freeze.length > 0 || m.preserve || m.each !== null;
    require(!held, "noise keeps no letter and no marginal, and is one matrix");
  }
}

/** The whole number at or below a square root. */
function root(n) {
  if (n < 2n) return n;
  let x = 1n << BigInt((n.toString(2).length + 1) >> 1);
  for (let next = (x + n / x) >> 1n; next < x; next = (x + n / x) >> 1n) x = next;
  return x;
}

/** [low, high] around 2^q. */
function twoTo(q) {
  const whole = floor(q.n, q.d);
  require(whole > -65536n && whole < 65536n, "a power of two is out of range");
  const scale = whole < 0n ? fraction(1n, 1n << -whole) : fraction(1n << whole);
  const rest = minus(q, fraction(whole));
  return [0, 1].map((end) => times(exponential(times(rest, NATURAL[end]))[end], scale));
}

/** What stays unknown of the column at a squared error: by its variance, and by a line below the rate. */
class Unseen {
  constructor(setting, grid, line) {
    this.setting = setting;
    this.name = setting.mechanism.observe[0];
    this.blur = over(squareOf(grid.step), fraction(12n));
    this.size = bits(log2(grid.step.n, grid.step.d)[0]);
    this.slope = ZERO;
    if (!line.isNull()) this.line(line, grid);
  }

  /** The entropy of the column from above. */
  everything() {
    const mass = new Map();
    const { law } = this.setting;
    this.setting.labels([this.name]).forEach((x, k) => mass.set(x, (mass.get(x) ?? 0n) + law.atoms[k].count));
    return [...mass.values()].reduce((sum, n) => {
      const share = fraction(n, law.total);
      return plus(sum, times(share, bits(log2(share.d, share.n)[1])));
    }, ZERO);
  }

  /** H(X | Y) <= start + slope E (X - Y)^2, for any weights and slope. */
  line(node, { size, step }) {
    const [steepness, given] = node.fields("slope", "weights");
    const slope = steepness.number(0n);
    steepness.require(slope.n > 0n, "a line has no slope");
    const weights = weightsOf(given, 0n, BigInt(size - 1));
    const { law } = this.setting;
    const at = law.variables.indexOf(this.name);
    const mass = new Map();
    for (const { outcome, count } of law.atoms) {
      const x = BigInt(outcome[at]);
      mass.set(x, (mass.get(x) ?? 0n) + count);
    }
    given.require([...mass.keys()].every((x) => weights.has(x)), "a number that occurs has no weight");
    spend(100 * size + 4 * size * mass.size);
    const powers = Array.from({ length: size }, (_, k) => {
      const far = times(slope, fraction(BigInt(k * k)));
      if (!less(far, fraction(LINE_BITS))) return 1n;
      const high = twoTo(minus(ZERO, far))[1];
      return ceiling(high.n << LINE_BITS, high.d);
    });
    let most = 0n;
    for (let y = 0; y < size; y += 1) {
      let here = 0n;
      for (const [x, n] of mass) here += n * weights.get(x) * powers[Math.abs(y - Number(x))];
      if (here > most) most = here;
    }
    const told = [...mass].reduce((sum, [x, n]) => sum + n * log2(weights.get(x))[0], 0n);
    const rate = bits(floor(told, law.total) - log2(most, law.total << LINE_BITS)[1]);
    this.start = minus(this.everything(), rate);
    this.slope = over(slope, squareOf(step));
  }

  /** I(S; X) from below. */
  known(secret) {
    const [s, x] = [this.setting.labels(secret), this.setting.labels([this.name])];
    const found = new Map();
    this.setting.law.atoms.forEach(({ count }, k) => {
      const key = JSON.stringify([s[k], "", x[k]]);
      found.set(key, (found.get(key) ?? 0n) + count);
    });
    return information([...found].map(([key, weight]) => [...JSON.parse(key), weight]))[0];
  }

  leastTold(secret, squared) {
    const inside = times(TWO_PI_E, plus(squared, this.blur));
    let unknown = minus(times(fraction(1n, 2n), bits(log2(inside.n, inside.d)[1])), this.size);
    if (this.slope.n > 0n) unknown = smaller(unknown, plus(this.start, times(this.slope, squared)));
    return minus(this.known(secret), unknown);
  }

  leastError(secret, told) {
    const unknown = minus(this.known(secret), told);
    const found = minus(over(twoTo(times(fraction(2n), plus(unknown, this.size)))[0], TWO_PI_E), this.blur);
    return this.slope.n > 0n ? larger(found, over(minus(unknown, this.start), this.slope)) : found;
  }
}

/** Whether a distortion is the squared error of the column, in its own unit. */
function squared(parts, [name]) {
  const [{ kind, weight, of }] = parts;
  return parts.length === 1 && kind === "squared" && same(weight, ONE) && String(of) === name;
}

/**
 * A bound by lines for every matrix from grid to grid. It holds for numbers beyond the ends too: moved to the end they
 * are nearer to every record, and what is released then is a function of what was.
 */
function boundOnGrid(proof, setting, promises, limits, objective) {
  const [, lines] = proof.fields("rule", "lines");
  const m = setting.mechanism;
  proof.require(asked(setting) && m.beside.length === 0, "this rule is for noise");
  const known = promises.every((promise) => promise.kind === "leakage" || promise.kind === "local_dp");
  proof.require(known, "on the grid leakage and levels of local DP are bounded");
  const costs = [...limits.map((limit) => limit.parts), ...(objective.parts ? [objective.parts] : [])];
  proof.require(costs.every((parts) => squared(parts, m.observe)), "this rule is for the squared error of all columns");
  gridOf(setting);
  lines.require(lines.tag() === "lines", "a bound on the grid is made of lines");
  if (!RULES.has("lines")) throw new Unknown("a bound by lines");
  return RULES.get("lines")(lines, new Setting(setting.alphabets, setting.law, { ...m, form: "any" }), promises, limits, objective);
}

function boundOfNoise(proof, setting, promises, limits, objective) {
  const [, line, least] = proof.fields("rule", "line", "least");
  proof.require(asked(setting) && setting.mechanism.beside.length === 0, "this rule is for noise");
  least.require(least.items().length === 0, "this is for the least capacity");
  const names = setting.mechanism.observe;
  const unseen = new Unseen(setting, gridOf(setting), line);
  const ofAll = (parts) => squared(parts, names);
  if (objective.aim === "distortion") {
    proof.require(ofAll(objective.parts), "this rule is for the squared error of all columns");
    return promises
      .map((promise) => {
        if (promise.kind === "leakage") return unseen.leastError(promise.about, promise.limit);
        if (promise.kind === "dalenius") return unseen.leastError(names, over(promise.limit, fraction(BigInt(promise.group))));
        if (promise.kind === "contraction") return unseen.leastError(names, times(promise.limit, unseen.everything()));
        if (promise.share.n > 0n || promise.distances !== null || promise.given.length > 0) return ZERO;
        const level = over(promise.limit, promise.rows);
        return unseen.leastError(names, times(times(level, smaller(ONE, times(level, fraction(1n, 2n)))), LOG2_E));
      })
      .reduce(larger, ZERO);
  }
  const errors = limits.filter((limit) => limit.parts && ofAll(limit.parts)).map((limit) => limit.most);
  return errors.map((error) => unseen.leastTold(objective.about, error)).reduce(larger, ZERO);
}

KNOWN_FORMS.add("noise");
FORMS.set("noise", readNoise);
RULES.set("noise", boundOfNoise);
RULES.set("grid", boundOnGrid);
