// What promises of local DP say about all pairs of inputs at once.
import { bits, exponential, fraction, less, log2, LOG2_E, minus, nats, ONE, over, require, times, ZERO } from "./numbers.mjs";

export const MOST_NATS = fraction(100n);

/** Not below p(y | x) / p(y | x') for all letters and all pairs of inputs, where a promise says so; else null. */
function ratio(promise, setting) {
  if (promise.kind !== "local_dp" || promise.share.n > 0n) return null;
  if (promise.given.some((name) => setting.mechanism.reads.includes(name))) return null;
  const far = promise.distances === null ? ONE : promise.distances.flat().reduce((a, b) => (less(a, b) ? b : a));
  const level = times(over(promise.limit, promise.rows), far);
  return less(MOST_NATS, level) ? null : exponential(level)[1];
}

/** The strictest of them, or null. */
export function leastRatio(promises, setting) {
  return promises.map((promise) => ratio(promise, setting)).reduce((a, b) => (a === null || (b !== null && less(b, a)) ? b : a), null);
}

/** X - 1 - ln X nats with X = r ln r / (r - 1), which letters of a ratio r add at most; it grows with X. */
export function ceilingOf(r) {
  if (r.n === r.d) return ZERO;
  const top = over(times(nats(r), r), minus(r, ONE));
  return minus(times(minus(top, ONE), LOG2_E), bits(log2(top.n, top.d)[0]));
}

/** The objective is the information about all that is read. */
export function tellsAll(setting, objective) {
  const m = setting.mechanism;
  const alike = (a, b) => a.length === b.length && a.every((name) => b.includes(name));
  const all = objective.aim === "information" && alike(objective.about, m.observe) && alike(m.observe, m.reads);
  require(all, "this rule is for what tells about all of its input");
}
