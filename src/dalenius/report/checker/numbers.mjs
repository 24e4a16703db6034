// Whole numbers, fractions and logarithms: everything that the proofs are made of, and what they may cost.

export class Refused extends Error {}
export class Unknown extends Error {}

export function require(holds, otherwise) {
  if (!holds) throw new Refused(otherwise);
}

// What a page may do before its reader loses patience; a file that needs more is for the checker in Python.
const MOST_STEPS = 30_000_000;
/** What one thing costs that stays in memory. */
export const HELD = 40;
let steps = 0;

export function startCounting() {
  steps = 0;
}

export function spend(many) {
  steps += many;
  if (steps > MOST_STEPS) throw new Unknown("a proof that is too long for this checker");
}

export const absolute = (a) => (a < 0n ? -a : a);

function gcd(a, b) {
  a = absolute(a);
  b = absolute(b);
  while (b) [a, b] = [b, a % b];
  return a;
}

export const lcm = (a, b) => (a / gcd(a, b)) * b;

/** n / d in lowest terms, d > 0. */
export function fraction(n, d = 1n) {
  if (d < 0n) [n, d] = [-n, -d];
  const common = gcd(n, d);
  return common > 1n ? { n: n / common, d: d / common } : { n, d };
}

export const ZERO = fraction(0n);
export const ONE = fraction(1n);
export const plus = (a, b) => fraction(a.n * b.d + b.n * a.d, a.d * b.d);
export const minus = (a, b) => fraction(a.n * b.d - b.n * a.d, a.d * b.d);
export const times = (a, b) => fraction(a.n * b.n, a.d * b.d);
export const over = (a, b) => fraction(a.n * b.d, a.d * b.n);
export const less = (a, b) => a.n * b.d < b.n * a.d;
export const same = (a, b) => a.n === b.n && a.d === b.d;
export const larger = (a, b) => (less(a, b) ? b : a);
export const smaller = (a, b) => (less(b, a) ? b : a);

/** The whole number at or below a / b, for b > 0. BigInt division rounds towards zero. */
export function floor(a, b) {
  const quotient = a / b;
  return a % b < 0n ? quotient - 1n : quotient;
}

export const ceiling = (a, b) => -floor(-a, b);

/** A decimal not below q, for sentences. */
export function shown(q) {
  const units = ceiling(q.n * 10n ** 12n, q.d);
  const text = String(absolute(units)).padStart(13, "0");
  return `${units < 0n ? "-" : ""}${text.slice(0, -12)}.${text.slice(-12)}`.replace(/\.?0+$/, "");
}

// --- logarithms: intervals of whole numbers in units of 2^-BITS -----------------------------------------------------------
export const BITS = 192n;
const GUARD = 64n;
const FINE = BITS + GUARD;

/**
 * 2^FINE * 2 atanh(n/d) for 0 <= n/d <= 1/3, from below and not 400 units too low:
 * at most 82 terms of 2 sum z^(2k+1)/(2k+1), each of which loses less than four units by its floors.
 */
function twiceAtanh(n, d) {
  let power = (n << (FINE + 1n)) / d;
  const square = ((n * n) << FINE) / (d * d);
  let total = 0n;
  for (let k = 1n; power > 0n; k += 2n) {
    total += power / k;
    power = (power * square) >> FINE;
  }
  return total;
}

const SLACK = 400n;
const LN2 = twiceAtanh(1n, 3n); // ln 2 = 2 atanh(1/3)
/** log2 e from above: LN2 is not above 2^FINE ln 2. */
export const LOG2_E = fraction((1n << (2n * FINE)) / LN2 + 1n, 1n << FINE);
const known = new Map();

const bitLength = (a) => BigInt(a.toString(2).length);

/** [low, high] with low <= 2^BITS log2(a / b) <= high, for a, b > 0; equal for powers of two. */
export function log2(a, b = 1n) {
  const key = `${a}/${b}`;
  const found = known.get(key);
  if (found) return found;
  spend(100);
  require(a > 0n && b > 0n, "a logarithm of what is not positive");
  // a / b = 2^e m with 1 <= m < 2
  let e = bitLength(a) - bitLength(b);
  if (e >= 0n ? a < b << e : a << -e < b) e -= 1n;
  const top = e >= 0n ? a : a << -e;
  const bottom = e >= 0n ? b << e : b;
  let ends;
  if (top === bottom) {
    ends = [e << BITS, e << BITS];
  } else {
    const ln = twiceAtanh(top - bottom, top + bottom); // ln m, z = (m - 1) / (m + 1) < 1/3
    // ln m / ln 2 lies between ln / (LN2 + SLACK) and (ln + SLACK) / LN2
    ends = [(e << BITS) + (ln << BITS) / (LN2 + SLACK), (e << BITS) + ceiling((ln + SLACK) << BITS, LN2)];
  }
  if (known.size < 100_000) known.set(key, ends);
  return ends;
}

export const bits = (units, parts = 1n) => fraction(units, parts << BITS);

/** An upper bound of ln q, for q >= 1. */
export const nats = (q) => fraction(log2(q.n, q.d)[1] * (LN2 + SLACK), 1n << (BITS + FINE));

/** [low, high] around e^x as fractions, for 0 <= x <= 100. */
export function exponential(x) {
  require(!less(x, ZERO) && !less(fraction(100n), x), "an exponent is not between 0 and 100");
  // e^x = (e^(x / 2^8))^(2^8); the series is in units of 2^-320, each step of it and each squaring rounded outwards.
  if (x.n === 0n) return [ONE, ONE];
  const unit = 320n;
  const one = 1n << unit;
  const halvings = 8n;
  const argument = [(x.n << unit) / (x.d << halvings), ((x.n << unit) / (x.d << halvings)) + 1n];
  const ends = argument.map((t, upwards) => {
    let term = one;
    let total = one;
    for (let k = 1n; k < 200n; k += 1n) {
      term = (term * t) / (k << unit) + (upwards ? 1n : 0n);
      total += term;
    }
    if (upwards) total += 1000n; // the rest of the series: t < 0.4, so that it is far below a unit
    for (let k = 0n; k < halvings; k += 1n) total = ((total * total) >> unit) + (upwards ? 1n : 0n);
    return fraction(total, one);
  });
  return [larger(ends[0], ONE), ends[1]];
}
