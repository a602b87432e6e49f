// Shows short messages, and copies text.

const WORDS = { link: "Link copied", embed: "Embed code copied", seed: "Seed copied" };
const SHOWN_MILLIS = 2500;

const announcement = document.getElementById("announcement");
const notice = document.getElementById("notice");
let shown = 0;

/** Announce a text to screen readers. */
export function say(text) {
  announcement.textContent = text;
}

/** Show a text for a moment. */
export function notify(text) {
  notice.textContent = text;
  clearTimeout(shown);
  shown = setTimeout(() => notice.replaceChildren(), SHOWN_MILLIS);
}

export async function copy(what, text) {
  const done = await writeClipboard(text);
  notify(done ? WORDS[what] : "The browser doesn't allow copying. Select the text instead.");
}

/** Activate the copy buttons. The `data-copy` of each is a key of `texts`. */
export function offerCopies(texts) {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", () => copy(button.dataset.copy, texts[button.dataset.copy]()));
  }
}

async function writeClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return writeClipboardFallback(text); // without HTTPS there is no clipboard to write to
  }
}

function writeClipboardFallback(text) {
  const area = document.createElement("textarea");
  const focused = document.activeElement;
  area.value = text;
  area.className = "hidden";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  focused?.focus();
  return done;
}
