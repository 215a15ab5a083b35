#!/usr/bin/env python3
"""Tables of the arrays that sagen chooses by default: `defaults.py [SAGEN] [--only TEXT] [--boards A,B] [--write]`.

For each program and board: the array that is the fastest with ideal memory (`--memory ideal --objective cycles`), which
sagen chose before it counted the board's memory and size, and the default, beside the fastest array that its search
found. Cycles are those with the board's memory. --write writes docs/results/defaults.md. Results are kept in --cache, so a
run that is stopped can go on. A program that takes longer than --limit seconds of processor time has no numbers. Layers of
networks and large products are held against `sagen explore` (--explore), unless a bound says that nothing is faster by more
than --near percent.
"""
import argparse
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/results/defaults.md"
BOARDS = ["u250", "kv260", "pynq-z2", "arty-a7-100", "ulx3s"]
GROUPS = ["Examples", "PolyBench", "Networks", "Large products"]
WAYS = {"before": ["--memory", "ideal", "--objective", "cycles"], "default": []}
# Halving the share of the scarcest resource may cost so much, and halving the LUTs if these are not the scarcest
# (docs/explore.md, the balance).
HALVING = 1.1
LIGHTER = 1.02
# The way of `sagen explore`, and the groups that are held against it.
EXPLORE = "explore"
EXPLORED = ["Networks", "Large products"]
# Percent of a board that arrays may take, where its file says nothing else (boards/README.md).
MARGIN = {"lut": 70, "ff": 80, "dsp": 80, "bram36": 85, "uram": 85}
# An array that takes about as much of the board is no smaller.
ALIKE = 1.02


def programs():
    """Name, group, file and options of every program; layers of equal sizes once."""
    for folder, group in [("examples", "Examples"), ("tests/polybench", "PolyBench")]:
        for file in sorted((ROOT / folder).glob("*.c")):
            if file.name not in ("network.c", "la.c", "layer.c"):
                yield file.stem, group, file, []
    seen = set()
    for net in ("vgg16", "resnet50"):
        for layer in tomllib.loads((ROOT / f"examples/{net}.toml").read_text())["layer"]:
            macros = [f"-D{k}={v}" for k, v in layer["define"].items()]
            if tuple(macros) not in seen:
                seen.add(tuple(macros))
                yield f"{net} {layer['name']}", "Networks", ROOT / "examples/layer.c", macros
    for n in (256, 1024):
        yield f"mm {n}", "Large products", ROOT / "examples/mm.c", [f"-DN={n}"]


def key(board, group, name, way):
    return f"{board}|{group}|{name}|{way}"


def measure(args, board, file, options, way):
    """Cycles and resources, or why there are none; of the default also what limits it, and the fastest array found."""
    with tempfile.TemporaryDirectory() as out:
        command = [args.sagen, "rtl", "--board", board, str(file), *options, *WAYS[way], "--json", "-o", f"{out}/ip"]
        limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (args.limit, args.limit + 1))
        run = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)
    if run.returncode != 0:
        codes = sorted(set(re.findall(r"\b(E\d{4})\b", run.stderr))) if run.returncode > 0 else ["time"]
        return {"refused": " ".join(codes) or f"exit {run.returncode}"}
    report = json.loads(run.stdout)
    result = {"cycles": report["predicted_cycles_board"], **report["resources"]}
    if way == "default":
        search = report.get("search") or {}
        fastest = search.get("fastest")
        result |= {"limit": report["limit"], "bound": search.get("bound")}
        result["fastest"] = next((d for d in report["beside"] if d["cycles"] == fastest), None)
    return result


def explore(args, board, file, options):
    """What `sagen explore` finds in some seconds."""
    limit = ["--time-limit", f"{args.explore}s", "--json"]
    command = [args.sagen, "explore", "--board", board, str(file), *options, *limit]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"defaults.py: explore {file} on {board}: {run.stderr}")
    found = json.loads(run.stdout)
    return {"cycles": found["best"]["cycles"], "bound": found["bound"], "seconds": args.explore}


def fastest_of(default):
    """Cycles of the fastest array that the default's search found."""
    return (default["fastest"] or default)["cycles"]


def is_near(args, default):
    """Nothing is faster by more than --near percent, says the default's own bound."""
    return default["bound"] and fastest_of(default) <= default["bound"] * (1 + args.near / 100)


def has_array(result):
    return result is not None and "cycles" in result


def shares(board, need):
    """The share of each resource, of what the array may take."""
    file = tomllib.loads((ROOT / f"boards/{board}.toml").read_text())
    margin = MARGIN | file.get("margin", {})
    return {name: need[name] / (most * margin[name] / 100) for name, most in file["resources"].items() if most}


def share(board, need):
    """The share of the scarcest resource, of what the array may take."""
    return max(shares(board, need).values())


