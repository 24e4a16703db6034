// The file as it is read: canonical JSON whose values give themselves away by typed methods alone.
import { fraction, less, Refused, require } from "./numbers.mjs";

const LONGEST_FILE = 1 << 26;
const LONGEST_NUMBER = 4000;
const LONGEST_LABEL = 1000;
const DEEPEST = 16;

/** A value of the file and where it stands; it gives itself away by typed methods alone. */
class Node {
  constructor(value, path) {
    this.value = value;
    this.path = path;
  }

  refuse(what) {
    throw new Refused(`${this.path}: ${what}`);
  }

  require(holds, otherwise) {
    if (!holds) this.refuse(otherwise);
  }

  fields(...keys) {
    this.require(this.value !== null && typeof this.value === "object" && !Array.isArray(this.value), "an object is expected");
    const found = Object.keys(this.value);
    this.require(found.length === keys.length && found.every((key, k) => key === keys[k]), `the keys must be ${keys}`);
    return keys.map((key) => new Node(this.value[key], `${this.path}.${key}`));
  }

  /** The text under the first key of an object, which says what kind of object it is. */
  tag() {
    this.require(this.value !== null && typeof this.value === "object" && !Array.isArray(this.value), "an object is expected");
    const first = Object.values(this.value)[0];
    this.require(typeof first === "string", "the kind of an object is a text");
    return first;
  }

  items() {
    this.require(Array.isArray(this.value), "a list is expected");
    return this.value.map((value, k) => new Node(value, `${this.path}[${k}]`));
  }

  /** What a proof brings and does not use is made of lists of numbers; null stands for it. */
  numbersAlone() {
    for (const item of this.items()) {
      if (typeof item.value === "string") item.number();
      else item.numbersAlone();
    }
    return null;
  }

  pair(length = 2) {
    const found = this.items();
    this.require(found.length === length, `a list of ${length} is expected`);
    return found;
  }

  isNull() {
    return this.value === null;
  }

  text() {
    const length = typeof this.value === "string" ? [...this.value].length : 0;
    this.require(length > 0 && length <= LONGEST_LABEL, "a short text is expected");
    return this.value;
  }

  texts() {
    const found = this.items().map((item) => item.text());
    this.require(new Set(found).size === found.length, "a text stands twice");
    return found;
  }

  flag() {
    this.require(typeof this.value === "boolean", "true or false is expected");
    return this.value;
  }

  place(below, least = 0) {
    this.require(Number.isInteger(this.value) && this.value >= least && this.value < below, "a place is expected");
    return this.value;
  }

  whole(least = null) {
    const good = typeof this.value === "string" && this.value.length <= LONGEST_NUMBER && /^-?(0|[1-9][0-9]*)$/.test(this.value);
    this.require(good, "an integer is expected, as a text");
    const found = BigInt(this.value);
    this.require(least === null || found >= least, `an integer from ${least} on is expected`);
    return found;
  }

  number(least = null) {
    this.require(typeof this.value === "string", "a number is expected, as a text");
    const found = numberOf(this.value);
    this.require(found !== null, "this is not an integer, a decimal or a fraction");
    this.require(least === null || !less(found, fraction(least)), `a number from ${least} on is expected`);
    return found;
  }
}

export function numberOf(text) {
  const match = text.length <= LONGEST_NUMBER ? /^(-?(?:0|[1-9][0-9]*))(?:\/([1-9][0-9]*)|\.([0-9]+))?$/.exec(text) : null;
  if (match === null) return null;
  const [, front, bottom, decimals] = match;
  if (decimals !== undefined) return fraction(BigInt(front + decimals), 10n ** BigInt(decimals.length));
  return fraction(BigInt(front), BigInt(bottom ?? "1"));
}

export function parsed(text) {
  require(text.length <= LONGEST_FILE, "the file is too long");
  let depth = 0;
  let quoted = false;
  for (let k = 0; k < text.length; k += 1) {
    const sign = text[k];
    if (quoted) {
      if (sign === "\\") k += 1;
      else if (sign === '"') quoted = false;
    } else if (sign === '"') quoted = true;
    else if (sign === "[" || sign === "{") depth += 1;
    else if (sign === "]" || sign === "}") depth -= 1;
    require(depth >= 0 && depth <= DEEPEST, "the brackets do not match, or stand in each other too deep");
  }
  // Halves of a pair of surrogates are no letters; the canonical text never writes a whole pair as escapes.
  require(!/\\u[dD][89a-fA-F]/.test(text) && text.isWellFormed(), "the file has a letter that does not exist");
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Refused("the file is not JSON");
  }
  require(JSON.stringify(value) === text, "the file is not in canonical form");
  return new Node(value, "$");
}
