// Words that are written from right to left, kept apart so that they turn nothing around them.
const RIGHT = "[\\p{Script=Hebrew}\\p{Script=Arabic}\\p{Script=Syriac}\\p{Script=Thaana}\\p{Script=Nko}]+";
const WORDS = new RegExp(`(${RIGHT}(?:[\\s\\d./'_-]*${RIGHT})*)`, "u");

/** A text in parts: every second one is written from right to left. */
export function directions(text) {
  return text.split(WORDS);
}
