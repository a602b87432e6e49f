// Shows times in the visitor's zone, with UTC as the tooltip. Without scripts, times are UTC and marked as such.
// Days without a time, such as a data file's, are the same in all zones.

const two = (number) => String(number).padStart(2, "0");

/** Rewrite all times of a document or an element, and remove the marks that say UTC. */
export function localise(root) {
  if (!new Date().getTimezoneOffset() && Intl.DateTimeFormat().resolvedOptions().timeZone === "UTC") return;
  for (const time of root.querySelectorAll("time[datetime*=T]:not([title])")) {
    const at = new Date(time.dateTime);
    const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
    const clock = `${two(at.getHours())}:${two(at.getMinutes())}`;
    rewrite(time, (text) =>
      text
        .replace(/\d{4}-\d\d-\d\d/, day)
        .replace(/\d\d:\d\d:\d\d/, `${clock}:${two(at.getSeconds())}`)
        .replace(/(^|\s)\d\d:\d\d(?!:)/, `$1${clock}`),
    );
    time.title = `${at.toISOString().slice(0, 19).replace("T", " ")} UTC`;
    const cell = time.closest("[data-label]");
    if (cell) cell.dataset.label = cell.dataset.label.replace(" (UTC)", "");
  }
  for (const note of root.querySelectorAll(".utc")) note.remove();
}

function rewrite(element, change) {
  for (const node of element.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) node.data = change(node.data);
    else rewrite(node, change);
  }
}

localise(document);
