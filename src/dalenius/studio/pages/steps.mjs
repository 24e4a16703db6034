// The five steps. Each gives its element, takes the state of the server, and says when one can go on.
import { app, ask, choose, foot, make, tell } from "./studio.mjs";
import { curve } from "./curve.mjs";

const wide = (element, share) => {
  element.style.width = `${100 * share}%`;
  return element;
};

/** A place for a sentence that says what is wrong. */
function complaint() {
  const element = make("div", { class: "alert bad", role: "alert", hidden: true });
  const say = (words) => {
    element.hidden = !words;
    element.replaceChildren(make("p", {}, words ?? ""));
  };
  return { element, say };
}

/** Do something on the server, and say why it did not work. */
async function attempt(place, act) {
  try {
    place.say("");
    await act();
  } catch (error) {
    place.say(error.message);
  }
}

// --- data -----------------------------------------------------------------------------------------------------------------
function histogram(bars) {
  const SVG = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "hist");
  svg.setAttribute("viewBox", "0 0 144 32");
  svg.setAttribute("aria-hidden", "true");
  const step = Math.min(20, 144 / bars.length);
  bars.forEach((bar, k) => {
    const rect = document.createElementNS(SVG, "rect");
    const height = Math.max(1, 30 * bar);
    for (const [name, value] of Object.entries({ x: k * step, y: 32 - height, width: Math.max(1, step - 2), height })) rect.setAttribute(name, value);
    svg.append(rect);
  });
  return svg;
}

export function dataStep() {
  const rows = make("tbody");
  const size = make("p", { class: "soft" });
  const place = complaint();
  const element = make(
    "div",
    {},
    make("h1", {}, "What is in the table?"),
    make("p", { class: "lead" }, "The table is read here and goes nowhere. Groups are suggested so that no combination points at somebody."),
    place.element,
    make(
      "div",
      { class: "card" },
      make(
        "table",
        { class: "rt" },
        make("caption", { class: "vh" }, "Columns of the table"),
        make("thead", {}, make("tr", {}, ...["Column", "Values", "How often", "Groups"].map((head) => make("th", { scope: "col" }, head)))),
        rows,
      ),
      size,
    ),
  );
  function cuts(column, state) {
    if (!column.numeric || column.role !== "release") return null;
    const id = `cuts-${state.table.columns.indexOf(column)}`;
    const input = make("input", { type: "text", id, value: state.choices.cuts[column.key] ?? "", placeholder: "for example 1, 3, 7" });
    input.addEventListener("change", () =>
      attempt(place, () => choose({ cuts: { ...app.state.choices.cuts, [column.key]: input.value } })),
    );
    return make("p", { class: "small" }, make("label", { for: id }, "Groups begin at "), input);
  }
  const opened = new Set();
  /** Two groups of a column become one; which ones, the page only asks. */
  function merging(column, state) {
    if (!["release", "protect"].includes(column.role) || column.groups.length === 0) return null;
    const k = state.table.columns.indexOf(column);
    const parts = [];
    if (column.groups.length > 2) {
      const choice = (which, first) =>
        make(
          "select",
          { id: `${which}-${k}`, "aria-label": `${which === "one" ? "Group to merge" : "Group to merge it with"}, ${column.name}` },
          ...column.groups.map((label, at) => make("option", { value: String(at), selected: at === first }, label)),
        );
      const one = choice("one", 0);
      const other = choice("other", 1);
      const merge = make("button", { type: "button", id: `merge-${k}`, "aria-label": `Merge, ${column.name}` }, "Merge");
      merge.addEventListener("click", () => attempt(place, () => ask("/api/merge", { column: column.key, one: Number(one.value), other: Number(other.value) })));
      parts.push(make("div", { class: "merge" }, one, other, merge));
    }
    if (column.by_hand) {
      const undo = make("button", { type: "button", id: `undo-${k}`, "aria-label": `As suggested, ${column.name}` }, "As suggested");
      undo.addEventListener("click", () => attempt(place, () => ask("/api/suggested", { column: column.key })));
      parts.push(undo);
    }
    if (!parts.length) return null;
    const details = make("details", { open: column.by_hand || opened.has(column.key) }, make("summary", {}, "Merge groups by hand"), ...parts);
    details.addEventListener("toggle", () => (details.open ? opened.add(column.key) : opened.delete(column.key)));
    return details;
  }
  return {
    element,
    update(state) {
      const focus = document.activeElement?.id;
      rows.replaceChildren(
        ...state.table.columns.map((column) =>
          make(
            "tr",
            {},
            make("th", { scope: "row" }, column.name),
            make("td", {}, column.words, column.warning ? make("div", { class: "pill warn" }, `left out: ${column.warning}`) : null),
            make("td", {}, column.bars.length ? histogram(column.bars) : ""),
            make(
              "td",
              {},
              column.groups.length ? make("ul", { class: "chips" }, ...column.groups.slice(0, 12).map((label) => make("li", {}, label))) : "not used",
              column.groups.length > 12 ? make("div", { class: "small soft" }, `and ${column.groups.length - 12} more`) : null,
              cuts(column, state),
              merging(column, state),
            ),
          ),
        ),
      );
      if (/^(cuts|one|other|merge|undo)-/.test(focus ?? "")) document.getElementById(focus)?.focus();
      size.textContent = [state.problem.size && `${state.problem.size}.`, state.problem.smallest].filter(Boolean).join(" ");
      place.say(state.table.columns.some((column) => column.by_hand) ? state.problem.error : "");
    },
    summary: (state) => `${state.table.rows}, ${state.table.columns.length} columns`,
  };
}