def allowed(board, old, new):
    """Cycles that the default may take for its size in place of those from before."""
    smaller = share(board, old) / share(board, new)
    halvings = math.log2(smaller) if smaller > ALIKE else 0
    # Half of the LUTs is half the size where LUTs are what is scarcest.
    is_light = shares(board, new)["lut"] < share(board, new)
    lighter = max(math.log2(old["lut"] / max(new["lut"], 1)) - halvings, 0) if is_light else 0
    return old["cycles"] * HALVING**halvings * LIGHTER**lighter


def pairs(cache, board):
    """Name, array from before and default of all programs that have both."""
    for name, group, _, _ in programs():
        old, new = (cache.get(key(board, group, name, way)) for way in WAYS)
        if has_array(old) and has_array(new):
            yield name, old, new


def cells(result):
    if not has_array(result):
        return [result["refused"] if result else "–", "", ""]
    return [f"{result[name]:,}" for name in ("cycles", "lut", "dsp")]


def limit_text(text):
    """The report's sentence, short enough for a table."""
    return text.split(":")[0].replace(" of the cycles", "")


HEAD = """
| program | before: cycles | LUT | DSP | default: cycles | LUT | DSP | limited by | fastest: cycles | LUT | DSP |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | ---: | ---: |
"""


def table(cache, board, group):
    rows = []
    for name, of, _, _ in programs():
        before, default = (cache.get(key(board, of, name, way)) for way in WAYS)
        if of == group and (before or default):
            limit, fastest = "", ["", "", ""]
            if has_array(default):
                limit = limit_text(default["limit"])
                fastest = cells(default["fastest"]) if default["fastest"] else ["same", "", ""]
            rows.append(" | ".join([f"| {name}", *cells(before), *cells(default), limit, *fastest]) + " |")
    return f"\n### {group}\n{HEAD}" + "\n".join(rows) + "\n" if rows else ""


def sums(cache):
    """A line for each board: how the programs' cycles and resources changed, as geometric means."""
    lines = ["| board | programs | cycles | LUT | DSP | scarcest resource |", "| --- | ---: | ---: | ---: | ---: | ---: |"]
    for board in BOARDS:
        both = list(pairs(cache, board))
        if not both:
            continue
        ratio = lambda of: math.exp(sum(math.log(of(new) / of(old)) for _, old, new in both) / len(both))
        ratios = [ratio(lambda r: max(r[name], 1)) for name in ("cycles", "lut", "dsp")]
        ratios.append(ratio(lambda r: share(board, r)))
        lines.append(f"| {board} | {len(both)} | " + " | ".join(f"× {r:.2f}" for r in ratios) + " |")
    return "\n".join(lines)


def slower(cache):
    """Rows of programs of which the default takes more cycles than its size explains, and of those refused now only."""
    rows = []
    for board in BOARDS:
        for name, old, new in pairs(cache, board):
            smaller = share(board, old) / share(board, new)
            if new["cycles"] > allowed(board, old, new):
                fastest = (new["fastest"] or new)["cycles"]
                more = f"{100 * (new['cycles'] / old['cycles'] - 1):.1f} %"
                rows.append([name, board, f"{old['cycles']:,}", f"{new['cycles']:,}", more, f"{1 / smaller:.2f}", f"{fastest:,}"])
    return rows


def lost(cache):
    """Programs that the default refuses, and that have an array with ideal memory."""
    for board in BOARDS:
        for name, group, _, _ in programs():
            old, new = (cache.get(key(board, group, name, way)) for way in WAYS)
            if has_array(old) and new and not has_array(new):
                yield f"{name} on {board}: {new['refused']}"


