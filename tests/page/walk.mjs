/* Compares the pages of runs with what the tables said, and looks at nothing else.

   usage: node walk.mjs FOLDER NAME...      of each: NAME.1.html, NAME.json and NAME.calls, as for check.mjs */
import { readFileSync } from "node:fs";
import { finish, ok, open } from "./browser.mjs";
import { checkTables } from "./tables.mjs";
const [folder, ...names] = process.argv.slice(2);
for (const name of names) {
  const [page, seen] = await open(`${folder}/${name}.1.html`, 1200, 1000), read = ext => readFileSync(`${folder}/${name}.${ext}`, "utf8").trim();
  console.log("--- " + name);
  await checkTables(page, JSON.parse(read("json")), read("calls").split("\n").map(line => JSON.parse(line)));
  ok(!seen.errors.length, "K1 no error", seen.errors.join(" "));
  await page.close();
}
await finish();