// --- roles ----------------------------------------------------------------------------------------------------------------
export function rolesStep() {
  const said = make("p", { class: "say" });
  const place = complaint();
  const columns = make("div", { class: "card" });
  const person = make("select", { id: "person" });
  person.addEventListener("change", () => attempt(place, () => choose({ person: person.value })));
  const element = make(
    "div",
    {},
    make("h1", {}, "What stays secret, what goes out?"),
    make("p", { class: "lead" }, "Choose at least one column to protect and one to release."),
    said,
    place.element,
    columns,
    make(
      "div",
      { class: "card" },
      make("label", { for: "person" }, "One person can have several rows, named by the column "),
      person,
      make("p", { class: "small soft" }, "Without such a column the promise is about one row, and the statement says so."),
    ),
  );
  let built = false;
  function build(state) {
    columns.replaceChildren(
      ...state.table.columns.map((column, k) =>
        make(
          "fieldset",
          { class: "role" },
          make("legend", {}, column.name, column.warning ? make("span", { class: "small soft" }, ` (${column.warning})`) : null),
          make(
            "div",
            { class: "seg" },
            ...Object.entries(state.roles).map(([role, words]) =>
              make(
                "label",
                {},
                make("input", {
                  type: "radio",
                  name: `role-${k}`,
                  value: role,
                  checked: column.role === role,
                  on: { change: () => attempt(place, () => choose({ roles: { ...app.state.choices.roles, [column.key]: role } })) },
                }),
                make("span", {}, words),
              ),
            ),
          ),
        ),
      ),
    );
    person.replaceChildren(
      make("option", { value: "" }, "(none)"),
      ...state.table.columns.map((column) => make("option", { value: column.key, selected: state.choices.person === column.key }, column.name)),
    );
    built = true;
  }
  const listed = (state, role) => state.table.columns.filter((column) => column.role === role).map((column) => column.name);
  const sentence = (state) =>
    `Protect ${listed(state, "protect").join(", ") || "nothing yet"}; release ${listed(state, "release").join(", ") || "nothing yet"}.`;
  return {
    element,
    update(state) {
      if (!built) build(state);
      said.textContent = sentence(state);
      place.say(state.problem.error);
    },
    ready: (state) => !state.problem.error,
    summary: sentence,
  };
}

// --- promise --------------------------------------------------------------------------------------------------------------
export function promiseStep() {
  const place = complaint();
  const cards = make("div", { class: "prom" });
  const keeping = make("select", { id: "keeping" });
  keeping.addEventListener("change", () => attempt(place, () => choose({ keep_rows: keeping.value })));
  const times = make("input", { type: "text", id: "times", inputmode: "decimal" });
  times.addEventListener("change", () => attempt(place, () => choose({ times: times.value })));
  const element = make(
    "div",
    {},
    make("h1", {}, "What do you promise?"),
    make("p", { class: "lead" }, "The promise is proved before anything is written. You can move its level in the next step."),
    place.element,
    make("fieldset", {}, make("legend", { class: "vh" }, "Promise"), cards),
    make(
      "div",
      { class: "card" },
      make("p", { class: "field" }, make("label", { for: "keeping" }, "Small groups"), keeping),
      make("p", { class: "field" }, make("label", { for: "times" }, "No answer becomes more likely than so many times (may stay empty)"), times),
      make("p", { class: "small soft" }, "The least change can erase small groups; keeping their rows costs a little more change."),
    ),
  );
  let built = false;
  const levels = new Map();
  function build(state) {
    cards.replaceChildren(
      ...state.promises.map((promise) => {
        const level = promise.ask ? make("input", { type: "text", id: `level-${promise.key}`, value: promise.level, inputmode: "decimal" }) : null;
        levels.set(promise.key, level);
        const take = () => attempt(place, () => choose({ promise: promise.key, level: level?.value ?? "" }));
        const radio = make("input", { type: "radio", name: "promise", value: promise.key, checked: state.choices.promise === promise.key, on: { change: take } });
        level?.addEventListener("change", () => {
          radio.checked = true;
          take();
        });
        return make(
          "div",
          { class: "pc" },
          make("label", {}, radio, make("span", {}, promise.title)),
          make("p", {}, promise.text),
          level ? make("p", { class: "ask" }, level, make("label", { for: level.id }, promise.ask)) : null,
          make("p", { class: "small soft" }, promise.note),
        );
      }),
    );
    keeping.replaceChildren(...Object.entries(state.keeping).map(([value, words]) => make("option", { value, selected: state.choices.keep_rows === value }, words)));
    times.value = state.choices.times;
    built = true;
  }
  return {
    element,
    update(state) {
      if (!built) build(state);
      place.say(state.problem.error);
    },
    ready: (state) => !state.problem.error,
    summary: (state) => state.promises.find((promise) => promise.key === state.choices.promise)?.title ?? "",
  };
}

