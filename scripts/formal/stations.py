"""The stations on the way of an AXI port to a memory on another die (templates::axi::station), as one module with properties:
each item that the engine hands over comes to the memory once, in order and unchanged, however long the memory waits; each answer
comes back unchanged after a fixed time; a reset forgets all. Proved by induction, hence for runs of any length."""

import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Edits that the proof must detect: (text, replacement).
MUTANTS = [
    (r"(_left <= \d+'d)\d+;", r"\g<1>9;"),
    (r"(_sent = \w+ & )\w+;", r"\g<1>1'b1;"),
    (r"(_takes = \w+ & )\w+;", r"\g<1>1'b1;"),
    (r"(_fifo_one = )[^;]*;", r"\g<1>1'b1;"),
    (r"(\w+_valid_rx) <= 1'b0;", r"\1 <= \1;"),
    (r"(cross_b_rx) <= \w+;", r"\1 <= ~\1;"),
]


def ways(top, text_of):
    """The ways of the ports in a top module, each as the texts of its stations, from the engine on."""
    found = {}
    for module, port, place in re.findall(r"^ +(\w+_axi_station\w*) station(\d+)_(?:up|down)(\d+) \($", top, re.M):
        found.setdefault(int(port), []).append((int(place), module))
    return {port: [text_of(module) for _, module in sorted(all)] for port, all in found.items()}


def inlined(texts):
    """The stations side by side in one module. Names of the k-th one begin with `s<k>_`."""
    inputs, declared, body = [], [], []
    for k, text in enumerate(texts):
        head, rest = re.search(r"^module \w+ \(\n(.*?)\n\);\n(.*)^endmodule", text, re.M | re.S).groups()
        ports = re.findall(r"(input|output) +wire +(\[[^]]*\] )?(\w+)", head)
        names = {name for _, _, name in ports} | set(re.findall(r"^ +(?:reg|wire) +(?:\[[^]]*\] )?(\w+)", rest, re.M))
        names -= {"ap_clk", "live"}
        for way, bits, name in ports:
            if name in names:
                from_outside = way == "input" and not name.endswith("_in")
                (inputs if from_outside else declared).append(f"wire {bits}s{k}_{name}")
                # Items come from the station before, what goes back from the one behind.
                if way == "input" and not from_outside:
                    signal = name.removesuffix("_in")
                    out = re.match(r"(ar|aw|w)(_valid)?$", signal)
                    body.append(f"    assign s{k}_{name} = s{k - 1 if out else k + 1}_{signal}_out;\n")
        body.append(re.sub(r"\b[a-z]\w*\b", lambda m: f"s{k}_{m[0]}" if m[0] in names else m[0], rest))
    ports = ",\n".join(f"    input {port}" for port in ["wire ap_clk", "wire live"] + inputs)
    declarations = "".join(f"    {one};\n" for one in declared)
    return f"module way (\n{ports}\n);\n{declarations}{''.join(body)}"


def ask(channel, text, last):
    """The properties of a channel to the memory."""
    payload = {"ar": ["araddr", "arlen"], "aw": ["awaddr", "awlen"], "w": ["wdata", "wstrb", "wlast"]}[channel]
    bits = int(re.search(rf"reg  \[(\d+):0\] s0_cross_{channel}_tx;", text)[1]) + 1
    places = int(re.search(rf"s{last}_{channel}_fifo_mem \[0:(\d+)\]", text)[1]) + 1
    at = places.bit_length()
    held = ["s0_{}_tx"] + [f"s{k}_{{}}_{end}" for k in range(1, last) for end in ("rx", "tx")] + [f"s{last}_{{}}_rx"]
    back = [name.replace("_tx", "_?").replace("_rx", "_tx").replace("_?", "_rx") for name in held]
    valid = [name.format(f"cross_{channel}_valid") for name in held]
    total = lambda names: f"({at}'d0" + "".join(f" + {name}" for name in names) + ")"
    given = "{" + ", ".join(f"s0_s_axi_{name}" for name in payload) + "}"
    properties = (HERE / "ask.v").read_text()
    for name, value in [("GIVEN", given), ("HELD", total(valid)), ("BITS", bits), ("PLACES", f"{at}'d{places}"), ("AT", at), ("LAST", f"s{last}"),
                        ("BACK", total(name.format(f"cross_{channel}_taken") for name in back)), (r"(?<=_)C(?=_|valid|ready)", channel)]:
        properties = re.sub(name if "?" in name else rf"\b{name}(?=\b|_)", str(value), properties)
    watched = [(f"{v} && f_{channel}_ins - {total(valid[:k])} - {at}'d1 == f_{channel}_which", name.format(f"cross_{channel}"))
               for k, (v, name) in enumerate(zip(valid, held))]
    for a in range(places):
        offset = f"(({at}'d0 | s{last}_{channel}_fifo_tail) - {at}'d{a + 1} & {at}'d{places - 1})"
        watched.append((f"{offset} < f_{channel}_fill && f_{channel}_newest - {offset} == f_{channel}_which",
                        f"s{last}_{channel}_fifo_mem[{a}]"))
    checks = "".join(f"        if ({where}) assert ({what} == f_{channel}_item);\n" for where, what in watched)
    return f"{properties}    always @* if (f_past) begin\n{checks}    end\n"


def answer(channel, last):
    """The properties of a channel to the engine."""
    payload = {"r": ["rdata", "rresp", "rlast"], "b": ["bresp"]}[channel]
    given = "{" + ", ".join(f"s{last}_m_axi_{name}" for name in payload) + "}"
    steps = [f"s{last}_cross_{{}}_tx"] + [f"s{k}_cross_{{}}_{end}" for k in range(last - 1, 0, -1) for end in ("rx", "tx")]
    steps = [(f"s{last}_m_axi_{channel}valid", given)] + [(s.format(f"{channel}_valid"), s.format(channel)) for s in steps + ["s0_cross_{}_rx"]]
    checks = "".join(
        f"        assert ({valid} == (f_live && $past({before})) && {item} == $past({item_before}));\n"
        for (before, item_before), (valid, item) in zip(steps, steps[1:]))
    properties = (HERE / "answer.v").read_text().replace("LAST", f"s{last}")
    properties = re.sub(r"(?<=_)C(?=valid|ready)", channel, properties)
    return f"{properties}    always @(posedge ap_clk) if (f_past) begin\n{checks}    end\n"


def module(texts):
    """The way with its properties."""
    text, last = inlined(texts), len(texts) - 1
    start = ("    reg f_past = 0, f_live = 0;\n    always @(posedge ap_clk) begin f_past <= 1; f_live <= live; end\n"
             "    always @* if (!f_past) assume (!live);\n")
    asks = [c for c in ("ar", "aw", "w") if f"s0_{c}_left;" in text]
    answers = [c for c in ("r", "b") if f"s0_cross_{c}_rx;" in text]
    return text + start + "".join(ask(c, text, last) for c in asks) + "".join(answer(c, last) for c in answers) + "endmodule\n"
