#!/usr/bin/env python3
"""What sagen is made of: `scripts/supply.py [SBOM.json]`

Reads Cargo.lock through `cargo metadata` (no network where the crates are there), checks every crate that is linked into sagen
or used by its tests, and prints a summary:

- its source is this repository or crates.io, with the checksum of Cargo.lock,
- its licence allows what deny.toml allows,
- deny.toml, rules for `cargo deny`, is followed by `cargo deny` itself, if that is installed (advisories need the network).

With a file name it also writes a bill of materials (CycloneDX 1.5, JSON) of the crates that are linked into the released command.
Exits 1 at a fault.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRATES = "registry+https://github.com/rust-lang/crates.io-index"


def metadata():
    """Cargo's view of the workspace; from the network only if a crate is missing here."""
    for offline in (["--offline"], []):
        command = ["cargo", "metadata", "--format-version=1", "--locked", *offline]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode == 0:
            return json.loads(done.stdout)
    sys.exit(f"supply: {done.stderr.strip()}")


def toml_list(name):
    """The strings of a list in deny.toml (Python 3.9 reads no TOML)."""
    text = re.sub(r"#.*", "", (ROOT / "deny.toml").read_text())
    return set(re.findall(r'"([^"]+)"', re.search(rf"^{name} = \[(.*?)\]", text, re.S | re.M)[1]))


def checksums():
    """SHA-256 by name and version."""
    blocks = (ROOT / "Cargo.lock").read_text().split("[[package]]")[1:]
    field = lambda block, key: (re.search(rf'^{key} = "(.*)"$', block, re.M) or [None, None])[1]
    return {(field(b, "name"), field(b, "version")): field(b, "checksum") for b in blocks}


def allowed(expression, licences):
    """Whether an SPDX expression leaves a choice that is allowed: OR of ANDs of licences."""
    tokens = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))
    at = 0

    def alternatives():
        nonlocal at
        good = conjunction()
        while at < len(tokens) and tokens[at] == "OR":
            at += 1
            good = conjunction() or good
        return good

    def conjunction():
        nonlocal at
        good = licence()
        while at < len(tokens) and tokens[at] == "AND":
            at += 1
            good = licence() and good
        return good

    def licence():
        nonlocal at
        if tokens[at] == "(":
            at += 1
            good = alternatives()
            at += 1
            return good
        name = tokens[at]
        at += 1
        if at < len(tokens) and tokens[at] == "WITH":
            name += " WITH " + tokens[at + 1]
            at += 2
        return name in licences

    return alternatives() and at == len(tokens)


def linked(data):
    """The packages that the command `sagen` needs when it runs, for any system."""
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    first = next(p["id"] for p in data["packages"] if p["name"] == "sagen")
    found, open_ = {first}, [first]
    while open_:
        for dep in nodes[open_.pop()]["deps"]:
            normal = any(kind["kind"] is None for kind in dep["dep_kinds"])
            if normal and dep["pkg"] not in found:
                found.add(dep["pkg"])
                open_.append(dep["pkg"])
    return [p for p in data["packages"] if p["id"] in found]


def faults(data, sums):
    licences = toml_list("allow")
    for p in data["packages"]:
        name = f"{p['name']} {p['version']}"
        if p["source"] is None:
            if not Path(p["manifest_path"]).resolve().is_relative_to(ROOT):
                yield f"{name} comes from {p['manifest_path']}"
        elif p["source"] != CRATES:
            yield f"{name} comes from {p['source']}"
        elif not sums.get((p["name"], p["version"])):
            yield f"{name} has no checksum in Cargo.lock"
        if not p["license"] or not allowed(p["license"], licences):
            yield f"{name} has the licence {p['license']}, which deny.toml does not allow"


def component(p, sums):
    entry = {
        "type": "library",
        "bom-ref": f"pkg:cargo/{p['name']}@{p['version']}",
        "name": p["name"],
        "version": p["version"],
        "licenses": [{"expression": (p["license"] or "NOASSERTION").replace("/", " OR ")}],
        "purl": f"pkg:cargo/{p['name']}@{p['version']}",
    }
    checksum = sums.get((p["name"], p["version"]))
    return {**entry, "hashes": [{"alg": "SHA-256", "content": checksum}]} if checksum else entry


def bill(data, sums):
    """No date and no random number: the same sources give the same bytes."""
    parts = sorted(linked(data), key=lambda p: (p["name"], p["version"]))
    top = next(p for p in parts if p["name"] == "sagen")
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    ref = {p["id"]: f"pkg:cargo/{p['name']}@{p['version']}" for p in parts}
    needs = lambda p: sorted(ref[d["pkg"]] for d in nodes[p["id"]]["deps"] if d["pkg"] in ref)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {**component(top, sums), "type": "application"}},
        "components": [component(p, sums) for p in parts if p is not top],
        "dependencies": [{"ref": ref[p["id"]], "dependsOn": needs(p)} for p in parts],
    }


def main():
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        sys.exit(__doc__)
    data, sums = metadata(), checksums()
    wrong = list(faults(data, sums))
    for fault in wrong:
        print(f"supply: {fault}", file=sys.stderr)
    bom = bill(data, sums)
    if sys.argv[1:]:
        Path(sys.argv[1]).write_text(json.dumps(bom, indent=1) + "\n")
    if shutil.which("cargo-deny"):
        done = subprocess.run(["cargo", "deny", "--offline", "check", "licenses", "bans", "sources"], cwd=ROOT)
        wrong += ["cargo deny"] * (done.returncode != 0)
    if sys.stdout.isatty() or wrong or sys.argv[1:]:
        crates = [p for p in data["packages"] if p["source"]]
        print(f"supply: {len(crates)} crates, {len(bom['components'])} parts linked into sagen, {len(wrong)} faults")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
