/* Opens a page of timeline() in a headless Chromium and checks what a person would: keys, words, speed, contrast of what the
   page says with what the tables said. Prints a line a check; the last one is "page: N passed, N failed".

   usage: node check.mjs page.html [tables.json [folder for pictures]]

   tables.json: {"events": rows of hw_journal, "lost": rows of hw_lost} of the run. NODE_PATH names where puppeteer-core and
   axe-core are. */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";
const require = createRequire(import.meta.url);
const load = async name => import(pathToFileURL(require.resolve(process.env.NODE_MODULES + "/" + name)).href);
const puppeteer = (await load("puppeteer-core")).default;
const axe = readFileSync(process.env.NODE_MODULES + "/axe-core/axe.min.js", "utf8");
const [file, tables, pictures] = process.argv.slice(2);
let failed = 0, passed = 0;
const ok = (good, name, more = "") => { failed += !good; passed += !!good; console.log(`${good ? "ok" : "NOT OK"} ${name}${more === "" ? "" : " # " + more}`); };
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", headless: true, args: ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"] });
const open = async (width, height, scheme = "light", hash = "") => {
  const page = await browser.newPage(), seen = { errors: [], requests: [] };
  page.on("console", m => m.type() === "error" && seen.errors.push(m.text()));
  page.on("pageerror", e => seen.errors.push(String(e)));
  page.on("request", r => seen.requests.push(r.url()));
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.setViewport({ width, height, deviceScaleFactor: 1 });
  await page.goto(pathToFileURL(file).href + hash, { waitUntil: "load" });
  await page.evaluate(() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r))));
  return [page, seen];
};
const bytes = readFileSync(file);
ok(bytes.every(b => b < 128 && b !== 0), "ASCII only, no NUL", bytes.length + " bytes");
const [page, seen] = await open(1200, 1180);
const n = await page.evaluate(() => highwater.events.length);
ok(!seen.errors.length, "no error, no CSP violation", seen.errors.join(" | "));
ok(seen.requests.length === 1, "one file, no request", seen.requests.slice(1).join(" "));
ok(await page.evaluate(() => { const c = document.getElementById("chart"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, s = new Set(); for (let i = 0; i < d.length; i += 4) s.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return s.size > 8 || !highwater.events.length; }), "the chart is not blank");
if (n) {
  const wrong = await page.evaluate(() => { const out = []; document.querySelectorAll("#part option").forEach((_, i) => { highwater.show(i); check(); }); if (!document.querySelector("#part option")) check(); highwater.show(0); return out;
    function check() { highwater.go(highwater.events.length - 1); const s = highwater.state(); for (const [, b, start, leo, hw, epochs] of highwater.final()) { const r = s.b[b]; const have = JSON.stringify([r.start, r.leo, r.hw, r.segs]), want = JSON.stringify([start, leo, hw, epochs.filter(g => g[1] < leo)]); if (have !== want) out.push(`broker ${b}: ${have}, is ${want}`); } } });
  ok(!wrong.length, "the replay ends with what hw_replicas and hw_epochs say", wrong.join("; "));
  const at = () => page.evaluate(() => highwater.current), say = () => page.$eval("#say", e => e.textContent);
  await page.keyboard.press("Home"); ok(await at() === 0, "Home");
  const first = await say();
  await page.keyboard.press("ArrowRight"); ok(await at() === Math.min(1, n - 1), "step forward"); ok(n < 2 || await say() !== first, "the sentence changes");
  await page.keyboard.press("ArrowLeft"); ok(await at() === 0 && await say() === first, "step back gives the same words");
  await page.keyboard.press("End"); ok(await at() === n - 1, "End");
  await page.keyboard.press("Home"); const keys = await page.evaluate(() => highwater.marks);
  for (const k of keys.slice(0, 12)) if (k) { await page.keyboard.down("Shift"); await page.keyboard.press("ArrowRight"); await page.keyboard.up("Shift"); if (await at() !== k) { ok(false, "key events, forward", await at()); break; } }
  ok(await page.evaluate(() => { const b = document.getElementById("list"), s = b.querySelector("[aria-selected=true]"); return !s || s.offsetTop >= b.scrollTop && s.offsetTop + s.offsetHeight <= b.scrollTop + b.clientHeight; }), "the list follows the step");
  ok(await page.evaluate(n => { const snap = () => JSON.stringify(highwater.state()); const a = []; const s = Math.max(1, Math.floor(n / 60)); for (let i = 0; i < n; i += s) { highwater.go(i); a.push(snap()); } let k = a.length; for (let i = (a.length - 1) * s; i >= 0; i -= s) { highwater.go(i); if (snap() !== a[--k]) return false; } return true; }, n), "stepping back gives the same states");
  await page.keyboard.press("t"); await page.keyboard.press("+"); await page.keyboard.press("0"); ok(!seen.errors.length, "axis and zoom keys"); await page.keyboard.press("t");
  ok(await page.$eval("#step", e => e.getAttribute("aria-valuetext").length > 10), "the slider speaks");
  ok(await page.$$eval("#list [role=option]", l => l.length > 0 && l.length < 60), "the list renders only what is in sight");
  // K6: the same words and tables, forward and back.
  ok(await page.evaluate(n => { const snap = () => ["say", "raw", "state", "logs", "where"].map(i => document.getElementById(i).textContent).join("|"), at = [], s = Math.max(1, Math.floor(n / 40)); for (let i = 0; i < n; i += s) { highwater.go(i); at.push(snap()); } for (let i = (at.length - 1) * s; i >= 0; i -= s) { highwater.go(i); if (snap() !== at.pop()) return false; } return true; }, n), "K6 stepping back gives the same words and tables");
  // A click on a message, as on any event, goes there and tells its fields.
  await page.keyboard.press("Home");
  const box = await (await page.$("#chart")).boundingBox();
  await page.mouse.click(box.x + box.width * .6, box.y + box.height / 2);
  ok(await page.evaluate(n => (n < 3 || highwater.current > 0) && document.getElementById("raw").textContent.includes(highwater.events[highwater.current].seq), n), "a click in the chart tells the fields of an event");
  const perf = await page.evaluate(n => { const run = (f, k) => { const t = []; for (let i = 0; i < k; i++) { const a = performance.now(); f(i); t.push(performance.now() - a); } t.sort((x, y) => x - y); return [t[k >> 1], t[Math.floor(k * .95)]].map(v => +v.toFixed(1)); };
    const nav = performance.getEntriesByType("navigation")[0]; document.getElementById("fit").click(); const fit = run(() => highwater.paint(), 40); const step = run(i => highwater.go((i * 7919) % n), 100); return { load: Math.round(nav.loadEventEnd), fit, step }; }, n);
  // K10 and K16, with room for a machine that others use.
  ok(await page.$eval("#chart", c => c.width <= innerWidth * devicePixelRatio && c.width * c.height < 4096 * 4096), "K10 the canvas is no larger than the window");
  ok(perf.load < 3000 && perf.fit[0] < 33 && perf.step[0] < 100 && bytes.length < 70000 + 100 * n, "K16 it is smooth, and not too large", JSON.stringify(perf));
  console.log(`time: ${n} events: load ${perf.load} ms; full picture median/p95 ${perf.fit.join("/")} ms; step ${perf.step.join("/")} ms`);
  const tree = JSON.stringify(await page.accessibility.snapshot());
  for (const name of ["Step back", "Step forward", "Events", "Next key event"]) ok(tree.includes(name), `accessible name: ${name}`);
}
// K3: a script that gets in does not run.
ok(await page.evaluate(() => new Promise(done => { document.addEventListener("securitypolicyviolation", e => done(e.violatedDirective.startsWith("script-src") && window.evil === undefined)); const s = document.createElement("script"); s.textContent = "window.evil = 1"; document.body.append(s); setTimeout(() => done(false), 2000); })), "K3 an injected script does not run");
// K4: rows are whole, indexes in range.
ok(await page.evaluate(() => { const D = JSON.parse(document.getElementById("data").textContent); return D.v === 1 && D.events.every(e => e.length >= 11 && e.length <= 13 && D.kinds[e[2]] !== undefined && D.texts[e[10]] !== undefined && e[3] >= -1 && e[3] < Math.max(1, D.parts.length)) && D.records.every(r => r[0] < D.parts.length && r.length === 5); }), "K4 the data are whole");
if (tables) {
  const t = JSON.parse(readFileSync(tables, "utf8"));
  const D = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent));
  // K12 and K13: nothing is left out, and nothing made up.
  ok(D.events.length === t.events, "K12 all events of the journal are in the page", `${D.events.length} of ${t.events}`);
  ok(D.lost.length + (D.lost_more || 0) === t.lost, "K13 losses are those of hw_lost", `${D.lost.length} of ${t.lost}`);
  if (t.lost) ok(await page.$eval("#lostcard", e => !e.hidden) && (await page.$$("#lost tr")).length > 0, "K13 the table of losses is there");
}
if (n) {
  // K7: no key works inside the search field; up and down choose a broker; a number finds an offset.
  await page.keyboard.press("Home"); await page.keyboard.press("/"); await page.keyboard.type("t0?");
  ok(await page.evaluate(() => highwater.current === 0 && document.activeElement.id === "find" && !document.getElementById("help").open), "K7 keys are the search field's while it has the focus");
  await page.$eval("#find", e => { e.value = "0"; e.dispatchEvent(new Event("input")); e.blur(); });
  ok(await page.$$eval("#list [role=option]", l => l.length > 0), "K7 an offset is found by its number");
  await page.$eval("#find", e => { e.value = ""; e.dispatchEvent(new Event("input")); });
  await page.keyboard.press("ArrowDown");
  ok(await page.$eval("#told", e => /^Broker \d+: /.test(e.textContent)) && (await page.$$("tr.chosen")).length === 1, "K7 down chooses a broker");
  await page.keyboard.press("End");
  if (await page.$("#logs .cell")) {
    await page.$eval("#logs .cell", e => e.dispatchEvent(new MouseEvent("click", { bubbles: true })));
    ok(await page.$eval("#told", e => /^Offset [\d\u202f]+, at the end of the run: ./.test(e.textContent)), "a click on an offset tells its why()");
  }
  await page.keyboard.press("?"); ok(await page.$eval("#help", e => e.open), "K7 help opens"); await page.keyboard.press("Escape");
  // K19: a link opens at its event, a silly one at the first.
  const seq = await page.evaluate(() => highwater.events[Math.floor(highwater.events.length / 2)].seq);
  for (const [hash, at] of [["#" + seq, Math.floor(n / 2)], ["#0", 0], ["#x", 0], ["#1e9", 0]]) { const [p] = await open(1200, 900, "light", hash); ok(await p.evaluate(() => highwater.current) === at, `K19 ${hash} opens at event ${at}`); await p.close(); }
}
// K8: no violation of accessibility in either theme, wide and narrow.
for (const [w, scheme] of [[1200, "light"], [390, "dark"]]) {
  const [p] = await open(w, 900, scheme);
  await p.setBypassCSP(true); await p.reload({ waitUntil: "load" }); await p.evaluate(axe);
  const bad = await p.evaluate(async () => (await axe.run(document, { runOnly: ["wcag2a", "wcag2aa"] })).violations.map(v => v.id + ": " + v.nodes[0].html.slice(0, 80)));
  ok(!bad.length, `K8 no axe violation at ${w} ${scheme}`, bad.join("; ")); await p.close();
}
// K9: text 4.5 to 1, graphics 3 to 1; neighbouring epochs and red differ for the colour-blind (Machado 2009, CIE76).
for (const scheme of ["light", "dark"]) {
  const [p] = await open(1200, 900, scheme);
  const css = await p.evaluate(() => { const c = getComputedStyle(document.documentElement), out = {}; for (const k of ["paper", "panel", "ink", "soft", "accent", "bad", "down", "msg", "e0", "e1", "e2", "e3"]) out[k] = c.getPropertyValue("--" + k).trim(); return out; });
  await p.close();
  const linear = hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16) / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
  const light = c => linear(c).reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], .05), ratio = (a, b) => Math.max(light(a), light(b)) / Math.min(light(a), light(b));
  const eyes = { protan: [.152286, 1.052583, -.204868, .114503, .786281, .099216, -.003882, -.048116, 1.051998], deutan: [.367322, .860646, -.227968, .280085, .672501, .047413, -.01182, .04294, .968881], tritan: [1.255528, -.076749, -.178779, -.078411, .930809, .147602, .004733, .691367, .3039] };
  const product = (m, v) => [0, 3, 6].map(r => m[r] * v[0] + m[r + 1] * v[1] + m[r + 2] * v[2]);
  const lab = rgb => { const [x, y, z] = product([.4124, .3576, .1805, .2126, .7152, .0722, .0193, .1192, .9505], rgb.map(v => Math.min(1, Math.max(0, v)))).map((v, i) => v / [.95047, 1, 1.08883][i]).map(v => v > .008856 ? Math.cbrt(v) : 7.787 * v + 16 / 116); return [116 * y - 16, 500 * (x - y), 200 * (y - z)]; };
  const apart = (m, a, b) => { const [p, q] = [a, b].map(c => lab(product(m, linear(css[c])))); return Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]); };
  const pale = ["ink", "soft", "accent", "bad", "e0", "e1", "e2", "e3", "down", "msg"].flatMap(c => ["paper", "panel"].map(on => [c, on, ratio(css[c], css[on]), /^(down|msg|e\d)$/.test(c) ? 3 : 4.5])).filter(([, , r, least]) => r < least);
  ok(!pale.length, `K9 contrast, ${scheme}`, pale.join(" "));
  const alike = Object.entries(eyes).flatMap(([eye, m]) => [["e0", "e1"], ["e1", "e2"], ["e2", "e3"], ["e3", "e0"], ["e0", "bad"], ["e1", "bad"], ["e2", "bad"], ["e3", "bad"]].map(([a, b]) => [eye, a, b, Math.round(apart(m, a, b))])).filter(r => r[3] < 13);
  ok(!alike.length, `K9 epochs and red can be told apart, ${scheme}`, alike.join(" "));
}
// K18: printed, it is light, without controls, and the chart keeps its shape.
{
  const [p] = await open(794, 1123, "dark");
  await p.emulateMediaType("print"); await p.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  ok(await p.evaluate(() => document.documentElement.dataset.theme === "light" && !document.getElementById("next").checkVisibility()), "K18 light on paper, no controls");
  ok(await p.$eval("#chart", c => Math.abs(c.clientWidth / c.clientHeight / (c.width / c.height) - 1) < .03), "K18 the chart keeps its shape");
  await p.close();
}
// K14: what a key or value holds does nothing.
ok(await page.evaluate(() => !document.querySelector("img, iframe, object, embed, link, form:not([method=dialog])") && document.scripts.length <= 3), "K14 no element came from the data");
const hash = process.env.AT ? "#" + process.env.AT : "";
// K15; the last is a zoom of 200 %.
for (const [w, h, scheme, zoom] of [[1200, 1180, "light"], [1200, 1180, "dark"], [390, 844, "light"], [390, 844, "dark"], [768, 1024, "light"], [2560, 1400, "light"], [600, 700, "light", 2]]) {
  const [p, s] = await open(w, h, scheme, hash);
  if (zoom) await p.setViewport({ width: w, height: h, deviceScaleFactor: zoom });
  ok(await p.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `no sideways scrolling at ${w} ${scheme}`, await p.evaluate(() => document.documentElement.scrollWidth));
  ok(!s.errors.length, `no error at ${w} ${scheme}`);
  if (pictures) await p.screenshot({ path: `${pictures}/${w}-${scheme}.png` });
  await p.close();
}
await browser.close();
console.log(`page: ${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
