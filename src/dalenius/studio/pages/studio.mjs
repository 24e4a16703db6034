// The studio in a browser. It asks the server, shows what the server says, and computes nothing but positions.
import { directions } from "./directions.mjs";
import { dataStep, promiseStep, releaseStep, rolesStep, tradeStep } from "./steps.mjs";

const STEPS = [
  ["data", "Data", dataStep],
  ["roles", "Roles", rolesStep],
  ["promise", "Promise", promiseStep],
  ["trade", "Trade-off", tradeStep],
  ["release", "Release", releaseStep],
];

export const find = (id) => document.getElementById(id);

/** An element with properties, attributes and children; every text is text and never HTML. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "on") for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined).flatMap((child) => isolated(tag, child)));
  return element;
}

const PLAIN = new Set(["option", "title", "textarea", "bdi"]); // they hold no elements

/** Words from right to left stand by themselves, so that numbers and names beside them keep their places. */
function isolated(tag, child) {
  if (typeof child !== "string" || PLAIN.has(tag)) return [child];
  return directions(child).map((part, k) => (k % 2 ? make("bdi", {}, part) : part));
}

export const app = { state: null, view: null, step: 0 };

async function answer(response) {
  const found = await response.json();
  if (!response.ok || found.error) throw new Error(found.error ?? "The studio did not answer.");
  return found;
}

/** Ask the server to do something; its answer is the new state. */
export async function ask(address, given = {}) {
  const request = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(given) };
  take(await answer(await fetch(address, request)));
}

/** Send the choices with some of them changed. */
export const choose = (changes) => ask("/api/choices", { ...app.state.choices, ...changes });

function take(state) {
  if (app.state !== null && state.version < app.state.version) return;
  app.state = state;
  find("file").textContent = `${state.table.name} · ${state.table.rows}`;
  app.view?.update(state);
  foot();
}

/** A sentence for those who do not see the page change. */
export function tell(words) {
  find("live").textContent = words;
}

export function foot() {
  const view = app.view;
  if (view === null) return;
  find("back").hidden = app.step === 0;
  const next = find("next");
  next.textContent = app.step === STEPS.length - 1 ? "Release" : `Next: ${STEPS[app.step + 1][1]}`;
  next.hidden = view.over?.(app.state) ?? false;
  next.disabled = !(view.ready?.(app.state) ?? true);
  find("sum").textContent = view.summary?.(app.state) ?? "";
}

function show() {
  const name = location.hash.slice(1);
  if (name === "main") return;
  const at = Math.max(0, STEPS.findIndex(([key]) => key === name));
  app.step = at;
  const [, title, step] = STEPS[at];
  find("steps").replaceChildren(
    ...STEPS.map(([key, label], k) =>
      make(
        "li",
        {},
        make(
          "a",
          { href: `#${key}`, class: k < at ? "done" : null, "aria-current": k === at ? "step" : null, "aria-label": `Step ${k + 1}: ${label}` },
          make("span", {}, k < at ? `${k + 1} ✓` : `${k + 1}`),
          make("span", { class: "t" }, label),
        ),
      ),
    ),
  );
  app.view = step();
  find("main").replaceChildren(app.view.element);
  app.view.update(app.state);
  foot();
  document.title = `${title} · Dalenius studio`;
  scrollTo(0, 0);
}

function moved() {
  if (location.hash === "#main") return;
  show();
  const heading = find("main").querySelector("h1");
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  tell(`Step ${app.step + 1} of ${STEPS.length}: ${heading.textContent}`);
}

find("next").addEventListener("click", () => {
  if (app.step === STEPS.length - 1) app.view.go();
  else location.hash = STEPS[app.step + 1][0];
});
find("back").addEventListener("click", () => {
  location.hash = STEPS[Math.max(0, app.step - 1)][0];
});
addEventListener("hashchange", moved);

take(await answer(await fetch("/api/state")));
show();
new EventSource("/api/events").addEventListener("message", async (event) => {
  if (JSON.parse(event.data).version > app.state.version) take(await answer(await fetch("/api/state")));
});
