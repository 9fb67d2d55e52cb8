"""Looks at a report's page in headless Chromium; see scripts/check-page."""

import json
import os
import shutil
import sys
import tempfile
import time

import axe_playwright_python
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

AXE = os.path.join(os.path.dirname(axe_playwright_python.__file__), "axe.min.js")
problems = []


def complain(text):
    problems.append(text)
    print("check-page: " + text, file=sys.stderr)


class Browser:
    def __init__(self, page, downloads):
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"):
            options.add_argument(argument)
        options.add_experimental_option("prefs", {"download.default_directory": downloads})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        self.driver.set_script_timeout(120)
        self.url = "file://" + os.path.abspath(page)
        self.downloads = downloads

    def command(self, name, **arguments):
        return self.driver.execute_cdp_cmd(name, arguments)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def open(self, width=1280, height=900, scheme="light", script=True):
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.command(
            "Emulation.setEmulatedMedia", media="screen", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.command("Emulation.setScriptExecutionDisabled", value=not script)
        self.driver.get(self.url)

    def console(self, where):
        for entry in self.driver.get_log("browser"):
            if entry["level"] in ("SEVERE", "WARNING"):
                complain(f"{where}: console: {entry['message']}")

    def shoot(self, folder, name):
        if not folder:
            return
        width, height = self.run("return [innerWidth, document.documentElement.scrollHeight]")
        import base64

        picture = self.command(
            "Page.captureScreenshot", captureBeyondViewport=True,
            clip={"x": 0, "y": 0, "width": width, "height": min(height, 16000), "scale": 1})
        with open(os.path.join(folder, name + ".png"), "wb") as file:
            file.write(base64.b64decode(picture["data"]))


def check_width(browser, where):
    wide = browser.run(
        """
        const width = document.documentElement.clientWidth;
        if (document.documentElement.scrollWidth <= width) return null;
        const inside = e => e.closest('.scroll, pre');
        return [...document.querySelectorAll('main *')].filter(e => !inside(e) && e.getBoundingClientRect().right > width + 1)
            .slice(0, 3).map(e => e.tagName + '.' + (e.className.baseVal ?? e.className) + ' ' + e.textContent.slice(0, 40));
        """)
    if wide is not None:
        complain(f"{where}: the page is wider than the window: {wide}")


def check_axe(browser, where):
    """Opens all tables. Of long ones the first rows stand for all: they are made alike, and axe takes its time."""
    browser.run(
        "document.querySelectorAll('details').forEach(d => { d.open = true; });"
        "document.querySelectorAll('tbody').forEach(b => { while (b.rows.length > 8) b.deleteRow(-1); });")
    found = browser.driver.execute_async_script(
        "const done = arguments[0];"
        "axe.run(document, {resultTypes: ['violations']}).then(r => done(r.violations), e => done(String(e)));")
    if isinstance(found, str):
        complain(f"{where}: axe did not run: {found}")
        return
    for violation in found:
        line = f"{where}: {violation['impact']} {violation['id']}: {violation['help']}, {len(violation['nodes'])} times, " \
               f"such as {violation['nodes'][0]['html'][:160]}"
        if violation["impact"] in ("serious", "critical"):
            complain(line)
        else:
            print("check-page: note: " + line)


def check_text(browser, where):
    """Texts of pictures stay inside of them, and no two lie on each other."""
    found = browser.run(
        r"""
        const bad = [];
        for (const svg of document.querySelectorAll('svg.chart')) {
            const frame = svg.getBoundingClientRect();
            if (!frame.width) continue;
            const texts = [...svg.querySelectorAll('text')].map(t => ({t, b: t.getBoundingClientRect()}));
            for (const {t, b} of texts)
                if (b.right > frame.right + 2 || b.left < frame.left - 2 || b.bottom > frame.bottom + 2)
                    bad.push('cut: ' + t.textContent);
            for (let i = 0; i < texts.length; i++) for (let j = i + 1; j < texts.length; j++) {
                const a = texts[i].b, b = texts[j].b;
                if (texts[i].t.hasAttribute('transform') || texts[j].t.hasAttribute('transform')) continue;
                const x = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const y = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                if (x > 2 && y > a.height * 0.35)
                    bad.push('overlap: ' + texts[i].t.textContent + ' / ' + texts[j].t.textContent);
            }
        }
        return bad.slice(0, 8);
        """)
    for text in found:
        complain(f"{where}: {text}")


def number(text):
    units = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "MB": 1e6, "B": 1}
    first, _, rest = text.partition(" ")
    unit = rest.replace("(", " ").split("/")[0].split(" ")[0]
    return float(first.replace(",", "")) * units.get(unit, 1)


def check_sorting(browser):
    """Sorts the first table by its second column, both ways; numbers are judged with their units."""
    table = "document.querySelector('#throughput table')"
    if not browser.run(f"return !!({table} && {table}.tBodies[0].rows.length > 1)"):
        print("check-page: note: no throughput table to sort")
        return
    read = f"return [...{table}.tBodies[0].rows].map(r => r.cells[1].childNodes[0].textContent)"
    for direction in ("ascending", "descending"):
        browser.run(f"{table}.closest('details').open = true; {table}.tHead.rows[0].cells[1].querySelector('button').click()")
        if browser.run(f"return {table}.tHead.rows[0].cells[1].getAttribute('aria-sort')") != direction:
            complain(f"sorting: expected aria-sort to be {direction}")
        values = [number(text) for text in browser.run(read) if text != "–"]
        if values != sorted(values, reverse=direction == "descending"):
            complain(f"sorting: {values} is not {direction}")


