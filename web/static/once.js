// Sends a form only once if its button is double-clicked. Otherwise people would see the response to the second
// request, for example that the name they have just registered is taken.

const MILLIS = 1000;
const sent = new WeakMap();

document.addEventListener("submit", (event) => {
  const { target: form, timeStamp } = event;
  if (form.method !== "post") return;
  if (timeStamp - sent.get(form) < MILLIS) event.preventDefault();
  else sent.set(form, timeStamp);
});
