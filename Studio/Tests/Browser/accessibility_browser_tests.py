"""Tests of the studio's page by keyboard alone and as assistive technologies are told of it."""

import json
import os
import subprocess
import time
import unittest

from browser_tests import PageTestCase
from server_tests import MODELS, fill

FOCUSED = """
    const e = document.activeElement;
    return e.getAttribute('aria-label') || e.labels?.[0]?.textContent.trim() || e.textContent.trim().slice(0, 30) || e.tagName;"""
PLACES = ["#/rows/Item", "#/object/Item/3", "#/model", "#/migration", "#/changes", "#/edits"]
# Roles whose elements need a name.
NAMED = {
    "button", "link", "checkbox", "radio", "radiogroup", "combobox", "textbox", "searchbox", "grid", "tree", "treeitem",
    "dialog", "region", "table", "columnheader", "progressbar", "image", "navigation", "complementary", "heading",
}


def old_store(folder):
    """A store of the first version of the sample model, whose migration to the newest one loses values."""
    path = os.path.join(folder, "old.sqlite")
    subprocess.run(
        [os.environ["PERSIST"], "fill", path, "--models", MODELS, "--version", "Shop", "--rows", "300"], check=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return path


class KeyboardTestCase(PageTestCase):
    def tab_to(self, browser, name, limit=60):
        """Moves the focus on to the next element with a name, by the tabulator key alone."""
        seen = []
        for _ in range(limit):
            browser.press("tab")
            focused = browser.run(FOCUSED)
            if focused == name or (focused or "").startswith(name):
                return
            seen.append(focused)
        self.fail(f"{name} isn't reached, but {seen}")


class AccessibilityTests(KeyboardTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.store = fill(cls.folder.name, rows=300)

    def nodes(self, browser, role, name=None):
        return [node for node in browser.accessibility() if node["role"] == role and name in (None, node["name"])]

    def test_every_element_of_every_page_has_a_name(self):
        _, browser = self.start(self.store, "--models", MODELS, "--write")
        browser.run("""fetch('/api/edits/apply', {method: 'POST', headers: {'Content-Type': 'application/json'},
                                body: JSON.stringify({action: 'insert', entity: 'Item'})})""")
        for place in PLACES:
            self.go(browser, place, "main h2", "")
            time.sleep(1)
            nodes = browser.accessibility()
            nameless = [node for node in nodes if node["role"] in NAMED and not node["name"].strip()]
            self.assertEqual(nameless, [], place)
            # What has the focus by keyboard says what it is.
            generic = [node for node in nodes if node.get("focusable") and node["role"] in ("generic", "none")]
            self.assertEqual(generic, [], place)
            identifiers = browser.run(
                "const all = [...document.querySelectorAll('[id]')].map(e => e.id); return all.filter((id, i) => all.indexOf(id) !== i)")
            self.assertEqual(identifiers, [], place)

    def test_the_grid_tells_its_size_its_columns_and_the_cell_with_the_cursor(self):
        _, browser = self.start(self.store)
        self.go(browser, "#/rows/Item", ".row-count", "300 objects")
        browser.wait("return document.querySelectorAll('.row:not(.loading)').length > 10")
        browser.press("/")
        self.tab_to(browser, "Objects of Item")
        [grid] = self.nodes(browser, "grid")
        self.assertEqual(grid["name"], "Objects of Item")
        self.assertIn("Arrow keys move", grid["description"])
        heads = [node["name"] for node in self.nodes(browser, "columnheader")]
        self.assertEqual(heads[0], "Key")
        self.assertIn("name indexed", heads)
        counts = browser.run("const g = document.querySelector('.grid'); return [g.getAttribute('aria-rowcount'), g.getAttribute('aria-colcount')]")
        self.assertEqual(counts, ["301", str(len(heads))])
        browser.press("s")
        browser.wait("return document.querySelector('[aria-sort=ascending]')")
        browser.wait_text("#status", "Sorted by name, ascending")
        self.assertEqual(browser.run(FOCUSED), "Objects of Item")
        browser.press("right", "right", "left", "down")
        active = browser.wait(
            "return document.getElementById(document.querySelector('.grid').getAttribute('aria-activedescendant'))?.getAttribute('aria-colindex')")
        self.assertEqual(active, "3")
        width = "return document.querySelectorAll('.head-cell')[2].offsetWidth"
        before = browser.run(width)
        browser.press("+")
        self.assertEqual(browser.run(width), before + 24)
        browser.press("-", "-")
        self.assertEqual(browser.run(width), before - 24)
        browser.press("home", "enter")
        browser.wait_text(".path", "Item")
        # The next step begins at the object, and not at the top of the page.
        self.assertEqual(browser.run("return document.activeElement.id"), "main")
        browser.press("tab")
        self.assertEqual(browser.run("return document.activeElement.closest('main') !== null"), True)
        # The way back leads to the row.
        browser.run("history.back()")
        browser.wait_text("main h2", "Item")
        browser.wait("return document.activeElement.getAttribute('role') === 'grid'")
        row = """return document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))
                   ?.closest('.row').getAttribute('aria-rowindex')"""
        browser.wait(row + " === '3'")
        browser.press("page_down", "page_down", "enter")
        browser.wait_text(".path", "Item")
        browser.run("history.back()")
        browser.wait("return document.activeElement.getAttribute('role') === 'grid' && document.activeElement.scrollTop > 500")
        browser.wait("return document.querySelectorAll('.row:not(.loading):not([hidden])').length > 10")
        self.assert_quiet(browser)

    def test_the_skip_link_leads_to_the_content_of_the_same_place(self):
        _, browser = self.start(self.store)
        browser.go("#/object/Item/3")
        browser.wait_text(".attributes", "barcode")
        browser.run("document.querySelector('.skip').focus()")
        browser.press("enter")
        self.assertEqual(browser.run("return [location.hash, document.activeElement.id]"), ["#/object/Item/3", "main"])

    def test_texts_have_the_contrast_that_everyone_can_read(self):
        _, browser = self.start(self.store, "--models", MODELS, "--write")
        for scheme in ["light", "dark"]:
            browser.prefer(scheme)
            for place in PLACES:
                self.go(browser, place, "main h2", "")
                time.sleep(0.6)
                self.assertEqual(browser.run(CONTRAST), [], f"{place}, {scheme}")


class TrialTests(KeyboardTestCase):
    def test_a_trial_is_chosen_run_and_read_by_keyboard_alone(self):
        _, browser = self.start(old_store(self.folder.name), "--models", MODELS)
        browser.run("document.querySelector('#sidebar a').focus()")
        self.tab_to(browser, "Migration")
        browser.press("enter")
        browser.wait("return document.querySelector('.losses')")
        tree = browser.accessibility()
        [group] = [node for node in tree if node["role"] == "radiogroup"]
        self.assertEqual(group["name"], "The version to migrate to")
        versions = [node for node in tree if node["role"] == "radio"]
        self.assertEqual([version["checked"] for version in versions].count("true"), 1)
        self.assertTrue(any(version["name"].startswith("Shop 3") for version in versions))
        self.assertIn("Parked", [node["name"] for node in tree if node["role"] == "region"])
        caption = "Data without a place, parked in the store until a model has one"
        self.assertIn(caption, [node["name"] for node in tree if node["role"] == "table"])
        # Nothing is lost, and the step says so.
        self.assertEqual(browser.texts(".steps .badge"), ["Parks data"])
        # Another version is another plan, and the focus stays.
        self.tab_to(browser, "Shop 3")
        browser.press("up")
        browser.wait_text(".plan h3", "Shop 2")
        browser.wait_text("#status", "Shop 2")
        self.assertTrue(browser.run(FOCUSED).startswith("Shop 2"))
        browser.press("down")
        browser.wait_text(".plan h3", "Shop 3")
        browser.wait("return document.querySelector('#allows-loss')")
        self.tab_to(browser, "Park what has no place")
        browser.press("space")
        self.tab_to(browser, "Run on a copy")
        browser.press("enter")
        browser.wait_text(".trial", "all are the same in the copy")
        browser.wait_text("#status", "The copy has Shop 3. All kept values are the same.")
        self.assertEqual(browser.run(FOCUSED), "Run on a copy")
        names = [node["name"] for node in browser.accessibility() if node["role"] == "table"]
        self.assertTrue(any("before" in name for name in names), names)
        self.assert_quiet(browser)

    def test_a_trial_that_runs_can_be_stopped_by_keyboard(self):
        _, browser = self.start(old_store(self.folder.name), "--models", MODELS)
        # The state of the trial is this test's: a real one may end too soon.
        browser.run(
            """const send = window.fetch;
               window.states = 0;
               window.isStopped = false;
               const json = value => new Response(JSON.stringify(value), {status: 200});
               window.fetch = async (path, options) => {
                 if (path === '/api/trial/start') return json({});
                 if (path === '/api/trial/stop') { window.isStopped = true; return json({}); }
                 if (path !== '/api/trial') return send(path, options);
                 window.states++;
                 return json(window.isStopped ? {state: 'failed', message: 'The migration was stopped.', fix: null}
                   : {state: 'migrating', fraction: Math.min(0.9, window.states / 100), current: 'Item', secondsLeft: 9});
               };""")
        self.go(browser, "#/migration", ".plan", "Losses")
        browser.wait("return document.querySelector('.trial .button')")
        browser.run("document.querySelector('.trial .button').focus()")
        browser.press("enter")
        browser.wait_text(".progress", "Item")
        self.tab_to(browser, "Stop")
        states = browser.run("return window.states")
        browser.wait("return window.states > arguments[0] + 3", states)
        self.assertEqual(browser.run(FOCUSED), "Stop")
        [bar] = [node for node in browser.accessibility() if node["role"] == "progressbar"]
        self.assertEqual(bar["name"], "Migrating")
        browser.press("enter")
        browser.wait_text(".trial-result", "The migration was stopped.")
        self.assertEqual(browser.run(FOCUSED), "Run on a copy")
        self.assertEqual(browser.run("return document.querySelector('.trial .button').getAttribute('aria-disabled')"), "false")


# Texts with less contrast than WCAG 2.2 asks for: https://www.w3.org/TR/WCAG22/#contrast-minimum
CONTRAST = """
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
    const color = text => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = text;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      return [r, g, b, a / 255];
    };
    const over = ([r, g, b, a], under) => [r, g, b].map((part, i) => part * a + under[i] * (1 - a));
    const light = parts => parts.map(part => part / 255).map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
      .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
    const ground = element => {
      if (!element) return [255, 255, 255];
      const own = color(getComputedStyle(element).backgroundColor);
      return own[3] === 1 ? own.slice(0, 3) : over(own, ground(element.parentElement));
    };
    const opacity = element => element ? Number(getComputedStyle(element).opacity) * opacity(element.parentElement) : 1;
    const found = new Map();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      if (!walker.currentNode.data.trim() || !element.checkVisibility({visibilityProperty: true})) continue;
      if (element.closest('svg, :disabled, [aria-disabled=true], #status, .unseen, .skip')) continue;
      const below = ground(element);
      const [r, g, b, a] = color(getComputedStyle(element).color);
      const shown = over([r, g, b, a * opacity(element)], below);
      const [dark, bright] = [light(shown), light(below)].sort((x, y) => x - y);
      const ratio = (bright + 0.05) / (dark + 0.05);
      if (ratio < 4.5) found.set(`${element.tagName}.${element.className}`, ratio.toFixed(2));
    }
    return [...found].map(([what, ratio]) => `${what} ${ratio}`);"""


if __name__ == "__main__":
    unittest.main()
