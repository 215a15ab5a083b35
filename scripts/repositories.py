#!/usr/bin/env python3
"""Runs sagen on the C files of checkouts as they are: `repositories.py CHECKOUT… [--sagen SAGEN] [--only TEXT] [--sim]`.

Files with `#pragma scop` (AutoSA, PolyBench, Pluto) are compiled unchanged. In other files (MachSuite, pp4fpgas, HLS tutorials,
darknet) each kernel becomes a region: the script puts `#pragma scop` behind the function's opening brace and `#pragma endscop`
in front of its last `return` or closing brace, in a copy, and changes nothing else. If that gives no array, the region is
the function's loops. What the preprocessor leaves out is no kernel.

A kernel is a function that has a loop over arrays and calls nothing that only a host can do: files, printing, memory, random
numbers, the time, threads. Test benches, hosts and drivers are left out by the names of their files. For the repositories that
this script knows, it takes only the folders of their kernels (FOLDERS). A function that stands in two files is run once.

The folders of included files become `-I`. `--max N` gives every parameter that sagen asks a maximum for that maximum, as its
message says. `--math approx` is given where the message asks for it.

It prints one row a kernel: file, function, seconds of processor time, MB of memory at most, `array` or the codes and the first
line of the refusal, and the options that were given. Then totals, and the kinds of refusals. Exits 1 if sagen ends in any other
way than with an array or a refusal.

--sim compares each array with the C program (slow for large sizes). --front only reads the programs. --limit is the processor
time of one run in seconds.
PolyBench at its large sizes: `repositories.py PolyBenchC --options='-D LARGE_DATASET -D POLYBENCH_USE_SCALAR_LB'`.
"""
import argparse
import collections
import functools
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
# What only a host can do.
HOST_CALL = re.compile(
    r"\b(?:f?printf|sn?printf|f?puts|putchar|f?scanf|fopen|fclose|f?gets|fread|fwrite|fseek|malloc|calloc|realloc|free|exit|abort"
    r"|s?rand|clock|time|gettimeofday|pthread_\w+|x?calloc|error|perror|getenv|str\w+|new|delete|throw|try)\b\s*\(?"
    r"|\b(?:std|cv|xcl|cl)::|\bcout\b|\bFILE\b"
)
HOST_FILE = re.compile(r"(?i)test|_tb\b|\btb_|testbench|host|main\.|golden|bench\.|utils?\b|_support|xcl|generate\.")
# Folders of kernels of known repositories, and what in them is not a kernel.
FOLDERS = {
    "PolyBenchC-4.2.1": ([""], "utilities|template"),
    "CMSIS-NN": (["Source"], None),
    "darknet": (["src"], None),
    "liquid-dsp": (["src"], r"autotest|bench|_test|/tests/"),
    "pluto": (["examples"], None),
    "polymer": (["example/polybench/EXTRALARGE", "example/handwritten", "example/phism"], "utilities"),
    "scalehls": (["samples"], None),
    "pp4fpgas": (["examples"], None),
    "allo": (["tests"], None),
    "AutoSA": (["autosa_tests"], r"kernel_opt"),
}
KEYWORDS = {"if", "for", "while", "switch", "catch", "sizeof", "return"}


def blanked(text):
    """The text with comments, strings and directives replaced by blanks: offsets stay."""
    pattern = r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*"
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S | re.M)


def functions(text):
    """(name, text, regions) of each kernel; a region is a pair of offsets: the whole body, or its loops."""
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
        if not re.search(r"\b(for|while|do)\b", body) or "[" not in body and "*" not in body or HOST_CALL.search(body):
            continue
        last = re.search(r"\breturn\b[^;]*;\s*$", body)
        regions = [(start, start + (last.start() if last else len(body.rstrip())))]
        loops = top_loops(body)
        if loops:
            regions.append((start + loops[0][0], start + loops[-1][1]))
        yield name, re.sub(r"\s+", " ", plain[head.start() : end]), regions