// --- trade-off ------------------------------------------------------------------------------------------------------------
function facts(point) {
  return point.facts.map((fact) =>
    make("div", {}, make("dt", {}, fact.term), make("dd", {}, make("b", {}, fact.value), make("small", {}, fact.note))),
  );
}

function lost(point) {
  if (!point.losses.length && !point.vanished) return [make("p", {}, make("span", { class: "pill ok" }, "on average no group loses more than a quarter"))];
  return [
    make("h3", {}, "Lost for analysis"),
    ...point.losses.map((loss) => make("p", { class: "small" }, make("span", { class: "pill warn" }, loss.name), ` ${loss.before} → about ${loss.after} rows`)),
    point.vanished ? make("p", { class: "small" }, point.vanished) : null,
  ].filter(Boolean);
}

function column(found) {
  return make(
    "div",
    {},
    make("h3", {}, found.name, " ", make("span", { class: "soft small" }, found.note)),
    ...found.values.map((value) =>
      make(
        "div",
        { class: value.lost ? "lv bad" : "lv" },
        make("span", {}, value.name),
        make("span", { "aria-hidden": "true" }, wide(make("i", { class: "was" }), value.was), wide(make("i", { class: "is" }), value.now)),
        make("span", { class: "n" }, value.before),
        make("span", { class: "n" }, value.after),
      ),
    ),
  );
}

function example(row) {
  return make(
    "tr",
    {},
    ...row.map(([before, after]) =>
      after === undefined ? make("td", {}, before) : make("td", {}, make("s", { class: "soft" }, before), " ", make("span", { class: "chg" }, `→ ${after}`)),
    ),
  );
}

