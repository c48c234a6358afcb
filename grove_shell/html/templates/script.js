(() => {
  "use strict";
  const byId = (id) => document.getElementById(id);
  const root = document.documentElement;

  // theme: as the system has it, until a person chooses
  const themes = ["light", "dark"];
  const stored = () => { try { return localStorage.getItem("grove-theme"); } catch { return null; } };
  const setTheme = (name) => {
    root.dataset.theme = name;
    button.setAttribute("aria-label", `theme: ${name}; switch`);
    try { localStorage.setItem("grove-theme", name); } catch { /* a file without storage */ }
  };
  const system = () => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const button = byId("-theme");
  const switchTheme = () => setTheme((root.dataset.theme || system()) === "dark" ? "light" : "dark");
  button.hidden = false;
  button.setAttribute("aria-label", "switch the theme");
  button.addEventListener("click", switchTheme);
  if (themes.includes(stored())) setTheme(stored());

  // age of the page by the clock of this computer
  const clock = byId("-clock");
  if (clock) {
    const age = byId("-age");
    const show = () => {
      const seconds = Math.round((Date.now() - Date.parse(clock.dateTime)) / 1000);
      const units = [[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];
      const [size, unit] = units.find(([one]) => Math.abs(seconds) >= one) || units[3];
      const count = Math.floor(Math.abs(seconds) / size);
      age.textContent = `${count} ${unit}${count === 1 ? "" : "s"} ${seconds < 0 ? "after" : "before"} now`;
    };
    show();
    setInterval(show, 1000 * 10);
  }

  // a link opens what it leads to
  const reveal = (element) => {
    for (let one = element; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
  };
  const follow = () => {
    const target = byId(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    clearFilter();
    if (target.popover) { target.showPopover(); return; }
    reveal(target);
    target.scrollIntoView({ block: "start" });
    (target.querySelector(":scope > summary") || target).focus({ preventScroll: true });
  };

  // filter: what does not match is hidden, what leads to a match is open
  const input = byId("-filter");
  const matches = document.querySelector(".item") ? ["entry matches", "entries match"] : ["object matches", "objects match"];
  const buttons = [...document.querySelectorAll("#-states button")];
  let index = null;
  const build = () => {
    const made = new Map();
    const tops = [];
    for (const element of document.querySelectorAll(".set, .node, .report, .item, .pods > li")) {
      const own = element.matches("li, .item") ? element : element.querySelector(":scope > summary, :scope > h2");
      const state = element.dataset.state || "";
      const counts = state || element.matches(".item");
      const one = { element, text: own ? own.textContent.toLowerCase() : "", state, counts, inner: [] };
      const outer = made.get(element.parentElement.closest(".node, .set, .report"));
      (outer ? outer.inner : tops).push(one);
      made.set(element, one);
    }
    return tops;
  };
  let wasOpen = null;
  const show = (one) => {
    one.element.hidden = false;
    one.inner.forEach(show);
  };
  const apply = (one, words, state, within) => {
    const named = within || words.every((word) => one.text.includes(word));
    const self = (!state || one.state === state) && words.every((word) => one.text.includes(word));
    let count = self && one.counts ? 1 : 0;
    for (const inner of one.inner) count += apply(inner, words, state, !state && named);
    if (self && state) one.inner.forEach(show);
    const shown = count > 0 || self || (named && !state);
    one.element.hidden = !shown;
    if (count > 0 && one.inner.length && !self) one.element.open = true;
    return count;
  };
  const filter = () => {
    if (!input) return;
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const pressed = buttons.find((one) => one.getAttribute("aria-pressed") === "true");
    const state = pressed ? pressed.dataset.state : "";
    index = index || build();
    const active = words.length > 0 || state;
    wasOpen = wasOpen || new Set(document.querySelectorAll("details[open]"));
    const count = index.reduce((sum, one) => sum + apply(one, words, state, false), 0);
    byId("-found").textContent = active ? `${count} ${matches[count === 1 ? 0 : 1]}` : "";
    if (!active) {
      for (const one of document.querySelectorAll(".set, .node")) one.open = wasOpen.has(one);
      wasOpen = null;
    }
  };
  const clearFilter = () => {
    if (!wasOpen) return;
    input.value = "";
    for (const one of buttons) one.setAttribute("aria-pressed", "false");
    filter();
  };
  if (input) {
    input.parentElement.hidden = false;
    byId("-states").hidden = buttons.length === 0;
    let timer = 0;
    input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(filter, 80); });
    for (const one of buttons) {
      one.addEventListener("click", () => {
        const was = one.getAttribute("aria-pressed") === "true";
        for (const other of buttons) other.setAttribute("aria-pressed", String(other === one && !was));
        filter();
      });
    }
  }

  // keys
  const stops = () => [...document.querySelectorAll(".entry, .report[id], .set > summary")].filter((one) => one.offsetParent);
  const step = (by) => {
    const all = stops();
    const at = all.findIndex((one) => one.contains(document.activeElement));
    const next = all[Math.min(Math.max(at + by, 0), all.length - 1)];
    if (next) { next.focus(); next.scrollIntoView({ block: "nearest" }); }
  };
  const openAll = (open) => {
    for (const one of document.querySelectorAll(".set, .node")) one.open = open;
  };
  const keys = {
    "/": () => input && input.focus(),
    j: () => step(1), k: () => step(-1),
    e: () => openAll(true), c: () => openAll(false),
    t: switchTheme, "?": () => byId("-keys").togglePopover(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { clearFilter(); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea")) return;
    const action = keys[event.key];
    if (action) { event.preventDefault(); action(); }
  });

  addEventListener("hashchange", follow);
  addEventListener("beforeprint", () => { for (const one of document.querySelectorAll(".set")) one.open = true; });
  if (location.hash) follow();
})();
