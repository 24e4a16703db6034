// Reads a JSON list of texts from standard input, writes a list of verdicts:
// {"proved": {...}} with figures as texts "n/d", {"refused": sentence} or {"unknown": part of the format}.
// The checker is that of the package, or the one at the address that is given.
const { check, Refused, Unknown } = await import(process.argv[2] ?? "../../src/dalenius/report/checker.mjs");

let text = "";
for await (const chunk of process.stdin.setEncoding("utf8")) text += chunk;

const shown = (q) => (q === null ? null : `${q.n}/${q.d}`);
const verdicts = JSON.parse(text).map((file) => {
  try {
    const found = check(file);
    const promises = found.promises.map((figures) =>
      figures === null ? null : Object.fromEntries(Object.entries(figures).map(([name, q]) => [name, shown(q)])),
    );
    return { proved: { rows: found.rows === null ? null : String(found.rows), promises, limits: found.limits.map(shown), bound: shown(found.bound) } };
  } catch (error) {
    if (error instanceof Refused) return { refused: error.message };
    if (error instanceof Unknown) return { unknown: error.message };
    return { fault: `${error.stack}` };
  }
});
process.stdout.write(JSON.stringify(verdicts));
