/* Opens a page of timeline() in a headless browser and checks what a person would: keys, words, speed, contrast, and what the
   page says with what the tables said. Prints a line a check; the last one is "page: N passed, N failed".

   usage: node check.mjs page.html [tables.json calls.jsonl [folder for pictures]]      browser.mjs says which browser */
import { readFileSync } from "node:fs";
import { isFirefox, ok, open as openFile, violations, finish } from "./browser.mjs";
import { checkKeys } from "./keys.mjs";
import { checkTables } from "./tables.mjs";
const [file, tables, calls, pictures] = process.argv.slice(2);
const open = (...how) => openFile(file, ...how);
const bytes = readFileSync(file);
ok(bytes.every(b => b < 128 && b !== 0), "K1 ASCII only, no NUL", bytes.length + " bytes");
const [page, seen] = await open(1200, 1180);
const n = await page.evaluate(() => highwater.events.length);
ok(!seen.errors.length, "K1 no error, no CSP violation", seen.errors.join(" | "));
if (!isFirefox) ok(seen.requests.length === 1, "K1 one file, no request", seen.requests.slice(1).join(" "));
// K10: the canvas has a picture, and is no larger than the window.
ok(await page.$eval("#chart", c => {
  const d = new Uint32Array(c.getContext("2d").getImageData(0, 0, c.width, c.height).data.buffer);
  return (new Set(d).size > 8 || !highwater.events.length) && c.width <= innerWidth * devicePixelRatio && c.width * c.height < 4096 * 4096;
}), "K10 the chart is not blank, and no larger than the window");
if (n) {
  // K6: the same state, words and tables, forward and back.
  ok(await page.evaluate(n => {
    const snap = () => JSON.stringify(highwater.state()) + ["say", "raw", "state", "logs", "where"].map(i => document.getElementById(i).textContent).join("|"), at = [], s = Math.max(1, Math.floor(n / 150));
    for (let i = 0; i < n; i += s) { highwater.go(i); at.push(snap()); }
    const words = new Set(at).size;
    for (let i = (at.length - 1) * s; i >= 0; i -= s) { highwater.go(i); if (snap() !== at.pop()) return false; }
    return words > Math.min(n, 150) / 2;
  }, n), "K6 stepping back gives the same states, words and tables");
  ok(await page.$eval("#step", e => /^event \d+, [\d.\u202f]+ m?s: .{5}/.test(e.getAttribute("aria-valuetext"))), "K8 the slider speaks");
  ok(await page.$$eval("#list [role=option]", l => l.length < 60 && l.every(d => d.hasAttribute("aria-setsize") && d.hasAttribute("aria-posinset"))), "K8 the list says its size, and has only what is in sight");
  ok(await page.evaluate(() => { const b = document.getElementById("list"), s = b.querySelector("[aria-selected=true]"); return !s || s.offsetTop >= b.scrollTop && s.offsetTop + s.offsetHeight <= b.scrollTop + b.clientHeight; }), "the list follows the step");
  // K16. How long it takes is told, and is no test: others use the machine too.
  const perf = await page.evaluate(n => {
    const run = (f, k) => { const t = []; for (let i = 0; i < k; i++) { const a = performance.now(); f(i); t.push(performance.now() - a); } t.sort((x, y) => x - y); return [t[k >> 1], t[Math.floor(k * .95)]].map(v => +v.toFixed(1)); };
    document.getElementById("fit").click();
    return { load: Math.round(performance.getEntriesByType("navigation")[0].loadEventEnd), fit: run(() => highwater.paint(), 40), step: run(i => highwater.go((i * 7919) % n), 100) };
  }, n);
  ok(bytes.length <= 500 * 1024, "K16 it is not too large", `${bytes.length} bytes`);
  console.log(`time: ${n} events: load ${perf.load} ms; full picture median/p95 ${perf.fit.join("/")} ms; step ${perf.step.join("/")} ms`);
}
// K8: whatever can be used has a name in the tree that screen readers get.
if (!isFirefox) {
  const used = [], walk = node => { if (/^(button|slider|searchbox|combobox|listbox|option|image|img|table|heading)$/.test(node.role)) used.push(node); (node.children ?? []).forEach(walk); };
  walk(await page.accessibility.snapshot({ interestingOnly: false }));
  const names = used.filter(u => u.name).map(u => u.name), bare = used.filter(u => !u.name && !/^(table|option)$/.test(u.role)).map(u => u.role);
  ok(!bare.length && ["Step back", "Step forward", "Previous key event", "Next key event", "Play", "Event", "Find in events", "Zoom in", "Zoom out"].every(name => names.includes(name)), "K8 accessible names", bare.join(" "));
}
// K14: what a key or value holds does nothing.
ok(await page.evaluate(() => {
  highwater.go(highwater.events.length - 1);
  const text = ["logs", "list", "raw", "why"].map(id => document.getElementById(id).textContent).join();
  return !document.querySelector("img, iframe, object, embed, link, form:not([method=dialog])") && document.scripts.length === 2 && !/[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2028\u2029]/.test(text);
}) && !seen.errors.length, "K14 no element came from the data, and no character that acts", seen.errors.join(" "));
// K3: a script that gets in does not run.
ok(await page.evaluate(() => new Promise(done => {
  document.addEventListener("securitypolicyviolation", e => done(e.violatedDirective.startsWith("script-src") && window.evil === undefined));
  const s = document.createElement("script");
  s.textContent = "window.evil = 1";
  document.body.append(s);
  setTimeout(() => done(false), 2000);
})), "K3 an injected script does not run");
// K4: rows are whole, indexes in range.
ok(await page.evaluate(() => {
  const D = JSON.parse(document.getElementById("data").textContent);
  return D.v === 1 && D.events.every(e => e.length >= 11 && e.length <= 13 && D.kinds[e[2]] !== undefined && D.texts[e[10]] !== undefined && e[3] >= -1 && e[3] < Math.max(1, D.parts.length)) && D.records.every(r => r[0] < D.parts.length && r.length === 5);
}), "K4 the data are whole");
if (tables) await checkTables(page, JSON.parse(readFileSync(tables, "utf8")), readFileSync(calls, "utf8").trim().split("\n").map(line => JSON.parse(line)));
if (n) {
  const [p, errors] = await open(1200, 1180);
  await checkKeys(p, errors);
  await p.close();
  await page.evaluate(n => highwater.go(n - 1), n);
  if (await page.$("#logs .cell")) {
    await page.$eval("#logs .cell", e => e.dispatchEvent(new MouseEvent("click", { bubbles: true })));
    ok(await page.evaluate(() => {
      const [, offset, text] = /^Offset ([\d\u202f]+), at the end of the run: (.*)/s.exec(document.getElementById("told").textContent), why = document.getElementById("why" + offset.replace(/\u202f/g, ""));
      return why ? why.nextSibling.textContent === text : text === "the page does not have its why()";
    }), "a click on an offset tells its why()");
  }
  // K19: a link opens at its event, a silly one at the first; the link follows the step.
  const seq = await page.evaluate(() => highwater.events[Math.floor(highwater.events.length / 2)].seq);
  for (const [hash, at] of [["#" + seq, Math.floor(n / 2)], ["#0", 0], ["#x", 0], ["#1e9", 0]]) {
    const [p] = await open(1200, 900, "light", hash);
    ok(await p.evaluate(() => highwater.current) === at, `K19 ${hash} opens at event ${at}`);
    await p.waitForFunction(() => location.hash === "#" + highwater.events[highwater.current].seq, { timeout: 2000 }).catch(() => ok(false, "K19 the link follows the step"));
    await p.close();
  }
}
// K8: no violation of accessibility in either theme, wide and narrow.
for (const [w, scheme] of [[1200, "light"], [390, "dark"]]) {
  const [p] = await open(w, 900, scheme);
  if (!isFirefox) { await p.setBypassCSP(true); await p.reload({ waitUntil: "load" }); }
  const bad = await violations(p, { runOnly: ["wcag2a", "wcag2aa"] });
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
  const blend = (c, on, a) => "#" + [1, 3, 5].map(i => Math.round(parseInt(c.slice(i, i + 2), 16) * a + parseInt(on.slice(i, i + 2), 16) * (1 - a)).toString(16).padStart(2, "0")).join("");
  // Numbers stand on full colours in that of the paper, on pale ones in that of the ink.
  const pale = ["ink", "soft", "accent", "bad", "e0", "e1", "e2", "e3", "down", "msg"].flatMap(c => ["paper", "panel"].map(on => [c, on, ratio(css[c], css[on]), /^(down|msg|e\d)$/.test(c) && on === "panel" || c === "msg" ? 3 : 4.5])).concat(["e0", "e1", "e2", "e3", "down"].flatMap(c => ["paper", "panel"].flatMap(on => [.2, .36].map(a => ["ink", `${c} ${a} on ${on}`, ratio(css.ink, blend(css[c], css[on], a)), 4.5]))))
    .filter(([, , r, least]) => r < least);
  ok(!pale.length, `K9 contrast, ${scheme}`, pale.join(" "));
  const alike = Object.entries(eyes).flatMap(([eye, m]) => [["e0", "e1"], ["e1", "e2"], ["e2", "e3"], ["e3", "e0"], ["e0", "bad"], ["e1", "bad"], ["e2", "bad"], ["e3", "bad"], ...["e0", "e1", "e2", "e3", "bad"].map(c => [c, "down"])].map(([a, b]) => [eye, a, b, Math.round(apart(m, a, b))])).filter(r => r[3] < 13);
  if (n === 0) console.log(`${scheme}: least contrast of a number on its cell ${Math.min(...["e0", "e1", "e2", "e3", "down"].map(c => ratio(css.paper, css[c]))).toFixed(2)}`);
  ok(!alike.length, `K9 epochs and red can be told apart, ${scheme}`, alike.join(" "));
}
// K18: printed, it is light, without controls, and the chart keeps its shape.
if (!isFirefox) {
  const [p] = await open(794, 1123, "dark");
  await p.emulateMediaType("print"); await p.evaluate(() => window.dispatchEvent(new Event("beforeprint")));
  ok(await p.evaluate(() => document.documentElement.dataset.theme === "light" && !document.getElementById("next").checkVisibility()), "K18 light on paper, no controls");
  ok(await p.$eval("#chart", c => Math.abs(c.clientWidth / c.clientHeight / (c.width / c.height) - 1) < .03), "K18 the chart keeps its shape");
  ok(await p.$$eval("#list [role=option]", l => l.every((d, i) => !i || Math.abs(d.getBoundingClientRect().top - l[i - 1].getBoundingClientRect().bottom) < 2)), "K18 the list has no holes");
  if (pictures) await p.pdf({ path: pictures + "/print.pdf", format: "A4" });
  await p.close();
}
const hash = process.env.AT ? "#" + process.env.AT : "";
// K15; the last is a zoom of 200 %.
for (const [w, h, scheme, zoom] of [[1200, 1180, "light"], [1200, 1180, "dark"], [390, 844, "light"], [390, 844, "dark"], [768, 1024, "light"], [2560, 1400, "light"], [600, 700, "light", 2]]) {
  const [p, s] = await open(w, h, scheme, hash);
  if (zoom) await p.setViewport({ width: w, height: h, deviceScaleFactor: zoom });
  const cut = await p.evaluate(() => [
    ...[...document.querySelectorAll("button, input, select, #say, #where, h1")].filter(e => e.checkVisibility() && (e.getBoundingClientRect().left < 0 || e.getBoundingClientRect().right > innerWidth || (e.scrollWidth > e.clientWidth + 1 && e.clientWidth))).map(e => e.id),
    ...[...document.querySelectorAll(".scroll table")].filter(e => e.offsetWidth > e.parentNode.clientWidth).map(e => e.parentNode.getAttribute("aria-label")),
    ...(document.documentElement.scrollWidth > innerWidth ? ["the page"] : []),
  ]);
  ok(!cut.length && !s.errors.length, `K15 nothing is cut at ${w} ${scheme}`, cut.concat(s.errors).join(" "));
  if (pictures) await p.screenshot({ path: `${pictures}/${w}-${scheme}.png` });
  await p.close();
}
await finish();
