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
  const perf = await page.evaluate(n => { const run = (f, k) => { const t = []; for (let i = 0; i < k; i++) { const a = performance.now(); f(i); t.push(performance.now() - a); } t.sort((x, y) => x - y); return [t[k >> 1], t[Math.floor(k * .95)]].map(v => +v.toFixed(1)); };
    const nav = performance.getEntriesByType("navigation")[0]; document.getElementById("fit").click(); const fit = run(() => highwater.paint(), 40); const step = run(i => highwater.go((i * 7919) % n), 100); return { load: Math.round(nav.loadEventEnd), fit, step }; }, n);
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
// K14: what a key or value holds does nothing.
ok(await page.evaluate(() => !document.querySelector("img, iframe, object, embed, link, form:not([method=dialog])") && document.scripts.length <= 3), "K14 no element came from the data");
const hash = process.env.AT ? "#" + process.env.AT : "";
for (const [w, h, scheme] of [[1200, 1180, "light"], [1200, 1180, "dark"], [390, 844, "light"], [390, 844, "dark"], [768, 1024, "light"], [2560, 1400, "light"]]) {
  const [p, s] = await open(w, h, scheme, hash);
  ok(await p.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `no sideways scrolling at ${w} ${scheme}`, await p.evaluate(() => document.documentElement.scrollWidth));
  ok(!s.errors.length, `no error at ${w} ${scheme}`);
  if (pictures) await p.screenshot({ path: `${pictures}/${w}-${scheme}.png` });
  await p.close();
}
await browser.close();
console.log(`page: ${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
