"use strict";
(() => {
  const byId = (id) => document.getElementById(id);

  // An address leads into what is folded or filtered away: open it on the way.
  const reveal = () => {
    const target = location.hash.length > 1 && byId(location.hash.slice(1));
    if (!target) return;
    for (let around = target; around; around = around.parentElement) around.hidden = false;
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    const own = target.querySelector(":scope details");
    if (own && target.tagName === "TBODY") own.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  // Zoom keeps the middle of the picture; the first zoom goes where most of the night happened.
  const lanes = document.querySelector(".lanes");
  if (lanes) {
    let middle = Number(lanes.dataset.focus) / 100;
    const inset = () => lanes.querySelector(".axis").getBoundingClientRect().left - lanes.querySelector(".sheet").getBoundingClientRect().left;
    const width = () => lanes.scrollWidth - inset();
    lanes.addEventListener("scroll", () => {
      if (lanes.scrollWidth > lanes.clientWidth) middle = (lanes.scrollLeft + (lanes.clientWidth - inset()) / 2) / width();
    }, { passive: true });
    for (const choice of document.getElementsByName("zoom")) {
      choice.addEventListener("change", () => {
        lanes.scrollLeft = middle * width() - (lanes.clientWidth - inset()) / 2;
      });
    }
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
    const chunks = [...document.querySelectorAll(".chunk")];
    const apply = () => {
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
      for (const chunk of chunks) chunk.hidden = !chunk.querySelector("tbody:not([hidden])");
      byId("filter-count").textContent = shown === rows.length ? "" : `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")}`;
    };
    let pending;
    filter.addEventListener("input", () => {
      clearTimeout(pending);
      pending = setTimeout(apply, 80);
    });
  }
})();
