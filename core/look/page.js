"use strict";
/* The page of a run. Three parts: a model (replay the journal), pictures of it (canvas, SVG), and controls.
   Everything that came from a record or a name goes in through textContent: no markup is ever parsed. */
(() => {
	const D = JSON.parse(document.getElementById("data").textContent);
	const $ = (id) => document.getElementById(id);
	const root = document.documentElement.dataset; // Whose theme the style sheet follows.
	const el = (name, text, cls) => {
		const e = document.createElement(name);
		if (text != null) e.textContent = text;
		if (cls) e.className = cls;
		return e;
	};
	/* A row of a table, of texts and cells. */
	const rowOf = (cells, cls) => {
		const tr = el("tr", null, cls);
		tr.append(...cells.map((c) => (c instanceof Node ? c : el("td", c))));
		return tr;
	};
	const svg = (name, attrs, text) => {
		const e = document.createElementNS("http://www.w3.org/2000/svg", name);
		for (const a in attrs) e.setAttribute(a, attrs[a]);
		if (text != null) e.textContent = text;
		return e;
	};
	const EPOCHS = 4,
		STRIDE = 256,
		HOUSE = 26 + 30 + 34; // ruler, controller, clients
	const num = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
	const ms = (t) =>
		t < 1000
			? t + " ms"
			: num(Math.floor(t / 1000)) +
				"." +
				String(t % 1000)
					.padStart(3, "0")
					.replace(/0+$/, "")
					.padEnd(1, "0") +
				" s";
	/* Bytes that would act rather than show: controls as their pictures, direction marks by name. */
	const safe = (s) =>
		s
			.replace(/[\u0000-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
			.replace(/\u007f/g, "\u2421")
			.replace(
				/[\u0080-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
				(c) => "[U+" + c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0") + "]",
			);
	/* As SQL writes it, so that null, 'null' and '' differ. */
	const quote = (s) => "'" + safe(s).replace(/'/g, "''") + "'";
	const shown = (v) =>
		v === null
			? "null"
			: typeof v === "string"
				? quote(v)
				: v.hex !== undefined
					? "x'" + v.hex + "'" + (v.of * 2 > v.hex.length ? "\u2026 " + num(v.of) + " bytes" : "")
					: quote(v.text) + "\u2026 " + num(v.of) + " bytes";

	// ------------------------------------------------------------------------------------------- model
	let part = 0,
		E = [],
		brokers = [],
		marks = [],
		snaps = [],
		frames = {},
		control = [],
		X = [],
		lowestCut = {}, // By broker.
		quiet = new Map(), // What `final` says of logs that no event names after the last gap, by broker.
		whys = new Map(), // What became of an offset, by the end of the run.
		reach = [0, 0], // The events that the controls reach.
		chosen = -1, // A broker, by its place among the lanes.
		records = new Map();
	const KEY = new Set("election isr loss broker network truncate promise".split(" "));
	const DRAWN = "up role leo hw segs ep start".split(" "); // Of a replica, in its lane.
	const TXNS = 64; // Transactions of a partition that a state remembers.
	const STOPS = /^(crashed|lost power|shut down)$/,
		ARRIVES = /^(deliver|drop|isr_answer)$/,
		linkOf = (e) => `${e.broker}\u2013${e.peer < 0 ? "controller" : e.peer}`;
	const isMark = (e) =>
		KEY.has(e.kind) || e.bad || (e.kind === "ack" && !e.text.endsWith("NONE")) || (e.kind === "topic" && e.text === "deleted");

	function fresh() {
		const s = { leader: -1, epoch: -1, isr: [], replicas: [], cuts: [], waiting: [], txns: [], b: {} };
		for (const b of brokers) s.b[b] = { up: true, role: "", ep: -1, start: 0, leo: -1, hw: -1, segs: [] };
		return s;
	}
	const copy = (s) => ({ ...s, b: Object.fromEntries(Object.entries(s.b).map(([k, r]) => [k, { ...r }])) });
	const cutAt = (segs, end) => segs.filter((g) => g[1] < end);
	/* Epochs of [from, to) in `segs`, as segments. */
	const slice = (segs, from, to) =>
		segs
			.filter((g, i) => g[1] < to && (i + 1 === segs.length || segs[i + 1][1] > from))
			.map((g) => [g[0], Math.max(g[1], from)]);
	const join = (a, b) => {
		const r = a.slice();
		for (const g of b) if (!r.length || r[r.length - 1][0] !== g[0]) r.push(g);
		return r;
	};

	/* Of the log that is kept: it may start again where it did before, when its broker starts. */
	const epochs = (r) => cutAt(slice(r.segs, r.start, Infinity), Math.max(r.leo, r.start));
	const GONE = "no replica";
	const role = (r) => (r.up ? r.role || "not known" : "down");
	const inIsr = (s, b, yes, no) => (s.isr.includes(b) ? yes : s.epoch >= 0 ? no : "");
	/* A broker that is down shows nobody a high watermark. */
	const mark = (r, unknown) => (!r.up ? "" : r.hw < 0 ? unknown : num(r.hw));
	/* Where what is undecided begins in a replica's log: -1: nowhere. */
	const openFrom = (s, r) => {
		let from = -1;
		for (const t of s.txns)
			if (t.first < r.leo && (t.end < 0 || t.end >= r.leo) && (from < 0 || t.first < from)) from = t.first;
		return from;
	};
	/* What a record's transaction came to; "": it was in none. */
	const txnOf = (s, o) => {
		const t = s.txns.find((q) => o >= q.first && (q.end < 0 || o < q.end) && q.offsets.some((p) => o >= p[0] && o < p[1]));
		return t ? t.how || "open" : "";
	};

	/* What the journal has forgotten may have changed every log but those that no event names since. */
	function forget(s) {
		Object.assign(s, { waiting: [], txns: [] });
		for (const b of brokers) {
			const f = quiet.get(b);
			Object.assign(s.b[b], f ? { start: f[2], leo: f[3], hw: f[4], segs: f[5] } : { leo: -1, hw: -1, segs: [] });
		}
	}
	/* Who has no replica any more, and has heard of it. */
	function leave(s) {
		for (const b of brokers)
			if (s.replicas.length && !s.replicas.includes(b) && !s.cuts.includes(b + "\u2013controller"))
				Object.assign(s.b[b], { role: GONE, ep: -1, start: 0, leo: -1, hw: -1, segs: [] });
	}
	function apply(s, e) {
		const r = s.b[e.broker];
		if (e.gap) forget(s);
		if (r && e.offset > r.leo && /^(produce|append|fetch_request)$/.test(e.kind)) {
			// The ring began later than the log, or has forgotten what came between.
			r.segs = join(r.segs, [[-1, Math.max(0, r.leo)]]);
			r.leo = e.offset;
		}
		switch (e.kind) {
			case "election":
				s.leader = e.broker;
				s.epoch = e.epoch;
			// Falls through: an election says the ISR too.
			case "isr":
				s.isr = JSON.parse(/\[[\d,]*\]/.exec(e.text) ?? JSON.stringify(s.isr)); // The ELR may follow.
				break;
			case "role":
				if (r) {
					r.up = true;
					r.role = e.text.split(" ")[0];
					r.ep = e.epoch;
					if (e.end >= 0) r.leo = e.end;
					if (r.role === "leader" && s.txns.length)
						// What its log does not have did not happen.
						s.txns = s.txns
							.filter((t) => t.first < r.leo)
							.map((t) => (t.end >= r.leo ? { ...t, end: -1, how: "" } : t));
				}
				break;
			case "produce":
				if (r) {
					r.segs = join(r.segs, [[e.epoch, e.offset]]);
					r.leo = e.end;
				}
				if (e.text.startsWith("acks=all")) s.waiting = s.waiting.concat(e.offset);
				if (e.text.endsWith("transactional")) {
					const k = s.txns.findIndex((t) => t.producer === e.producer && t.end < 0),
						t = k < 0 ? { producer: e.producer, first: e.offset, end: -1, how: "", offsets: [] } : s.txns[k],
						now = { ...t, offsets: t.offsets.concat([[e.offset, e.end]]) };
					s.txns = (k < 0 ? s.txns.slice(1 - TXNS) : s.txns.filter((q) => q !== t)).concat(now);
				}
				break;
			case "marker":
				if (r && e.end > e.offset) {
					r.segs = join(r.segs, [[e.epoch, e.offset]]);
					r.leo = e.end;
					s.txns = s.txns.map((t) =>
						t.producer === e.producer && t.end < 0
							? { ...t, end: e.offset, how: e.text.startsWith("COMMIT") ? "committed" : "aborted" }
							: t,
					);
				}
				break;
			case "ack":
				s.waiting = s.waiting.filter((o) => o !== e.offset);
				break;
			case "append":
				if (r && e.end > e.offset) {
					const p = s.b[e.peer];
					const got = p ? slice(p.segs, e.offset, e.end) : [];
					r.segs = join(r.segs, got.length ? got : [[e.epoch, e.offset]]);
					r.leo = e.end;
				}
				break;
			case "truncate":
				if (r) {
					r.segs = cutAt(r.segs, e.offset);
					r.start = Math.min(r.start, e.offset);
					r.leo = e.offset;
					r.hw = Math.min(r.hw, e.offset);
				}
				break;
			case "log_start":
				if (r) {
					r.start = e.offset;
					r.opened = e.offset;
				}
				break;
			case "recovery":
				if (r && e.end >= 0) {
					r.segs = cutAt(r.segs, e.end);
					r.leo = e.end;
				}
				if (r && e.text.startsWith("offline")) r.role = "offline";
				break;
			case "broker":
				if (r) {
					if (e.text === "started") {
						r.up = true;
						r.start = r.opened ?? r.start;
						r.ep = -1; // It has forgotten who leads, and follows nobody until it is told.
						if (!r.role && s.replicas.includes(e.broker)) r.role = "follower";
					} else if (STOPS.test(e.text)) {
						r.up = false;
						if (r.role !== GONE) r.role = "";
						r.opened = 0; // Unless a log_start says so, the log starts there when it is opened.
					}
				}
				break;
			case "replicas":
				s.replicas = JSON.parse(e.text);
				leave(s);
				break;
			case "topic":
				if (e.text === "deleted") {
					// One of the same name begins anew.
					const { leader, epoch, isr, waiting, txns, b } = fresh();
					for (const k of brokers) b[k].up = s.b[k].up;
					Object.assign(s, { leader, epoch, isr, waiting, txns, b });
					return;
				}
				break;
			case "network": {
				const link = linkOf(e);
				s.cuts = s.cuts.filter((l) => l !== link);
				if (/cut$/.test(e.text)) s.cuts = s.cuts.concat(link);
				leave(s);
				break;
			}
		}
		if (r && e.hw >= 0 && e.kind !== "fetch_response" && r.role !== GONE) r.hw = e.hw; // A response has its leader's.
	}

	/* What `final` says of the epochs below what the ring still knew: they were never cut since. */
	function fill(s) {
		for (const [p, b, start, , , epochs] of D.final) {
			const r = s.b[b];
			if (p !== part || !r || r.leo < 0 || !r.segs.length || r.segs[0][0] !== -1) continue;
			const known = r.segs.length > 1 ? r.segs[1][1] : r.leo;
			if (!(lowestCut[b] < known)) r.segs = join(epochs.filter((g) => g[1] < known), r.segs.slice(1));
			r.start = Math.max(r.start, Math.min(start, r.leo));
		}
	}

	function load(which) {
		part = which;
		const p = D.parts[part] || ["nothing", 0, []];
		E = [];
		marks = [];
		snaps = [];
		frames = {};
		control = [];
		brokers = p[2].slice();
		let seq = 0,
			t = 0;
		const gaps = new Map(D.gaps),
			places = new Map(), // Of the events that are shown, by their place among all.
			throttled = new Map(); // By the two brokers: the event with which it began.
		let forgotten = 0;
		for (const [n, v] of D.events.entries()) {
			const [later, after, k, of, broker, peer, epoch, offset, end, hw, text, from = -1, producer = -1] = v,
				kind = D.kinds[k];
			seq += later;
			t += Number(after);
			forgotten += gaps.get(n) ?? 0;
			if (of !== part && of !== -1 && !(kind === "topic" && D.parts[of][0] === p[0])) continue;
			places.set(n, E.length);
			const far = v.some((x) => typeof x === "string"); // Beyond 2^53: no number of JavaScript's.
			const e = {
				far, seq, t, kind, broker, peer, epoch, offset, end, hw, producer,
				text: D.texts[text],
				from: places.get(from) ?? -1, // The event before it about the same message.
				gap: forgotten, // So many events before it are not known any more.
				to: -1, // The event with which a message goes on, or a throttled fetch.
			};
			forgotten = 0;
			if (e.from >= 0) E[e.from].to = E.length;
			const pair = e.broker + ":" + e.peer;
			if (e.kind === "throttled") {
				const way = e.text === "as leader" ? e.peer + ":" + e.broker : pair;
				if (throttled.has(way)) e.again = true;
				else throttled.set(way, e);
			} else if (throttled.has(pair) && (e.kind === "append" || (e.kind === "fetch_request" && throttled.get(pair).text !== "as leader"))) {
				throttled.get(pair).to = E.length;
				throttled.delete(pair);
			}
			if (far) e.offset = e.end = e.hw = -1;
			e.bad = /^[A-Z]+_|^diverging/.test(e.text) || e.kind === "promise"; // Kafka's errors have a "_".
			e.lost = +(/(\d+) records?$/.exec(e.text) ?? [0, e.end - e.offset])[1]; // Not each offset of the range is.
			if (isMark(e)) marks.push(E.length);
			E.push(e);
		}
		lowestCut = {};
		quiet = new Map(D.final.filter((f) => f[0] === part).map((f) => [f[1], f]));
		for (let i = E.length - 1; i >= 0 && !E[i + 1]?.gap; i--)
			if (E[i].kind !== "broker" && E[i].kind !== "network") quiet.delete(E[i].broker);
		for (const e of E)
			if (e.kind === "truncate") lowestCut[e.broker] = Math.min(lowestCut[e.broker] ?? Infinity, e.offset);
		whys = new Map(D.why.filter((w) => w[0] === part).map((w) => [w[1], w[2]]));
		records = new Map(D.records.filter((r) => r[0] === part).map((r) => [r[2] + ":" + r[1], r]));
		let s = fresh(),
			last = {};
		for (const b of brokers) frames[b] = [];
		E.forEach((e, i) => {
			if (i % STRIDE === 0) snaps.push(copy(s));
			apply(s, e);
			fill(s);
			const c = { i, leader: s.leader, epoch: s.epoch, isr: s.isr },
				told = control[control.length - 1] ?? fresh();
			if (c.leader !== told.leader || c.epoch !== told.epoch || c.isr.join() !== told.isr.join()) control.push(c);
			for (const b of brokers) {
				const r = s.b[b],
					f = last[b],
					isr = s.isr.includes(b),
					open = s.txns.length ? openFrom(s, r) : -1;
				if (!f || f.isr !== isr || f.open !== open || DRAWN.some((k) => f[k] !== r[k]))
					frames[b].push((last[b] = { i, isr, open, ...r }));
			}
		});
		layAxis();
	}
	function stateAt(i) {
		// After event i; -1: before all.
		if (i < 0 || !E.length) return fresh();
		const k = Math.floor(i / STRIDE),
			s = copy(snaps[k]);
		for (let j = k * STRIDE; j <= i; j++) {
			apply(s, E[j]);
			fill(s);
		}
		return s;
	}

	// ------------------------------------------------------------------------------------------- axis
	let byTime = false,
		scale = 1,
		left = 0,
		cur = 0,
		W = 1000,
		H = 400,
		GUTTER = 132,
		laneH = 104;
	function layAxis() {
		/* Events take one unit each; where time passed between two, a gap of up to 4 units. On the time axis a unit is a share
       of the whole time, and events of the same millisecond fan out a little. */
		X = new Float64Array(E.length);
		const n = E.length,
			span = n ? Math.max(1, E[n - 1].t - E[0].t) : 1;
		let x = 0;
		for (let i = 0; i < n; i++) {
			if (byTime) x = Math.max(((E[i].t - E[0].t) / span) * n, i ? X[i - 1] + 0.12 : 0);
			else x += i ? 1 + (E[i].gap ? 2 : 0) + (E[i].t > E[i - 1].t ? Math.min(4, 0.7 + Math.log10(E[i].t - E[i - 1].t)) : 0) : 0.5;
			X[i] = x;
		}
	}
	const total = () => (E.length ? X[E.length - 1] : 0) + 1.5;
	const px = (x) => GUTTER + (x - left) * scale;
	/* The first place in a sorted list whose value is not below v. */
	const lower = (list, v, of = (y) => y) => {
		let a = 0,
			b = list.length;
		while (a < b) {
			const m = (a + b) >> 1;
			if (of(list[m]) < v) a = m + 1;
			else b = m;
		}
		return a;
	};
	const fitScale = () => (W - GUTTER - 12) / total();
	function clampView() {
		scale = Math.min(60, Math.max(fitScale(), scale));
		left = Math.max(0, Math.min(left, total() - (W - GUTTER - 12) / scale));
	}
	function redraw() {
		clampView();
		draw();
	}
	function zoom(f, at) {
		const x = left + ((at ?? px(X[cur] || 0)) - GUTTER) / scale;
		const before = at ?? px(X[cur] || 0);
		scale *= f;
		clampView();
		left = x - (before - GUTTER) / scale;
		redraw();
	}

	// ------------------------------------------------------------------------------------------- colours
	let C = {};
	function colours() {
		const s = getComputedStyle(document.documentElement);
		for (const n of "paper panel line ink soft accent hw bad down msg cursor good e0 e1 e2 e3".split(" "))
			C[n] = s.getPropertyValue("--" + n).trim();
	}
	const ec = (ep) => (ep < 0 ? C.down : C["e" + (ep % EPOCHS)]);
	const pales = new Map(),
		pale = (c) => pales.get(c) || (pales.set(c, alpha(c, 0.36)), pales.get(c));
	const alpha = (hex, a) => {
		const n = parseInt(hex.slice(1), 16);
		return `rgba(${n >> 16},${(n >> 8) & 255},${n & 255},${a})`;
	};

	// ------------------------------------------------------------------------------------------- chart
	const FONT = "px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
	const laneY = (b) => HOUSE + brokers.indexOf(b) * laneH;
	const mid = (b) => (b === -2 ? 26 + 30 + 17 : laneY(b) + laneH / 2),
		rail = (b) => laneY(b) + 9; // The rail is the broker's line of life.
	function context(canvas, h) {
		const r = window.devicePixelRatio || 1,
			w = canvas.clientWidth || 1000;
		if (canvas.width !== Math.round(w * r) || canvas.height !== Math.round(h * r)) {
			canvas.width = Math.round(w * r);
			canvas.height = Math.round(h * r);
			canvas.style.height = h + "px";
		}
		const g = canvas.getContext("2d");
		g.setTransform(r, 0, 0, r, 0, 0);
		g.clearRect(0, 0, w, h);
		return [g, w];
	}
	const area = (g, colour, ...xywh) => {
		g.fillStyle = colour;
		g.fillRect(...xywh);
	};
	const write = (g, colour, ...textXY) => {
		g.fillStyle = colour;
		g.fillText(...textXY);
	};
	const stroke = (g, x0, y0, x1, y1) => {
		g.beginPath();
		g.moveTo(x0, y0);
		g.lineTo(x1, y1);
		g.stroke();
	};
	const clip = (g, ...xywh) => {
		g.save();
		g.beginPath();
		g.rect(...xywh);
		g.clip();
	};
	let queued = false;
	function draw() {
		if (!queued) {
			queued = true;
			requestAnimationFrame(() => {
				queued = false;
				paint();
				paintMap();
			});
		}
	}

	function paint() {
		const canvas = $("chart");
		W = canvas.clientWidth || 1000;
		GUTTER = W < 640 ? 84 : 132;
		laneH = W < 640 ? 78 : brokers.length > 5 ? 72 : 104;
		H = HOUSE + Math.max(1, brokers.length) * laneH + 6;
		clampView();
		const [g] = context(canvas, H);
		area(g, C.paper, 0, 0, W, H);
		g.font = 12 + FONT;
		g.textBaseline = "middle";
		g.lineJoin = "round";
		if (!E.length) {
			write(g, C.soft, "The journal has no event of this partition.", 16, H / 2);
			return;
		}
		const i0 = Math.max(0, lower(X, left - 1) - 1),
			i1 = Math.min(E.length, lower(X, left + (W - GUTTER) / scale + 1) + 1);

		// What every lane shows is on one scale of offsets, so that heights can be compared.
		let lo = Infinity,
			hi = 1;
		const inView = {};
		for (const b of brokers) {
			const f = frames[b],
				a = Math.max(0, lower(f, i0, (q) => q.i) - 1);
			let z = a;
			while (z < f.length && f[z].i <= i1) {
				hi = Math.max(hi, f[z].leo);
				if (f[z].hw >= 0) lo = Math.min(lo, f[z].hw);
				z++;
			}
			inView[b] = [a, z];
		}
		lo = !isFinite(lo) || lo < hi * 0.4 ? 0 : Math.max(0, lo - (hi - lo) * 0.3);
		const top = 24,
			bottom = laneH - 8,
			yOf = (b, o) => laneY(b) + bottom - ((Math.max(lo, o) - lo) / Math.max(1e-9, hi - lo)) * (bottom - top);

		clip(g, GUTTER, 0, W - GUTTER, H);
		// Ruler: where time passes.
		area(g, C.panel, GUTTER, 0, W, 26);
		let free = -1;
		g.strokeStyle = C.line;
		g.lineWidth = 1;
		const edge = Math.max(0, lower(X, left) - 1); // Its time stands at the edge.
		for (let i = edge; i < i1; i++)
			if (i === edge || E[i].t !== E[i - 1].t) {
				const x = Math.max(GUTTER, px(X[i]) - (i ? Math.min(scale * 0.9, 16) : 0));
				if (x <= free) continue;
				const label = ms(E[i].t),
					end = x + g.measureText(label).width + 18;
				if (end < W + 12) {
					stroke(g, x, 4, x, H);
					write(g, C.soft, label, x + 5, 13);
					free = end;
				}
			}
		// Controller: leader, epoch and ISR as the record has them.
		control.forEach((c, k) => {
			const x0 = px(X[c.i]),
				x1 = k + 1 < control.length ? px(X[control[k + 1].i]) : W;
			if (x1 < GUTTER || x0 > W || x1 - x0 < 0.5) return;
			area(g, alpha(ec(c.epoch), 0.2), x0, 28, x1 - x0 - 1, 24);
			area(g, ec(c.epoch), Math.round(x0), 28, 3, 24);
			const room = Math.min(x1, W) - Math.max(x0, GUTTER) - 12,
				words = [`epoch ${c.epoch} \u00b7 `, c.leader < 0 ? "no leader \u00b7 " : `leader ${c.leader} \u00b7 `, "ISR ", c.isr.join(" ")],
				word = words.map((_, k) => words.slice(k).join("")).find((s) => g.measureText(s).width < room);
			if (word) write(g, C.ink, word, Math.max(x0, GUTTER) + 8, 40);
		});
		const hatch = (x0, y, w, h, colour, y0) => {
			clip(g, x0, y, w, h);
			g.strokeStyle = colour;
			g.lineWidth = 1;
			g.beginPath();
			const s0 = Math.max(x0, GUTTER) - (Math.max(x0, GUTTER) % 9) - laneH;
			for (let x = s0; x < Math.min(x0 + w, W); x += 9) {
				g.moveTo(x, y0 + laneH);
				g.lineTo(x + laneH, y0);
			}
			g.stroke();
			g.restore();
		};
		// Lanes: the log as a stack of epochs, solid below the replica's high watermark, pale above it.
		for (const b of brokers) {
			const f = frames[b],
				[a, z] = inView[b],
				y0 = laneY(b);
			area(g, C.line, GUTTER, y0, W, 1);
			const later = [];
			let line = null; // What lies over the areas; the y of the last watermark.
			/* Rectangles of one slot that continue each other become one: most of a log stays as it is for long. */
			const runs = new Map(),
				flush = (r) => area(g, r.c, r.x, r.y, r.w, r.h);
			const fill = (slot, c, x, y, w, h) => {
				const r = runs.get(slot);
				if (r && r.c === c && r.y === y && r.h === h && r.x + r.w === x) r.w += w;
				else {
					if (r) flush(r);
					runs.set(slot, { c, x, y, w, h });
				}
			};
			for (let k = a; k < z; k++) {
				const x0 = Math.round(px(X[f[k].i])); // Whole pixels: no seams.
				while (k + 1 < z && Math.round(px(X[f[k + 1].i])) <= x0) k++; // Several in one pixel: the last counts.
				const q = f[k],
					x1 = Math.min(W, Math.round(k + 1 < f.length ? px(X[f[k + 1].i]) : px(X[E.length - 1] + 1))),
					w = x1 - x0;
				if (x1 < GUTTER) continue;
				if (q.role === "leader" && q.up) fill("role", ec(q.ep), x0, y0 + 6, w, 7);
				else if (q.isr) fill("role", C.soft, x0, y0 + 8, w, 2);
				if (q.leo > q.start)
					q.segs.forEach((sg, n) => {
						const from = Math.max(sg[1], q.start, lo),
							to = n + 1 < q.segs.length ? q.segs[n + 1][1] : q.leo,
							h = Math.min(Math.max(q.hw, from), to);
						if (to <= from) return;
						const c = q.up ? ec(sg[0]) : C.down;
						if (h > from) fill(2 * n, c, x0, yOf(b, h), w, yOf(b, from) - yOf(b, h));
						if (to > h) fill(2 * n + 1, pale(c), x0, yOf(b, to), w, yOf(b, h) - yOf(b, to));
						if (k + 1 >= z && yOf(b, from) - yOf(b, to) > 11 && w > 12) {
							const [t, x, y, ink] = [
								sg[0] < 0 ? "?" : sg[0],
								x1 - 14,
								(yOf(b, from) + yOf(b, to)) / 2,
								h > from ? C.paper : C.ink,
							];
							later.push(() => write(g, ink, t, x, y));
						}
					});
				if (!q.up) hatch(x0, y0 + 3, w, laneH - 6, alpha(C.down, 0.55), y0);
				else if (q.open >= 0 && q.leo > q.open) {
					// What is undecided, and the last stable offset, where it begins.
					const y = yOf(b, q.leo),
						at = yOf(b, Math.min(q.open, q.hw));
					later.push(() => {
						hatch(x0, y, w, yOf(b, q.open) - y, C.paper, y0);
						g.fillStyle = C.hw;
						for (let x = x0 - (x0 % 4); x < x1; x += 4) if (x >= x0) g.fillRect(x, at - 0.5, 2, 1);
					});
				}
				if (q.hw >= 0 && q.up) {
					const y = yOf(b, q.hw),
						at = line;
					later.push(() => {
						area(g, C.hw, x0, y - 1, w, 2);
						if (at !== null && at !== y) g.fillRect(x0 - 1, Math.min(y, at) - 1, 2, Math.abs(y - at) + 2);
					});
					line = y;
				} else line = null;
			}
			for (const r of runs.values()) flush(r);
			for (const f of later) f();
		}
		g.textAlign = "center";
		for (let i = i0; i < i1; i++)
			if (E[i].gap && i) {
				const w = Math.max(2, 2 * scale),
					x = px(X[i]) - Math.min(scale, 12) / 2 - w;
				area(g, C.panel, x, HOUSE, w, H - HOUSE);
				if (w > 8) for (const b of brokers) write(g, C.soft, "?", x + w / 2, mid(b));
			}
		g.textAlign = "left";
		// Flags are painted last, as far as there is room.
		const flags = [],
			flag = (text, x, y, colour, first) => flags.push({ text, x, y, colour, first: first ? 0 : 1 });
		const taken = [], // Places of flags, and of dots, which only what is first may cover.
			spot = (x) => taken.push({ y: mid(-2), x0: x - 5, x1: x + 5, dot: true });
		const paintFlag = ({ text, x, y, colour, first }) => {
			if (x < GUTTER - 20 || x > W) return;
			const w = g.measureText(text).width + 10,
				within = (x) => Math.max(GUTTER, Math.min(x, W - w - 4)), // Whole, at the edge too.
				covers = (x) => taken.some((t) => Math.abs(t.y - y) < 18 && x < t.x1 && x + w > t.x0 && !(first === 0 && t.dot));
			x = (y === mid(-2) ? [x, x - w - 14] : [x]).map(within).find((x) => !covers(x));
			if (x === undefined) return;
			taken.push({ y, x0: x, x1: x + w + 4 });
			area(g, C.paper, x + 2, y - 9, w, 18);
			g.strokeStyle = colour;
			g.lineWidth = 1;
			g.strokeRect(x + 2.5, y - 8.5, w - 1, 17);
			write(g, colour, text, x + 7, y);
		};
		const cross = (x, y, s, colour) => {
			g.strokeStyle = colour;
			g.lineWidth = 2.5;
			stroke(g, x - s, y - s, x + s, y + s);
			stroke(g, x + s, y - s, x - s, y + s);
		};
		const disc = (x, y, r) => {
			g.fillStyle = C.good;
			g.beginPath();
			g.arc(x, y, r, 0, 7);
			g.fill();
		};
		// Messages. Too close together they would be a grey wall: then only the current one and errors are drawn.
		const arrow = (x0, ya, x1, yb, colour, dash, width) => {
			g.strokeStyle = g.fillStyle = colour;
			g.lineWidth = width;
			g.setLineDash(dash);
			stroke(g, x0, ya, x1, yb);
			g.setLineDash([]);
			if (scale > 7 || width > 2) {
				const t = Math.atan2(yb - ya, x1 - x0),
					s = 4 + width;
				g.beginPath();
				g.moveTo(x1, yb);
				g.lineTo(x1 - s * Math.cos(t - 0.45), yb - s * Math.sin(t - 0.45));
				g.lineTo(x1 - s * Math.cos(t + 0.45), yb - s * Math.sin(t + 0.45));
				g.fill();
			}
		};
		const message = (e, i, strong) => {
			const d = Math.min(scale * 0.42, 9),
				travels = e.from >= 0 && ARRIVES.test(e.kind),
				x0 = travels ? px(X[e.from]) : px(X[i]) - d,
				x1 = px(X[i]) + (travels ? 0 : d),
				bad = e.bad,
				w = strong ? 3 : 1.2;
			const colour = strong ? C.cursor : bad ? C.bad : alpha(C.msg, 0.8),
				line = (b) => (b < 0 ? 40 : rail(b)); // The controller's is its band.
			if (ARRIVES.test(e.kind)) {
				if (e.from < 0) return;
				const away = e.kind === "drop" && E[e.from].kind !== "fetch_response" ? e.broker : e.peer,
					here = away === e.peer ? e.broker : e.peer,
					p = line(away),
					q = line(here),
					lost = e.kind === "drop" ? 0.5 : 1,
					dash = /^(request|notice)/.test(e.text) ? [4, 3] : [];
				arrow(x0, p, x0 + (x1 - x0) * lost, p + (q - p) * lost, lost < 1 ? C.bad : colour, dash, w);
				if (lost < 1) cross(x0 + (x1 - x0) / 2, (p + q) / 2, 4, C.bad);
				return;
			}
			// It travels, and is drawn where it arrives; still under way it has an open end.
			if (e.to >= 0 && !strong && /^(deliver|drop)$/.test(E[e.to].kind)) return;
			const has = (b) => brokers.includes(b),
				asks = e.kind === "fetch_request",
				[p, q] = asks ? [e.broker, e.peer] : [e.peer, e.broker],
				off = laneY(q) > laneY(p) ? 4 : -4;
			if (/^fetch_/.test(e.kind) && has(p) && has(q))
				arrow(x0, rail(p) + off, x1, rail(q) - off, colour, asks ? [4, 3] : [], asks || (!bad && /^0 bytes/.test(e.text)) ? w : w + 0.8);
			else if (e.kind === "produce" && has(q)) {
				const x = px(X[i]);
				arrow(x, mid(-2) + 4, x, Math.max(yOf(q, e.end), laneY(q) + 22) - 1, strong ? C.cursor : ec(e.epoch), [], w + 0.4);
			}
		};
		// Requests that wait at their leader, and fetches that a quota holds back.
		for (let i = i0; i < i1; i++) {
			const e = E[i],
				waits = e.kind === "deliver" && /waits/.test(e.text);
			if (!brokers.includes(e.broker) || e.again || !(waits || e.kind === "throttled")) continue;
			const x0 = px(X[i]),
				x1 = e.to >= 0 ? px(X[e.to]) : px(X[E.length - 1] + 1);
			area(g, waits ? alpha(C.msg, 0.7) : C.bad, x0, rail(e.broker) - 7, x1 - x0, waits ? 2 : 3);
			if (!waits && e.to >= 0 && scale > 2)
				flag(`throttled ${ms(E[e.to].t - e.t)}`, x0, rail(e.broker) + 12, C.bad);
		}
		for (let i = i0; i < i1; i++) if (scale > 4 || E[i].bad || E[i].kind === "drop") message(E[i], i, false);
		// Marks.
		let dot = -9;
		for (let i = i0; i < i1; i++) {
			const e = E[i],
				x = px(X[i]),
				on = brokers.includes(e.broker);
			if (e.kind === "ack") {
				const ok = e.text.endsWith("NONE");
				if (ok) {
					if (x - dot < 1.5) continue;
					dot = x;
					disc(x, mid(-2), 4.5);
					spot(x);
				} else {
					cross(x, mid(-2), 4, C.bad);
					if (scale > 5) flag(e.text.replace(/^\d+: /, ""), x + 4, mid(-2), C.bad);
				}
			} else if (e.kind === "produce" && scale > 2.5) {
				g.fillStyle = ec(e.epoch);
				g.beginPath();
				g.moveTo(x - 4, mid(-2) - 4);
				g.lineTo(x + 4, mid(-2) - 4);
				g.lineTo(x, mid(-2) + 4);
				g.fill();
				spot(x);
				if (/^acks=1\b/.test(e.text) && scale > 8) disc(x, mid(-2) - 10, 3.5); // Its answer is the same moment.
			} else if (e.kind === "broker" && on) {
				if (!STOPS.test(e.text)) flag(e.text, x - 2, laneY(e.broker) + 14, C.soft);
				else {
					cross(x, mid(e.broker), 6, C.bad);
					flag(e.text, x + 8, mid(e.broker), C.bad, true);
				}
			} else if (e.kind === "truncate" && on) {
				area(g, C.bad, x - 2, yOf(e.broker, e.end), 4, Math.max(3, yOf(e.broker, e.offset) - yOf(e.broker, e.end)));
				if (scale > 4) flag("cut to " + num(e.offset), x + 3, yOf(e.broker, e.offset) - 10, C.bad);
			} else if (e.kind === "marker" && on && e.end > e.offset && scale > 4)
				flag(`${e.text.split(" ")[0].toLowerCase()} ${e.producer}`, x + 2, yOf(e.broker, e.end) - 10, C.soft);
			else if (e.kind === "network") {
				g.strokeStyle = C.bad;
				g.lineWidth = 2;
				g.setLineDash([2, 3]);
				stroke(g, x, on ? mid(e.broker) : 28, x, brokers.includes(e.peer) ? mid(e.peer) : 28);
				g.setLineDash([]);
				if (scale > 4)
					flag(
						`${linkOf(e)} ${e.text.split(" ").pop()}`,
						x + 2,
						on ? laneY(e.broker) + laneH - 14 : 40,
						C.bad,
					);
			} else if (e.kind === "topic" && e.text === "deleted") flag("deleted", x, mid(-2), C.bad, true);
			else if (e.kind === "election" && i) {
				area(g, ec(e.epoch), x - 1, 28, 2, H - 28);
			} else if (e.kind === "loss") {
				area(g, alpha(C.bad, 0.16), x - 3, HOUSE, 6, H - HOUSE);
				cross(x, mid(-2), 4, C.bad);
				flag(num(e.lost) + " lost", x + 6, mid(-2), C.bad, true);
			}
		}
		area(g, C.cursor, px(X[cur]) - 1, 0, 2, H);
		message(E[cur], cur, true);
		flags.sort((a, b) => a.first - b.first || a.x - b.x); // Losses first; what would cover another is left to the list.
		for (const f of flags) paintFlag(f);
		g.restore();
		const s = stateAt(cur);
		area(g, C.paper, 0, 0, GUTTER - 1, H);
		area(g, C.line, GUTTER - 1, 0, 1, H);
		const put = (text, y, colour, size, bold) => {
			g.font = (bold ? "600 " : "") + size + FONT;
			write(g, colour, text, 10, y, GUTTER - 16);
		};
		put(byTime ? "time" : "events", 13, C.soft, 12);
		put("controller", 40, C.ink, 13, true);
		put("clients", mid(-2) - (s.waiting.length ? 7 : 0), C.ink, 13, true);
		if (s.waiting.length) put(s.waiting.length + " waiting", mid(-2) + 9, C.soft, 12);
		for (const b of brokers) {
			const r = s.b[b],
				narrow = W < 640,
				more = r.role === "leader" ? "epoch " + r.ep : r.role === GONE ? "" : inIsr(s, b, "in ISR", "out of ISR"),
				what = r.up ? [role(r), more].filter((w) => w) : ["down"],
				ends = r.leo < 0 ? [] : ["end " + num(r.leo), r.up ? "hw " + mark(r, "?") : ""];
			let y = laneY(b) + (narrow ? 15 : 20);
			if (brokers[chosen] === b) {
				area(g, C.accent, 0, laneY(b) + 2, 4, laneH - 4);
			}
			put("broker " + b, y, brokers[chosen] === b ? C.accent : C.ink, 14, true);
			for (const line of narrow ? what.concat(ends) : [what.join(", "), ...ends])
				if ((y += narrow ? 15 : 17) < laneY(b) + laneH - 4) put(line, y, line === "down" ? C.bad : C.soft, 12);
		}
		g.font = 12 + FONT;
	}

	function paintMap() {
		const [g, w] = context($("map"), 34),
			k = w / total();
		area(g, C.panel, 0, 0, w, 34);
		control.forEach((c, n) => {
			const x0 = X[c.i] * k,
				x1 = n + 1 < control.length ? X[control[n + 1].i] * k : w;
			area(g, ec(c.epoch), x0, 4, Math.max(1, x1 - x0 - 1), 8);
		});
		const bins = new Uint16Array(Math.ceil(w) + 1);
		let most = 1;
		for (let i = 0; i < E.length; i++) most = Math.max(most, ++bins[Math.floor(X[i] * k)]);
		g.fillStyle = C.msg;
		bins.forEach((n, x) => {
			if (n) g.fillRect(x, 30 - (14 * n) / most, 1, (14 * n) / most);
		});
		for (const i of marks)
			if (/loss|broker|truncate/.test(E[i].kind) && !/started|registered|unfenced/.test(E[i].text)) {
				area(g, C.bad, X[i] * k - 1, 2, 2, 28);
			}
		const a = left * k,
			b = Math.min(w, a + ((W - GUTTER - 12) / scale) * k);
		if (b - a < w - 2) {
			area(g, alpha(C.ink, 0.12), 0, 0, a, 34);
			g.fillRect(b, 0, w, 34);
			g.strokeStyle = C.accent;
			g.lineWidth = 2;
			g.strokeRect(a + 1, 1, Math.max(6, b - a - 2), 32);
		}
		if (E.length) {
			area(g, C.cursor, X[cur] * k - 1, 0, 2, 34);
		}
	}

	// ------------------------------------------------------------------------------------------- words
	const range = (e) =>
		e.end - e.offset === 1 ? `record ${num(e.offset)}` : `records ${num(e.offset)} to ${num(e.end - 1)}`;
	function sentence(e) {
		const whole = words(e) + (e.far ? " Its numbers are beyond what can be drawn." : "");
		return whole.length > 240 ? whole.slice(0, 239) + "\u2026" : whole;
	}
	function words(e) {
		const b = `Broker ${e.broker}`;
		switch (e.kind) {
			case "produce":
				return `Leader ${e.broker} takes ${range(e)} from a client, ${e.text}${/^acks=1\b/.test(e.text) ? ": acknowledged at once" : ""}.`;
			case "ack": {
				const [id, err] = e.text.split(": ");
				return err === "NONE" ? `Request ${id} is acknowledged.` : `Request ${id} fails: ${err}.`;
			}
			case "fetch_request":
				return `${b} asks leader ${e.peer} for offset ${num(e.offset)} on.`;
			case "fetch_response":
				return /^0 bytes/.test(e.text)
					? `Leader ${e.peer} has nothing new for broker ${e.broker}; high watermark ${num(e.hw)}.`
					: /^\d+ bytes/.test(e.text)
						? `Leader ${e.peer} sends broker ${e.broker} from offset ${num(e.offset)} on: ${e.text}, high watermark ${num(e.hw)}.`
						: /^diverging/.test(e.text)
							? `Leader ${e.peer} tells broker ${e.broker} that their logs part: ${e.text}.`
							: `Leader ${e.peer} refuses broker ${e.broker}: ${e.text}.`;
			case "append":
				return e.end > e.offset ? `${b} appends ${range(e)}.` : `${b} cannot append: ${e.text}.`;
			case "high_watermark":
				return `${b}'s high watermark goes from ${num(e.offset)} to ${num(e.hw)}${e.peer < 0 ? "; consumers see records below it" : ""}.`;
			case "truncate":
				return `${b} cuts off ${range(e)}.`;
			case "loss":
				return `Lost: ${range(e)} (${e.text}). Broker ${e.broker} leads without them.`;
			case "role":
				return `${b} is ${e.text}${e.text === "follower" ? " of broker " + e.peer : ""} in epoch ${e.epoch}, log end ${num(e.end)}.`;
			case "isr_proposal":
				return `${b} proposes the ISR ${e.text}.`;
			case "isr_answer":
				return `The controller answers broker ${e.broker}: ${e.text}.`;
			case "isr":
				return `The ISR is ${e.text} now.`;
			case "election":
				return e.broker < 0
					? `No leader, epoch ${e.epoch} (${e.text}).`
					: `Broker ${e.broker} leads in epoch ${e.epoch}${e.peer >= 0 && e.peer !== e.broker ? ", after broker " + e.peer : ""} (${e.text}).`;
			case "replicas":
				return `The replicas are ${e.text}.`;
			case "broker":
				return `${b} ${/^(started|lost power|crashed)$/.test(e.text) ? e.text : "is " + e.text}.`;
			case "network":
				return e.peer < 0
					? `The link from broker ${e.broker} to the controller is ${e.text.split(" ").pop()}.`
					: `The link between brokers ${e.broker} and ${e.peer} is ${e.text.split(" ").pop()}.`;
			case "recovery":
				return `${b} opens its log: ${safe(e.text)}.`;
			case "marker":
				return e.end > e.offset
					? `Leader ${e.broker} takes the marker ${safe(e.text)} at ${num(e.offset)}.`
					: `Leader ${e.broker} refuses a marker: ${safe(e.text)}.`;
			case "transaction":
				return `Transaction ${safe(e.text.replace(/^(\w+) of (.*)$/s, "$2: $1"))}, producer ${e.producer}.`;
			case "notice":
				return `The controller tells broker ${e.broker} of epoch ${e.epoch}.`;
			case "deliver":
				return /^request/.test(e.text)
					? `The fetch of broker ${e.peer} reaches leader ${e.broker}${e.text.slice(7)}.`
					: e.text === "answer"
						? `The answer of leader ${e.peer} reaches broker ${e.broker}.`
						: e.text === "notice"
							? `The controller's notice reaches broker ${e.broker}.`
							: `The proposal of broker ${e.peer} reaches the controller.`;
			case "drop":
				return `${b} gives up a fetch from leader ${e.peer}: ${e.text}.`;
			case "throttled":
				return `${b} holds back ${e.text === "as leader" ? "the fetch of broker " + e.peer : "its own fetch"}: the quota is used up.`;
			case "log_start":
				return `${b}'s log starts at ${num(e.offset)}.`;
			case "topic":
				return `The topic is ${e.text}.`;
			case "promise":
				return `A promise is broken: ${safe(e.text)}.`;
			case "call":
				return `Called: ${safe(e.text)}`;
			default:
				return `${e.kind} ${safe(e.text)}`.trim() + ".";
		}
	}

	// ------------------------------------------------------------------------------------------- the logs, side by side
	function logs(s, e) {
		const box = $("logs"),
			rows = brokers.filter((b) => s.b[b].leo >= 0),
			hi = Math.max(
				1,
				...rows.map((b) => s.b[b].leo),
				/truncate|loss/.test(e?.kind) ? e.end : 1,
			);
		const wide = Math.max(7, Math.floor((box.clientWidth - 140) / 30));
		let lo = Math.min(...rows.map((b) => s.b[b].start), hi);
		const span = hi - lo,
			cells = span <= wide || ((lo = Math.max(lo, hi - wide)), hi - lo <= wide),
			cw = Math.min(44, Math.max(26, (box.clientWidth - 140) / Math.max(8, hi - lo)));
		const X0 = 92,
			width = X0 + (hi - lo) * cw + 48,
			height = 34 + rows.length * 44 + (s.b[s.leader]?.up ? 18 : 0),
			lead = s.b[s.leader],
			xOf = (o) => X0 + (o - lo) * cw;
		const out = svg("svg", {
			width,
			height,
			viewBox: `0 0 ${width} ${height}`,
			role: "img",
			"aria-label": rows
				.map(
					(b) =>
						`Broker ${b}: ${role(s.b[b])}, log end ${s.b[b].leo}, high watermark ${s.b[b].up && s.b[b].hw >= 0 ? s.b[b].hw : "unknown"}, epochs ${epochs(s.b[b]).map((g) => g[0] + " from " + g[1]).join(", ") || "none"}`,
				)
				.join(". "),
		});
		const step = [1, 2, 5, 10].find((n) => n * cw > 8 + 7 * num(hi).length); // Numbers do not touch.
		for (let o = lo; o < hi; o++)
			if ((o - lo) % step === 0)
				out.append(svg("text", { x: xOf(o) + cw / 2, y: 16, "text-anchor": "middle", class: "n" }, num(o)));
		if (lo > 0) out.append(svg("text", { x: X0 - 16, y: 16, class: "n" }, "\u2026"));
		rows.forEach((b, k) => {
			const r = s.b[b],
				y = 30 + k * 44;
			out.append(
				svg("text", { x: 0, y: y + 16 }, `${b} ${role(r)}`),
				svg("text", { x: 0, y: y + 31, class: "n" }, r.up ? inIsr(s, b, "in ISR", "out of ISR") : inIsr(s, b, "still in ISR", "")),
			);
			r.segs.forEach((sg, n) => {
				const to = n + 1 < r.segs.length ? r.segs[n + 1][1] : r.leo;
				for (let o = Math.max(sg[1], lo, r.start); o < to; o++) {
					const below = o < r.hw,
						rec = records.get(sg[0] + ":" + o),
						c = r.up ? ec(sg[0]) : C.down,
						x = xOf(o);
					const cell = svg("g", { class: "cell" });
					cell.addEventListener("click", () => tell(o));
					cell.append(
						svg("rect", {
							x: x + 1,
							y,
							width: cw - 2,
							height: 34,
							rx: 3,
							fill: below ? c : alpha(c, 0.2),
							stroke: c,
							"stroke-width": 1.5,
						}),
					);
					const t = svg("text", { x: x + cw / 2, y: y + 22, "text-anchor": "middle" }, sg[0] < 0 ? "?" : sg[0]);
					if (below) t.style.fill = C.paper;
					cell.append(t);
					if (txnOf(s, o) === "aborted")
						for (const d of [`M${x + 2} ${y + 33}L${x + cw - 2} ${y + 1}`, `M${x + 2} ${y + 1}L${x + cw - 2} ${y + 33}`])
							cell.append(svg("path", { d, stroke: below ? C.paper : c, "stroke-width": 1 }));
					cell.append(
						svg(
							"title",
							{},
							`offset ${o}, epoch ${sg[0] < 0 ? "unknown" : sg[0]}, ${below ? "committed" : "above the high watermark"}` +
								(txnOf(s, o) ? `, transaction ${txnOf(s, o)}` : "") +
								(rec ? `\nkey ${shown(rec[3])}\nvalue ${shown(rec[4])}` : ""),
						),
					);
					out.append(cell);
				}
			});
			if (r.leo <= lo && lo > 0) out.append(svg("text", { x: X0 + 4, y: y + 22, class: "n" }, `ends at ${num(r.leo)}`));
			if (e && e.broker === b && e.end > e.offset && /^(produce|append|truncate|loss)$/.test(e.kind)) {
				const gone = /truncate|loss/.test(e.kind),
					from = Math.max(lo, e.offset);
				out.append(
					svg("rect", {
						x: xOf(from) - 1,
						y: y - 3,
						width: Math.max(4, (e.end - from) * cw + 2),
						height: 40,
						rx: 5,
						fill: "none",
						stroke: gone ? C.bad : C.cursor,
						"stroke-width": 2.5,
						"stroke-dasharray": gone ? "5 4" : "none",
					}),
				);
				if (gone)
					out.append(svg("text", { x: xOf(e.end) + 6, y: y + 21 }, e.kind === "loss" ? "lost" : "cut"));
			}
			if (r.hw >= lo && r.up)
				out.append(svg("rect", { x: xOf(r.hw) - 1.5, y: y - 4, width: 3, height: 42, fill: C.hw }));
		});
		if (lead && lead.up && lead.hw >= lo) {
			out.append(svg("text", { x: Math.min(xOf(lead.hw), width - 40), y: height - 6, "text-anchor": "middle" }, `hw ${num(lead.hw)}`));
		}
		box.replaceChildren(rows.length ? out : el("p", "Nothing is known of the logs yet."));
	}

	// ------------------------------------------------------------------------------------------- the list, only what is in sight
	let shownList = [],
		onlyKey = true,
		query = "";
	const ROW = 40;
	function refill() {
		const q = query.toLowerCase();
		const at = /^#?\d+$/.test(q) ? +q.replace("#", "") : -1;
		shownList = (onlyKey && at < 0 ? marks : E.map((_, i) => i)).filter((i) => {
			const e = E[i];
			if (i < reach[0] || i > reach[1]) return false;
			if (at >= 0) return e.seq === at || (q[0] !== "#" && e.offset <= at && (at < e.end || at === e.hw));
			return !q || (e.kind + " " + sentence(e)).toLowerCase().includes(q);
		});
		$("list").replaceChildren();
		rows(true);
	}
	function rows(follow) {
		const box = $("list"),
			at = lower(shownList, cur + 1) - 1; // The last one at or before the cursor.
		if (follow && at >= 0) {
			const y = at * ROW;
			if (y < box.scrollTop || y > box.scrollTop + box.clientHeight - ROW) box.scrollTop = y - box.clientHeight / 3;
		}
		const a = Math.max(0, Math.floor(box.scrollTop / ROW) - 4),
			z = Math.min(shownList.length, a + Math.ceil(box.clientHeight / ROW) + 9),
			frag = document.createDocumentFragment();
		const pad = el("i");
		pad.style.cssText = `position:absolute;height:1px;width:1px;top:${shownList.length * ROW - 1}px`;
		frag.append(pad);
		for (let k = a; k < z; k++) {
			const i = shownList[k],
				e = E[i],
				d = el(
					"div",
					null,
					/loss|truncate|promise/.test(e.kind) || e.bad || /crashed|power|unclean|cut$|deleted|: (?!NONE)[A-Z]+_/.test(e.text)
						? "bad"
						: "",
				);
			d.id = "ev" + i;
			d.dataset.i = i;
			const says = { role: "option", "aria-setsize": shownList.length, "aria-posinset": k + 1, "aria-selected": i === cur };
			for (const a in says) d.setAttribute(a, says[a]);
			d.style.top = k * ROW + "px";
			d.append(el("span", num(e.seq)), el("p", (e.gap ? "? " : "") + sentence(e)));
			frag.append(d);
		}
		if (!shownList.length) frag.append(el("p", "No event."));
		box.replaceChildren(frag);
		box.setAttribute("role", shownList.length ? "listbox" : "note"); // A list box has options.
		if (shownList[at] === cur) box.setAttribute("aria-activedescendant", "ev" + cur);
		else box.removeAttribute("aria-activedescendant");
	}

	// ------------------------------------------------------------------------------------------- steps
	function go(i, keep) {
		if (!E.length) {
			draw();
			rows();
			logs(fresh());
			return;
		}
		cur = Math.max(reach[0], Math.min(reach[1], i));
		const e = E[cur],
			s = stateAt(cur),
			x = px(X[cur]);
		if (!keep && (x < GUTTER + 40 || x > W - 80)) {
			left = X[cur] - (W - GUTTER) / scale / 2;
			clampView();
		}
		const say = sentence(e);
		$("say").replaceChildren(/^Lost/.test(say) ? el("b", say) : document.createTextNode(say));
		$("where").textContent = `${num(e.seq)} of ${num(E[E.length - 1].seq)} \u00b7 ${ms(e.t)}`;
		const range = $("step");
		range.value = cur;
		range.setAttribute("aria-valuetext", `event ${e.seq}, ${ms(e.t)}: ${say}`);
		$("prev").disabled = $("first").disabled = cur === reach[0];
		$("next").disabled = $("last").disabled = cur === reach[1];
		logs(s, e);
		if (chosen >= 0) {
			const b = brokers[chosen],
				r = s.b[b];
			$("told").textContent = `Broker ${b}: ${role(r)}, log end ${r.leo < 0 ? "not known" : num(r.leo)}, high watermark ${mark(r, "not known") || "shown to nobody"}`;
		}
		$("state").replaceChildren(
			...brokers.map((b) => {
				const r = s.b[b],
					th = el("th", b);
				th.scope = "row";
				return rowOf(
					[th, role(r), r.ep < 0 ? "" : r.ep, r.leo < 0 ? "" : num(r.leo), mark(r, ""), inIsr(s, b, "yes", "no")],
					brokers[chosen] === b && "chosen",
				);
			}),
		);
		$("raw").replaceChildren(
			...Object.entries({
				seq: e.seq,
				time_ms: e.t,
				event: e.kind,
				broker: e.broker,
				peer: e.peer,
				leader_epoch: e.epoch,
				offset: e.offset,
				end_offset: e.end,
				hw: e.hw,
				detail: safe(e.text),
				producer_id: e.producer,
			})
				.filter(([, v]) => v !== -1 && v !== "")
				.flatMap(([k, v]) => [el("dt", k), el("dd", v)]),
		);
		rows(true);
		draw();
		clearTimeout(go.hash);
		go.hash = setTimeout(() => {
			try {
				history.replaceState(null, "", "#" + e.seq);
			} catch (_) {
				/* Some viewers forbid it. */
			}
		}, 200);
	}
	const toMark = (d) =>
		go(d > 0 ? (marks[lower(marks, cur + 1)] ?? E.length - 1) : (marks[lower(marks, cur) - 1] ?? 0));
	let timer = 0;
	function play(on) {
		clearInterval(timer);
		timer = 0;
		$("play").setAttribute("aria-pressed", on);
		$("play").textContent = on ? "\u275A\u275A" : "\u25B6";
		$("play").setAttribute("aria-label", on ? "Pause" : "Play");
		for (const id of ["say", "told"]) $(id).setAttribute("aria-live", on ? "off" : "polite");
		if (on) {
			if (cur === reach[1]) go(reach[0]);
			timer = setInterval(() => {
				if (cur >= reach[1]) play(false);
				else go(cur + 1);
			}, 600);
		}
	}
	function theme(name) {
		root.theme = name;
		$("theme").textContent = name === "dark" ? "Light" : "Dark";
		colours();
		legend();
		go(cur, true);
	}
	function legend() {
		const items = [
			["below the high watermark", C.e0],
			["above it", alpha(C.e0, 0.36)],
			["high watermark", C.hw],
			["next epoch", C.e1],
			["down", C.down],
			["lost, cut or refused", C.bad],
		];
		$("legend").replaceChildren(
			...items.map(([t, c]) => {
				const li = el("li"),
					i = el("i");
				i.style.background = c;
				if (t === "high watermark") i.style.cssText += "height:3px;vertical-align:3px";
				li.append(i, document.createTextNode(t));
				return li;
			}),
			el("li", "\u25bc produce  \u25cf acknowledged  \u2504 fetch  \u2500 answer"),
		);
	}

	function show(which, seq) {
		load(which);
		reach = [0, Math.max(0, E.length - 1)];
		let none = "";
		if (D.show && E.length) {
			const shown = E.flatMap((e, i) => (e.seq >= D.show[0] && e.seq <= D.show[1] ? [i] : []));
			if (shown.length) reach = [shown[0], shown[shown.length - 1]];
			else none = "; none at the time that was asked for";
		}
		chosen = -1;
		$("told").textContent = "A click on a record tells what became of its offset.";
		$("step").min = reach[0];
		$("step").max = reach[1];
		scale = 0;
		clampView();
		scale = Math.max(scale, W < 640 ? 9 : Math.min(14, fitScale()));
		const p = D.parts[part];
		$("title").textContent = p ? `${p[0]}-${p[1]}` : "highwater run";
		$("sum").textContent = E.length
			? `${num(E.length)} events from ${ms(E[0].t)} to ${ms(E[E.length - 1].t)}, ${brokers.length} replicas`
			: "no events";
		$("sum").textContent += none;
		for (const e of document.querySelectorAll(".bar button, .bar input")) e.disabled = !E.length;
		const gone = (D.gaps || []).reduce((sum, [, n]) => sum + n, 0);
		if (gone) $("sum").textContent += `; the journal has forgotten ${num(gone)}, where there is a ?`;
		const lost = D.lost.filter((l) => l[0] === part);
		$("lostcard").hidden = !lost.length;
		$("lost").replaceChildren(
			...lost.map((l) => rowOf([num(l[1]), l[5], l[2], l[3] === -1 ? "all" : (l[3] ?? "?"), l[4] ? "yes" : "no"])),
		);
		if (D.lost_more) {
			const td = el("td", `and ${num(D.lost_more)} more`);
			td.colSpan = 5;
			$("lost").append(rowOf([td]));
		}
		$("whycard").hidden = !whys.size;
		$("why").replaceChildren(
			...[...whys].flatMap(([o, text]) => {
				const dt = el("dt", num(o));
				dt.id = "why" + o;
				return [dt, el("dd", safe(text))];
			}),
		);
		const i = E.findIndex((e) => e.seq === seq);
		cur = 0;
		refill();
		go(i >= 0 ? i : reach[0]);
	}
	/* An offset of the moment was clicked: what became of it, as why() says at the end of the run. */
	function tell(offset) {
		const text = whys.get(offset);
		chosen = -1;
		go(cur, true);
		$("told").textContent = `Offset ${num(offset)}, at the end of the run: ${text === undefined ? "the page does not have its why()" : safe(text)}`;
	}
	function choose(d) {
		if (!brokers.length) return;
		chosen = chosen < 0 ? (d > 0 ? 0 : brokers.length - 1) : (chosen + d + brokers.length) % brokers.length;
		go(cur, true);
	}

	// ------------------------------------------------------------------------------------------- controls
	/* What each button does. */
	const does = {
		first: () => go(0),
		last: () => go(E.length - 1),
		prev: () => go(cur - 1),
		next: () => go(cur + 1),
		pmark: () => toMark(-1),
		nmark: () => toMark(1),
		play: () => play(!timer),
		zin: () => zoom(1.6),
		zout: () => zoom(1 / 1.6),
		fit: () => zoom(0),
		axis() {
			byTime = !byTime;
			$("axis").setAttribute("aria-pressed", byTime);
			layAxis();
			clampView();
			go(cur);
		},
		theme: () => theme(root.theme === "dark" ? "light" : "dark"),
		keys: () => $("help").showModal(),
		key() {
			onlyKey = !onlyKey;
			$("key").setAttribute("aria-pressed", onlyKey);
			refill();
		},
	};
	for (const id in does) $(id).addEventListener("click", does[id]);
	$("find").addEventListener("input", (ev) => {
		query = ev.target.value;
		refill();
	});
	$("find").addEventListener("keydown", (ev) => {
		if (ev.key === "Enter" && shownList.length) go(shownList[lower(shownList, cur + 1)] ?? shownList[0]);
		if (ev.key !== "Escape") return;
		ev.target.value = query = "";
		refill();
		ev.target.blur();
	});
	$("step").addEventListener("input", (ev) => go(+ev.target.value));
	$("list").addEventListener("scroll", () => rows(false));
	$("list").addEventListener("click", (ev) => {
		const d = ev.target.closest("[role=option]");
		if (d) go(+d.dataset.i);
	});
	$("list").addEventListener("keydown", (ev) => {
		const d = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[ev.key];
		if (!d || !shownList.length) return;
		ev.preventDefault();
		const at = d > 0 ? lower(shownList, cur + 1) - 1 : lower(shownList, cur),
			to = shownList[Math.max(0, Math.min(shownList.length - 1, at + d))];
		if ((to - cur) * d > 0) go(to);
	});
	$("part").addEventListener("change", (ev) => show(+ev.target.value));
	document.addEventListener("keydown", (ev) => {
		if (
			ev.ctrlKey ||
			ev.metaKey ||
			ev.altKey ||
			(/^(INPUT|SELECT|TEXTAREA)$/.test(ev.target.tagName) && ev.target.type !== "range") ||
			$("help").open
		)
			return;
		if (ev.key === " " && ev.target.tagName === "BUTTON") return; // It is pressed.
		const keys = {
			ArrowRight: ev.shiftKey ? does.nmark : does.next,
			ArrowLeft: ev.shiftKey ? does.pmark : does.prev,
			ArrowUp: () => choose(-1),
			ArrowDown: () => choose(1),
			Home: does.first,
			End: does.last,
			"+": does.zin,
			"=": does.zin,
			"-": does.zout,
			0: does.fit,
			t: does.axis,
			T: does.axis,
			"/": () => $("find").focus(),
			"?": does.keys,
			" ": does.play,
		};
		const inBox = /^Arrow(Up|Down)$/.test(ev.key) && ev.target.closest("#list, .scroll, input");
		if (keys[ev.key] && !inBox) {
			ev.preventDefault();
			keys[ev.key]();
		}
	});
	let drag = null;
	const fingers = new Map(); // Two of them pinch.
	const spread = () => {
		const [a, b] = [...fingers.values()];
		return [Math.max(1, Math.abs(a - b)), (a + b) / 2];
	};
	$("chart").addEventListener("pointerdown", (ev) => {
		drag = { x: ev.offsetX, left, moved: false };
		fingers.set(ev.pointerId, ev.offsetX);
	});
	for (const end of ["pointerup", "pointercancel"]) window.addEventListener(end, (ev) => fingers.delete(ev.pointerId));
	$("chart").addEventListener("pointermove", (ev) => {
		if (!drag || !ev.buttons) return;
		if (fingers.size === 2 && fingers.has(ev.pointerId)) {
			const [before] = spread();
			fingers.set(ev.pointerId, ev.offsetX);
			const [after, middle] = spread();
			drag.moved = true;
			zoom(after / before, middle);
			return;
		}
		if (Math.abs(ev.offsetX - drag.x) > 4) drag.moved = true;
		if (drag.moved) {
			left = drag.left - (ev.offsetX - drag.x) / scale;
			redraw();
		}
	});
	window.addEventListener("pointerup", (ev) => {
		if (drag && !drag.moved && ev.target === $("chart")) {
			const x = left + (ev.offsetX - GUTTER) / scale,
				j = lower(X, x);
			go(j && (j === E.length || x - X[j - 1] < X[j] - x) ? j - 1 : j, true);
		}
		drag = null;
	});
	$("chart").addEventListener(
		"wheel",
		(ev) => {
			if (ev.ctrlKey) {
				ev.preventDefault();
				zoom(ev.deltaY < 0 ? 1.2 : 1 / 1.2, ev.offsetX);
			} else if (ev.deltaX || ev.shiftKey) {
				ev.preventDefault();
				left += (ev.deltaX || ev.deltaY) / scale;
				redraw();
			}
		},
		{ passive: false },
	);
	const scrub = (ev) => {
		if (ev.type === "pointerdown" || ev.buttons) {
			left = (ev.offsetX / $("map").clientWidth) * total() - (W - GUTTER) / scale / 2;
			redraw();
		}
	};
	$("map").addEventListener("pointerdown", scrub);
	$("map").addEventListener("pointermove", scrub);
	new ResizeObserver(() => {
		if ($("chart").clientWidth !== W) {
			W = $("chart").clientWidth;
			go(cur, true);
		}
	}).observe($("chart"));
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (ev) => theme(ev.matches ? "dark" : "light"));
	let before = "light";
	window.addEventListener("beforeprint", () => {
		before = root.theme;
		theme("light");
		paint();
	});
	window.addEventListener("afterprint", () => theme(before));

	if (D.parts.length > 1) {
		$("part").hidden = false;
		D.parts.forEach((p, i) => {
			const o = el("option", `${p[0]}-${p[1]}`);
			o.value = i;
			$("part").append(o);
		});
	}
	W = $("chart").clientWidth || 1000;
	root.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
	colours();
	show(0, +location.hash.slice(1) || NaN);
	theme(root.theme);
	window.highwater = {
		get events() {
			return E;
		},
		get marks() {
			return marks;
		},
		go,
		paint,
		show,
		state() {
			const s = stateAt(cur);
			for (const r of Object.values(s.b)) r.segs = epochs(r);
			return s;
		},
		final: () => D.final.filter((f) => f[0] === part),
		get current() {
			return cur;
		},
		get view() {
			return { left, scale, GUTTER, W, byTime, X };
		},
	}; // For tests.
})();
