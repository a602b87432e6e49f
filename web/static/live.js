// Keeps a page current while someone looks at it, until the last change. The page is complete without.

import { refresh } from "./fresh.js";
import { poll } from "./polling.js";

poll(async () => {
  if (document.querySelector("[data-last]")) return true;
  await refresh();
  return false;
});
