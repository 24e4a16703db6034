// A matrix for each column: their levels add up, and what they tell is bounded column by column.
import { less, plus, require, Unknown, ZERO } from "./numbers.mjs";
import { LAWS, readLaw, Setting } from "./setting.mjs";
import { FORMS, readChannel } from "./channels.mjs";
import { information, Release } from "./release.mjs";
import { levelOf, localDP } from "./local.mjs";
import { RULES } from "./check.mjs";

const UNSTATED = "only the law of each column is stated, not how the columns depend on each other";

/** The law of each single variable; of one table, or stated. */
function readMargins(node, alphabets) {
  const [, columns] = node.fields("law", "columns");
  const variables = [...alphabets.keys()];
  const laws = columns.pair(variables.length).map((item, k) => {
    item.require(item.tag() === "table" || item.tag() === "known", "a margin is the law of one variable");
    return readLaw(item, new Map([[variables[k], alphabets.get(variables[k])]]));
  });
  columns.require(laws.length > 0 && laws.every((law) => law.rows === laws[0].rows), "the columns of one table have the same number of rows");
  const unstated = () => require(false, UNSTATED);
  return {
    variables,
    columns: laws,
    rows: laws[0].rows,
    get atoms() {
      return unstated();
    },
    get total() {
      return unstated();
    },
  };
}

/** The same records looked at through one observed column, with an output for it alone. */
function columnOf(setting, k) {
  const m = setting.mechanism;
  const [name] = m.observe.slice(k, k + 1);
  const alone = { observe: [name], reads: [name], release: m.release.slice(k, k + 1), fresh: null, each: null };
  const mechanism = { ...m, ...alone, forbid: [], never: [], freeze: [], preserve: false };
  const law = setting.law?.columns ? setting.law.columns[setting.law.variables.indexOf(name)] : setting.law;
  const alphabets = setting.law?.columns ? new Map([[name, setting.alphabets.get(name)]]) : setting.alphabets;
  return new Setting(alphabets, law, mechanism);
}

function readWindows(node, setting) {
  const m = setting.mechanism;
  if (m.each === null || m.beside.length > 0 || m.strata.length > 0) throw new Unknown("windows that are not a matrix for each column");
  node.require(m.fresh === null, "each window has letters of its own");
  const [, windows] = node.fields("form", "windows");
  const channels = windows.pair(m.observe.length).map((item, k) => {
    const [reads, channel] = item.fields("reads", "channel");
    const places = reads.items().map((place) => place.place(m.observe.length));
    reads.require(places.length === 1 && places[0] === k, "there is not one window for each observed column, in their order");
    return readChannel(channel, columnOf(setting, k));
  });
  return {
    form: "windows",
    get rows() {
      throw new Unknown("the rows of columns with a matrix each");
    },
    release: () => new Columns(setting, channels),
  };
}

/** Columns that are drawn each by itself. */
class Columns extends Release {
  constructor(setting, channels) {
    super(setting, null);
    this.parts = channels.map((channel, k) => new Release(columnOf(setting, k), channel));
  }

  get channel() {
    throw new Unknown("this figure of columns with a matrix each");
  }

  set channel(_) {}

  /** p(y | x) is the product of the columns, so the ratio of two rows is at most the product of theirs. */
  level(given, metric) {
    if (metric !== null || given.length > 0) throw new Unknown("a metric over columns with a matrix each");
    return this.parts.map((part) => levelOf(part, [], null)).reduce(plus, ZERO);
  }

  cost() {
    throw new Unknown("a distortion of columns with a matrix each");
  }

  keepShape() {
    const m = this.setting.mechanism;
    const held = m.forbid.length + m.never.length + m.freeze.length > 0 || m.preserve;
    require(!held, "form windows does not prove what is forbidden, frozen or preserved");
    this.parts.forEach((part, k) => {
      part.keepShape();
      require(!less(m.each[k], levelOf(part, [], null)), "the matrix of a column has a higher level than it may have");
    });
  }

  informationOfEach() {
    return this.parts.map((part) => information(part.joint(part.setting.mechanism.observe))[0]).reduce(plus, ZERO);
  }
}

/** The sum of the bounds of the columns, each proved by itself under the level that it may have. */
function boundByParts(proof, setting, promises, limits, objective) {
  const [, proofs] = proof.fields("rule", "proofs");
  if (setting.mechanism.strata.length > 0 || objective.aim === "variance") throw new Unknown("a bound by strata, or of a variance");
  const levels = setting.mechanism.each;
  proof.require(objective.aim === "information_of_each" && levels !== null, "without strata the parts are columns that have a matrix each");
  return proofs.pair(levels.length).reduce((sum, item, k) => {
    const rule = RULES.get(item.tag());
    if (rule === undefined) throw new Unknown("the proof of a column");
    const column = columnOf(setting, k);
    const aim = { ...objective, aim: "information", about: objective.about.slice(k, k + 1) };
    return plus(sum, rule(item, column, [localDP(column, levels[k])], [], aim));
  }, ZERO);
}

LAWS.set("margins", readMargins);
FORMS.set("windows", readWindows);
RULES.set("parts", boundByParts);
