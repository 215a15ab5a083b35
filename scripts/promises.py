#!/usr/bin/env python3
"""What docs/promises.md says, held against the tests: `promises.py [--write] [--cost SAGEN]`.

Each row of a table of promises must name what keeps it: a test (`cli::files::a_full_disk_is_no_success`; an ellipsis stands for
the rest of a name), a proof, a mode of scripts/axi_check, a script or a command. What it names must exist. The section "In
figures" is counted here. Exits 1 if a row names nothing, or if something named does not exist; a figure that is not the present one
is told.

--write corrects the figures. --cost measures what the guards of the bus cost, too: it writes IPs with SAGEN and synthesizes
them with Yosys, which takes some minutes; without it the page's figures of the cost stay.
"""
import argparse
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/promises.md"
FIGURES = "## In figures"


def read(name):
    return (ROOT / name).read_text()


def module(name):
    spec = importlib.util.spec_from_file_location(Path(name).stem, ROOT / name)
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def rust_files(*folders):
    for folder in folders:
        yield from sorted(f for f in (ROOT / folder).rglob("*.rs") if "target" not in f.parts)


def tests():
    """(file, function) of every test."""
    for file in rust_files("tests", "arch", "frontend", "templates", "rtl", "packaging", "constraints", "gpu", "src"):
        for name in re.findall(r"#\[test\]\s*(?:#\[[^\n]*\]\s*)*fn (\w+)", file.read_text()):
            yield file.relative_to(ROOT), name


# ---------------------------------------------------------------- rows

def section(text, title):
    return text.split(f"\n{title}\n", 1)[1].split("\n## ", 1)[0] if f"\n{title}\n" in text else ""


def promises(text):
    """(heading, promise, what keeps it) of each row."""
    heading, inside = "", False
    for line in text.splitlines():
        if line.startswith("## "):
            heading = line[3:]
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells[:2] == ["promise", "tested by"]:
            inside = True
        elif not cells:
            inside = False
        elif inside and not set(cells[0]) <= {"-", " "}:
            yield heading, cells[0], cells[1]


def exists(word, functions, modes):
    """Whether what a row names in backquotes exists; `None` if it is no name of a test, a mode or a file."""
    if word in modes:
        return True
    if re.fullmatch(r"[\w-]+(/[\w.-]+)+", word):
        return word.startswith(("scripts/", "tests/")) and (ROOT / word).exists()
    command = re.match(r"-p (\w+) --test suite (\w+)$", word)
    if command:
        crate, name = command.groups()
        folders = [f for f in functions if crate in f[0].parts]
        return any(name in function or name in file.stem for file, function in folders)
    if "…" in word or re.fullmatch(r"\w+(::\w*)+", word):
        *path, name = word.strip("…").split("::")
        begins, path = word.endswith("…") or name == "", [p for p in path if p]
        inside = [f for f in functions if all(p in f[0].parts or p == f[0].stem for p in path)]
        return any(function == name or begins and function.startswith(name) for _, function in inside)
    if word.startswith("sagen ") or word.startswith("cargo "):
        return True
    return None


def faults(text):
    functions = list(tests())
    modes = set(gates()[1])
    before = ""
    for heading, promise, kept in promises(text):
        names = [(word, exists(word, functions, modes)) for word in re.findall(r"`([^`]+)`", kept)]
        missing = [word for word, there in names if there is False]
        if missing:
            yield f"{heading}: {promise}: there is no {', '.join(missing)}"
        by_proof = re.search(r"\bproofs?\b", kept)
        linked = [target for target in re.findall(r"\]\(([^)#]+)", kept) if (PAGE.parent / target).exists()]
        same = re.match(r"the same\b", kept, re.I) and before
        if not (by_proof or linked or same or any(there for _, there in names)):
            yield f"{heading}: {promise}: nothing keeps it: {kept}"
        before = kept


# ---------------------------------------------------------------- figures

def gates():
    """Kinds of IP that scripts/gates.sh drives, modes, and edits that each must be found."""
    text = read("scripts/gates.sh")
    driven = re.findall(r"^gate driven (\w+)", text, re.M)
    modes = sorted({mode for part in re.findall(r"--modes ([a-z,]+)", text) for mode in part.split(",")})
    broken = section_of(text, "<<'EDITS'\n", "\nEDITS").splitlines()
    return driven, modes, broken


def section_of(text, begin, end):
    return text.split(begin, 1)[1].split(end, 1)[0]


def files(folder, ext=".c"):
    return sum(1 for f in (ROOT / folder).rglob(f"*{ext}"))


