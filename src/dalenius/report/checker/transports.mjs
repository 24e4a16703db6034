// Least change of whole records. Where the release is independent of a secret, every class of it is moved to one law, so that
// costs of transport between classes bound the change (triangle inequality). Under other promises multipliers for each
// record turn distance and promises into one sum, whose least over all records is taken for every input; letters that are
// no records help by at most 2 - 2/m for m values that the multipliers tell apart.
import { fraction, less, minus, over, plus, require, spend, times, ZERO } from "./numbers.mjs";
import { listed } from "./records.mjs";
import { allowance, Frame, raised, SCALE, scores } from "./frames.mjs";
import { Distances, Nearest } from "./nearest.mjs";
import { RULES } from "./check.mjs";

/** The different records and inputs of the table, and how many rows each has. */
function tableOf(setting) {
  const { law, mechanism: m } = setting;
  require(m.release.length > 0, "records are columns of the table");
  require(m.beside.length === 0, "records have no column that leaves as it is");
  require(m.release.every((name) => m.observe.includes(name)), "records are observed");
  const labels = (names) => {
    const at = names.map((name) => law.variables.indexOf(name));
    return law.atoms.map(({ outcome }) => at.map((k) => outcome[k]));
  };
  spend(40 * law.atoms.length);
  const [records, inputs] = [listed(labels(m.release)), listed(labels(m.reads))];
  const rows = records.all.map(() => 0n);
  law.atoms.forEach(({ count }, k) => (rows[records.of[k]] += count));
  return { records, inputs, rows };
}

/** The distance that is minimised, with that of each limit at its price; and what the limits allow of it. */
function priced(setting, objective, limits, prices, records) {
  require(objective.aim === "distortion", "the rules for records bound a distortion");
  const distortions = [[objective.parts, fraction(1n)]];
  let allowed = ZERO;
  prices.pair(limits.length).forEach((item, k) => {
    const price = item.number(0n);
    if (price.n === 0n) return;
    item.require(limits[k].parts !== undefined, "only a limit of a distortion has a price");
    distortions.push([limits[k].parts, price]);
    allowed = plus(allowed, times(price, limits[k].most));
  });
  return { distances: new Distances(distortions, setting, records), allowed };
}

/** What it costs at least to move one law to another: sum a p + sum b q with a = min over the records of d - b. */
function transport(distances, start, end, node) {
  const [from, to] = [start, end].map((counts) => counts.reduce((a, b) => a + b, 0n));
  const more = start.map((n, x) => n * to - end[x] * from);
  const demand = more.flatMap((n, x) => (n < 0n ? [x] : []));
  spend(8 * more.length);
  const b = node.items().map((item) => item.whole());
  node.require(b.length === demand.length, "a number for each record that gets more is expected");
  if (demand.length === 0) return ZERO;
  const nearest = new Nearest(distances, demand, b.map((v) => -v), 1n);
  let sum = demand.reduce((all, y, k) => all - b[k] * more[y], 0n);
  more.forEach((n, x) => {
    if (n > 0n) sum += n * nearest.least(x);
  });
  return fraction(sum, distances.unit * from * to);
}

function boundByTransports(proof, setting, promises, limits, objective) {
  const [, which, prices, list] = proof.fields("rule", "promise", "limits", "transports");
  const promise = promises[which.place(promises.length)];
  which.require(promise.kind === "independent", "the rule needs a release that is independent of the secret");
  const { records, rows } = tableOf(setting);
  const { distances, allowed } = priced(setting, objective, limits, prices, records.all);
  const { atoms, total, variables } = setting.law;
  const at = promise.about.map((name) => variables.indexOf(name));
  const classes = listed(atoms.map(({ outcome }) => at.map((k) => outcome[k])));
  spend(classes.all.length * rows.length);
  const counts = classes.all.map(() => rows.map(() => 0n));
  atoms.forEach(({ count }, k) => (counts[classes.of[k]][records.of[k]] += count));
  const left = counts.map((column) => fraction(column.reduce((a, b) => a + b, 0n), total));
  let bound = ZERO;
  for (const item of list.items()) {
    const [start, end, weight, numbers] = item.pair(4);
    const s = start.place(counts.length);
    const share = weight.number(0n);
    left[s] = minus(left[s], share);
    let target = rows;
    if (end.isNull()) end.require(setting.mechanism.preserve, "the law of the table is not preserved");
    else {
      const t = end.place(counts.length);
      end.require(t !== s, "a class goes to another one");
      left[t] = minus(left[t], share);
      target = counts[t];
    }
    const cost = transport(distances, counts[s], target, numbers);
    if (cost.n > 0n) bound = plus(bound, times(share, cost));
  }
  require(left.every((share) => share.n >= 0n), "the transports weigh more than the classes");
  return less(bound, allowed) ? ZERO : minus(bound, allowed);
}

// Mixtures of so many rows each, which are together, each so many times, `steps` times this one.
function takenApart(mixture, steps) {
  const rows = mixture.reduce((sum, [, n]) => sum + n, 0n);
  const ends = [0n];
  for (const [, n] of mixture) ends.push(ends.at(-1) + steps * n);
  const shifts = [...new Set([...ends.map((end) => end % rows), 0n, rows])].sort((a, b) => (a < b ? -1 : 1));
  return shifts.slice(1).map((last, i) => {
    const cuts = ends.map((end) => (end + rows - 1n - shifts[i]) / rows);
    const part = mixture.map(([k], j) => [k, cuts[j + 1] - cuts[j]]).filter(([, many]) => many > 0n);
    return [part, last - shifts[i]];
  });
}

