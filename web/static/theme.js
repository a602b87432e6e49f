// Applies the chosen theme before anything is drawn. The default, and the only one without scripts, is the system's.

{
  const SETTING = "kaiten-theme";
  const root = document.documentElement;

  const chosen = () => {
    try {
      return localStorage.getItem(SETTING) ?? "auto";
    } catch {
      return "auto"; // a page in an iframe may have no storage
    }
  };
  const apply = () => {
    root.dataset.theme = chosen();
    for (const field of document.querySelectorAll("#theme")) field.value = chosen();
  };
  const choose = ({ target }) => {
    try {
      localStorage.setItem(SETTING, target.value);
    } catch {
      // Storage is blocked: the choice applies only to this page.
    }
    root.dataset.theme = target.value;
  };

  apply();
  addEventListener("storage", apply); // chosen in another window
  addEventListener("pageshow", apply); // chosen on another page, before the Back button showed this one again
  addEventListener("DOMContentLoaded", () => {
    apply();
    document.getElementById("theme")?.addEventListener("change", choose);
  });
}
