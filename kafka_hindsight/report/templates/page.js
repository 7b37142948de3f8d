"use strict";
// Every instant stands in the page as text in UTC. In the reader's own zone it is written over; quoted lines and names stay.
const zone = (() => {
  const INSTANT = /(?<=^|[\s(])'[^'\n]*'(?=$|[\s,.;:)])|(?<![\d.:-])(?:(\d{4}-\d\d-\d\d) )?((?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{3})?)?)(?![\d:])/g;
  const KEPT = "q, code, bdi, .name, .names, .src, svg, script, style, .tip, #timeline-view";
  const day = document.body.dataset.day, first = new WeakMap();
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  let isLocal = false;
  const offset = (ms) => isLocal ? -6e4 * new Date(ms).getTimezoneOffset() : 0;
  const moved = (found, date, time) => {
    if (!time) return found;
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
      const said = shown(first.get(text));
      if (text.data !== said) text.data = said;
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
  return { apply: (root) => isLocal && apply(root), shown, offset, start, name: () => isLocal ? own : "UTC" };
})();
(() => {
  const byId = (id) => document.getElementById(id);

  // What lies far down in a long table waits packed until it is wanted.
  const parts = [...document.querySelectorAll(".later")], unpacking = new Map();
  const unpack = (part) => unpacking.get(part) ?? unpacking.set(part, unpacked(part)).get(part);
  const unpacked = async (part) => {
    const packed = part.dataset.packed;
    delete part.dataset.packed;
    const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
    const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
    const template = document.createElement("template");
    template.innerHTML = text;
    part.replaceChildren(template.content);
    zone.apply(part);
    part.classList.add("there");
  };
  const near = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) {
      if (!isIntersecting) continue;
      unpack(target);
      near.unobserve(target);
    }
  }, { rootMargin: "1500px 0px" });
  for (const part of parts) near.observe(part);
  const when = window.requestIdleCallback ?? ((act) => setTimeout(() => act({ timeRemaining: () => 10 }), 50));
  const unpackAll = () => Promise.all(parts.map(unpack));
  const unpackIdly = async (idle) => {
    const part = parts.find((each) => !unpacking.has(each));
    if (!part) return;
    if (idle.timeRemaining() > 5) await unpack(part);
    when(unpackIdly);
  };
  addEventListener("load", () => when(unpackIdly));

  // A phone shows the first rows of a long table. A button, a search and an address into it show all.
  const BRIEF = 8;
  const unfold = (within) => { for (const each of within?.querySelectorAll(".brief") ?? []) each.classList.remove("brief"); };
  for (const scroll of document.querySelectorAll(".scroll")) {
    const bodies = scroll.querySelector("table").tBodies, count = bodies.length > 1 ? bodies.length : bodies[0].rows.length;
    if (count <= BRIEF) continue;
    const all = document.createElement("button");
    Object.assign(all, { type: "button", className: "button all", textContent: "Show all rows" });
    all.addEventListener("click", () => unfold(all.closest("section")));
    scroll.classList.add("brief");
    scroll.append(all);
  }

  // An address leads into what is folded, filtered away or still waits: open it on the way.
  const reveal = async () => {
    const anchor = location.hash.slice(1);
    if (!/^[a-z0-9-]+$/.test(anchor)) return;
    const waited = !byId(anchor) && !anchor.startsWith("timeline-");
    if (waited) await unpackAll();
    const target = byId(anchor);
    if (!target) return;
    for (let around = target; around; around = around.parentElement) around.hidden = false;
    unfold(target.closest("section"));
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    const own = target.querySelector(":scope details");
    if (own && (target.tagName === "TBODY" || target.tagName === "TR" || target.tagName === "LI")) own.open = true;
    if (waited) location.replace(location.hash);
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

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
  const announce = (words) => { byId("announced").textContent = words; };

  // An incident as text: headings, lists, facts, commands and quotations as Markdown has them.
  const FORMS = {
    H3: (text) => `\n### ${text}\n`, P: (text) => `${text}\n`, LI: (text) => `- ${text}`, CODE: (text) => `    ${text}`, Q: (text) => `> ${text.replaceAll("\n", "\n> ")}`,
  };
  const markdown = (row) => {
    const lines = [`## ${row.querySelector(".what b").textContent.trim()}`, "", `${lasting(location.href.split("#")[0])}#${row.querySelector(".body").id}`, "", `All times in ${zone.name()}.`, ""];
    for (const part of row.querySelectorAll(".body :is(h3, p, dt, code, q, .moments li)")) {
      const text = part.textContent.trim();
      if (part.tagName === "DT") lines.push(`- ${text}: ${part.nextElementSibling.innerText.trim().replaceAll("\n", ", ")}`);
      else lines.push(FORMS[part.tagName](text));
    }
    return `${lines.join("\n")}\n`;
  };
  for (const button of document.querySelectorAll(".copy")) button.hidden = false;
  document.addEventListener("click", (event) => {
    const here = event.target.closest("a.here"), button = event.target.closest(".copy");
    const from = here ?? button;
    if (!from) return;
    copied(here ? lasting(here.href) : markdown(button.closest(".row"))).then(() => {
      announce(here ? "The address is copied." : "The incident is copied.");
      from.classList.add("copied");
      setTimeout(() => from.classList.remove("copied"), 1500);
    }, () => announce("The browser does not allow this page to copy."));
  });

  // A heading sorts its table with all of its parts: lengths of time by their length, numbers by their value, else by letters.
  const UNITS = { ms: 1, s: 1e3, min: 6e4, h: 36e5, d: 864e5 };
  const value = (text) => {
    const lengths = [...text.matchAll(/([\d.,]+) (ms|s|min|h|d)\b/g)];
    if (lengths.length) return lengths.reduce((sum, [, number, unit]) => sum + parseFloat(number) * UNITS[unit], 0);
    const number = /^[#\s]*-?[\d,]*\.?\d+/.exec(text.trim());
    return number && !text.includes(":") ? parseFloat(number[0].replace(/[#\s,]/g, "")) : text.trim().toLowerCase();
  };
  const partsFrom = (part) => part?.classList.contains("later") ? [part, ...partsFrom(part.nextElementSibling)] : [];
  const tablesOf = async (first) => {
    const others = partsFrom(first.nextElementSibling);
    first.classList.remove("brief");
    await Promise.all(others.map(unpack));
    return [first, ...others].map((part) => part.querySelector("table"));
  };
  const rowsOf = (table) => table.tBodies.length > 1 ? [...table.tBodies] : [...table.tBodies[0].rows];
  const sort = async (head) => {
    const column = head.cellIndex, tables = await tablesOf(head.closest(".scroll")), all = tables.map(rowsOf), rows = all.flat();
    const falls = head.getAttribute("aria-sort") === "ascending";
    const cell = (row) => value((row.rows?.[0] ?? row).cells[column]?.textContent ?? "");
    const keys = new Map(rows.map((row) => [row, cell(row)]));
    // What has no number comes last, whichever way the numbers run.
    const compare = (one, other) => typeof one !== typeof other ? (typeof one === "number" ? -1 : 1) : (one < other ? -1 : Number(one > other)) * (falls ? -1 : 1);
    rows.sort((one, other) => compare(keys.get(one), keys.get(other)));
    tables.forEach((table, i) => (rows[0].tagName === "TBODY" ? table : table.tBodies[0]).append(...rows.splice(0, all[i].length)));
    for (const each of head.parentElement.cells) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falls ? "descending" : "ascending");
  };
  for (const head of document.querySelectorAll(".scroll thead th")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(head));
    head.append(button);
  }

  // A table of more than a screen is searched: the rows that hold the words stay.
  const SEARCHED = 12;
  for (const first of document.querySelectorAll(".scroll")) {
    const table = first.querySelector("table");
    if (table.rows.length <= SEARCHED || table.classList.contains("rebalances")) continue;
    const box = document.createElement("input");
    Object.assign(box, { type: "search", className: "search", placeholder: "Search", autocomplete: "off", spellcheck: false });
    box.setAttribute("aria-label", `Search: ${first.getAttribute("aria-label").replace(/, part 1$/, "")}`);
    const search = async () => {
      const wanted = box.value.trim().toLowerCase(), tables = await tablesOf(first);
      for (const row of tables.flatMap(rowsOf)) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    };
    let waiting;
    box.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(search, 80); });
    first.before(box);
  }

  const filter = document.querySelector(".filter");
  if (filter) {
    filter.hidden = false;
    let rows;
    const read = () => [...document.querySelectorAll(".rebalances > tbody")].map((body) => ({
      body,
      words: body.rows[0].textContent.toLowerCase(),
      tone: body.className.slice(2),
      declared: "declared" in body.dataset,
    }));
    // Some hundred rows at a time, so that thousands stall no typing; what is typed meanwhile begins again.
    const AT_ONCE = 400;
    let turn = 0;
    const apply = async () => {
      const mine = ++turn;
      unfold(byId("rebalances"));
      await unpackAll();
      rows ??= read();
      const wanted = byId("filter-text").value.trim().toLowerCase();
      const tones = new Set([...document.querySelectorAll("input[name=tone]:checked")].map((box) => box.value));
      const declared = byId("filter-declared").checked;
      let shown = 0;
      for (const [i, row] of rows.entries()) {
        if (i % AT_ONCE === AT_ONCE - 1) await new Promise((next) => setTimeout(next));
        if (mine !== turn) return;
        const keep = row.words.includes(wanted) && tones.has(row.tone) && (declared || !row.declared);
        if (row.body.hidden === keep) row.body.hidden = !keep;
        shown += keep;
      }
      for (const chunk of document.querySelectorAll(".chunk")) chunk.hidden = !chunk.querySelector("tbody:not([hidden])");
      byId("filter-count").textContent = shown === rows.length ? "" : `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")}`;
    };
    let pending;
    filter.addEventListener("input", () => {
      clearTimeout(pending);
      pending = setTimeout(apply, 80);
    });
  }
  zone.start();
})();