export function tradeStep() {
  const place = complaint();
  const heading = make("h2");
  const title = make("p", { class: "say", id: "title" });
  const kpi = make("dl", { class: "kpi", id: "kpi" });
  const losses = make("div", { id: "losses" });
  const columns = make("div", { class: "mult", id: "columns" });
  const head = make("tr");
  const examples = make("tbody");
  const progress = make("progress", { "aria-label": "Points that are solved", hidden: true });
  const working = make("p", { class: "small soft", id: "working" });
  const stop = make("button", { type: "button", id: "stop" }, "Stop");
  const start = make("button", { type: "button", id: "start" }, "Solve the curve again");
  let sending = null;
  let picked = null; // the point that was chosen here, until the server has answered: older answers must not move it
  const picture = curve((index, done) => {
    detail(index);
    if (!done) return;
    picked = index;
    clearTimeout(sending);
    sending = setTimeout(async () => {
      await attempt(place, () => ask("/api/point", { index }));
      if (picked === index) picked = null;
    }, 120);
  });
  stop.addEventListener("click", () => attempt(place, () => ask("/api/cancel")));
  start.addEventListener("click", () => attempt(place, () => ask("/api/curve")));
  const inner = make(
    "div",
    {},
    title,
    make(
      "div",
      { class: "tr" },
      make("div", { class: "card" }, heading, picture.element, make("div", { class: "ends" }, make("span", {}, "changes less, reveals more"), make("span", {}, "reveals less, changes more"))),
      make("div", { class: "card" }, make("h2", {}, "At this point"), kpi, losses),
    ),
    make("div", { class: "card" }, make("h2", {}, "Rows before and after, by column"), columns),
    make(
      "div",
      { class: "card" },
      make("h2", {}, "Eight example rows"),
      make("p", { class: "small soft" }, "Drawn for this preview only, with a key that is thrown away. The release draws anew."),
      make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Example rows" }, make("table", { class: "ex" }, make("caption", { class: "vh" }, "Example rows"), make("thead", {}, head), examples)),
    ),
  );
  const element = make(
    "div",
    {},
    make("h1", {}, "How much change for how much secrecy?"),
    make("p", { class: "lead" }, "Move along the curve; everything on this page follows. Nothing below the curve is possible: that is proved."),
    place.element,
    make("div", { class: "card" }, working, progress, make("p", {}, stop, " ", start)),
    inner,
  );
  let asked = "";
  function detail(index) {
    const point = app.state.trade.points[index];
    if (!point) return;
    title.textContent = `${point.title}.`;
    kpi.replaceChildren(...facts(point));
    losses.replaceChildren(...lost(point));
    columns.replaceChildren(...point.columns.map(column));
    head.replaceChildren(...point.columns.map((found) => make("th", { scope: "col" }, found.name)));
    examples.replaceChildren(...point.examples.map(example));
  }
  return {
    element,
    update(state) {
      const { trade, problem } = state;
      const running = trade.state === "running";
      const wanted = JSON.stringify(state.choices);
      if (trade.state === "none" && asked !== wanted && !problem.error && problem.curved) {
        asked = wanted;
        attempt(place, () => ask("/api/curve"));
      }
      progress.hidden = !running;
      if (trade.total) progress.max = trade.total;
      progress.value = trade.points.length;
      stop.hidden = !running;
      start.hidden = running || !problem.curved || Boolean(problem.error);
      const size = problem.size && `${problem.size}.`;
      working.textContent = running
        ? `Solving and proving: ${trade.points.length} of ${trade.total || "…"} points. ${trade.left} ${size}`
        : problem.curved || problem.error
          ? trade.points.length
            ? `${trade.points.length} points are solved and proved. ${size}`
            : size
          : `${problem.because} There is no curve to choose from; the level is the one that you wrote.`;
      place.say(problem.error || (trade.state === "failed" ? trade.error : ""));
      inner.hidden = trade.points.length === 0;
      heading.textContent = state.trade.axis.up;
      if (picture.dragging()) return;
      const at = picked !== null && picked < trade.points.length ? picked : trade.chosen;
      picture.update(trade.points, at, trade.axis);
      detail(at);
    },
    ready: (state) => !state.problem.error && (!state.problem.curved || state.trade.points.length > 0),
    summary: (state) => {
      const point = state.trade.points[state.trade.chosen];
      return point ? `${point.title}; rows changed: ${point.changed}` : "";
    },
  };
}

// --- release --------------------------------------------------------------------------------------------------------------
const FILES = [
  ["released table", "everybody", "ok"],
  ["card.json, statement-public.html, estimate scripts", "everybody who may know the counts", "ok"],
  ["statement.html, to read and to sign", "confidential", "warn"],
  ["design.json, the proof; the key of the draw", "confidential", "warn"],
];

