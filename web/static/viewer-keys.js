// The viewer's keys, and the dialog that explains them and switches them off.

const SETTING = "kaiten-keys";
const MOVING_KEYS = ["ArrowLeft", "ArrowRight", "Home", "End"];

const dialog = document.getElementById("keys");
const switchBox = document.getElementById("keys-on");

export function listen(actions) {
  switchBox.checked = remembered() !== "off";
  switchBox.addEventListener("change", () => remember(switchBox.checked ? "on" : "off"));
  document.getElementById("help").addEventListener("click", () => dialog.showModal());
  document.addEventListener("keydown", (event) => {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const action = key === "?" ? () => dialog.showModal() : actions[key];
    if (!action || !switchBox.checked || dialog.open || isElsewhere(event)) return;
    event.preventDefault();
    action();
  });
}

/** Return true if the key belongs to the browser or the focused element. */
function isElsewhere(event) {
  // On some keyboards, brackets require AltGr, which counts as Control and Alt.
  const withModifier = event.metaKey || ((event.ctrlKey || event.altKey) && !event.getModifierState("AltGraph"));
  if (event.defaultPrevented || event.isComposing || withModifier) return true;
  const focused = event.target;
  const scrolls = focused.matches(".scroll") && focused.scrollWidth > focused.clientWidth;
  if (scrolls || focused.matches("input[type=range]")) return MOVING_KEYS.includes(event.key);
  if (focused.matches("input, select, textarea") || focused.isContentEditable) return true;
  return event.key === " " && focused.matches("button, summary");
}

function remembered() {
  try {
    return localStorage.getItem(SETTING);
  } catch {
    return null; // a page in an iframe may have no storage
  }
}

function remember(value) {
  try {
    localStorage.setItem(SETTING, value);
  } catch {
    // Storage is blocked: the choice applies only to this page.
  }
}
