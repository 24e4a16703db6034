// Local differential privacy: what any two inputs of which the promise speaks have in common.
import { exponential, fraction, larger, less, nats, ONE, over, require, same, spend, times, Unknown, ZERO } from "./numbers.mjs";
import { names } from "./setting.mjs";
import { atMost, noEvidence, PROMISES } from "./promises.mjs";

const MOST_ROWS = 1 << 20;

/** The level between inputs that agree in `given`. */
export function levelOf(release, given, metric) {
  const worlds = release.setting.worlds(given);
  let level = ZERO;
  spend(release.setting.many ** 2 * release.channel.width);
  release.channel.rows.forEach((row, x) => {
    release.channel.rows.forEach((other, z) => {
      if (x === z || worlds[x] !== worlds[z] || row.every((value, y) => value === other[y])) return;
      let most = ONE;
      row.forEach((value, y) => {
        if (value === 0n) return;
        require(other[y] > 0n, "a letter has probability 0 under one input and not under another");
        if (most.n * other[y] < value * most.d) most = { n: value, d: other[y] };
      });
      const apart = metric === null ? ONE : metric[x][z];
      require(apart.n > 0n, "inputs at distance 0 are released differently");
      level = larger(level, over(nats(fraction(most.n, most.d)), apart));
    });
  });
  return level;
}

/** max over pairs of sum_y max(0, p(y|x) - e^epsilon p(y|x')), with e^epsilon from below. */
function deltaOf(release, given, epsilon) {
  const worlds = release.setting.worlds(given);
  const [factor] = exponential(epsilon);
  let worst = ZERO;
  spend(release.setting.many ** 2 * release.channel.width);
  release.channel.rows.forEach((row, x) => {
    release.channel.rows.forEach((other, z) => {
      if (worlds[x] !== worlds[z]) return;
      const units = row.reduce((sum, value, y) => {
        const here = value * factor.d - other[y] * factor.n;
        return here > 0n ? sum + here : sum;
      }, 0n);
      worst = larger(worst, fraction(units, release.channel.scale * factor.d));
    });
  });
  return worst;
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
  return localDP(setting, level, share, distances, agreeing, fraction(BigInt(rows.place(MOST_ROWS, 1))));
}

/** The promise of a level, a delta, distances and columns to agree in, for a person with so many rows. */
export function localDP(setting, level, share = ZERO, distances = null, agreeing = [], many = ONE) {
  const figures = (release, evidence) => {
    noEvidence(evidence);
    require(setting.mechanism.leaving.every((name) => agreeing.includes(name)), "records that differ in what leaves have no level");
    if (share.n > 0n) {
      if (release.level && !release.delta) throw new Unknown("a delta of columns with a matrix each");
      const each = over(level, many);
      const found = times(many, release.delta ? release.delta(agreeing, each) : deltaOf(release, agreeing, each));
      atMost(found, share, "the delta of local_dp");
      return { epsilon_nats: level, delta: found };
    }
    const found = times(many, release.level ? release.level(agreeing, distances) : levelOf(release, agreeing, distances));
    atMost(found, level, "the level of local_dp");
    return { epsilon_nats: found, delta: ZERO };
  };
  /** v times r c(z) - c(x) >= 0, for two inputs of which the promise speaks. */
  const pair = (item) => {
    if (share.n > 0n) throw new Unknown("a bound that uses a delta");
    const [x, z, v] = item.pair(3).map((part, k) => (k < 2 ? part.place(setting.many) : part.whole(0n)));
    const worlds = setting.worlds(agreeing);
    item.require(worlds[x] === worlds[z], "the promise does not speak of these two inputs");
    const far = times(level, distances === null ? ONE : distances[x][z]);
    return { x, z, v, r: exponential(over(far, many))[1] };
  };
  const said = { limit: level, share, distances, given: agreeing, rows: many };
  return { kind: "local_dp", ...said, about: [], needsLaw: false, figures, pair };
}

PROMISES.set("local_dp", readLocalDP);
