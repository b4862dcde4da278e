#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Makes a page with more events than a journal holds: those of a page again and again, each time with larger offsets.

usage: repeat.py page.html OUT.html EVENTS
"""

import json
import sys

page, out, wanted = open(sys.argv[1]).read(), sys.argv[2], int(sys.argv[3])
start = page.index('id="data">') + len('id="data">')
end = page.index("</script>", start)
data = json.loads(page[start:end])
OFFSETS = (7, 8, 9)
rows = data["events"]
growth = max(row[8] for row in rows)
data["events"] = [
    [n + growth * (at // len(rows)) if i in OFFSETS and n >= 0 else n for i, n in enumerate(rows[at % len(rows)][:11])]
    for at in range(wanted)
]
data["final"] = []
open(out, "w").write(page[:start] + json.dumps(data, separators=(",", ":")) + page[end:])
