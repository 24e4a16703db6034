// Optimality without data: the least of some bounds of what can be told about W, in closed form.
import { bits, exponential, fraction, less, log2, minus, ONE, over, plus, smaller, spend, times, ZERO } from "./numbers.mjs";
import { information } from "./release.mjs";
import { ceilingOf, leastRatio, MOST_NATS } from "./ratios.mjs";
import { RULES } from "./check.mjs";

/** sum_x p(x) log2(top(x) / p(x)), where no letter makes x likelier than top(x). */
function surprisal(setting, promises, r) {
  const { law } = setting;
  const inputs = setting.inputs();
  const mass = new Map();
  inputs.forEach((x, k) => mass.set(x, (mass.get(x) ?? 0n) + law.atoms[k].count));
  const most = new Map([...mass.keys()].map((x) => [x, ONE]));
  for (const promise of promises) {
    if (promise.kind !== "independent" && promise.kind !== "information_privacy") continue;
    if (promise.kind === "information_privacy" && less(MOST_NATS, promise.limit)) continue;
    const factor = promise.kind === "independent" ? ONE : exponential(promise.limit)[1];
    const [alone, both] = [new Map(), new Map()];
    setting.labels(promise.about).forEach((s, k) => {
      const { count } = law.atoms[k];
      const key = `${inputs[k]};${s}`;
      alone.set(s, (alone.get(s) ?? 0n) + count);
      both.set(key, { x: inputs[k], s, n: (both.get(key)?.n ?? 0n) + count });
    });
    spend(4 * both.size);
    for (const { x, s, n } of both.values())
      most.set(x, smaller(most.get(x), times(factor, fraction(alone.get(s) * mass.get(x), n * law.total))));
  }
  return [...mass].reduce((sum, [x, n]) => {
    const p = fraction(n, law.total);
    const limit = r === null ? ONE : over(times(r, p), plus(minus(ONE, p), times(r, p)));
    const q = over(smaller(most.get(x), limit), p);
    return plus(sum, times(p, bits(log2(q.n, q.d)[1])));
  }, ZERO);
}

function boundInClosedForm(proof, setting, promises, _limits, objective) {
  proof.require(objective.aim === "information", "this proof is for information");
  proof.fields("rule");
  const beside = setting.labels(setting.mechanism.beside);
  const told = setting.inputs().map((x, k) => `${x};${beside[k]}`);
  const about = setting.labels(objective.about);
  // I(W; X, K | V) for a view V that nothing is told about, and b more where at most b bits are.
  const within = (view) => {
    const given = setting.labels(view);
    const joint = new Map();
    about.forEach((w, k) => {
      const key = JSON.stringify([w, given[k], told[k]]);
      joint.set(key, (joint.get(key) ?? 0n) + setting.law.atoms[k].count);
    });
    return information([...joint].map(([key, weight]) => [...JSON.parse(key), weight]))[1];
  };
  const everything = within([]);
  const bounds = [everything];
  for (const promise of promises) {
    if (promise.kind === "independent") bounds.push(within(promise.about));
    if (promise.kind === "leakage" || promise.kind === "worst_case_leakage") bounds.push(plus(within(promise.about), promise.limit));
  }
  if (setting.mechanism.beside.length === 0) {
    const r = leastRatio(promises, setting);
    if (r !== null) bounds.push(ceilingOf(r));
    bounds.push(surprisal(setting, promises, r));
    for (const promise of promises) {
      if (promise.kind === "dalenius" && promise.whole) bounds.push(promise.limit);
      if (promise.kind === "maximal_leakage" && promise.about.length === 0) bounds.push(promise.stated);
      if (promise.kind === "contraction") bounds.push(times(promise.limit, everything));
    }
  }
  return bounds.reduce(smaller);
}

RULES.set("closed", boundInClosedForm);