function boundByRecords(proof, setting, promises, limits, objective) {
  const coarse = proof.value.rule === "coarse" ? ["steps"] : [];
  const fields = proof.fields("rule", ...coarse, "promises", "limits", "records", "law");
  const [weights, prices, multipliers, law] = fields.slice(1 + coarse.length);
  const steps = coarse.length ? fields[1].whole(1n) : 0n;
  proof.require(steps <= 1n << 30n, "there are too many steps");
  const { records, inputs, rows } = tableOf(setting);
  const { distances, allowed: limited } = priced(setting, objective, limits, prices, records.all);
  const { atoms, total } = setting.law;
  let allowed = ZERO;
  const lent = []; // for each promise that lends something: the label of each row, and the scores of each record
  const lists = multipliers.pair(promises.length);
  weights.pair(promises.length).forEach((item, k) => {
    const weight = item.whole(0n);
    if (lists[k].items().length === 0) {
      lists[k].require(weight === 0n, "a promise with a weight has multipliers for every record");
      return;
    }
    lists[k].require(promises[k].about.length > 0, "only promises about a secret have multipliers for records");
    const frame = new Frame(setting, promises[k].about);
    allowed = plus(allowed, allowance(promises[k], frame, weight));
    const found = lists[k].pair(rows.length).map((node) => scores(promises[k], frame, weight, node));
    spend(20 * rows.length * frame.keys.size);
    if (found.some((score) => score !== null)) lent.push({ labels: frame.pair, found });
  });
  const numbers = law.items().map((item) => item.whole());
  law.require(setting.mechanism.preserve || numbers.length === 0, "the law of the table is not preserved");
  law.require(numbers.length === 0 || numbers.length === rows.length, "there is not a number for each record");
  const given = rows.map((_, y) => raised(numbers[y] ?? 0n));
  const least = limits.reduce((most, limit) => (limit.rows > most ? limit.rows : most), 0n);
  const open = rows.flatMap((n, y) => (n >= least ? [y] : []));

  // Values of all these secrets together, and the scores of each record for them.
  const kinds = new Map();
  const kind = atoms.map((_, i) => {
    const labels = lent.map((one) => one.labels[i]);
    const key = labels.join(";");
    if (!kinds.has(key)) {
      spend((1 + lent.length) * rows.length);
      const score = rows.map((__, y) => lent.reduce((sum, one, j) => sum + (one.found[y]?.get(labels[j]) ?? 0n), 0n));
      kinds.set(key, { place: kinds.size, score });
    }
    return kinds.get(key).place;
  });
  const score = [...kinds.values()].map((one) => one.score);
  const mixtures = inputs.all.map(() => new Map());
  const own = inputs.all.map(() => 0);
  atoms.forEach(({ count }, i) => {
    const mixture = mixtures[inputs.of[i]];
    mixture.set(kind[i], (mixture.get(kind[i]) ?? 0n) + count);
    own[inputs.of[i]] = records.of[i];
  });
  const alike = new Map(); // inputs whose rows have the kinds in the same shares
  mixtures.forEach((mixture, e) => {
    const whole = [...mixture].sort(([a], [b]) => a - b);
    if (steps) spend(4 * whole.length ** 2);
    for (const [sorted, often] of steps ? takenApart(whole, steps) : [[whole, 1n]]) {
      const all = sorted.reduce((sum, [, n]) => sum + n, 0n);
      const key = sorted.map(([k, n]) => [k, fraction(n, all)]).map(([k, f]) => `${k}:${f.n}/${f.d}`).join();
      const group = alike.get(key) ?? alike.set(key, { sorted, all, members: [] }).get(key);
      group.members.push([e, all * often]);
    }
  });
  let lowest = ZERO;
  for (const { sorted, all, members } of alike.values()) {
    spend(4 * sorted.length * open.length);
    // all [d - given(y)] - sum of n scores, in units of 2^-SCALE / unit
    const those = open.map((y) => -distances.unit * (all * given[y] + sorted.reduce((sum, [k, n]) => sum + n * score[k][y], 0n)));
    const nearest = new Nearest(distances, open, those, all << SCALE);
    const sum = members.reduce((whole, [e, n]) => plus(whole, fraction(n * nearest.least(own[e]), all)), ZERO);
    lowest = plus(lowest, sum);
  }
  const back = rows.reduce((sum, n, y) => sum + given[y] * n, 0n);
  const told = new Set(score.map(String)).size;
  const onlyRecords = setting.mechanism.preserve || least > 0n || told < 3;
  const factor = onlyRecords ? fraction(1n) : fraction(BigInt(2 * told - 2), BigInt(told));
  const units = fraction(total << SCALE);
  const mean = over(lowest, fraction(distances.unit * (steps || 1n)));
  const gained = minus(over(plus(mean, fraction(back)), units), allowed);
  const bound = minus(over(gained, factor), limited);
  return less(bound, ZERO) ? ZERO : bound;
}

RULES.set("records", boundByRecords);
RULES.set("coarse", boundByRecords);
RULES.set("transports", boundByTransports);
