// A paged table draws its first few rows, then a page at a time, a smaller one on a phone. What it shows is part of the address, so that a link leads to it; in a view
// of several the second one has `q2`.
const drawPagedTable = (table, state, keep, which) => {
  const ROWS = matchMedia("(max-width: 46rem)").matches ? 25 : 100;
  const rows = JSON.parse(table.dataset.rows).map(([tone, cells]) => ({
    tone, cells, words: cells.map((cell) => Array.isArray(cell) ? cell[0] : cell).join(" ").toLowerCase(),
  }));
  const body = table.querySelector("tbody"), box = table.querySelector("input[type=search]"), count = table.querySelector("output");
  const headings = [...table.querySelectorAll("th")].map((head) => head.textContent);
  const tones = [...table.querySelectorAll("input[type=checkbox]")], steps = [...table.querySelectorAll("[data-step]")];
  // A few rows need neither a search nor a second page, and a view begins with as many.
  const FEW = 12;
  table.querySelector(".filter").hidden = rows.length <= FEW;
  for (const step of steps) step.hidden = rows.length <= FEW;
  let first = 0, size = state.get(`row${which}`) ? ROWS : FEW;
  box.value = state.get(`q${which}`) ?? "";
  const hidden = (state.get(`without${which}`) ?? "").split(".");
  for (const tone of tones) tone.checked = !hidden.includes(tone.value);
  first = Math.max(0, Number(state.get(`row${which}`) ?? 0) || 0);
  const cellOf = (cell, i) => {
    const [text, address] = Array.isArray(cell) ? cell : [cell], td = document.createElement("td");
    if (i) td.dataset.of = headings[i];
    if (address) {
      const link = document.createElement("a");
      Object.assign(link, { href: `#${address}`, textContent: text });
      td.append(link);
    } else td.textContent = text;
    return td;
  };
  const draw = () => {
    const wanted = box.value.trim().toLowerCase(), shown = new Set(tones.filter((tone) => tone.checked).map((tone) => tone.value));
    const matches = rows.filter((row) => row.words.includes(wanted) && (!tones.length || shown.has(row.tone)));
    if (first >= matches.length) first = 0;
    body.replaceChildren(...matches.slice(first, first + size).map(({ tone, cells }) => {
      const row = document.createElement("tr");
      row.className = `t-${tone}`;
      row.append(...cells.map(cellOf));
      return row;
    }));
    zone.apply(body);
    const last = Math.min(first + size, matches.length), text = (number) => number.toLocaleString("en");
    const share = matches.length === rows.length ? "" : ` (${text(rows.length)} in all)`;
    count.textContent = matches.length ? `${text(first + 1)} to ${text(last)} of ${text(matches.length)}${share}` : `None of ${text(rows.length)}`;
    steps[0].disabled = first === 0;
    steps[1].disabled = last === matches.length;
    const without = tones.filter((tone) => !tone.checked).map((tone) => tone.value).join(".");
    keep({ [`q${which}`]: box.value.trim(), [`without${which}`]: without, [`row${which}`]: first || "" });
  };
  let waiting;
  table.addEventListener("input", () => { first = 0; clearTimeout(waiting); waiting = setTimeout(draw, 80); });
  for (const step of steps) step.addEventListener("click", () => { size < ROWS ? size = ROWS : first = Math.max(0, first + ROWS * Number(step.dataset.step)); draw(); });
  draw();
};