def top_loops(body):
    """(start, end) of each loop of a function's body that stands in no other statement."""
    loops, depth, at = [], 0, 0
    while at < len(body):
        loop = re.compile(r"\b(for|while|do)\b").match(body, at) if depth == 0 else None
        if loop and (at == 0 or not re.match(r"\w", body[at - 1])):
            end = end_of_statement(body, at)
            loops.append((at, end))
            at = end
            continue
        depth += {"{": 1, "}": -1, "(": 1, ")": -1}.get(body[at], 0)
        at += 1
    return loops


def end_of_statement(body, at):
    """The offset behind the statement at `at`: behind its block, or its semicolon outside of parentheses."""
    depth, braces = 0, 0
    is_do = re.match(r"do\b", body[at:])
    while at < len(body):
        depth += {"(": 1, ")": -1}.get(body[at], 0)
        braces += {"{": 1, "}": -1}.get(body[at], 0)
        at += 1
        if depth == 0 and braces == 0 and (body[at - 1] == ";" or body[at - 1] == "}" and not is_do):
            return at
    return at


def marked(text, start, end):
    """The text with a region from `start` to `end`."""
    return f"{text[:start]}\n#pragma scop\n{text[start:end]}\n#pragma endscop\n{text[end:]}"


def sources(checkout, only):
    """The files of kernels of a checkout."""
    folders, left_out = FOLDERS.get(checkout.name, ([""], None))
    for folder in folders:
        for path in sorted(p for p in (checkout / folder).rglob("*") if p.suffix in SOURCES and p.is_file()):
            inside = str(path.relative_to(checkout))
            if only in inside and not HOST_FILE.search(path.name) and not (left_out and re.search(left_out, inside)):
                yield path


def programs(checkout, only):
    """(file, function or None, texts): what is run, one text after the other until one gives an array; without any text
    the file is taken as it is."""
    seen = set()
    for path in sources(checkout, only):
        text = path.read_text(errors="replace")
        if SCOP.search(text):
            yield path, None, [None]
            continue
        for name, whole, regions in functions(text):
            if whole not in seen:
                seen.add(whole)
                yield path, name, [marked(text, *region) for region in regions]


