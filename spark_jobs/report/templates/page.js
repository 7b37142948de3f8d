"use strict";
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

  // An address leads into what is folded, filtered away or still waits: open it on the way.
  const reveal = async () => {
    const anchor = location.hash.slice(1);
    if (!/^[a-z0-9-]+$/.test(anchor)) return;
    const waited = !byId(anchor) && !anchor.startsWith("timeline-");
    if (waited) await unpackAll();
    const target = byId(anchor);
    if (!target) return;
    for (let around = target; around; around = around.parentElement) around.hidden = false;
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    const own = target.querySelector(":scope details");
    if (own && (target.tagName === "TBODY" || target.tagName === "TR" || target.tagName === "LI")) own.open = true;
    if (waited) location.replace(location.hash);
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  // What is copied is to be pasted into a chat. A frame in a sandbox has no clipboard of its own: there the old way works.
  const copied = (text) => navigator.clipboard ? navigator.clipboard.writeText(text).catch(() => copiedOldly(text)) : copiedOldly(text);
  const copiedOldly = (text) => {
    const box = document.createElement("textarea");
    box.value = text;
    document.body.append(box);
    box.select();
    const done = document.execCommand("copy");
    box.remove();
    return done ? Promise.resolve() : Promise.reject(new Error(text));
  };
  const announce = (words) => { byId("announced").textContent = words; };

  // An incident as text: headings, lists, facts, commands and quotations as Markdown has them.
  const FORMS = {
    H3: (text) => `\n### ${text}\n`, P: (text) => `${text}\n`, LI: (text) => `- ${text}`, CODE: (text) => `    ${text}`, Q: (text) => `> ${text.replaceAll("\n", "\n> ")}`,
  };
  const markdown = (row) => {
    const lines = [`## ${row.querySelector(".what b").textContent.trim()}`, "", `${location.href.split("#")[0]}#${row.querySelector(".body").id}`, ""];
    for (const part of row.querySelectorAll(".body :is(h3, p, dt, code, q, .moments li)")) {
      const text = part.textContent.trim();
      if (part.tagName === "DT") lines.push(`- ${text}: ${part.nextElementSibling.innerText.trim().replace(/\s*#$/, "").replaceAll("\n", ", ")}`);
      else lines.push(FORMS[part.tagName](text));
    }
    return `${lines.join("\n")}\n`;
  };
  for (const button of document.querySelectorAll(".copy")) button.hidden = false;
  document.addEventListener("click", (event) => {
    const here = event.target.closest("a.here"), button = event.target.closest(".copy");
    const from = here ?? button;
    if (!from) return;
    copied(here ? here.href : markdown(button.closest(".row"))).then(() => {
      announce(here ? "The address is copied." : "The incident is copied.");
      from.classList.add("copied");
      setTimeout(() => from.classList.remove("copied"), 1500);
    }, () => announce("The browser does not allow this page to copy."));
  });

  // A heading sorts its table, whole tables only: lengths of time by their length, numbers by their value, else by letters.
  const UNITS = { ms: 1, s: 1e3, min: 6e4, h: 36e5, d: 864e5 };
  const value = (text) => {
    const lengths = [...text.matchAll(/([\d.,]+) (ms|s|min|h|d)\b/g)];
    if (lengths.length) return lengths.reduce((sum, [, number, unit]) => sum + parseFloat(number) * UNITS[unit], 0);
    const number = /^[#\s]*-?[\d,]*\.?\d+/.exec(text.trim());
    return number && !text.includes(":") ? parseFloat(number[0].replace(/[#\s,]/g, "")) : text.trim().toLowerCase();
  };
  const sort = (head) => {
    const table = head.closest("table"), column = head.cellIndex;
    const bodies = [...table.tBodies], rows = bodies.length > 1 ? bodies : [...bodies[0].rows];
    const falls = head.getAttribute("aria-sort") === "ascending";
    const cell = (row) => value((row.rows?.[0] ?? row).cells[column]?.textContent ?? "");
    const keys = new Map(rows.map((row) => [row, cell(row)]));
    // What has no number comes last, whichever way the numbers run.
    const compare = (one, other) => typeof one !== typeof other ? (typeof one === "number" ? -1 : 1) : (one < other ? -1 : Number(one > other)) * (falls ? -1 : 1);
    rows.sort((one, other) => compare(keys.get(one), keys.get(other)));
    (bodies.length > 1 ? table : bodies[0]).append(...rows);
    for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falls ? "descending" : "ascending");
  };
  for (const head of document.querySelectorAll(".scroll:not(.many) thead th")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sort(head));
    head.append(button);
  }

  const filter = document.querySelector(".filter");
  if (filter) {
    filter.hidden = false;
    let rows;
    const read = () => [...document.querySelectorAll(".rebalances > tbody")].map((body) => ({
      body,
      words: body.rows[0].textContent.toLowerCase(),
      tone: body.className.slice(2),
      planned: "planned" in body.dataset,
    }));
    const apply = async () => {
      await unpackAll();
      rows ??= read();
      const wanted = byId("filter-text").value.trim().toLowerCase();
      const tones = new Set([...document.querySelectorAll("input[name=tone]:checked")].map((box) => box.value));
      const planned = byId("filter-planned").checked;
      let shown = 0;
      for (const row of rows) {
        const keep = row.words.includes(wanted) && tones.has(row.tone) && (planned || !row.planned);
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
})();
