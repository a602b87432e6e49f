// Reloads the page once there is something to watch. Without scripts, visitors use the page's link.

import { refresh, timeout } from "./fresh.js";
import { poll } from "./polling.js";

poll(async () => {
  if (await refresh()) return false;
  const response = await fetch(location.href, { method: "HEAD", cache: "no-store", redirect: "manual", signal: timeout() });
  const ready = response.type === "opaqueredirect";
  if (ready) location.reload();
  return ready;
});
