/* What the page says against what the tables said: at each event, after each call of the script, and at the end.

   now: {"journal": [[topic, partition, is it a key event, the row of hw_journal]], "why": [[topic, partition, offset, why()]], "lost": rows of hw_lost by topic and partition};
   calls: what probe.sql said, a line a call. */
import { ok } from "./browser.mjs";
/* Text as T4 has it shown: what would act, by its picture or its number. */
const harmless = text => text.replace(/[\0-\x1f]/g, c => String.fromCharCode(0x2400 + c.charCodeAt(0))).replace(/\x7f/g, "\u2421").replace(/[\x80-\x9f\xad]|(?=\P{ASCII})[\p{Cf}\p{Zl}\p{Zp}]/gu, c => `[U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);
export const checkTables = async (page, now, calls) => {
  const D = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent)), { parts } = D;
  ok(D.events.length === now.journal.length, "K12 all events of the journal are in the page", `${D.events.length} of ${now.journal.length}`);
  ok(D.lost.length + (D.lost_more || 0) === now.lost.length, "K13 losses are those of hw_lost", `${D.lost.length} of ${now.lost.length}`);
  const whys = new Map((D.why ?? []).map(([part, offset, text]) => [parts[part].slice(0, 2).join() + offset, text])), other = now.why.filter(([t, p, o, text]) => whys.get([t, p].join() + o) !== text);
  ok(!other.length, `what became of ${now.why.length} offsets is what why() says`, other.slice(0, 3).join(" | "));
  let moments = 0, rows = 0;
  const wrong = { list: [], row: [], moment: [], end: [], lost: [] };
  for (const [which, [topic, partition]] of parts.entries()) {
    const of = ([t, p]) => t === topic && p === partition, mine = now.journal.filter(([t, p, , r]) => t === null || of([t, p]) || (t === topic && r.event === "topic"));
    await page.evaluate(i => highwater.show(i), which);
    // K12: with "Key events" off all are in the list, in order; else those that P4 names.
    for (const [key, want] of [[true, mine.filter(j => j[2])], [false, mine]]) {
      const have = await page.evaluate(async key => {
        const b = document.getElementById("key"), box = document.getElementById("list"), seen = new Map();
        if ((b.getAttribute("aria-pressed") === "true") !== key) b.click();
        for (box.scrollTop = 0; ; box.scrollTop += box.clientHeight) {
          box.dispatchEvent(new Event("scroll"));
          box.querySelectorAll("[role=option]").forEach(d => seen.set(+d.getAttribute("aria-posinset"), highwater.events[d.dataset.i].seq));
          if (box.scrollTop + box.clientHeight >= box.scrollHeight - 1) break;
        }
        return [...seen].sort((a, z) => a[0] - z[0]).map(s => s[1]);
      }, key);
      const seqs = want.map(j => j[3].seq);
      if (have.join() !== seqs.join()) wrong.list.push(`${topic}-${partition} ${key ? "key" : "all"}: ${have.length} of ${seqs.length}; too many ${have.filter(s => !seqs.includes(s)).slice(0, 9)}; missing ${seqs.filter(s => !have.includes(s)).slice(0, 9)}`);
    }
    await page.click("#key");
    // The row of the journal, at each event of a short run.
    const every = Math.max(1, Math.floor(mine.length / 250));
    const told = await page.evaluate(every => highwater.events.flatMap((e, i) => { if (i % every) return []; highwater.go(i); const dl = document.getElementById("raw"); return [[i, Object.fromEntries([...dl.querySelectorAll("dt")].map(t => [t.textContent, t.nextSibling.textContent]))]]; }), every);
    for (const [i, have] of told) {
      rows++;
      for (const [k, v] of Object.entries(mine[i][3])) if ((have[k] ?? "") !== (v === null ? "" : harmless(String(v))) && v !== -1) wrong.row.push(`${k} of ${mine[i][3].seq}: ${have[k]}, is ${v}`);
    }
    // K11: after each call of the script, what diagram() draws: who leads, the ISR, each log's end, epochs, high watermark.
    const spans = calls.flatMap((c, k) => (c.seq !== null && c.replicas.some(of) && c.seq >= (mine[0]?.[3].seq ?? Infinity) ? [[c, k]] : []));
    const states = JSON.parse(await page.evaluate(seqs => JSON.stringify(seqs.map(seq => {
      const E = highwater.events, i = E.findLastIndex(e => e.seq <= seq), id = n => document.getElementById(n);
      if (E[i].seq < seq && E[i + 1]?.gap) return null; // The journal has forgotten what came then.
      highwater.go(i);
      return { ...highwater.state(), label: id("logs").querySelector("svg")?.getAttribute("aria-label") ?? "", table: [...id("state").children].map(r => [...r.children].map(c => c.textContent.replace(/\u202f/g, ""))) };
    })), spans.map(([c]) => c.seq)));
    const forgotten = (D.gaps || []).length > 0;
    for (const [n, [c]] of spans.entries()) {
      const s = states[n], [, , leader, epoch, isr] = c.partitions.find(of), say = [];
      if (s === null) continue;
      moments++;
      if (s.leader !== (leader ?? -1) || s.epoch !== epoch || JSON.stringify(s.isr) !== isr) say.push(`${s.leader}/${s.epoch}/${JSON.stringify(s.isr)}, is ${leader}/${epoch}/${isr}`);
      const waiting = c.pending.filter(of).length;
      if (s.waiting.length !== waiting && !forgotten) say.push(`${s.waiting.length} wait, not ${waiting}`);
      for (const [, , b, role, ep, start, leo, hw, inIsr] of c.replicas.filter(of)) {
        const r = s.b[b], row = s.table.find(t => t[0] === String(b)), epochs = c.epochs.filter(e => of(e) && e[2] === b && e[4] < leo).map(e => [e[3], e[4]]);
        if (row[5] !== (inIsr ? "yes" : "no")) say.push(`broker ${b} in ISR: ${row[5]}`);
        if (role === "down" || leo === null) { if (row[1] !== "down" && role === "down") say.push(`broker ${b} is ${row[1]}, not down`); continue; }
        if (row[1] !== role.split(" ")[0]) say.push(`broker ${b} is ${row[1]}, not ${role}`);
        if (forgotten && r.leo < 0) continue;
        const want = [ep ?? "", leo, hw].map(String), have = row.slice(2, 5);
        if (forgotten && have[2] === "") have[2] = want[2];
        if (have.join() !== want.join() || r.start !== start && !forgotten) say.push(`broker ${b}: ${have} from ${r.start}, is ${want} from ${start}`);
        if (r.segs.some(g => g[0] < 0)) continue; // Of before what the journal knows.
        const text = `Broker ${b}: ${row[1]}, log end ${leo}, high watermark ${r.hw < 0 ? "unknown" : hw}, epochs ${epochs.map(g => g.join(" from ")).join(", ") || "none"}`;
        if (!s.label.split(". ").includes(text)) say.push(`"${s.label}" has no "${text}"`);
      }
      for (const [b, is, , end] of s.table) if (!c.replicas.some(r => of(r) && String(r[2]) === b) && (/leader|follower/.test(is) || (end && is !== "down"))) say.push(`broker ${b} has no replica, and is ${is} with end ${end}`);
      if (say.length) wrong.moment.push(`${topic}-${partition} after ${c.seq}: ${say.join("; ")}`);
    }
    // K5.
    wrong.end.push(...(await page.evaluate(() => {
      highwater.go(highwater.events.length - 1);
      const s = highwater.state();
      return highwater.final().flatMap(([, b, start, leo, hw, epochs]) => { const r = s.b[b], have = JSON.stringify([r.start, r.leo, r.hw, r.segs]), want = JSON.stringify([start, leo, hw, epochs.filter(g => g[1] < leo)]); return have === want ? [] : [`broker ${b}: ${have}, is ${want}`]; });
    })));
    // K13: the table has the rows of hw_lost, and the marks of losses are as large.
    const lost = now.lost.filter(of), shown = await page.evaluate(() => ({ hidden: document.getElementById("lostcard").hidden, rows: [...document.querySelectorAll("#lost tr")].map(r => [...r.children].map(c => c.textContent.replace(/\u202f/g, ""))), red: highwater.events.filter(e => e.kind === "loss").reduce((sum, e) => sum + e.lost, 0) }));
    const want = lost.map(([, , offset, by, epoch, acks, acknowledged]) => [offset, by, epoch, acks === -1 ? "all" : acks, acknowledged ? "yes" : "no"].map(String));
    if (shown.hidden !== !lost.length || JSON.stringify(shown.rows) !== JSON.stringify(want) || (shown.red !== lost.length && !forgotten)) wrong.lost.push(`${JSON.stringify(shown)} is ${JSON.stringify(want)}`);
  }
  const first = list => list.slice(0, 4).join(" | ") + (list.length > 4 ? ` and ${list.length - 4} more` : "");
  ok(!wrong.list.length, "K12 the list has all events, or the key events, and no other", first(wrong.list));
  ok(!wrong.row.length, `the fields of ${rows} events are those of hw_journal`, first(wrong.row));
  ok(!wrong.moment.length, `K11 ${moments} moments are what the tables say after the same calls`, first(wrong.moment));
  ok(!wrong.end.length, "K5 the replay ends with what hw_replicas and hw_epochs say", first(wrong.end));
  ok(!wrong.lost.length, "K13 the losses shown are hw_lost's", first(wrong.lost));
  if (parts.length) await page.evaluate(() => highwater.show(0));
};
