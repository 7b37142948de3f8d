"use strict";
// Every instant stands in the page as text in UTC. In the reader's own zone it is written over; quoted lines and names stay.
const zone = (() => {
  const INSTANT = /(?<=^|[\s(])'[^'\n]*'(?=$|[\s,.;:)])|(?<![\d.:-])(?:(\d{4}-\d\d-\d\d) )?((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{3})?)?)(?![\d:])/g;
  const KEPT = "q, code, bdi, .name, .names, .src, svg, script, style, .tip, #timeline-view";
  const day = document.body.dataset.day, first = new WeakMap();
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  let isLocal = false;
  const offset = (ms) => isLocal ? -6e4 * new Date(ms).getTimezoneOffset() : 0;
  const moved = (text, date, time) => {
    if (!time) return text;
    const at = Date.parse(`${date ?? day}T${time}Z`), iso = new Date(at + offset(at)).toISOString();
    return `${date || iso.slice(0, 10) !== day ? `${iso.slice(0, 10)} ` : ""}${iso.slice(11, 11 + time.length)}`;
  };
  const shown = (text) => isLocal ? text.replace(INSTANT, moved) : text;
  const apply = (root) => {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode, around = text.parentElement;
      if (around.tagName !== "TIME" && around.closest(KEPT)) continue;
      if (!first.has(text)) first.set(text, text.data);
      const local = shown(first.get(text));
      if (text.data !== local) text.data = local;
    }
  };
  const button = document.getElementById("zone"), name = document.querySelector(".window .quiet");
  const choose = (local) => {
    isLocal = local;
    for (const root of document.querySelectorAll("header, main")) apply(root);
    name.textContent = `· all times in ${local ? own : "UTC"}`;
    button.textContent = local ? "Show UTC" : `Show ${own}`;
    dispatchEvent(new Event("zonechange"));
    try { localStorage.setItem("hindsight-zone", local ? "local" : "UTC"); } catch { /* a sandbox keeps nothing */ }
  };
  button.addEventListener("click", () => choose(!isLocal));
  button.textContent = `Show ${own}`;
  button.hidden = own === "UTC";
  const start = () => { try { if (localStorage.getItem("hindsight-zone") === "local" && own !== "UTC") choose(true); } catch { /* a sandbox keeps nothing */ } };
  return { apply, shown, offset, start, name: () => isLocal ? own : "UTC" };
})();
// The first view stands in the page. Each other one is packed, and is drawn when an address leads to it.
const router = () => {
  const byId = (id) => document.getElementById(id);
  const packed = JSON.parse(byId("views")?.textContent ?? '{"chunks":[],"places":{},"holders":{}}');
  const main = document.querySelector("main"), place = byId("view"), heading = main.querySelector("h1");
  const home = main.dataset.view, title = document.title, chunks = new Map();
  const homeView = { title: heading.textContent, content: [...place.childNodes] };

  const unpacked = async (chunk) => {
    const bytes = Uint8Array.from(atob(packed.chunks[chunk]), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
  };
  const read = async (name) => {
    const chunk = packed.places[name];
    if (!chunks.has(chunk)) chunks.set(chunk, unpacked(chunk));
    return (await chunks.get(chunk))[name];
  };

  // An address is a view, `view/anchor`, or an anchor that a view holds, alone or with all of its kind; what is shown of it follows a `?`.
  // People write `group/orders`, `topic/orders`, `broker/1`, `client/a` and `owner/crm`.
  const decoded = (text) => { try { return decodeURIComponent(text); } catch { return text; } };
  const parsed = () => {
    const [, path, query] = /^#?([^?]*)(?:\?(.*))?$/.exec(location.hash) ?? [];
    const [first, anchor] = (path ?? "").split("/"), state = new URLSearchParams(query ?? "");
    const address = decoded(path ?? "");
    if (Object.hasOwn(packed.addresses, address)) return { name: packed.addresses[address], anchor: "", state };
    if (first in packed.places) return { name: first, anchor: anchor ?? "", state };
    const holder = packed.holders[first] ?? packed.holders[first.split("-")[0]];
    return { name: holder ?? home, anchor: first, state };
  };
  const keep = (name) => (values) => {
    const query = parsed().state;
    for (const [key, value] of Object.entries(values)) if (value === "") query.delete(key); else query.set(key, value);
    // A frame in a sandbox may not change its own address.
    try { if (query.size || location.hash.includes("?")) history.replaceState(null, "", `#${name}${query.size ? `?${query}` : ""}`); } catch { /* no address to keep */ }
  };

  let current = home, turn = 0;
  const show = async () => {
    const { name, anchor, state } = parsed(), mine = ++turn, isNew = name !== current;
    if (isNew) {
      const view = name === home ? homeView : await read(name);
      if (mine !== turn) return;
      if (name === home) place.replaceChildren(...homeView.content);
      else {
        const template = document.createElement("template");
        template.innerHTML = view.html;
        place.replaceChildren(template.content);
      }
      current = main.dataset.view = name;
      heading.textContent = view.title;
      enhance(place);
      zone.apply(main);
      document.title = name === home ? title : `${heading.textContent}, ${title}`;
      for (const link of document.querySelectorAll("nav a")) link.toggleAttribute("aria-current", link.hash === `#${name}`);
      document.querySelector("nav [aria-current]")?.setAttribute("aria-current", "page");
      place.querySelectorAll(".paged-table").forEach((table, i) => drawPagedTable(table, state, keep(name), i ? i + 1 : ""));
      const lanes = place.querySelector(".lanes");
      if (lanes) drawTimeline(lanes, state, keep(name));
      byId("announced").textContent = heading.textContent;
      offerTicket();
    }
    const target = anchor && byId(anchor);
    if (target) {
      for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
      for (const marked of document.querySelectorAll(".marked")) marked.classList.remove("marked");
      target.classList.add("marked");
      target.scrollIntoView();
    } else if (isNew) {
      scrollTo(0, 0);
      if (document.activeElement !== document.body) heading.focus({ preventScroll: true });
    }
  };

  // What is copied is to be pasted into a chat. The old way comes first: it alone works in a frame in a sandbox, and at once,
  // while the click still counts.
  const copied = (text) => {
    const box = document.createElement("textarea");
    box.value = text;
    document.body.append(box);
    box.select();
    const done = document.execCommand("copy");
    box.remove();
    return done ? Promise.resolve() : navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject(new Error(text));
  };
  // index.html is another night's tomorrow: what is copied leads to the page of this night.
  const lasting = (href) => document.body.dataset.own ? href.replace(/\bindex\.html(?=#|$)/, document.body.dataset.own) : href;
  const [whole, ticket] = main.querySelectorAll(".copy");
  whole.hidden = !packed.chunks.length;
  const offerTicket = async () => { ticket.hidden = whole.hidden || !(await read(current)).ticket; };
  document.addEventListener("click", async (event) => {
    const here = event.target.closest("a.here"), from = here ?? event.target.closest(".copy");
    if (!from) return;
    const form = from === ticket ? "ticket" : "markdown";
    const text = here ? lasting(here.href) : `${(await read(current))[form]}${from === ticket ? "" : "\n"}${lasting(`${location.href.split("#")[0]}#${current}`)}\n`;
    copied(text).then(() => {
      byId("announced").textContent = here ? "The address is copied." : from === ticket ? "The ticket is copied." : "The view is copied.";
      from.classList.add("copied");
      setTimeout(() => from.classList.remove("copied"), 1500);
    }, () => { byId("announced").textContent = "The browser does not allow this page to copy."; });
  });

  // A heading sorts its table: lengths of time by their length, numbers by their value, else by letters.
  const UNITS = { ms: 1, s: 1e3, min: 6e4, h: 36e5, d: 864e5 };
  const value = (text) => {
    const lengths = [...text.matchAll(/([\d.,]+) (ms|s|min|h|d)\b/g)];
    if (lengths.length) return lengths.reduce((sum, [, number, unit]) => sum + parseFloat(number) * UNITS[unit], 0);
    const number = /^[#\s]*-?[\d,]*\.?\d+/.exec(text.trim());
    return number && !text.includes(":") ? parseFloat(number[0].replace(/[#\s,]/g, "")) : text.trim().toLowerCase();
  };
  const sort = (head) => {
    const body = head.closest("table").tBodies[0], rows = [...body.rows], falls = head.getAttribute("aria-sort") === "ascending";
    const keys = new Map(rows.map((row) => [row, value(row.cells[head.cellIndex]?.textContent ?? "")]));
    // What has no number comes last, whichever way the numbers run.
    const compare = (one, other) => typeof one !== typeof other ? (typeof one === "number" ? -1 : 1) : (one < other ? -1 : Number(one > other)) * (falls ? -1 : 1);
    body.append(...rows.sort((one, other) => compare(keys.get(one), keys.get(other))));
    for (const each of head.parentElement.cells) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falls ? "descending" : "ascending");
  };

  // A table of more than a screen is searched: the rows that hold the words stay.
  const SEARCHED = 12;
  const enhance = (root) => {
    for (const scroll of root.querySelectorAll(".scroll")) {
      if (scroll.closest(".paged-table") || scroll.previousElementSibling?.matches(".search")) continue;
      const body = scroll.querySelector("tbody");
      for (const head of scroll.querySelectorAll("thead th")) {
        const sorter = document.createElement("button");
        Object.assign(sorter, { type: "button", className: "sort" });
        sorter.append(...head.childNodes);
        sorter.addEventListener("click", () => sort(head));
        head.append(sorter);
      }
      if (body.rows.length <= SEARCHED) continue;
      const box = document.createElement("input");
      Object.assign(box, { type: "search", className: "search", placeholder: "Search", autocomplete: "off", spellcheck: false });
      box.setAttribute("aria-label", `Search: ${scroll.getAttribute("aria-label")}`);
      box.addEventListener("input", () => {
        const wanted = box.value.trim().toLowerCase();
        for (const row of body.rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
      });
      scroll.before(box);
    }
  };

  document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); heading.focus(); });
  enhance(place);
  zone.start();
  addEventListener("hashchange", show);
  show();
  offerTicket();
};
addEventListener("DOMContentLoaded", router);
