/* Has Mermaid itself read what sequence_diagram() wrote: every line is a message or a note with the words that stand there.

   usage: node mermaid.mjs DIAGRAM.mmd...      NODE_MODULES as for browser.mjs */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { blank, ok, finish } from "./browser.mjs";
const page = await blank();
await page.evaluate(readFileSync(process.env.NODE_MODULES + "/mermaid/dist/mermaid.min.js", "utf8"));
for (const file of process.argv.slice(2)) {
  const text = readFileSync(file, "utf8").trimEnd(), lines = text.split("\n").slice(1).filter(l => !l.startsWith("    participant "));
  const read = await page.evaluate(async text => {
    try {
      mermaid.initialize({ startOnLoad: false, maxTextSize: 1e7 });
      const { db } = await mermaid.mermaidAPI.getDiagramFromText(text);
      return db.getMessages().map(m => m.message);
    } catch (e) {
      return [String(e)];
    }
  }, text);
  const wrong = lines.findIndex((l, i) => l.replace(/^[^:]*: /, "") !== read[i]?.replace(/\ufb02\u00b0\u00b0(\d+)\u00b6\u00df/g, "#$1;"));
  ok(wrong < 0 && read.length === lines.length, `Mermaid reads ${basename(file)}`, wrong < 0 ? `${lines.length} lines` : `${lines[wrong]}: ${read[wrong]}`);
}
await finish();