def explored(args, cache):
    """How far the fastest arrays of the choice are from what `sagen explore` finds."""
    summary = ["| board | programs | near by the bound | explored | the farthest |", "| --- | ---: | ---: | ---: | ---: |"]
    rows = [
        "| program | board | found by the choice | bound | `explore` | bound | more cycles |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for board in BOARDS:
        of = lambda group, name, way: cache.get(key(board, group, name, way))
        all_of = [(n, of(g, n, "default"), of(g, n, EXPLORE)) for n, g, _, _ in programs() if g in EXPLORED]
        all_of = [(name, default, found) for name, default, found in all_of if has_array(default)]
        far = [(name, default, found) for name, default, found in all_of if found and not is_near(args, default)]
        more = [100 * (fastest_of(default) / found["cycles"] - 1) for _, default, found in far]
        near = sum(map(lambda one: bool(is_near(args, one[1])), all_of))
        summary.append(f"| {board} | {len(all_of)} | {near} | {len(far)} | {f'{max(more):.1f} %' if far else ''} |")
        for (name, default, found), percent in zip(far, more):
            counts = (fastest_of(default), default["bound"], found["cycles"], found["bound"])
            cells = [name, board, *(f"{n:,}" for n in counts)]
            rows.append("| " + " | ".join(cells) + f" | {percent:.1f} % |")
    if len(rows) == 2:
        return ""
    return EXPLORED_TEXT.format(near=args.near, summary="\n".join(summary), rows="\n".join(rows))


EXPLORED_TEXT = """
## Beside `sagen explore`

Layers of the networks and large products: the fastest array that the choice found, beside what `sagen explore` finds in some
seconds (ten, where nothing else is said). *Near by the bound*: the choice's own proof says that no array takes less by more than
{near} %, so nothing has to be explored.

{summary}

The others:

{rows}
"""

TEXT = """# What sagen chooses by default

Made by `scripts/defaults.py` (do not edit). Cycles are those with the memory of the board ([the
model](../boards.md#the-memory)); LUT and DSP are estimates. *before* is the array that is the fastest with ideal memory
(`--memory ideal --objective cycles`), which sagen chose before it counted the board's memory and the size of the array.
*default* is what `sagen rtl` writes ([the balance](../explore.md#the-balance)), *fastest* the fastest array that it found
on the way, `--objective cycles`. A code stands where sagen refuses the program: `E0717` where no array fits the board. Layers
of equal sizes are measured once.{note}

## All programs

The default in place of the array from before, as geometric means. *Scarcest resource* is the array's greatest share of
what it may take of a resource.

{sums}
"""


def page(args, cache):
    text = TEXT.format(note=f" {args.note}" if args.note else "", sums=sums(cache))
    text += "\n## Slower than before\n\n"
    rows = slower(cache)
    if rows:
        text += f"The default takes more cycles than before, and more than its size explains: {100 * HALVING - 100:.0f} % for each time\nthat it takes half of what is scarcest, {100 * LIGHTER - 100:.0f} % for each further time that it takes half the LUTs. *Fastest found* is\nthe fastest array that the search of the default found.\n\n"
        rows = [["program", "board", "before", "default", "more cycles", "size", "fastest found"], ["---", "---", *["---:"] * 5], *rows]
        text += "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"
    else:
        text += f"No program takes more cycles than before, but up to {100 * HALVING - 100:.0f} % for each halving of the board's scarcest resource.\n"
    gone = list(lost(cache))
    text += "".join(f"\nRefused, though there is an array that ideal memory favours: {'; '.join(gone)}.\n" for _ in gone[:1])
    text += explored(args, cache)
    for board in BOARDS:
        tables = "".join(table(cache, board, group) for group in GROUPS)
        text += f"\n## {board}\n{tables}" if tables else ""
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    target = os.environ.get("CARGO_TARGET_DIR", ROOT / "target")
    parser.add_argument("sagen", nargs="?", default=str(Path(target) / "release/sagen"))
    parser.add_argument("--only", default="", help="programs whose group and name contain this")
    parser.add_argument("--boards", default=",".join(BOARDS))
    parser.add_argument("--cache", type=Path, default=ROOT / "target/defaults.json")
    parser.add_argument("--limit", type=int, default=200, help="processor time after which a run is ended [200 s]")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--explore", type=int, default=0, metavar="SECONDS", help="hold layers against `sagen explore`")
    parser.add_argument("--near", type=float, default=5, help="percent above the bound that need no exploring [5]")
    parser.add_argument("--kept", action="store_true", help="run nothing: the tables of what --cache has")
    parser.add_argument("--note", default="", help="a sentence for the page")
    parser.add_argument("--write", action="store_true", help="write docs/results/defaults.md")
    args = parser.parse_args()
    cache = json.loads(args.cache.read_text()) if args.cache.exists() else {}
    tasks = [
        (key(board, group, name, way), board, file, options, way)
        for of in GROUPS
        for board in args.boards.split(",")
        for name, group, file, options in programs()
        if group == of and args.only in f"{group} {name}" and not args.kept
        for way in WAYS
        if key(board, group, name, way) not in cache
    ]

    def work(task):
        at, board, file, options, way = task
        cache[at] = measure(args, board, file, options, way)
        print(at, cache[at], file=sys.stderr, flush=True)
        args.cache.write_text(json.dumps(dict(cache), indent=1))

    with ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(work, tasks))
    # One after the other: time is what these may take.
    for board in args.boards.split(",") if args.explore else []:
        for name, group, file, options in programs():
            at, default = key(board, group, name, EXPLORE), cache.get(key(board, group, name, "default"))
            wanted = group in EXPLORED and args.only in f"{group} {name}" and has_array(default)
            if wanted and not is_near(args, default) and at not in cache:
                cache[at] = explore(args, board, file, options)
                print(at, cache[at], file=sys.stderr, flush=True)
                args.cache.write_text(json.dumps(dict(cache), indent=1))
    text = page(args, cache)
    if args.write:
        PAGE.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
