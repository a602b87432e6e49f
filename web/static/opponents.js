// Offers opponents by what is typed: the page itself names those alone that are ahead.

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
  // Where the site can't be reached, what was offered before still is.
  field.addEventListener("input", () => offer(field.value).catch(() => {}));
}
