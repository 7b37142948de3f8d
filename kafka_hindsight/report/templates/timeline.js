// The picture is drawn for whatever part of the window one looks at.
const drawTimeline = (lanes, state, keep) => {
  const STRIPS = { "broker tick": [20, 9], "broker tail": [9, 3], "broker bar": [5, 10], "partition bar": [7, 7], "partition tick": [16, 13] };
  const OTHER_STRIP = [9, 16];
  const STEPS = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 1800, 3600, 10800, 21600, 43200, 86400, 604800];
  const SHORTEST = 500, NEAR = 4, TICK_ROOM = 90;
  const begins = Number(lanes.dataset.begins), span = Math.max(1, Number(lanes.dataset.ends) - begins);
  const figure = lanes.closest(".timeline"), axis = lanes.querySelector(".axis"), backdrop = lanes.querySelector(".backdrop");
  const tip = lanes.querySelector(".tip"), view = document.getElementById("timeline-view");
  const iso = (ms) => new Date(begins + ms + zone.offset(begins + ms)).toISOString();

  const unpacked = (text) => (text ? text.split("\n") : []).map((line) => {
    const [shape, start, length, tone, anchor, short, says] = line.split("\t");
    return { shape, start: Number(start), end: Number(start) + Number(length), tone, anchor, short, says };
  });
  const tracks = [...lanes.querySelectorAll(".track")].map((svg) => ({
    svg, layer: svg.querySelector("g"), kind: svg.closest(".lane").classList[1], items: unpacked(svg.dataset.items),
  }));
  const plots = [...lanes.querySelectorAll(".plot")];
  const absences = unpacked(backdrop.dataset.items);

  const make = (name, attributes, text) => {
    const element = document.createElementNS(axis.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const clock = (ms, precise) => {
    const text = iso(ms), isOneDay = iso(0).slice(0, 10) === iso(span - 1).slice(0, 10);
    return (isOneDay ? "" : `${text.slice(5, 10)} `) + text.slice(11, precise ? 23 : 19);
  };
  const listed = (words) => words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;

  let from = 0, to = span, width = 1;
  const place = (ms) => (ms - from) / (to - from) * width;
  const instant = (x) => from + x / width * (to - from);

  // Things too near to be distinguished are one place, in which each colour has its share of the height.
  const clustered = (items) => {
    const clusters = [];
    let end = -Infinity;
    for (const item of items) {
      if (item.end < from || item.start > to) continue;
      if (clusters.length && place(item.start) <= end + NEAR) clusters.at(-1).push(item);
      else { clusters.push([item]); end = -Infinity; }
      end = Math.max(end, place(item.end));
    }
    return clusters;
  };
  const says = (run) => {
    if (run.length === 1) return zone.shown(run[0].says);
    const counts = new Map();
    for (const item of run) counts.set(item.short, (counts.get(item.short) ?? 0) + 1);
    const tally = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 5).map(([short, count]) => `${short} (${count})`);
    return `${clock(run[0].start)} to ${clock(run.at(-1).start)}: ${listed(tally)}`;
  };
  const drawn = (track) => {
    const marks = document.createDocumentFragment();
    for (const shape of ["tail", "bar", "tick"]) {
      const [y, height] = STRIPS[`${track.kind} ${shape}`] ?? OTHER_STRIP;
      for (const cluster of clustered(track.items.filter((item) => item.shape === shape))) {
        const runs = Map.groupBy(cluster, (item) => item.tone);
        let top = y;
        for (const run of runs.values()) {
          const left = Math.max(-9, place(run[0].start)), right = Math.min(width + 9, Math.max(...run.map((item) => place(item.end))));
          const share = height * run.length / cluster.length;
          const rect = make("rect", { class: `m t-${run[0].tone}`, x: left, width: Math.max(1, right - left), y: top, height: share, rx: 1 });
          const link = make("a", { "aria-label": says(run), "data-start": run[0].start, ...(run[0].anchor ? { href: `#${run[0].anchor}`, tabindex: -1 } : { role: "img" }) });
          link.append(rect);
          marks.append(link);
          top += share;
        }
      }
    }
    return marks;
  };
  const drawAxis = () => {
    const step = STEPS.find((seconds) => (to - from) / seconds / 1e3 <= Math.max(2, width / TICK_ROOM)) ?? STEPS.at(-1);
    const every = step * 1e3, midnight = -((begins + zone.offset(begins)) % 864e5);
    const texts = [], lines = [];
    for (let at = midnight + Math.ceil((from - midnight) / every) * every; at <= to; at += every) {
      const x = place(at), text = iso(at);
      const label = text.slice(11, 23) === "00:00:00.000" ? text.slice(5, 10) : text.slice(11, step < 1 ? 21 : step < 60 ? 19 : 16);
      lines.push(make("line", { x1: x, x2: x, y1: 0, y2: "100%" }));
      if (x < width - 40) texts.push(make("text", { x, dx: 4, y: 15 }, label));
    }
    axis.replaceChildren(...texts);
    const bands = absences.filter((item) => item.end >= from && item.start <= to).map((item) => {
      const left = Math.max(-9, place(item.start)), right = Math.min(width + 9, place(item.end));
      return make("rect", { class: `band t-${item.tone}`, x: left, width: Math.max(1, right - left), y: 24, height: "100%" });
    });
    backdrop.replaceChildren(...lines, ...bands);
  };
  const draw = () => {
    pending = 0;
    width = Math.max(1, axis.getBoundingClientRect().width);
    const focused = document.activeElement?.closest?.(".track a");
    const track = focused && tracks.find((each) => each.svg.contains(focused));
    drawAxis();
    for (const each of tracks) each.layer.replaceChildren(drawn(each));
    for (const plot of plots) plot.setAttribute("viewBox", `${from} 0 ${to - from} 100`);
    if (track) focus(nearest(track, Number(focused.dataset.start)));
    view.textContent = `${clock(from, to - from < 2e4)} to ${clock(to, to - from < 2e4)}`;
  };
  let pending = 0;
  const look = (start, end) => {
    const length = Math.min(span, Math.max(SHORTEST, end - start));
    from = Math.min(span - length, Math.max(0, (start + end - length) / 2));
    to = from + length;
    hush();
    keep(from === 0 && to === span ? { from: "", to: "" } : { from: Math.round(from), to: Math.round(to) });
    pending ||= requestAnimationFrame(draw);
  };
  const zoom = (factor, around = (from + to) / 2) => {
    const length = Math.min(span, Math.max(SHORTEST, (to - from) * factor)), kept = (around - from) / (to - from);
    look(around - kept * length, around + (1 - kept) * length);
  };
  const shift = (part) => {
    const length = to - from, start = Math.min(span - length, Math.max(0, from + part * length));
    look(start, start + length);
  };
  const middle = Number(lanes.dataset.focus) / 100 * span;
  const moves = {
    in: () => zoom(0.5), out: () => zoom(2), earlier: () => shift(-0.5), later: () => shift(0.5),
    whole: () => look(0, span), worst: () => look(middle - span / 40, middle + span / 40),
  };

  // What lies under the pointer, or has the focus, is described beside it.
  const tell = (link) => {
    const sheet = tip.parentElement.getBoundingClientRect(), at = link.getBoundingClientRect();
    tip.textContent = link.getAttribute("aria-label");
    tip.hidden = false;
    const middleOf = Math.min(sheet.right, Math.max(sheet.left, (at.left + at.right) / 2)) - sheet.left;
    tip.style.left = `${Math.max(4, Math.min(sheet.width - tip.offsetWidth - 4, middleOf - tip.offsetWidth / 2))}px`;
    tip.style.top = `${at.bottom - sheet.top + 6}px`;
  };
  const hush = () => { tip.hidden = true; };
  const markAt = (event) => event.target.closest?.(".track a");
  lanes.addEventListener("pointerover", (event) => { const link = markAt(event); if (link && !fingers.size) tell(link); else hush(); });
  lanes.addEventListener("pointerleave", hush);
  lanes.addEventListener("focusin", (event) => { const link = markAt(event); if (link) tell(link); });
  lanes.addEventListener("focusout", hush);

  // One finger moves the picture, two zoom it: whatever instant lies under a finger stays there.
  const fingers = new Map();
  let moved = false;
  const xOf = (event) => event.clientX - axis.getBoundingClientRect().left;
  const release = (event) => { fingers.delete(event.pointerId); for (const each of fingers.values()) each.at = instant(each.x); };
  lanes.addEventListener("pointerdown", (event) => {
    if (event.button || xOf(event) < 0) return;
    if (!fingers.size) moved = false;
    fingers.set(event.pointerId, { x: xOf(event), began: event.clientX, at: instant(xOf(event)) });
  });
  lanes.addEventListener("pointermove", (event) => {
    const finger = fingers.get(event.pointerId);
    if (!finger) return;
    if (!event.buttons) return release(event);
    finger.x = xOf(event);
    if (!moved && Math.abs(event.clientX - finger.began) < 5) return;
    if (!moved) { moved = true; lanes.setPointerCapture(event.pointerId); }
    const [one, other] = [...fingers.values()];
    const scale = other && Math.abs(one.x - other.x) > 8 ? Math.max(SHORTEST / width, Math.min(span / width, Math.abs((one.at - other.at) / (one.x - other.x)))) : (to - from) / width;
    const start = Math.min(span - scale * width, Math.max(0, one.at - one.x * scale));
    look(start, start + scale * width);
  });
  for (const end of ["pointerup", "pointercancel"]) lanes.addEventListener(end, release);
  lanes.addEventListener("click", (event) => { if (moved) { event.preventDefault(); moved = false; } }, true);
  lanes.addEventListener("dragstart", (event) => event.preventDefault());
  lanes.addEventListener("dblclick", (event) => { if (xOf(event) >= 0) zoom(0.4, instant(xOf(event))); });
  lanes.addEventListener("wheel", (event) => {
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (event.ctrlKey || event.metaKey) zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 150), instant(xOf(event)));
    else if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) shift(sideways / width);
    else return;
    event.preventDefault();
  }, { passive: false });

  // By keyboard: the picture is one stop; from there to its marks, and from mark to mark.
  const marksOf = (track) => [...track.layer.querySelectorAll("a[href]")];
  const nearest = (track, start) => marksOf(track).reduce((best, link) =>
    !best || Math.abs(link.dataset.start - start) < Math.abs(best.dataset.start - start) ? link : best, null);
  const focus = (link) => { if (link) link.focus({ preventScroll: false }); return Boolean(link); };
  const step = (link, key) => {
    const row = tracks.findIndex((track) => track.svg.contains(link)), down = key === "ArrowDown" ? 1 : -1;
    if (key === "ArrowLeft" || key === "ArrowRight") {
      const around = marksOf(tracks[row]).sort((a, b) => a.dataset.start - b.dataset.start);
      return focus(around[around.indexOf(link) + (key === "ArrowRight" ? 1 : -1)]);
    }
    for (let next = row + down; tracks[next]; next += down) if (focus(nearest(tracks[next], Number(link.dataset.start)))) return true;
    return down < 0 && focus(lanes);
  };
  lanes.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const link = markAt(event), arrow = event.key.startsWith("Arrow");
    const around = link ? Number(link.dataset.start) : (from + to) / 2;
    const act = link && arrow ? () => step(link, event.key) : {
      "+": () => zoom(0.5, around), "=": () => zoom(0.5, around), "-": () => zoom(2, around), 0: moves.whole,
      ArrowLeft: () => shift(-0.2), ArrowRight: () => shift(0.2), Home: () => shift(-1e6), End: () => shift(1e6),
      ArrowDown: () => tracks.some((track) => focus(marksOf(track)[0])), Escape: () => focus(lanes),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  for (const each of [figure.querySelector(".glass"), figure.querySelector(".keys")]) each.hidden = false;
  figure.querySelector(".glass").addEventListener("click", (event) => moves[event.target.dataset.move]?.());
  for (const track of tracks) track.svg.removeAttribute("data-items");
  const isShown = () => lanes.isConnected;
  addEventListener("zonechange", () => isShown() && draw());
  new ResizeObserver(() => { pending ||= requestAnimationFrame(draw); }).observe(lanes);
  draw();
  if (state.has("to")) look(Number(state.get("from")), Number(state.get("to")));

  // Paper is narrower than the screen and cannot be moved: it shows the whole window at its own width.
  let before;
  addEventListener("beforeprint", () => {
    if (!isShown()) return;
    before = [from, to];
    [from, to] = [0, span];
    document.documentElement.classList.add("printing");
    draw();
  });
  addEventListener("afterprint", () => {
    document.documentElement.classList.remove("printing");
    if (!isShown()) return;
    [from, to] = before ?? [0, span];
    draw();
  });
};
