// Promises that hold whatever an attacker knows: what any adversary learns about a record, and what share passes.
import {
  absolute,
  bits,
  ceiling,
  floor,
  fraction,
  HELD,
  larger,
  less,
  log2,
  require,
  smaller,
  spend,
  times,
  ZERO,
} from "./numbers.mjs";
import { outcomesOf } from "./setting.mjs";
import { atMost, noEvidence, PROMISES } from "./promises.mjs";

const RECORDS = 64; // of a group under noise

function combinations(many, size, start = 0) {
  spend(HELD);
  if (size === 0) return [[]];
  const found = [];
  for (let k = start; k <= many - size; k += 1)
    for (const rest of combinations(many, size - 1, k + 1)) found.push([k, ...rest]);
  return found;
}

function readTrees(node) {
  return node.items().map((tree) =>
    tree.items().map((item) => {
      if (item.tag() === "centre") {
        const [, law] = item.fields("node", "law");
        return { law: law.items().map((weight) => weight.whole(1n)) };
      }
      item.require(item.tag() === "choice", "a node of a tree is a centre or a choice");
      const [, value, rows] = item.fields("node", "value", "rows");
      const among = rows.items().map((row) => row.place(1 << 20));
      rows.require(new Set(among).size === among.length, "a row stands twice");
      return { value: value.place(1 << 20), rows: new Set(among) };
    }),
  );
}

/** A bound of I(X_group; Y) over all laws: rows tell no more than their largest divergence from any one law. */
function capacity(setting, channel, group, evidence) {
  const place = new Map();
  const which = channel.rows.map((row) => {
    const key = row.join(",");
    if (!place.has(key)) place.set(key, { number: place.size, row });
    return place.get(key).number;
  });
  const rows = [...place.values()].map(({ row }) => row);
  const groups = combinations(setting.sizes.length, group);
  let trees = evidence.isNull() ? null : readTrees(evidence);
  if (trees === null) {
    const mean = rows[0].map((_, y) => rows.reduce((sum, row) => sum + row[y], 1n));
    trees = [[{ law: mean }]];
  }
  require(trees.length === 1 || trees.length === groups.length, "there is not one tree for each group");
  const divergence = (row, law) => {
    require(law.length === row.length, "a centre is not a law of the letters");
    spend(20 * row.length);
    const total = law.reduce((a, b) => a + b, 0n);
    let units = 0n;
    row.forEach((value, y) => {
      if (value > 0n) units += value * log2(value * total, channel.scale * law[y])[1];
    });
    return bits(ceiling(units, channel.scale));
  };
  const outcomes = outcomesOf(setting.sizes);
  let worst = ZERO;
  groups.forEach((members, k) => {
    const values = new Map();
    outcomes.forEach((outcome, x) => {
      const key = members.map((i) => outcome[i]).join(",");
      if (!values.has(key)) values.set(key, new Set());
      values.get(key).add(which[x]);
    });
    const stack = [[...values.values()]];
    for (const part of trees[k % trees.length]) {
      require(stack.length > 0, "a tree goes on after its last leaf");
      const allowed = stack.pop();
      if (part.law) {
        for (const x of new Set(allowed.flatMap((some) => [...some]))) worst = larger(worst, divergence(rows[x], part.law));
      } else {
        require(part.value < allowed.length, "a node divides no value of the group");
        const chosen = [...allowed[part.value]];
        const halves = [chosen.filter((x) => !part.rows.has(x)), chosen.filter((x) => part.rows.has(x))];
        for (const half of halves) stack.push(allowed.map((some, i) => (i === part.value ? new Set(half) : some)));
      }
    }
    require(stack.length === 0, "a tree lacks leaves");
  });
  return worst;
}

/**
 * A bound of max over pairs of rows and 0 <= b <= 1 of f(b) = 1 - sum p q / (b p + (1-b) q), which is concave in b: on
 * an interval it lies below both tangents at its ends. Intervals are halved until their bound is within 2^-80 of a value.
 */
