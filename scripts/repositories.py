#!/usr/bin/env python3
"""Runs sagen on the C files of a checkout as they are: `repositories.py CHECKOUT… [--sagen SAGEN] [--only TEXT] [--sim]`.

Files with `#pragma scop` (AutoSA, PolyBench, Pluto) are compiled unchanged, with the folders of their headers. In other files
(MachSuite, pp4fpgas, HLS tutorials, darknet) each function that has a loop over arrays becomes a region: the script puts
`#pragma scop` behind its opening brace and `#pragma endscop` in front of its last `return` or closing brace, in a copy beside
the other files, and changes nothing else. It prints one row a function: file, function, seconds of processor time, MB of memory at
most, and `array` or the codes and the first line of the refusal; then totals. Exits 1 if sagen ends in any other way than with
an array or a refusal.

--sim compares each array with the C program (slow for large sizes). --limit is the processor time of one run in seconds.
PolyBench at its large sizes: `repositories.py PolyBenchC --options='-D LARGE_DATASET -D POLYBENCH_USE_SCALAR_LB'`.
"""
import argparse
import collections
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = {".c", ".cpp", ".cc", ".cxx"}
SCOP = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+(scop|sa)\b", re.M)
HEAD = re.compile(r"([A-Za-z_]\w*)\s*\([^;{}()]*(?:\([^()]*\)[^;{}()]*)*\)\s*(?:const\s*)?\{")
KEYWORDS = {"if", "for", "while", "switch", "catch", "sizeof", "return"}


def blanked(text):
    """The text with comments, strings and directives replaced by blanks: offsets stay."""
    pattern = r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*"
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S | re.M)


def functions(text):
    """(name, offset behind the opening brace, offset of the end of the region) of each function with loops over arrays."""
    plain = blanked(text)
    for head in HEAD.finditer(plain):
        name, start = head.group(1), head.end()
        if name in KEYWORDS or name == "main":
            continue
        depth, end = 1, start
        while end < len(plain) and depth:
            depth += {"{": 1, "}": -1}.get(plain[end], 0)
            end += 1
        body = plain[start : end - 1]
        if not re.search(r"\b(for|while)\b", body) or "[" not in body and "*" not in body:
            continue
        last = re.search(r"\breturn\b[^;]*;\s*$", body)
        yield name, start, start + (last.start() if last else len(body.rstrip()))


def marked(text, start, end):
    """The text with a region from `start` to `end`."""
    return f"{text[:start]}\n#pragma scop\n{text[start:end]}\n#pragma endscop\n{text[end:]}"


def programs(checkout, only):
    """(file, function or None, text or None): what is run; without a text the file is taken as it is."""
    for path in sorted(p for p in checkout.rglob("*") if p.suffix in SOURCES and p.is_file()):
        if only not in str(path):
            continue
        text = path.read_text(errors="replace")
        if SCOP.search(text):
            yield path, None, None
        else:
            for name, start, end in functions(text):
                yield path, name, marked(text, start, end)


def include_folders(checkout):
    """Every folder of the checkout that has headers."""
    return sorted({str(p.parent) for p in checkout.rglob("*.h*") if p.suffix in {".h", ".hpp"}})


def outcome(status, output, seconds, limit):
    """One word or the codes, and the first message."""
    if status == 0:
        return "array", ""
    if seconds >= limit:
        return "time", f"no answer in {limit} s"
    errors = re.findall(r"^\[?(?:error\[)?(E\d{4})\]?\]? Error: (.*)$", output, re.M)
    if status in (1, 2) and errors:
        codes = sorted(collections.Counter(code for code, _ in errors))
        return " ".join(codes), errors[0][1]
    lines = [line for line in output.splitlines() if line.strip()]
    return ("refused" if status in (1, 2) else f"exit {status}"), (lines[0] if lines else "")


def measured(command, limit):
    """Status, messages, seconds of processor time and MB at most of a command, which is stopped after `limit` seconds."""
    def limited():
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    with tempfile.TemporaryFile() as messages:
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=messages, preexec_fn=limited)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        messages.seek(0)
        text = messages.read().decode(errors="replace")
    return child.returncode, text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def run(args, checkout, program):
    path, name, text = program
    limit = args.limit
    with tempfile.TemporaryDirectory(prefix="sagen-repositories-") as folder:
        source = path
        if text is not None:
            source = Path(folder) / path.name
            source.write_text(text)
        command = [args.sagen, "sim" if args.sim else "rtl", str(source), "-I", str(path.parent)]
        for include in include_folders(checkout)[:40]:
            command += ["-I", include]
        command += args.options
        if not args.sim:
            command += ["-o", f"{folder}/out"]
        status, output, seconds, megabytes = measured(command, limit)
        shutil.rmtree(f"{folder}/out", ignore_errors=True)
    word, message = outcome(status, output, seconds, limit)
    return path, name, seconds, megabytes, word, message


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", nargs="+", type=Path)
    parser.add_argument("--sagen", default=str(ROOT / "target/release/sagen"))
    parser.add_argument("--only", default="", help="only files with this text in their path")
    parser.add_argument("--sim", action="store_true", help="compare each array with the C program")
    parser.add_argument("--limit", type=int, default=60, help="seconds of processor time of one run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--options", type=str.split, default=[], help="options of sagen, such as '-D N=8'")
    args = parser.parse_args()
    faults = 0
    for checkout in args.checkouts:
        totals = collections.Counter()
        jobs = list(programs(checkout, args.only))
        with ThreadPoolExecutor(args.jobs) as pool:
            for path, name, seconds, megabytes, word, message in pool.map(lambda p: run(args, checkout, p), jobs):
                where = str(path.relative_to(checkout)) + (f":{name}" if name else "")
                print(f"{where:60} {seconds:6.1f} s {megabytes:6.0f} MB  {word:12} {message}", flush=True)
                totals[word] += 1
                faults += word.startswith("exit")
        print(f"{checkout.name}: {totals['array']} of {sum(totals.values())}; "
              + ", ".join(f"{word} {n}" for word, n in totals.most_common() if word != "array"))
    sys.exit(1 if faults else 0)


main()
