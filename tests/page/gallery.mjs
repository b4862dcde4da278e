/* Opens the pages of `make gallery` in a headless Chromium, wide, narrow, light and dark, and checks what a person would. Prints
   what is wrong, and at the end "page: N passed, N failed": a check a page.

   usage: node gallery.mjs FOLDER PICTURE.png      NODE_MODULES as for check.mjs */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { readFileSync, readdirSync, existsSync } from "node:fs";
const require = createRequire(import.meta.url);
const load = async name => import(pathToFileURL(require.resolve(process.env.NODE_MODULES + "/" + name)).href);
const puppeteer = (await load("puppeteer-core")).default;
const axe = readFileSync(process.env.NODE_MODULES + "/axe-core/axe.min.js", "utf8");
const [folder, picture] = process.argv.slice(2);
const browser = await puppeteer.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", headless: true, args: ["--no-sandbox", "--disable-gpu"] });
let failed = 0, passed = 0;
for (const name of readdirSync(folder).filter(n => n.endsWith(".html") && !n.endsWith(".timeline.html"))) {
  const wrong = [];
  for (const [width, scheme] of [[1200, "light"], [390, "dark"]]) {
    const page = await browser.newPage();
    page.on("console", m => m.type() === "error" && wrong.push(m.text()));
    page.on("pageerror", e => wrong.push(String(e)));
    page.on("request", r => r.url().startsWith("file:") || wrong.push("asks for " + r.url()));
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
    await page.setViewport({ width, height: 1000, deviceScaleFactor: 1 });
    await page.goto(pathToFileURL(folder + "/" + name).href, { waitUntil: "load" });
    if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) wrong.push(`wider than ${width}`);
    if (!(await page.$eval("h1", e => e.textContent.trim().length > 9))) wrong.push("no question");
    if (name !== "index.html" && !(await page.$("pre.sql") && await page.$("pre.out"))) wrong.push("no SQL, or no output");
    for (const href of await page.$$eval("a", l => l.map(a => a.getAttribute("href")))) if (!existsSync(folder + "/" + href)) wrong.push("no " + href);
    if (await page.$eval("iframe", e => { e.scrollIntoView(); return true; }).catch(() => false)) {
      const drawn = await page.frames()[1].evaluate(async () => {
        await new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)));
        const c = document.getElementById("chart"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
        return highwater.events.length > 0 && new Set(new Uint32Array(d.buffer)).size > 8;
      });
      if (!drawn) wrong.push("an empty timeline");
      if (name.startsWith("07") && width === 1200) await page.screenshot({ path: picture });
    }
    await page.evaluate(axe);
    const broken = await page.evaluate(() => axe.run({ iframes: false }));
    for (const v of broken.violations) wrong.push(`${v.id}: ${v.help}: ${v.nodes[0].html.slice(0, 90)}`);
    await page.close();
  }
  failed += wrong.length > 0, passed += wrong.length === 0;
  if (wrong.length) console.log(`NOT OK ${name} # ${[...new Set(wrong)].join(" | ")}`);
}
await browser.close();
console.log(`page: ${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
