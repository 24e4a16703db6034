// The most information under local DP with a delta, for few inputs: columns whose entries are powers of e^epsilon without a
// power left out between two of them, or 0. On these rays prices and multipliers are compared with phi.
import { BITS, exponential, floor, fraction, less, over, plus, require, spend, times } from "./numbers.mjs";
import { massOf } from "./frames.mjs";
import { Told } from "./posteriors.mjs";
import { MOST_NATS } from "./ratios.mjs";
import { RULES } from "./check.mjs";

const MOST_INPUTS = 6;
const FINENESS = 100n; // bits after the point of a price or a multiplier

/** All ways to give some of the inputs a level 0, 1, ... such that every level up to the highest is used; -1: none. */
function* ordered(many) {
  const place = (levels) => {
    if (levels.length === many) {
      const highest = Math.max(...levels);
      const used = new Set(levels);
      return highest >= 0 && Array.from({ length: highest }, (_, k) => k).every((k) => used.has(k)) ? [levels] : [];
    }
    return Array.from({ length: many + 1 }, (_, k) => [...levels, k - 1]).flatMap(place);
  };
  yield* place([]);
}

function boundByLevels(proof, setting, promises, _limits, objective) {
  proof.require(objective.aim === "information", "levels are for information");
  const [, which, prices, pairs] = proof.fields("rule", "promise", "prices", "pairs");
  const promise = promises[which.place(promises.length)];
  which.require(promise.kind === "local_dp" && promise.distances === null, "levels need a promise of local_dp without a metric");
  const epsilon = over(promise.limit, promise.rows);
  require(!less(MOST_NATS, epsilon), "this promise restricts nothing that a proof could use");
  const [, r] = exponential(epsilon);
  const inputs = [...massOf(setting).keys()];
  require(inputs.length <= MOST_INPUTS, "levels are for few inputs that occur");
  const z = prices.items().map((item) => item.whole());
  prices.require(z.length === inputs.length, "there is not one price for each input that occurs");
  const worlds = setting.worlds(promise.given);
  const weights = pairs.items().map((pair) => {
    const [first, second, weight] = pair.pair(3);
    const [x, y] = [first.place(inputs.length), second.place(inputs.length)];
    pair.require(worlds[inputs[x]] === worlds[inputs[y]], "the promise does not speak of these two inputs");
    return { x, y, m: weight.whole(0n) };
  });
  const told = new Told(setting, objective.about);
  let most = null;
  spend(4 * (inputs.length + 1) ** inputs.length);
  for (const levels of ordered(inputs.length)) {
    const highest = Math.max(...levels);
    spend(20 * (inputs.length + weights.length));
    const column = levels.map((k) => (k < 0 ? 0n : r.n ** BigInt(k) * r.d ** BigInt(highest - k)));
    const { phi, mass } = told.ofColumn(column);
    let paid = column.reduce((sum, c, i) => sum + c * z[i] * r.d, 0n);
    for (const { x, y, m } of weights) {
      const apart = r.d * column[x] - r.n * column[y];
      if (apart > 0n) paid += m * apart;
    }
    const lacking = phi - floor((paid * told.total) << (BITS - FINENESS), mass * r.d);
    if (most === null || lacking > most) most = lacking;
  }
  const delta = over(promise.share, promise.rows);
  const spent = plus(fraction(z.reduce((a, b) => a + b, 0n)), times(delta, fraction(weights.reduce((sum, { m }) => sum + m, 0n))));
  return plus(over(spent, fraction(1n << FINENESS)), fraction(most, 1n << BITS));
}

RULES.set("levels", boundByLevels);
