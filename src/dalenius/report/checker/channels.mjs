// The channel: whole numbers over one scale, one row for each input.
import { Unknown } from "./numbers.mjs";

export const ENTRIES = 1 << 22;

/** Readers of further forms, by the name of the form; see forms.mjs. */
export const FORMS = new Map();

export function readChannel(node, setting) {
  const form = node.tag();
  if (form === "dense") return readDense(node, setting);
  if (FORMS.has(form)) return FORMS.get(form)(node, setting, form);
  if (["listed", "pram", "resample", "staircase", "windows", "strata", "sums", "types", "orbits", "noise", "maps", "filled", "records", "medians", "withheld"].includes(form))
    throw new Unknown(`a channel of form ${form}`);
  return node.refuse("there is no such form");
}

function readDense(node, setting) {
  const [, width, scale, rows] = node.fields("form", "letters", "scale", "rows");
  const many = width.place(ENTRIES, 1);
  const one = scale.whole(1n);
  width.require(setting.width === null || setting.width === many, "the released letters are not those of the problem");
  return { form: "dense", width: many, scale: one, rows: readRows(rows, setting.many, many, one) };
}

/** So many rows of whole numbers, one for each letter, that each sum to one scale. */
export function readRows(rows, count, letters, one) {
  return rows.pair(count).map((row) => {
    const numbers = row.items().map((item) => item.whole(0n));
    row.require(numbers.length === letters && numbers.reduce((a, b) => a + b, 0n) === one, "the row is not a law of the letters");
    return numbers;
  });
}
