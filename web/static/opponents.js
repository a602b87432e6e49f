// Suggests opponents for typed text: the page itself lists only the leaders and the bot's own versions.

const list = document.getElementById("whom");
const named = [...list.options].map(({ value }) => value);
let wanted = "";

async function offer(text) {
  wanted = text;
  const search = text.trim().split("@")[0];
  if (!search) return;
  const answer = await fetch(`/api/v1/leaderboard?limit=20&search=${encodeURIComponent(search)}`);
  if (!answer.ok || wanted !== text) return;
  const { rows } = await answer.json();
  const names = new Set([...rows.map(({ bot }) => bot), ...named]);
  list.replaceChildren(...[...names].map((name) => Object.assign(document.createElement("option"), { value: name })));
}

for (const field of document.querySelectorAll("input[list=whom]")) {
  // If the site can't be reached, keep the earlier suggestions.
  field.addEventListener("input", () => offer(field.value).catch(() => {}));
}
