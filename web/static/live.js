// Keeps a page current while it is visible, until its last change. The page works without this script.

import { refresh } from "./fresh.js";
import { poll } from "./polling.js";

poll(async () => {
  if (document.querySelector("[data-last]")) return true;
  await refresh();
  return false;
});
