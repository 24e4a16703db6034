// Forms of channels that say in few numbers what their rows are.
import { fraction, HELD, lcm, less, minus, ONE, over, plus, same, spend, times, ZERO } from "./numbers.mjs";
import { ENTRIES, FORMS, readRows } from "./channels.mjs";

function written(form, exact) {
  const scale = exact.flat().reduce((common, value) => lcm(common, value.d), 1n);
  return { form, width: exact[0].length, scale, rows: exact.map((row) => row.map((v) => v.n * (scale / v.d))) };
}

function readEven(node, setting, form) {
  const many = setting.many;
  const [, stay, others] = form === "pram" ? node.fields("form", "stay") : node.fields("form", "stay", "others");
  const probabilities = (part) =>
    part.pair(many).map((item) => {
      const value = item.number(0n);
      item.require(!less(ONE, value), "a probability lies between 0 and 1");
      return value;
    });
  const stays = probabilities(stay);
  const drawn = form === "pram" ? null : probabilities(others);
  const m = setting.mechanism;
  node.require(setting.width === many && String(m.release) === String(m.reads), "this form releases the columns that it reads");
  node.require(drawn === null || same(drawn.reduce(plus, ZERO), ONE), "what is drawn is not a law of the letters");
  node.require(drawn !== null || many > 1 || same(stays[0], ONE), "a single letter stays");
  spend(HELD * many * many);
  return written(
    form,
    stays.map((p, x) =>
      stays.map((_, y) => {
        const left = minus(ONE, p);
        if (drawn !== null) return plus(times(left, drawn[y]), x === y ? p : ZERO);
        return x === y ? p : over(left, fraction(BigInt(many - 1)));
      }),
    ),
  );
}

function readStaircase(node, setting) {
  const [, ratio, classes, columns] = node.fields("form", "ratio", "classes", "columns");
  const r = ratio.number(1n);
  const of = classes.pair(setting.many).map((item) => item.place(setting.many));
  const used = new Set(of);
  const letters = columns.items().map((item) => {
    const [weight, members] = item.pair();
    const inside = members.items().map((member) => member.place(setting.many));
    const among = new Set(inside);
    members.require(among.size === inside.length && inside.every((c) => used.has(c)), "these are not classes of inputs");
    return { weight: weight.number(0n), among };
  });
  columns.require(letters.length > 0, "there is no letter");
  columns.require(setting.width === null || setting.width === letters.length, "the released letters are not those of the problem");
  spend(HELD * setting.many * letters.length);
  const exact = of.map((c) => letters.map(({ weight, among }) => (among.has(c) ? times(weight, r) : weight)));
  exact.forEach((row) => columns.require(same(row.reduce(plus, ZERO), ONE), "a row does not sum to one"));
  return written("staircase", exact);
}

function readListed(node, setting) {
  const [, width, scale, places, rows] = node.fields("form", "letters", "scale", "places", "rows");
  const many = width.place(ENTRIES, 1);
  const one = scale.whole(1n);
  width.require(setting.width === null || setting.width === many, "the released letters are not those of the problem");
  node.require(setting.many <= ENTRIES, "there are too many inputs to be listed");
  const listed = places.items().map((item) => item.place(setting.many));
  places.require(listed.every((e, k) => k === 0 || listed[k - 1] < e), "the inputs do not rise, or one stands twice");
  const own = readRows(rows, listed.length + 1, many, one);
  const table = Array(setting.many).fill(own[listed.length]);
  listed.forEach((e, k) => {
    table[e] = own[k];
  });
  return { form: "listed", width: many, scale: one, rows: table };
}

FORMS.set("listed", readListed);
FORMS.set("pram", readEven);
FORMS.set("resample", readEven);
FORMS.set("staircase", readStaircase);