def check_download(browser):
    rows = browser.run(
        "const t = document.querySelector('.scroll > table'); if (!t) return 0;"
        "t.closest('.scroll').nextElementSibling.click(); return t.rows.length")
    if not rows:
        complain("download: no table on the page")
        return
    # Chromium reserves the name with an empty file, and puts the whole one in its place.
    for _ in range(1200):
        names = [name for name in os.listdir(browser.downloads) if name.endswith(".csv")]
        if names and os.path.getsize(os.path.join(browser.downloads, names[0])):
            break
        time.sleep(0.05)
    else:
        complain(f"download: expected a CSV file within 60 s: the folder has {os.listdir(browser.downloads)}")
        return
    import csv

    with open(os.path.join(browser.downloads, names[0]), newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    if len(lines) != rows or len({len(line) for line in lines}) != 1:
        complain(f"download: {names[0]} has {len(lines)} rows of unequal length: expected {rows}")


def check_values(browser, where):
    """A mark that is focused, one that the arrow key leads to, and one that is pointed at show their values."""
    charts = browser.run(
        "return [...document.querySelectorAll('svg.chart')].filter(s => s.getBoundingClientRect().width).length")
    if not charts:
        print(f"check-page: note: {where}: no picture on the page")
        return
    tip = "const tip = document.querySelector('.tip'); const shown = () => tip.hidden ? '' : tip.textContent;"
    found = browser.run(
        tip + """
        const svg = [...document.querySelectorAll('svg.chart')].find(s => s.getBoundingClientRect().width && s.querySelector('.v'));
        if (!svg) return null;
        svg.scrollIntoView({block: 'center', behavior: 'instant'});
        const marks = [...svg.querySelectorAll('.v')];
        const key = k => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: k, bubbles: true}));
        const said = [];
        marks[0].focus({preventScroll: true}); said.push(['focus', shown(), marks[0].getAttribute('aria-label')]);
        key('End'); const last = marks[marks.length - 1];
        said.push(['End', shown(), last.getAttribute('aria-label')]);
        key('Escape'); said.push(['Escape', shown(), '']);
        key('Home'); document.activeElement.blur(); said.push(['blur', shown(), '']);
        marks[0].dispatchEvent(new PointerEvent('pointerover', {bubbles: true}));
        said.push(['pointer', shown(), marks[0].getAttribute('aria-label')]);
        svg.dispatchEvent(new PointerEvent('pointerleave'));
        return said;
        """)
    for event, shown, expected in found or []:
        if shown != expected:
            complain(f"{where}: values on {event}: expected {expected!r}, the page shows {shown!r}")


def check_plain(browser, expected):
    """Without script, headings, texts, tables and titles of marks are there all the same."""
    browser.open(script=False)
    document = browser.command("DOM.getDocument", depth=0)["root"]["nodeId"]

    def count(selector):
        return len(browser.command("DOM.querySelectorAll", nodeId=document, selector=selector)["nodeIds"])

    for selector, number_with_script in expected.items():
        if count(selector) != number_with_script:
            complain(f"without script: {count(selector)} of {selector}: expected {number_with_script}")
    if count("button"):
        complain("without script: there are buttons that do nothing")
    if count("svg.chart") and not count("svg .v title"):
        complain("without script: no mark has a title")


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else sys.exit("usage: check-page FOLDER [SCREENSHOTS]")
    screenshots = sys.argv[2] if len(sys.argv) > 2 else None
    page = os.path.join(folder, "index.html")
    if not os.path.isfile(page):
        print(f"check-page: no file {page}: expected a report's page", file=sys.stderr)
        sys.exit(66)
    if screenshots:
        os.makedirs(screenshots, exist_ok=True)
    with open(AXE, encoding="utf-8") as file:
        axe = file.read()
    with tempfile.TemporaryDirectory() as downloads:
        browser = Browser(page, downloads)
        try:
            selectors = ["h1", "h2", "section", "table", "svg.chart", "details", "figcaption"]
            expected, loads = {}, []
            for width in (1280, 400):
                for scheme in ("light", "dark"):
                    where = f"{width} {scheme}"
                    browser.open(width, 900, scheme)
                    loads.append(browser.run(
                        "const t = performance.getEntriesByType('navigation')[0];"
                        "return Math.round(t.loadEventEnd || performance.now())"))
                    browser.shoot(screenshots, where.replace(" ", "-"))
                    check_width(browser, where)
                    check_text(browser, where)
                    if scheme == "light":
                        check_values(browser, where)
                    expected = {s: browser.run("return document.querySelectorAll(arguments[0]).length", s) for s in selectors}
                    if where == "1280 light":
                        check_sorting(browser)
                        check_download(browser)
                    # The contrast is the same at both widths, and the structure in both schemes.
                    if (width == 1280) == (scheme == "light"):
                        browser.run(axe + "; window.axe = axe;")
                        check_axe(browser, where)
                        check_width(browser, where + ", tables open")
                    browser.console(where)
            check_plain(browser, expected)
            browser.console("without script")
            version = browser.driver.capabilities["browserVersion"]
        finally:
            browser.driver.quit()
    size = os.path.getsize(page)
    print(json.dumps({
        "page": page, "bytes": size, "loadMilliseconds": loads, "chromium": version, "problems": len(problems)}))
    sys.exit(1 if problems else 0)


main()
