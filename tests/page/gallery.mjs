/* Opens the pages of `make gallery` in a headless Chromium, wide, narrow, light and dark, and checks what a person would. Prints
   what is wrong, and at the end "page: N passed, N failed": a check a page.

   usage: node gallery.mjs FOLDER PICTURE.png      NODE_MODULES as for check.mjs */
import { readdirSync, existsSync } from "node:fs";
import { ok, open, violations, finish } from "./browser.mjs";
const [folder, picture] = process.argv.slice(2);
for (const name of readdirSync(folder).filter(n => n.endsWith(".html") && !n.endsWith(".timeline.html"))) {
  const wrong = [];
  for (const [width, scheme] of [[1200, "light"], [390, "dark"]]) {
    const [page, seen] = await open(folder + "/" + name, width, 1000, scheme);
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
    wrong.push(...(await violations(page, { iframes: false })), ...seen.errors, ...seen.requests.filter(url => !url.startsWith("file:")).map(url => "asks for " + url));
    await page.close();
  }
  ok(!wrong.length, name, [...new Set(wrong)].join(" | "));
}
await finish();
