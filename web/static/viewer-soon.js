// Waits until a match can be watched. The page has a link that does the same.

import { refresh } from "./fresh.js";
import { poll } from "./polling.js";

poll(async () => {
  if (await refresh()) return false;
  const answer = await fetch(location.href, { method: "HEAD", cache: "no-store" });
  if (answer.redirected) location.replace(answer.url);
  return answer.redirected;
});
