#!/usr/bin/env python3
"""Checks the page of `sagen explore --html` in a browser: `page.py [SAGEN] [--keep FOLDER]`.

Needs Chromium (`apt-get install chromium`). Opens pages of a few programs headless: on a wide screen, on a narrow screen and
in print. Fails if the browser requests another file, reports an error, or needs horizontal scrolling, or if texts of a figure
overlap or leave it. Writes screenshots and the printed page to FOLDER.
"""
import argparse
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"]
KERNELS = [
    ("cnn", ["examples/cnn.c", "--gap", "5%", "--designs", "300"]),
    ("lu", ["examples/lu.c", "--gap", "20%", "--designs", "100"]),
    ("mm", ["examples/mm_int8.c", "--gap", "5%", "--designs", "200", "--pareto", "dsp", "--limit", "dsp=64"]),
]
# Width in pixels and medium.
VIEWS = {"screen": (1100, "screen"), "narrow": (420, "screen"), "print": (718, "print")}
# Returns the errors of the layout as texts.
LAYOUT = """(() => {
  const wrong = [], wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide) wrong.push(`${document.documentElement.scrollWidth} pixels on a page of ${wide}`);
  for (const svg of document.querySelectorAll('svg')) {
    const frame = svg.getBoundingClientRect();
    const texts = [...svg.querySelectorAll('text')].map(t => [t.textContent.trim(), t.getBoundingClientRect(), t]).filter(t => t[0]);
    const slack = frame.width / 400;
    for (const [name, box] of texts)
      if (box.left < frame.left - slack || box.right > frame.right + slack || box.top < frame.top - slack || box.bottom > frame.bottom + slack)
        wrong.push(`'${name}' is outside of its figure`);
    // A box that is drawn later hides the text.
    for (const [name, box, text] of texts)
      for (const rect of svg.querySelectorAll('rect')) {
        const r = rect.getBoundingClientRect(), over = text.compareDocumentPosition(rect) & Node.DOCUMENT_POSITION_FOLLOWING;
        const across = Math.min(box.right, r.right) - Math.max(box.left, r.left), down = Math.min(box.bottom, r.bottom) - Math.max(box.top, r.top);
        if (over && rect.getAttribute('fill') !== 'none' && across > slack && down > 0.35 * box.height) wrong.push(`'${name}' is behind a box`);
      }
    texts.forEach(([one, a], k) => texts.slice(k + 1).forEach(([other, b]) => {
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left), down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      // A text with a halo is drawn twice; the box of a line is higher than its letters.
      if (one !== other && across > slack && down > 0.35 * Math.min(a.height, b.height)) wrong.push(`'${one}' is on '${other}'`);
    }));
  }
  return wrong;
})()"""


class Browser:
    """Chromium with its debugging protocol over a pair of pipes; messages end in a zero byte."""

    def __init__(self, program, profile):
        (theirs_in, self.out), (self.into, theirs_out) = os.pipe(), os.pipe()
        # The browser reads descriptor 3 and writes 4.
        line = f'exec "$0" "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self.process = subprocess.Popen(
            ["bash", "-c", line, program, *QUIET, f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"],
            pass_fds=[theirs_in, theirs_out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.number, self.rest, self.session, self.events = 0, b"", None, []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Network", "Log", "Runtime"]:
            self.ask(f"{domain}.enable")

    def next(self):
        while b"\0" not in self.rest:
            more = os.read(self.into, 1 << 16)
            if not more:
                sys.exit("the browser ended")
            self.rest += more
        text, self.rest = self.rest.split(b"\0", 1)
        return json.loads(text)

    def ask(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.next()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, url):
        self.events = []
        self.ask("Page.navigate", url=url)
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.next())

    def close(self):
        self.session = None
        self.ask("Browser.close")
        self.process.wait(20)


def faults(browser, url):
    """Unexpected requests, and errors that the browser reported."""
    for event in browser.events:
        method, of = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent" and of["request"]["url"] != url:
            yield f"asks for {of['request']['url']}"
        if method == "Log.entryAdded":
            yield f"log: {of['entry']['text']}"
        if method == "Runtime.exceptionThrown" or method == "Runtime.consoleAPICalled":
            yield f"script: {json.dumps(of)[:200]}"


def look(browser, page, folder):
    """Returns all errors of a page and takes screenshots."""
    wrong = []
    for view, (width, medium) in VIEWS.items():
        browser.ask("Emulation.setEmulatedMedia", media=medium)
        browser.ask("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)
        browser.open(page.as_uri())
        size = browser.ask("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        picture = browser.ask("Page.captureScreenshot", clip=clip, captureBeyondViewport=True)["data"]
        (folder / f"{page.stem}-{view}.png").write_bytes(base64.b64decode(picture))
        layout = browser.ask("Runtime.evaluate", expression=LAYOUT, returnByValue=True)["result"]["value"]
        wrong += [f"{page.stem}, {view}: {text}" for text in [*faults(browser, page.as_uri()), *layout]]
    printed = base64.b64decode(browser.ask("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)["data"])
    (folder / f"{page.stem}.pdf").write_bytes(printed)
    if not printed.startswith(b"%PDF"):
        wrong.append(f"{page.stem}: is not printed")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sagen", nargs="?", default="target/release/sagen")
    parser.add_argument("--keep", type=Path, help="folder for screenshots")
    args = parser.parse_args()
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        sys.exit("no Chromium: apt-get install -y --no-install-recommends chromium")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        folder = (args.keep or Path(scratch)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        pages = []
        for name, options in KERNELS:
            pages.append(folder / f"{name}.html")
            subprocess.run([Path(args.sagen).resolve(), "explore", *options, "--board", "u250", "--html", pages[-1]], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        browser = Browser(program, f"{scratch}/profile")
        wrong = [fault for page in pages for fault in look(browser, page, folder)]
        browser.close()
    print("\n".join(wrong) or f"{len(pages)} pages in {len(VIEWS)} views and in print: nothing else asked for, no errors, all to be seen")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
