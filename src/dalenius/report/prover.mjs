// The button of a statement: it proves the promise again from the proof file that the page carries, or from a file that
// its reader chooses. It never says more than the checker proved.
import { check, Refused, Unknown } from "./checker.mjs";
import { opened } from "./opened.mjs";

const find = (id) => document.getElementById(id);
const button = find("prove");
const said = find("prove-said");

async function fingerprint(text) {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function say(state, words) {
  button.className = `prove ${state}`;
  said.textContent = words;
}

/** What a verdict means, in words. */
function verdict(found) {
  const proved = found.promises.filter((figures) => figures !== null).length;
  const all = found.promises.length;
  if (!all && !found.bound) return ["", "This page cannot repeat this kind of proof. Use dalenius verify."];
  const holds = all ? `All ${all} promises hold` : "What is said to be reached holds";
  const promises = all === 1 ? "The promise holds" : holds;
  if (proved < all)
    return ["", `This file alone proves ${proved} of ${all} promises and that the recipe is as stated; the others need design.json.`];
  const open = found.format === "dalenius-card/2" ? "" : " Not proved again here: that no other recipe does better. For that, use dalenius verify.";
  const bound = found.bound ? " Also proved: no other recipe does better than the stated limit." : open;
  return ["yes", `${promises}: proved again, here, in exact arithmetic.${bound}`];
}

async function prove(text) {
  const wanted = button.dataset.fingerprint;
  if (wanted && (await fingerprint(text)) !== wanted)
    return say("no", "This is not the file of this statement: its fingerprint differs. Do not rely on this page.");
  try {
    say(...verdict(check(text)));
  } catch (error) {
    if (error instanceof Refused) say("no", `Not proved: the file is damaged, or not true (${error.message}). Do not rely on it.`);
    else if (error instanceof Unknown) say("", `This page cannot repeat this kind of proof (${error.message}). Use dalenius verify.`);
    else say("no", `The check failed in this browser (${error.message}). Use dalenius verify.`);
  }
}

button.addEventListener("click", () => {
  if (!find("proof-file")) return find("prove-file").click();
  say("", "Checking …");
  setTimeout(async () => prove(await opened("proof-file")), 20); // after the words are on the screen
});
find("prove-file")?.addEventListener("change", async (event) => prove(await event.target.files[0].text()));
find("prover").hidden = false;
