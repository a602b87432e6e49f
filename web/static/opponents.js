// Suggests opponents for typed text: the page itself lists only the leaders and the bot's own versions.

const list = document.getElementById("whom");
const initial = [...list.options].map(({ value }) => value);
let wanted = "";

async function suggest(text) {
  wanted = text;
  const search = text.trim().split("@")[0];
  if (!search) return;
  const response = await fetch(`/api/v1/leaderboard?limit=20&search=${encodeURIComponent(search)}`);
  if (!response.ok || wanted !== text) return;
  const { rows } = await response.json();
  const names = new Set([...rows.map(({ bot }) => bot), ...initial]);
  list.replaceChildren(...[...names].map((name) => Object.assign(document.createElement("option"), { value: name })));
}

for (const field of document.querySelectorAll("input[list=whom]")) {
  // If the site can't be reached, keep the earlier suggestions.
  field.addEventListener("input", () => suggest(field.value).catch(() => {}));
}
