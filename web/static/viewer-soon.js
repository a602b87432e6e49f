// Waits until a match can be watched. The page's link does the same by hand.

import { refresh } from "./fresh.js";
import { poll } from "./polling.js";

poll(async () => {
  if (await refresh()) return false;
  const answer = await fetch(location.href, { method: "HEAD", cache: "no-store" });
  if (answer.redirected) location.reload();
  return answer.redirected;
});