function contraction(channel) {
  const rows = [...new Map(channel.rows.map((row) => [row.join(","), row])).values()];
  let best = ZERO;
  for (let i = 0; i < rows.length; i += 1)
    for (let j = i + 1; j < rows.length; j += 1) {
      spend(rows[i].length);
      const apart = rows[i].reduce((sum, value, y) => sum + absolute(value - rows[j][y]), 0n);
      const variation = fraction(apart, 2n * channel.scale);
      if (less(best, variation)) best = larger(best, smaller(variation, mostOfPair(rows[i], rows[j], channel.scale)));
    }
  return best;
}

function mostOfPair(first, second, scale) {
  const both = first.flatMap((p, y) => (p > 0n && second[y] > 0n ? [[p, second[y]]] : []));
  const unit = 200n;
  const at = 1n << 60n; // b is a multiple of 2^-60
  // f and f' at b, in units of 2^-200 of their own, each with its two ends
  const value = (b) => {
    spend(4 * both.length);
    let [fall, least, most] = [0n, 0n, 0n];
    for (const [p, q] of both) {
      const mean = b * p + (at - b) * q;
      fall += ((p * q * at) << unit) / (mean * scale);
      const slope = (p * q * (p - q) * at * at) << unit;
      least += floor(slope, mean * mean * scale);
      most += ceiling(slope, mean * mean * scale);
    }
    return { value: (1n << unit) - fall, least, most };
  };
  let [low, high] = [0n, at];
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (value(middle).least > 0n) low = middle;
    else high = middle;
  }
  const [left, right] = [value(low), value(high)];
  // Left of `low` f still rises or its tangent there bounds it; right of `high` the tangent at `high` does.
  const fromLeft = left.value + ceiling((left.most > 0n ? left.most : 0n) * (high - low), at);
  const before = left.value + ceiling((left.least < 0n ? -left.least : 0n) * low, at);
  const after = right.value + ceiling((right.most > 0n ? right.most : 0n) * (at - high), at);
  const bound = [fromLeft, before, after].reduce((a, b) => (a > b ? a : b));
  return fraction(bound, 1n << unit);
}

function daleniusFigures(limit, group, rows) {
  return (release, evidence) => {
    const setting = release.setting;
    require(setting.mechanism.leaving.length === 0, "an adversary learns all of what leaves as it is");
    const noisy = setting.mechanism.form === "noise";
    const largest = noisy ? Array.from({ length: group }, () => setting.many) : [...setting.sizes].sort((a, b) => a - b).slice(-group);
    const everything = bits(log2(largest.reduce((product, size) => product * BigInt(size), 1n))[1]);
    // In other rows every input may be tied to the group: what a row tells about all inputs counts then.
    const whole = rows > 1n ? setting.sizes.length : group;
    const told = noisy
      ? release.capacity(group, evidence, rows)
      : times(fraction(rows), capacity(setting, release.channel, whole, evidence));
    const found = smaller(told, everything);
    atMost(found, limit, "what an adversary may learn");
    return { capacity_bits: found };
  };
}

function contractionFigures(limit) {
  return (release, evidence) => {
    noEvidence(evidence);
    require(release.setting.mechanism.leaving.length === 0, "all information about what leaves as it is passes");
    const found = release.contraction ? release.contraction() : contraction(release.channel);
    atMost(found, limit, "the contraction coefficient");
    return { eta_kl: found };
  };
}

function readDalenius(node, setting) {
  const [, most, group, rows] = node.fields("promise", "at_most_bits", "group", "rows");
  const limit = most.number(0n);
  // Under noise the members of a group are whole records.
  const members = group.place((setting.mechanism.form === "noise" ? RECORDS : setting.sizes.length) + 1, 1);
  const many = rows.whole(1n);
  const whole = members >= setting.sizes.length && many === 1n;
  return { kind: "dalenius", limit, whole, group: members, about: [], needsLaw: false, figures: daleniusFigures(limit, members, many) };
}

function readContraction(node) {
  const [, most] = node.fields("promise", "at_most");
  const limit = most.number(0n);
  return { kind: "contraction", limit, about: [], needsLaw: false, figures: contractionFigures(limit) };
}

PROMISES.set("dalenius", readDalenius);
PROMISES.set("contraction", readContraction);
