// A second, independent checker of the promises of dalenius-design/2 and dalenius-card/2 files.
//
// It shares the file format with the checker in Python and nothing else: another language, another logarithm, another
// way through the numbers. It proves privacy: that the channel is one, that every promise holds, that every limit and
// every shape is kept, and that no claimed figure is better than the proved one. Of proofs of optimality it knows `lines`
// over released letters, the proof of the main job, over cells of posteriors and over faces; `transports` and `records` for whole
// records; `subsets`, `blocks`, `levels` and `marginals` for what tells about all of its input; `corners` and `closed`;
// `parts` for columns with a matrix each; `noise` for numbers of one column.
//
// What it does not know it never passes: an `Unknown` is thrown for parts of the format that this checker does not
// prove, a `Refused` for a file that is wrong. Numbers are whole (BigInt) or fractions of whole numbers; a logarithm is
// an interval of two whole numbers.

// This file puts the whole checker together. A page may carry less of it: these modules add promises (`adversary`,
// `gauges`), forms of channels (`forms`, `records`, `each`, `noise`) and proofs of optimality (the others), and what is not carried is an `Unknown`.
import "./checker/adversary.mjs";
import "./checker/closed.mjs";
import "./checker/corners.mjs";
import "./checker/each.mjs";
import "./checker/faces.mjs";
import "./checker/forms.mjs";
import "./checker/gauges.mjs";
import "./checker/levels.mjs";
import "./checker/lines.mjs";
import "./checker/local.mjs";
import "./checker/marginals.mjs";
import "./checker/noise.mjs";
import "./checker/records.mjs";
import "./checker/simplices.mjs";
import "./checker/subsets.mjs";
import "./checker/transports.mjs";

export { Refused, Unknown } from "./checker/numbers.mjs";
export { check } from "./checker/check.mjs";