def include_folders(checkout, path):
    """The folders of the headers that a file includes, directly or through others: the nearest file of each name."""
    headers = headers_of(checkout)
    folders, files, seen = [], [path], set()
    while files:
        text = files.pop().read_text(errors="replace")
        for name in re.findall(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', text, re.M):
            found = [h for h in headers.get(Path(name).name, []) if h.as_posix().endswith("/" + name.lstrip("./"))]
            if name in seen or not found:
                continue
            seen.add(name)
            near = max(found, key=lambda h: (len(os.path.commonprefix([str(h), str(path)])), -len(str(h))))
            folder = str(near)[: -len(name)] if str(near).endswith("/" + name) else str(near.parent)
            folders += [folder] if folder not in folders else []
            files.append(near)
    return folders


@functools.lru_cache
def headers_of(checkout):
    """The headers of a checkout by name."""
    headers = collections.defaultdict(list)
    for path in sorted(checkout.rglob("*")):
        if path.suffix in {".h", ".hpp", ".c", ".cpp", ".inc"} and path.is_file():
            headers[path.name].append(path)
    return headers


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


def asked(output, given, limit):
    """The options that the messages ask for and that are not given yet."""
    names = re.findall(r"`(\w+)` is a parameter without a greatest value", output)
    has = {option.rpartition("=")[0] for option in given}
    options = [f"--max={name}={limit}" for name in dict.fromkeys(names) if f"--max={name}" not in has]
    # Arrays are too small for these maxima, or the types of sizes: smaller ones fit.
    sizes = [option for option in given if option.startswith("--max")]
    is_large = "E0411" in output or "not within 2 to" in output
    if not options and sizes and is_large and not sizes[0].endswith("=4"):
        least = int(sizes[0].rpartition("=")[2]) // 2
        given[:] = [option for option in given if option not in sizes]
        options = [f"{option.rpartition('=')[0]}={least}" for option in sizes]
    options += ["--math=approx"] if "--math approx" in output else []
    return [option for option in options if option not in given]


def run(args, checkout, program):
    """The outcome of the first text that gives an array, else that of the first one."""
    path, name, texts = program
    all_found = []
    for text in texts:
        all_found.append(run_text(args, checkout, path, name, text))
        if all_found[-1][2] in ("array", "no kernel"):
            break
    found = next((f for f in all_found if f[2] == "array"), all_found[0])
    return path, name, *found


def kept_name(checkout, path, name):
    return f"{checkout.name}_" + re.sub(r"\W+", "_", str(path.relative_to(checkout))) + (f"_{name}.txt" if name else ".txt")


def run_text(args, checkout, path, name, text):
    given, seconds = [], 0.0
    with tempfile.TemporaryDirectory(prefix="sagen-repositories-") as folder:
        source = path
        if text is not None:
            source = Path(folder) / path.name
            source.write_text(text)
        command = [args.sagen, "sim" if args.sim else "rtl", str(source), "-I", str(path.parent)]
        for include in include_folders(checkout, path):
            command += ["-I", include]
        command += args.options
        command += ["--emit=scop"] if args.front else [] if args.sim else ["-o", f"{folder}/out"]
        for _ in range(8):
            status, output, time, megabytes = measured(command + given, args.limit)
            seconds += time
            more = asked(output, given, args.max) if status else []
            if not more:
                break
            given += more
        if args.keep and status and not (args.keep / kept_name(checkout, path, name)).exists():
            args.keep.mkdir(parents=True, exist_ok=True)
            shown = output if text is None else f"{output}\n{text}"
            (args.keep / kept_name(checkout, path, name)).write_text(" ".join(command + given) + "\n" + shown)
    word, message = outcome(status, output, time, args.limit)
    if re.search(r"Error: (this file has no marked region|end of a region that was never begun)", output):
        word = "no kernel"
    return seconds, megabytes, word, " ".join([message, *given]).strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", nargs="+", type=Path)
    parser.add_argument("--sagen", default=str(ROOT / "target/release/sagen"))
    parser.add_argument("--only", default="", help="only files with this text in their path")
    parser.add_argument("--sim", action="store_true", help="compare each array with the C program")
    parser.add_argument("--front", action="store_true", help="only read the programs")
    parser.add_argument("--max", type=int, default=64, help="maximum of sizes that ask for one")
    parser.add_argument("--limit", type=int, default=60, help="seconds of processor time of one run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", type=Path, help="a folder for the messages of what is refused")
    parser.add_argument("--options", type=str.split, default=[], help="options of sagen, such as '-D N=8'")
    args = parser.parse_args()
    faults, table, kinds = 0, [], collections.Counter()
    for checkout in args.checkouts:
        totals = collections.Counter()
        jobs = list(programs(checkout, args.only))
        with ThreadPoolExecutor(args.jobs) as pool:
            for path, name, seconds, megabytes, word, message in pool.map(lambda p: run(args, checkout, p), jobs):
                if word == "no kernel":
                    continue
                where = str(path.relative_to(checkout)) + (f":{name}" if name else "")
                print(f"{where:60} {seconds:6.1f} s {megabytes:6.0f} MB  {word:12} {message}", flush=True)
                totals[word] += 1
                totals["unchanged" if name is None else "with the pragma"] += word == "array"
                kinds[re.sub(r"`[^`]*`", "`…`", re.sub(r" --m.*", "", message))] += word not in ("array", "time")
                faults += word.startswith("exit")
        refused = sum(n for word, n in totals.items() if word not in ("array", "unchanged", "with the pragma", "time"))
        kernels = sum(n for word, n in totals.items() if word not in ("unchanged", "with the pragma"))
        table.append((checkout.name, kernels, totals["unchanged"], totals["with the pragma"], refused, totals["time"]))
    print("\nmessages of refusals:")
    print("\n".join(f"{n:6} {kind}" for kind, n in kinds.most_common() if n))
    print(f"\n{'repository':50} {'kernels':>8} {'as it is':>8} {'pragma':>8} {'refused':>8} {'no time':>8}")
    for name, *row in [*table, ("all", *map(sum, zip(*[row[1:] for row in table])))]:
        print(f"{name:50} " + " ".join(f"{n:8}" for n in row))
    sys.exit(1 if faults else 0)


main()