def counted():
    """Name and figure of each row that needs no synthesis."""
    functions = list(tests())
    driven, modes, broken = gates()
    prove = module("scripts/formal/prove.py")
    properties = sum(len(re.findall(r"\bassert\s*\(", f.read_text())) for f in (ROOT / "scripts/formal").glob("*.v"))
    attempts = section_of(read("tests/suite/cli/program.rs"), "fn a_program_is_confined", "\n}\n")
    attempts = re.findall(r"\", (true|false)\),$", attempts, re.M)
    table = section(PAGE.read_text(), "## Unsafe code")
    rows = re.findall(r"^\| `[^`]+\.rs` \| (\d+) \|", table, re.M)
    yield "tests", f"{len(functions)} functions, {sum(f[0].parts[:2] == ('tests', 'suite') for f in functions)} of them run the command"
    yield "programs that are run and compared", f"{files('tests/run')} C files, {files('tests/polybench')} of PolyBench, {files('tests/sizes')} with sizes, {files('tests/functions')} with functions"
    yield "programs that must be refused, with their messages", f"{files('tests/refuse')} C files"
    yield "attempts of a confined program", f"{attempts.count('true')} that must fail, {attempts.count('false')} that must succeed"
    yield "properties of engines and registers", f"{properties} assertions"
    yield "broken copies of engines that the proofs must find", f"{len(prove.MUTANTS) + len(prove.LENGTH_MUTANTS) + len(prove.stations.MUTANTS)}"
    yield "kinds of IP under bus models", f"{len(driven)} ({', '.join(driven)}), each without and with `--guard`"
    yield "modes of the bus models", f"{len(modes)} ({', '.join(modes)})"
    yield "broken copies that the bus models must find", f"{len(broken)}"
    yield "uses of `unsafe`", f"{sum(map(int, rows))} in {len(rows)} files"


PRODUCT = ["-D", "N=8", "--space", "i,j", "--tile", "i=4,j=4,k=8", "--latency", "i=2,j=2", "--simd", "k=2"]
# An IP for each number of ports: the name, and what `sagen rtl` gets.
COSTS = [
    ("one input, one output", ["scripts/axi_check/fixture/copy.c"]),
    ("a product", ["examples/mm.c", *PRODUCT]),
    ("a product of matrices with sizes", ["tests/sizes/mm.c", "--max", "m=7,n=6,k=5", "--space", "i,j", "--tile", "i=4,j=2"]),
]
COPY = "void copy(const int B[64], int A[64]) {\n#pragma scop\n  for (int i = 0; i < 64; i++)\n    A[i] = B[i];\n#pragma endscop\n}\n"


def synthesized(folder):
    top = json.loads((folder / "sim/axi_check.json").read_text())["top"]
    words = ["bash", str(ROOT / "scripts/resources.sh"), str(folder), top, "--json"]
    top = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)["modules"][0]
    return int(top["total"]["lut"]), int(top["total"]["ff"])


def costs(sagen):
    """What lengths cost, and the comparison with the end of the array: each IP with and without them, after synthesis."""
    with tempfile.TemporaryDirectory() as work:
        copy = Path(work) / "copy.c"
        copy.write_text(COPY)
        for n, (name, words) in enumerate(COSTS):
            words = [str(copy) if word.endswith("/copy.c") else word for word in words]
            made = []
            for guard in ([], ["--guard"]):
                folder = Path(work) / f"ip{n}{''.join(guard)}"
                subprocess.run([sagen, "rtl", *words, *guard, "-o", str(folder)], check=True, capture_output=True, cwd=ROOT)
                made.append(folder)
            ports = len(list((made[0] / "rtl").glob("*_axi_reader_*.v")) + list((made[0] / "rtl").glob("*_axi_writer_*.v")))
            plain, guarded = synthesized(made[0]), synthesized(made[1])
            for engine in (made[0] / "rtl").glob("*_axi_*er_*.v"):
                text = engine.read_text()
                engine.write_text(re.sub(r"wire row_inside = .*;", "wire row_inside = 1'b1;", text))
            bare = synthesized(made[0])
            differ = lambda a, b: f"{a[0] - b[0]} LUT, {a[1] - b[1]} FF"
            yield f"cost of the comparison with the array's end: {name}, {ports} engines", differ(plain, bare)
            yield f"cost of `--guard`: {name}, {ports} engines", differ(guarded, plain)


def rows_of(text):
    return dict(re.findall(r"^\| ([^|-].+?) \| (.+) \|$", section(text, FIGURES), re.M))


def figures(text, sagen):
    """The section with its present figures."""
    rows = list(counted())
    old = [(name, value) for name, value in rows_of(text).items() if name.startswith("cost of ")]
    rows += list(costs(sagen)) if sagen else old
    table = "".join(f"| {name} | {value} |\n" for name, value in rows)
    return (f"{FIGURES}\n\nMade by `scripts/promises.py --write`. `--cost SAGEN` adds what the guards of the bus cost in whole IPs, after synthesis (Yosys, UltraScale+).\n\n"
            f"| what | figure |\n| --- | --- |\n{table}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="correct the page's figures")
    parser.add_argument("--cost", metavar="SAGEN", help="measure what the guards cost")
    args = parser.parse_args()
    text = PAGE.read_text()
    new = figures(text, args.cost)
    before, rest = text.split(f"{FIGURES}\n", 1) if FIGURES in text else (text + "\n", "")
    behind = "\n## " + rest.split("\n## ", 1)[1] if "\n## " in rest else ""
    whole = before + new + behind
    found = list(faults(text))
    if args.write or args.cost:
        PAGE.write_text(whole)
    elif whole != text:
        stale = [name for name, value in rows_of(whole).items() if rows_of(text).get(name) != value]
        print(f"not the present figures (scripts/promises.py --write corrects them): {', '.join(stale) or 'the text'}")
    print("\n".join(found), file=sys.stderr) if found else print(f"{len(list(promises(text)))} promises, each with what keeps it")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
