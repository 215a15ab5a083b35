#!/usr/bin/env python3
"""Tables of what counting the board's memory changes: `board_memory.py [SAGEN] [--only TEXT] [--boards A,B] [--write]`.

For each program and board: the array that is the fastest with ideal memory (`--memory ideal --objective cycles`), the
fastest with the board's memory (`--objective cycles`), and the default. Cycles are those with the board's memory.
`--write` writes docs/results/board_memory.md. Results are kept in `--cache`, so a run that is stopped can go on.
"""
import argparse
import json
import subprocess
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BOARDS = ["u250", "kv260", "pynq-z2", "arty-a7-100"]
WAYS = {
    "ideal": ["--memory", "ideal", "--objective", "cycles"],
    "fastest": ["--objective", "cycles"],
    "default": [],
}


def programs():
    """Name, group, file and options of every program."""
    for folder, group in [("examples", "Examples"), ("tests/polybench", "PolyBench")]:
        for file in sorted((ROOT / folder).glob("*.c")):
            if file.name not in ("network.c", "la.c", "layer.c"):
                yield file.stem, group, file, []
    for net in ("vgg16", "resnet50"):
        for layer in tomllib.loads((ROOT / f"examples/{net}.toml").read_text())["layer"]:
            macros = [f"-D{k}={v}" for k, v in layer["define"].items()]
            yield f"{net} {layer['name']}", "Networks", ROOT / "examples/layer.c", macros
    mm = ROOT / "examples/mm.c"
    yield "mm 256", "Large products", mm, ["-DN=256"]
    yield "mm 1024", "Large products", mm, ["-DN=1024"]


def key(board, group, name, way):
    return f"{board}|{group}|{name}|{way}"


def measure(sagen, board, file, options, way):
    with tempfile.TemporaryDirectory() as out:
        command = [sagen, "rtl", "--board", board, str(file), *options, *WAYS[way], "--json", "-o", f"{out}/ip"]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=600)
        except subprocess.TimeoutExpired:
            return None
        if run.returncode != 0:
            return None
        report = json.loads(run.stdout)
        return report["predicted_cycles_board"], report["resources"]["lut"]


def cell(result):
    return f"{result[0]:,} | {result[1]:,}" if result else "– | –"


def table(cache, board, group):
    rows = []
    for name, of, _, _ in programs():
        results = [cache.get(key(board, of, name, way)) for way in WAYS]
        if of == group and any(results):
            rows.append(f"| {name} | " + " | ".join(cell(r) for r in results) + " |")
    if not rows:
        return ""
    head = "| program | ideal: cycles | LUT | fastest: cycles | LUT | default: cycles | LUT |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
    return f"\n### {group}\n\n{head}" + "\n".join(rows) + "\n"


def slower(cache):
    """Programs whose fastest array is slower than the one that ideal memory chooses."""
    found = []
    for board in BOARDS:
        for name, group, _, _ in programs():
            old, new = (cache.get(key(board, group, name, way)) for way in ("ideal", "fastest"))
            if old and new and new[0] > old[0]:
                found.append(f"{name} on {board} ({old[0]:,} → {new[0]:,})")
    return found


def page(cache):
    text = """# Arrays for the board's memory

Cycles are those with the memory of the board ([the model](../boards.md#the-memory)); LUT are estimates. *ideal* is the array
that is the fastest with ideal memory, which sagen chose before it counted the board's memory. *fastest* is
`--objective cycles`, *default* is `--objective balanced`. Made by `scripts/board_memory.py`.
"""
    for board in BOARDS:
        tables = "".join(table(cache, board, g) for g in ("Examples", "PolyBench", "Networks", "Large products"))
        text += f"\n## {board}\n{tables}" if tables else ""
    worse = slower(cache)
    text += "\n## Slower than before\n\n" + ("\n".join(f"- {w}" for w in worse) if worse else "None of them.") + "\n"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sagen", nargs="?", default=str(ROOT / "target/release/sagen"))
    parser.add_argument("--only", default="")
    parser.add_argument("--boards", default=",".join(BOARDS))
    parser.add_argument("--cache", default=str(ROOT / "target/board_memory.json"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    cache_file = Path(args.cache)
    cache = json.loads(cache_file.read_text()) if cache_file.exists() else {}
    tasks = [
        (key(board, group, name, way), board, file, options, way)
        for name, group, file, options in programs()
        if args.only in f"{group} {name}"
        for board in args.boards.split(",")
        for way in WAYS
        if key(board, group, name, way) not in cache
    ]

    def work(task):
        at, board, file, options, way = task
        cache[at] = measure(args.sagen, board, file, options, way)
        print(at, cache[at], flush=True)
        cache_file.write_text(json.dumps(dict(cache)))

    with ThreadPoolExecutor(args.jobs) as pool:
        list(pool.map(work, tasks))
    if args.write:
        (ROOT / "docs/results/board_memory.md").write_text(page(cache))


if __name__ == "__main__":
    main()
