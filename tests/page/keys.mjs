/* Each key and each use of the mouse, as the browser's own events, and exactly what it does. */
import { isFirefox, ok, settle } from "./browser.mjs";
const look = page => page.evaluate(() => {
  const h = highwater, v = h.view, box = document.activeElement, id = i => document.getElementById(i);
  return { cur: h.current, scale: v.scale, byTime: v.byTime, focus: box === document.body ? "" : box.id || box.tagName, help: id("help").open, find: id("find").value,
    play: id("play").getAttribute("aria-pressed") + " " + id("play").getAttribute("aria-label") + " " + id("say").getAttribute("aria-live"), chosen: [...id("state").children].findIndex(r => r.className === "chosen") };
});
/* "Shift+ArrowRight" */
const press = async (page, keys) => {
  const held = keys.split(/\+(?=.)/), key = held.pop();
  for (const k of held) await page.keyboard.down(k);
  await page.keyboard.press(key);
  for (const k of held.reverse()) await page.keyboard.up(k);
};
export const checkKeys = async (page, seen) => {
  const { n, marks, brokers, fit } = await page.evaluate(() => ({ n: highwater.events.length, marks: highwater.marks, brokers: document.querySelectorAll("#state tr").length, fit: (highwater.view.W - highwater.view.GUTTER - 12) / ((highwater.view.X[highwater.events.length - 1] || 0) + 1.5) }));
  const clamp = scale => Math.min(60, Math.max(fit, scale)), after = i => marks.find(m => m > i) ?? n - 1, before = i => marks.findLast(m => m < i) ?? 0, some = Math.floor(n / 2);
  const wrong = [], tried = new Set();
  let focus = "";
  /* From event `from`, with the focus where it is said, these keys change just this. */
  const expect = async (from, keys, change) => {
    await page.evaluate((i, f) => { document.activeElement.blur(); if (f) document.getElementById(f).focus(); highwater.go(i); }, from, focus);
    const was = await look(page);
    for (const k of [keys].flat()) { await press(page, k); tried.add(k); }
    const is = await look(page), want = { ...was, ...(typeof change === "function" ? change(was) : change) };
    for (const f in want) if (typeof want[f] === "number" ? Math.abs(is[f] - want[f]) > 1e-6 : want[f] !== undefined && is[f] !== want[f]) wrong.push(`${focus} ${from}: ${keys}: ${f} is ${is[f]}, not ${want[f]}`);
  };
  const done = name => { ok(!wrong.length, name, wrong.join("; ")); wrong.length = 0; };
  for (const i of [0, 1, some, n - 2, n - 1].filter(i => i >= 0 && i < n)) {
    await expect(i, "ArrowRight", { cur: Math.min(n - 1, i + 1) });
    await expect(i, "ArrowLeft", { cur: Math.max(0, i - 1) });
    await expect(i, "Shift+ArrowRight", { cur: Math.max(i, after(i)) });
    await expect(i, "Shift+ArrowLeft", { cur: before(i) });
    await expect(i, "Home", { cur: 0 });
    await expect(i, "End", { cur: n - 1 });
  }
  done("K7 steps, key events, first and last");
  for (let i = 0, k = 0; k < Math.min(40, marks.length); k++, i = after(i)) await expect(i, "Shift+ArrowRight", { cur: after(i) });
  done("K7 each key event is met in turn");
  for (const [key, f] of [["+", 1.6], ["=", 1.6], ["-", 1 / 1.6], ["0", 0]]) await expect(some, key, was => ({ scale: clamp(was.scale * f) }));
  await expect(some, "0", { scale: clamp(0) });
  for (const [key, byTime] of [["t", true], ["T", false]]) await expect(some, key, { byTime, scale: undefined });
  done("K7 zoom and axis");
  // Play steps once in 600 ms, tells no screen reader, and stops; on a button the space bar presses it.
  await expect(0, " ", { play: "true Pause off" });
  await page.waitForFunction(i => highwater.current === i, { timeout: 3000 }, Math.min(1, n - 1)).catch(() => wrong.push("play does not step"));
  if (n > 1) { await press(page, " "); const { play } = await look(page); if (play !== "false Play polite") wrong.push("pause: " + play); }
  else await page.waitForFunction(() => document.getElementById("play").getAttribute("aria-pressed") === "false");
  if (n > 2) { await expect(n - 1, " ", { cur: 0, play: "true Pause off" }); await press(page, " "); }
  focus = "next";
  if (n > 2) await expect(1, " ", { cur: 2 });
  done("K7 the space bar plays and pauses, and presses a button");
  focus = "";
  await expect(some, "/", { focus: "find" });
  focus = "find";
  await expect(some, ["t", "0", "?", "+", "ArrowLeft", "Home"], { find: "t0?+" });
  await expect(some, "Escape", { find: "", focus: "" });
  focus = "";
  await expect(some, "?", { help: true, focus: "BUTTON" });
  await press(page, "ArrowRight");
  const inHelp = await look(page);
  if (inHelp.cur !== some || !inHelp.help) wrong.push("a key works behind the help");
  await press(page, "Escape");
  if ((await look(page)).help) wrong.push("Escape does not close the help");
  for (const key of ["Control+ArrowRight", "Alt+ArrowRight", "Meta+ArrowRight", "Control+Home", "a", "Enter"]) await expect(some, key, {});
  focus = "step";
  await expect(some, "ArrowRight", { cur: Math.min(n - 1, some + 1) });
  await expect(some, "ArrowUp", { cur: Math.min(n - 1, some + 1) });
  if (await page.$eval("#part", e => !e.hidden)) { focus = "part"; await expect(some, "t", {}); }
  done("K7 fields, the help and the browser keep their keys");
  focus = "list";
  if (marks.length) {
    const move = (i, d) => { const at = d > 0 ? marks.findLastIndex(m => m <= i) : marks.findIndex(m => m >= i) < 0 ? marks.length : marks.findIndex(m => m >= i), to = marks[Math.max(0, Math.min(marks.length - 1, at + d))]; return { cur: (to - i) * d > 0 ? to : i }; };
    for (const i of [0, some, marks[0], marks[marks.length >> 1], n - 1]) for (const [key, d] of [["ArrowDown", 1], ["ArrowUp", -1], ["PageDown", 8], ["PageUp", -8]]) await expect(i, key, move(i, d));
    await page.evaluate(i => highwater.go(i), marks[0]);
    if (!(await page.evaluate(() => { const box = document.getElementById("list"), d = document.getElementById(box.getAttribute("aria-activedescendant")); return d && +d.dataset.i === highwater.current && d.getAttribute("aria-selected") === "true"; }))) wrong.push("the list does not name its event");
  }
  done("K7 the list's keys go through what it shows");
  focus = "";
  for (let k = 0; k <= brokers; k++) await expect(some, "ArrowDown", { chosen: brokers ? k % brokers : -1 });
  await expect(some, "ArrowUp", { chosen: brokers - 1 });
  if (brokers && !(await page.$eval("#told", e => /^Broker \d+: [a-z ]+, log end (not known|[\d\u202f]+), high watermark (not known|shown to nobody|[\d\u202f]+)$/.test(e.textContent)))) wrong.push("the broker is not told of");
  done("up and down choose a broker");
  // "/" finds an event by its number, and an offset; Enter goes through what was found.
  const hits = async text => { await press(page, "/"); for (const c of text) await press(page, c); return page.$$eval("#list [role=option]", l => l.map(d => +d.dataset.i)); };
  await page.evaluate(() => { document.activeElement.blur(); highwater.go(0); });
  const seq = await page.evaluate(i => highwater.events[i].seq, some), found = await hits("#" + seq);
  await press(page, "Enter");
  if (found.join() !== String(some) || (await look(page)).cur !== some) wrong.push(`#${seq} finds ${found}`);
  await press(page, "Escape");
  const want = await page.evaluate(() => { const o = highwater.events.findLast(e => e.kind === "produce")?.offset; return o === undefined ? null : { o, list: highwater.events.flatMap((e, i) => e.seq === o || (e.offset <= o && (o < e.end || o === e.hw)) ? [i] : []) }; });
  if (want) {
    await page.evaluate(() => highwater.go(0));
    const list = await hits(String(want.o));
    if (list.join() !== want.list.slice(0, list.length).join() || !list.length) wrong.push(`offset ${want.o} finds ${list}, not ${want.list}`);
    for (const k of [0, 1]) { await press(page, "Enter"); const next = want.list.filter(i => i > 0)[k] ?? want.list[0], { cur } = await look(page); if (want.list.length > 2 && cur !== next) wrong.push(`Enter ${k} goes to ${cur}, not ${next}`); }
    await press(page, "Escape");
  }
  done("/ finds an event and an offset");
  // The tab key: all can be reached, is seen, and has a ring.
  await page.evaluate(() => { scrollTo(0, 0); document.getElementById("theme").focus(); });
  const reached = new Set();
  for (let k = 0; k < 40; k++) {
    if (k) await press(page, "Tab");
    const at = await page.evaluate(() => { const e = document.activeElement; if (e === document.body) return null; const r = e.getBoundingClientRect(), s = getComputedStyle(e), over = document.elementFromPoint(r.left + r.width / 2, Math.min(innerHeight - 2, Math.max(1, r.top + Math.min(20, r.height / 2)))); return { name: e.id || e.getAttribute("aria-label"), ring: s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 3, seen: r.bottom > 0 && r.top < innerHeight && e.contains(over) }; });
    if (!at || reached.has(at.name)) break;
    reached.add(at.name);
    if (!at.ring || !at.seen) wrong.push(`${at.name}: ${at.ring ? "" : "no ring "}${at.seen ? "" : "not seen"}`);
  }
  for (const name of ["theme", "keys", "nmark", "play", "step", "axis", "fit", "logs", "find", "key", "list"]) if (!reached.has(name) && n > 1) wrong.push(name + " is not reached");
  done("K7 the tab key reaches all, with a ring");
  await page.evaluate(() => { document.activeElement.blur(); scrollTo(0, 0); });
  // The mouse: the nearest event; a drag pans; the wheel zooms with Ctrl, pans with Shift, else scrolls the page.
  const box = await (await page.$("#chart")).boundingBox(), view = () => page.evaluate(() => { const { left, scale, GUTTER, W, X } = highwater.view; return { left, scale, GUTTER, W, x: [...X].map(x => GUTTER + (x - left) * scale) }; });
  await press(page, "0");
  for (const k of [0, 1, 2]) await press(page, "+");
  let v = await view();
  for (const part of [.2, .5, .8]) {
    const x = Math.round(v.GUTTER + (v.W - v.GUTTER) * part), near = v.x.reduce((best, y, i) => (Math.abs(y - x) < Math.abs(v.x[best] - x) ? i : best), 0);
    await page.mouse.click(box.x + 1 + x, box.y + box.height / 2);
    const { cur } = await look(page);
    if (Math.abs(Math.abs(v.x[cur] - x) - Math.abs(v.x[near] - x)) > 1.5) wrong.push(`a click at ${x} goes to ${cur}, not ${near}`);
  }
  const { cur } = await look(page), y = box.y + box.height / 2, x = box.x + v.GUTTER + 300;
  v = await view();
  await page.mouse.move(x, y); await page.mouse.down(); await page.mouse.move(x - 60, y, { steps: 4 }); await page.mouse.up();
  const panned = (await view()).left, widest = Math.max(0, v.left + (v.x[n - 1] - v.GUTTER) / v.scale - v.left + v.left + 1.5 - (v.W - v.GUTTER - 12) / v.scale);
  if (Math.abs(panned - Math.min(v.left + 60 / v.scale, Math.max(v.left, widest))) > .2 || (await look(page)).cur !== cur) wrong.push(`a drag pans from ${v.left} to ${panned}, at most ${widest}`);
  await page.mouse.move(x, y);
  const wheel = async (key, deltaY) => { const was = await view(); if (key) await page.keyboard.down(key); await page.mouse.wheel({ deltaY }); if (key) await page.keyboard.up(key); await settle(page); await settle(page); const is = await view(); return [was, is]; };
  let [was, is] = await wheel("Control", -100);
  if (Math.abs(is.scale - Math.min(60, Math.max(fit, was.scale * 1.2))) > 1e-6) wrong.push(`Ctrl+wheel: ${was.scale} to ${is.scale}`);
  [was, is] = await wheel("Shift", -40);
  if (is.scale !== was.scale || (was.left > 0 && is.left >= was.left)) wrong.push(`Shift+wheel: ${was.left} to ${is.left}`);
  const scrolled = await page.evaluate(() => scrollY);
  [was, is] = await wheel("", 100);
  if (is.scale !== was.scale || is.left !== was.left) wrong.push("the wheel moves the chart");
  if (n > 2) await page.waitForFunction(s => scrollY > s || document.documentElement.scrollHeight <= innerHeight, { timeout: 3000 }, scrolled).catch(() => wrong.push("the wheel does not scroll"));
  await page.evaluate(() => scrollTo(0, 0));
  done("the mouse: nearest event, drag, wheel");
  // Two fingers pinch.
  if (!isFirefox) {
    const cdp = await page.createCDPSession(), touch = (type, ...xs) => cdp.send("Input.dispatchTouchEvent", { type, touchPoints: xs.map((dx, id) => ({ x: x + dx, y, id })) });
    was = (await view()).scale;
    await touch("touchStart", -20, 20); await touch("touchMove", -40, 40); await touch("touchMove", -60, 60); await touch("touchEnd");
    is = (await view()).scale;
    ok(Math.abs(is - Math.min(60, was * 3)) < .5 * is, "two fingers zoom", `${was.toFixed(2)} to ${is.toFixed(2)}`);
  }
  await press(page, "0");
  ok(!seen.errors.length, `no error after ${tried.size} keys`, seen.errors.join(" | "));
};
