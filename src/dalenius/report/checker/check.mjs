// The document as a whole: every promise, limit and shape is proved, and every claim compared with what was proved.
import { fraction, less, minus, ONE, plus, require, same, shown, startCounting, times, Unknown, ZERO } from "./numbers.mjs";
import { numberOf, parsed } from "./reading.mjs";
import { names, readLaw, readMechanism, readVariables, Setting } from "./setting.mjs";
import { readChannel } from "./channels.mjs";
import { readDistortion } from "./distortion.mjs";
import { information, Release } from "./release.mjs";
import { LOWER, noEvidence, readPromise } from "./promises.mjs";

const MOST_WORK = 20_000_000n;
const MOST_PROMISES = 1000;

/** Proofs of optimality by the name of their rule; see lines.mjs. What is not here is not proved, and not said. */
export const RULES = new Map();

function readObjective(node, setting) {
  const aim = node.tag();
  if (aim === "capacity") throw new Unknown("the least capacity");
  if (aim === "distortion") return { aim, parts: readDistortion(node.fields("aim", "distortion")[1], setting) };
  if (aim === "variance") return { aim, about: names(node.fields("aim", "about")[1], setting.alphabets) };
  node.require(["information", "information_of_each", "leakage"].includes(aim), "there is no such aim");
  const [, about, theta] = node.fields("aim", "about", "theta");
  const found = names(about, setting.alphabets);
  const share = theta.number(0n);
  theta.require(!less(ONE, share), "theta lies between 0 and 1");
  theta.require(same(share, ONE) || aim === "leakage", "theta is 1 where information is wanted");
  about.require(found.length > 0 === share.n > 0n, "columns are named where they count, and nowhere else");
  node.require(same(share, ONE) || setting.mechanism.leaving.length === 0, "a rate is without columns that leave as they are");
  if (aim === "information_of_each") {
    node.require(setting.mechanism.each !== null, "columns are counted one by one where each has a matrix of its own");
    about.require(String(found) === String(setting.mechanism.observe), "these are not the observed columns, in their order");
  }
  return { aim, about: found, theta: share };
}

/** What the channel costs or tells, rounded against it. */
function reached(release, objective) {
  if (objective.aim === "distortion") return release.cost(objective.parts);
  if (objective.aim === "information") return information(release.joint(objective.about))[0];
  if (objective.aim === "information_of_each") return release.informationOfEach();
  const share = (names, given = []) => information(release.joint(names, given))[1];
  const m = release.setting.mechanism;
  const side = m.side !== null && m.encoder !== "uninformed" ? [m.side] : [];
  let value = ZERO;
  if (objective.theta.n > 0n) value = plus(value, times(objective.theta, share(objective.about)));
  if (less(objective.theta, ONE)) value = plus(value, times(minus(ONE, objective.theta), share(m.observe, side)));
  return value;
}

/** The bound, compared with the claims; null where this checker does not know the proof. */
function proveBound(proof, release, promises, limits, objective, claims) {
  const rule = RULES.get(proof.tag());
  proof.require(!/"[^",]{401}/.test(JSON.stringify(proof.value)), "a number of a proof has more than 400 digits");
  const apart = release.setting.mechanism.each === null || proof.tag() === "parts";
  proof.require(apart, "columns with a matrix each are bounded by parts");
  if (rule === undefined) return null;
  let bound;
  try {
    bound = rule(proof, release.setting, promises, limits, objective);
  } catch (error) {
    if (error instanceof Unknown) return null;
    throw error;
  }
  const value = reached(release, objective);
  const { value: claimed, bound: stated, gap } = claims;
  // What is wanted is bounded from above, what is to be avoided from below.
  const wanted = objective.aim.startsWith("information");
  const passes = wanted ? (a, b) => less(b, a) : less;
  const between = wanted ? minus(stated, claimed) : minus(claimed, stated);
  require(!passes(value, bound), `the value ${shown(value)} passes the bound: one of them is false`);
  require(!passes(claimed, value), `the claimed value is not reached: it is ${shown(value)}`);
  require(!passes(bound, stated), `the claimed bound is not proved: it is ${shown(bound)}`);
  require(!less(between, ZERO) && !less(gap, between), "the claimed gap is smaller than value and bound leave");
  return bound;
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

/** Every released record has so many rows of the table at least. */
function proveRows(least, claimed, release) {
  require(release.leastRows, "only form records counts the rows of a record");
  const rows = fraction(release.leastRows());
  require(rows.n >= least, `a released record has ${rows.n} rows, fewer than allowed`);
  require(!less(rows, claimed), "the claimed number of rows is not proved");
  return rows;
}

