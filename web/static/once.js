// Sends a form only once if its button is double-clicked. Otherwise the page would show the response to the second
// request, such as that the registered name is taken.

const MILLIS = 1000;
const sent = new WeakMap();

document.addEventListener("submit", (event) => {
  const { target: form, timeStamp } = event;
  if (form.method !== "post") return;
  if (timeStamp - sent.get(form) < MILLIS) event.preventDefault();
  else sent.set(form, timeStamp);
});
