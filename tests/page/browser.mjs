/* What the checks of pages share: a headless browser, pages opened in it, and a line for each check.

   NODE_MODULES in the environment names where puppeteer-core and axe-core are, BROWSER which browser: chromium or firefox. */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";
const require = createRequire(import.meta.url);
const puppeteer = (await import(pathToFileURL(require.resolve(process.env.NODE_MODULES + "/puppeteer-core")).href)).default;
const axe = readFileSync(process.env.NODE_MODULES + "/axe-core/axe.min.js", "utf8");
export const isFirefox = process.env.BROWSER === "firefox";
const browser = await puppeteer.launch(
  isFirefox
    ? { browser: "firefox", executablePath: process.env.FIREFOX || "/usr/bin/firefox-esr", headless: true }
    : { executablePath: process.env.CHROMIUM || "/usr/bin/chromium", headless: true, args: ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"] },
);
let failed = 0, passed = 0;
export const ok = (good, name, more = "") => { failed += !good; passed += !!good; console.log(`${good ? "ok" : "NOT OK"} ${name}${more === "" ? "" : " # " + more}`); };
export const settle = page => page.evaluate(() => new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r))));
export const blank = () => browser.newPage();
/* A page of that size and theme, and what it logged as errors and asked for. */
export const open = async (file, width, height, scheme = "light", hash = "") => {
  const page = await browser.newPage(), seen = { errors: [], requests: [] };
  page.on("console", m => m.type() === "error" && seen.errors.push(m.text()));
  page.on("pageerror", e => seen.errors.push(String(e)));
  page.on("request", r => seen.requests.push(r.url()));
  page.on("dialog", d => { seen.errors.push("dialog " + d.message()); d.dismiss(); });
  if (!isFirefox) await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.setViewport({ width, height, deviceScaleFactor: 1 });
  await page.goto(pathToFileURL(file).href + hash, { waitUntil: "load" });
  if (isFirefox && scheme === "dark") await page.click("#theme"); // It cannot be told what the person prefers.
  await settle(page);
  return [page, seen];
};
/* What axe finds wrong. */
export const violations = async (page, options) => {
  await page.evaluate(axe);
  return (await page.evaluate(o => axe.run(document, o), options)).violations.map(v => `${v.id}: ${v.help}: ${v.nodes[0].html.slice(0, 90)}`);
};
export const finish = async () => {
  await browser.close();
  console.log(`page: ${passed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
};
