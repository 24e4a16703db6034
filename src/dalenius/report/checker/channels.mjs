// The channel: whole numbers over one scale, one row for each input.
import { Unknown } from "./numbers.mjs";

const ENTRIES = 1 << 22;

/** Readers of further forms, by the name of the form; see forms.mjs. */
export const FORMS = new Map();

export function readChannel(node, setting) {
  const form = node.tag();
  if (form === "dense") return readDense(node, setting);
  if (FORMS.has(form)) return FORMS.get(form)(node, setting, form);
  if (["pram", "resample", "staircase", "windows", "strata", "sums", "types", "orbits", "noise", "maps", "filled", "records", "withheld"].includes(form))
    throw new Unknown(`a channel of form ${form}`);
  return node.refuse("there is no such form");
}

function readDense(node, setting) {
  const [, width, scale, rows] = node.fields("form", "letters", "scale", "rows");
  const many = width.place(ENTRIES, 1);
  const one = scale.whole(1n);
  width.require(setting.width === null || setting.width === many, "the released letters are not those of the problem");
  const table = rows.pair(setting.many).map((row) => {
    const numbers = row.items().map((item) => item.whole(0n));
    row.require(numbers.length === many && numbers.reduce((a, b) => a + b, 0n) === one, "the row is not a law of the letters");
    return numbers;
  });
  return { form: "dense", width: many, scale: one, rows: table };
}