export function releaseStep() {
  const place = complaint();
  const content = make("div");
  const accept = make("input", { type: "checkbox", id: "accept", on: { change: () => foot() } });
  const name = make("input", { type: "text", id: "name", value: "release", autocomplete: "off" });
  const asked = (id, label) => {
    const input = make("input", { type: "text", id, value: app.state.choices[id], autocomplete: "off" });
    input.addEventListener("change", () => attempt(place, () => choose({ [id]: input.value })));
    return make("p", { class: "field" }, make("label", { for: id }, label), input);
  };
  const ledger = make(
    "select",
    { id: "ledger" },
    make("option", { value: "" }, "(none)"),
    ...app.state.ledgers.map((found) => make("option", { value: found, selected: app.state.choices.ledger === found }, found)),
  );
  ledger.addEventListener("change", () => attempt(place, () => choose({ ledger: ledger.value })));
  const losses = make("ul");
  const alarm = make(
    "div",
    { class: "alert", id: "alarm" },
    make("p", {}, make("strong", {}, "What is lost")),
    losses,
    make("label", { class: "chk", for: "accept" }, accept, make("span", {}, "I accept this. It stands on page 1 of the privacy statement.")),
  );
  const said = make("p", { class: "say" });
  const toml = make("pre", { id: "toml", tabindex: "0" });
  const command = make("pre", { id: "command", tabindex: "0" });
  const folder = make("code");
  const before = make(
    "div",
    {},
    said,
    alarm,
    make("div", { class: "card" }, make("p", { class: "field" }, make("label", { for: "name" }, "Name of the release"), name), make("p", { class: "small soft" }, "It is written into ", folder, ". Nothing is written before you press Release.")),
    make(
      "div",
      { class: "card" },
      make("h2", {}, "On the statement"),
      asked("title", "Title (may stay empty)"),
      asked("owner", "Owner of the table (may stay empty)"),
      make("p", { class: "field" }, make("label", { for: "ledger" }, "Charge it to the ledger"), ledger),
      make("p", { class: "small soft" }, "A ledger adds up what several releases about the same people reveal. Ledgers in the folder are offered; dalenius ledger init makes one."),
    ),
    make(
      "div",
      { class: "card" },
      make("h2", {}, "What will be written"),
      make(
        "table",
        { class: "rt" },
        make("caption", { class: "vh" }, "Files of the release"),
        make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "File"), make("th", { scope: "col" }, "Who may see it"))),
        make("tbody", {}, ...FILES.map(([file, who, kind]) => make("tr", {}, make("th", { scope: "row" }, file), make("td", {}, make("span", { class: `pill ${kind}` }, who))))),
      ),
    ),
    make("div", { class: "card" }, make("h2", {}, "The same without the studio"), command, make("details", {}, make("summary", {}, "The problem file"), toml)),
  );
  const stage = make("p", { id: "stage" });
  const cancel = make("button", { type: "button", id: "cancel" }, "Cancel");
  cancel.addEventListener("click", () => attempt(place, () => ask("/api/cancel")));
  const running = make("div", { class: "card" }, make("h2", {}, "Releasing"), stage, make("progress", { "aria-label": "Release" }), make("p", {}, cancel), make("p", { class: "small soft" }, "Nothing stands in its place before all of it is written."));
  const done = make("div");
  content.append(before, running, done);
  const lead = make("p", { class: "lead" });
  const element = make("div", {}, make("h1", {}, "Release"), lead, place.element, content);
  let shown = "none";
  function finished(state) {
    const { found } = state.release;
    done.replaceChildren(
      make(
        "div",
        { class: "alert good" },
        make("p", {}, make("strong", {}, `Released. The promise is proved, and the released table passed its ${found.tests} tests.`)),
        ...found.promise.map((words) => make("p", {}, words)),
        ...found.changed.map((words) => make("p", {}, words)),
      ),
      found.lost.length ? make("div", { class: "alert" }, ...found.lost.map((words) => make("p", {}, `Lost: ${words}.`))) : "",
      make(
        "div",
        { class: "card" },
        make("h2", {}, "Next"),
        make(
          "ol",
          {},
          make("li", {}, make("a", { id: "statement", href: "/statement", target: "_blank", rel: "noopener" }, "Read the statement"), ", then sign ", make("code", {}, `${state.release.name}/statement.html`), "."),
          make("li", {}, "Hand over the released table, and card.json if the counts may be public."),
          make("li", {}, "Keep design.json and ", make("code", {}, `${state.release.name}.key`), " as safe as the table."),
        ),
        make("p", {}, "Fingerprint of design.json: ", make("code", { id: "fingerprint" }, found.fingerprint)),
      ),
    );
  }
  return {
    element,
    update(state) {
      const release = state.release;
      const point = state.trade.points[state.trade.chosen];
      said.textContent = point ? `${point.title}. Rows changed: ${point.changed}.` : state.problem.because;
      losses.replaceChildren(...release.losses.map((words) => make("li", {}, words)));
      alarm.hidden = release.losses.length === 0;
      toml.textContent = release.toml;
      command.textContent = release.command;
      folder.textContent = release.folder;
      stage.textContent = release.stage ?? "";
      before.hidden = release.state === "running" || release.state === "done";
      running.hidden = release.state !== "running";
      done.hidden = release.state !== "done";
      lead.textContent = { running: "This is happening.", done: "This is done." }[release.state] ?? "This is what will happen.";
      if (release.state === "done") finished(state);
      place.say(release.state === "refused" ? release.error : state.problem.error);
      if (release.state !== shown) {
        shown = release.state;
        if (shown !== "none") tell({ running: "Releasing", done: "Released", refused: "Not released" }[shown]);
      }
    },
    ready: (state) => !state.problem.error && (state.release.losses.length === 0 || accept.checked) && state.release.state !== "running",
    over: (state) => ["running", "done"].includes(state.release.state),
    go: () => attempt(place, () => ask("/api/release", { name: name.value, accepted: accept.checked })),
    summary: (state) => (state.release.losses.length && !accept.checked ? "Accept what is lost first" : ""),
  };
}