/** Everything that leaves tells so many bits at least. */
function proveTold(limit, claimed, release) {
  const told = information(release.joint(limit.about))[0];
  require(!less(told, limit.bits), `what is told is ${shown(told)} bits, fewer than asked for`);
  require(!less(told, claimed), "the claimed information is not proved");
  return told;
}

/**
 * Prove every promise, limit and shape of a design or a card.
 *
 * Returns { format, rows, promises: [figures or null], limits, bound }; figures are fractions { n, d } or null where
 * nothing bounds them; a promise is null where a card lacks the law that it needs, and the bound of a minimised
 * objective is null where its proof is not known here. Throws Refused or Unknown.
 */
export function check(text) {
  startCounting();
  const root = parsed(text);
  const format = root.tag();
  if (format === "dalenius-answer/1") throw new Unknown("an answer");
  root.require(format === "dalenius-design/2" || format === "dalenius-card/2", "this is not a design or a card of version 2");
  const card = format === "dalenius-card/2";
  const keys = card
    ? ["format", "work", "variables", "mechanism", "promises", "channel", "evidence", "claims"]
    : ["format", "work", "variables", "law", "mechanism", "objective", "promises", "limits", "channel", "evidence", "claims", "proof"];
  const part = Object.fromEntries(root.fields(...keys).map((node, k) => [keys[k], node]));
  const most = MOST_WORK * BigInt(Math.max(1, [...text].length >> 19));
  part.work.require(part.work.whole(0n) <= most, "the file asks for more operations than are allowed");
  const alphabets = readVariables(part.variables);
  const mechanism = readMechanism(part.mechanism, alphabets);
  const law = card ? null : readLaw(part.law, alphabets);
  const setting = new Setting(alphabets, law, mechanism);
  const stated = part.promises.items();
  part.promises.require(stated.length <= MOST_PROMISES, "there are too many promises");
  part.promises.require(new Set(stated.map((item) => meaning(item.value))).size === stated.length, "a promise stands twice");
  const promises = stated.map((item) => readPromise(item, setting));
  const ignored = mechanism.encoder === "uninformed" && promises.some((promise) => promise.about?.length);
  part.promises.require(!ignored, "a promise about a secret counts what the user has, so the mechanism may not ignore it");
  const limits = card
    ? []
    : part.limits.items().map((item) => {
        if (item.value !== null && typeof item.value === "object" && Object.hasOwn(item.value, "information"))
        {
          const [about, least] = item.fields("information", "at_least_bits");
          const found = names(about, setting.alphabets);
          about.require(found.length > 0, "no column is named");
          return { about: found, bits: least.number(0n) };
        }
        if (item.value !== null && typeof item.value === "object" && Object.hasOwn(item.value, "multiplicity"))
          return { rows: item.fields("multiplicity")[0].whole(1n) };
        const [parts, limit] = item.fields("distortion", "at_most");
        return { parts: readDistortion(parts, setting), most: limit.number(0n) };
      });
  const objective = card ? null : readObjective(part.objective, setting);
  if (mechanism.form === "noise" && !plainNoise(part.channel.tag(), promises, limits, objective)) throw new Unknown("this promise or aim of noise");
  const channel = readChannel(part.channel, setting);
  const release = channel.release ? channel.release(setting) : new Release(setting, channel);
  const evidence = part.evidence.pair(promises.length);
  let figures;
  let limited = [];
  let claimed = null;
  if (card) [figures] = part.claims.fields("promises");
  else {
    const [told, expected, value, bound, gap] = part.claims.fields("promises", "limits", "value", "bound", "gap");
    figures = told;
    limited = expected.pair(limits.length).map((item) => item.number(0n));
    claimed = { value: value.number(), bound: bound.number(), gap: gap.number(0n) };
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
    if (limit.rows) return proveRows(limit.rows, limited[k], release);
    if (limit.bits) return proveTold(limit, limited[k], release);
    const cost = release.cost(limit.parts);
    require(!less(limit.most, cost), `the distortion is ${shown(cost)}, more than allowed`);
    require(!less(limited[k], cost), `the claimed distortion is not proved: it is ${shown(cost)}`);
    return cost;
  });
  release.keepShape();
  const bound = card ? null : proveBound(part.proof, release, promises, limits, objective, claimed);
  return { format, rows: law === null ? null : law.rows, promises: proved, limits: costs, bound };
}

/** What is proved of noise here: bits, levels and what any adversary learns, squared errors, and the least of either. */
function plainNoise(form, promises, limits, objective) {
  const aimed = objective === null || objective.aim === "distortion" || (objective.aim === "leakage" && same(objective.theta, ONE));
  const kept = promises.every((promise) => ["leakage", "local_dp", "dalenius", "contraction"].includes(promise.kind));
  return form === "noise" && aimed && kept && limits.every((limit) => limit.parts);
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
