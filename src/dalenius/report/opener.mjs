// Lets the checker run that a statement carries: a script whose text the page's policy names by its digest, so that a
// browser refuses a checker with another sign in it.
import { opened } from "./opened.mjs";

const checker = document.createElement("script");
checker.type = "module";
checker.textContent = await opened("checker");
document.body.append(checker);
