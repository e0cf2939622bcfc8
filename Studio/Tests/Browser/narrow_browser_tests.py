"""Tests of the studio's page on telephones, and of what shows that there is more beyond an edge."""

import unittest

from accessibility_browser_tests import PLACES, old_store
from browser_tests import PageTestCase
from server_tests import MODELS, fill

# What is wider than the page, or a toolbar whose elements are in several lines.
MISFITS = """
    const width = document.documentElement.clientWidth;
    const wide = document.documentElement.scrollWidth > width || document.querySelector('main').scrollWidth > width;
    const beyond = [...document.querySelectorAll('.view-head *, .query-line *, .diagram-tools *, #bar *')]
      .filter(e => e.checkVisibility() && (e.getBoundingClientRect().right > width + 0.5 || e.getBoundingClientRect().left < -0.5));
    const middle = e => { const {top, height} = e.getBoundingClientRect(); return top + height / 2; };
    const wrapped = [...document.querySelectorAll('.tools, .diagram-tools, .query-line, #bar')].filter(tools => {
      const parts = [...tools.children].filter(e => e.checkVisibility());
      return parts.some(part => part.getBoundingClientRect().top >= parts[0].getBoundingClientRect().bottom);
    });
    return [wide && 'wide', ...beyond, ...wrapped].filter(Boolean).map(e => e.outerHTML?.slice(0, 100) ?? e);"""


class NarrowTests(PageTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.store = fill(cls.folder.name, rows=60)

    def test_nothing_wraps_or_leaves_the_page_at_any_width(self):
        _, browser = self.start(self.store, "--models", MODELS, "--write")
        for width in [320, 390, 600, 768, 1024, 1360]:
            browser.resize(width, 844, touch=width < 500)
            for place in PLACES:
                self.go(browser, place, "main h2", "")
                browser.run("for (const button of document.querySelectorAll('.stale')) button.hidden = false")
                self.assertEqual(browser.run(MISFITS), [], f"{place} at {width}")

    def test_the_navigation_folds_behind_a_button(self):
        _, browser = self.start(self.store, "--write")
        browser.resize(390, 844, touch=True)
        self.go(browser, "#/rows/Item", ".row-count", "60 objects")
        state = """return [document.querySelector('#bar [aria-expanded]').getAttribute('aria-expanded'),
                           document.querySelector('#sidebar').checkVisibility({visibilityProperty: true}),
                           document.activeElement.closest('#sidebar') !== null];"""
        # The side leaves the page after the change of its width.
        browser.wait(f"return String((() => {{ {state} }})()) === 'false,false,false'")
        self.assertNotIn("Category", [node["name"] for node in browser.accessibility() if node["role"] == "treeitem"])
        browser.run("document.querySelector('#bar button').focus()")
        browser.press("enter")
        browser.wait(f"return String((() => {{ {state} }})()) === 'true,true,true'")
        self.assertIn("Category", [node["name"] for node in browser.accessibility() if node["role"] == "treeitem"])
        # What the side covers isn't reached meanwhile.
        self.assertEqual([node for node in browser.accessibility() if node["role"] == "grid"], [])
        browser.press("escape")
        browser.wait(f"return String((() => {{ {state} }})()) === 'false,false,false'")
        self.assertEqual(browser.run("return document.activeElement.getAttribute('aria-label')"), "Menu")
        browser.press("enter")
        browser.wait("return document.activeElement.closest('#sidebar')")
        browser.run("document.querySelector('[data-entity=Category] a').click()")
        browser.wait_text("main h2", "Category")
        browser.wait(f"return String((() => {{ {state} }})()) === 'false,false,false'")
        # A wide page has the side beside it, and no bar.
        browser.resize(1360, 860)
        browser.wait("return document.querySelector('#sidebar').checkVisibility({visibilityProperty: true}) && !document.querySelector('#bar').checkVisibility()")
        self.assert_quiet(browser)

    def test_a_wide_table_scrolls_inside_itself(self):
        _, browser = self.start(old_store(self.folder.name), "--models", MODELS)
        browser.resize(390, 844, touch=True)
        self.go(browser, "#/migration", ".plan", "Losses")
        browser.wait("return document.querySelector('.losses')")
        browser.run("document.querySelector('.losses tbody th').textContent = 'Item.' + 'attribute'.repeat(10)")
        self.assertEqual(browser.run(MISFITS), [])
        inside = """const scroll = document.querySelector('.losses').parentElement;
                    return [scroll.scrollWidth > scroll.clientWidth, document.querySelector('.page').scrollWidth <= innerWidth];"""
        self.assertEqual(browser.run(inside), [True, True])
        browser.run("document.querySelector('.losses').parentElement.focus()")
        browser.press("right")
        browser.wait("return document.querySelector('.losses').parentElement.scrollLeft > 0")

    def test_the_diagram_is_moved_and_enlarged_with_fingers_buttons_and_keys(self):
        _, browser = self.start(self.store)
        browser.resize(390, 844, touch=True)
        self.go(browser, "#/model", ".diagram-view", "Model")
        browser.wait("return document.querySelector('.drawing')")
        position = "const c = document.querySelector('.canvas'); return [c.scrollLeft, c.scrollTop];"
        scale = "return parseInt(document.querySelector('.percentage').textContent)"
        self.assertEqual(browser.run(position), [0, 0])
        self.assertGreaterEqual(browser.run(scale), 60)
        browser.touch([(300, 600)], [(280, 560)], [(200, 500)])
        browser.wait("return document.querySelector('.canvas').scrollLeft === 100")
        before = browser.run(scale)
        browser.touch([(180, 500), (220, 500)], [(170, 500), (230, 500)], [(160, 500), (240, 500)])
        browser.wait("return parseInt(document.querySelector('.percentage').textContent) === arguments[0]", before * 2)
        browser.run("document.querySelector('.canvas').focus()")
        browser.press("-")
        browser.wait("return parseInt(document.querySelector('.percentage').textContent) < arguments[0]", before * 2)
        browser.press("1")
        browser.wait_text(".percentage", "100 %")
        [left, top] = browser.run(position)
        browser.press("left", "up")
        browser.wait(f"return String((() => {{ {position} }})()) === arguments[0]", f"{max(left - 60, 0)},{max(top - 60, 0)}")
        browser.press("0")
        browser.wait("const c = document.querySelector('.canvas'); return c.scrollWidth <= c.clientWidth && c.scrollHeight <= c.clientHeight")
        browser.click(".diagram-tools [aria-label='Zoom in']")
        self.assert_quiet(browser)

    def test_a_dark_picture_has_the_ground_of_the_page(self):
        _, browser = self.start(self.store)
        browser.prefer("dark")
        self.go(browser, "#/model", ".diagram-view", "Model")
        browser.wait("return document.querySelector('.drawing')")
        grounds = browser.run(
            """const root = document.querySelector('.drawing').shadowRoot;
               return [getComputedStyle(root.querySelector('svg')).backgroundColor, getComputedStyle(root.querySelector('.sheet')).fill,
                       getComputedStyle(document.querySelector('.canvas')).backgroundColor === getComputedStyle(document.body).backgroundColor];""")
        self.assertEqual(grounds, ["rgba(0, 0, 0, 0)", "none", True])

    def test_columns_beyond_the_edge_are_counted(self):
        _, browser = self.start(self.store)
        browser.resize(700, 700)
        self.go(browser, "#/rows/Item", ".row-count", "60 objects")
        beyond = """const grid = document.querySelector('.grid').getBoundingClientRect();
                    return [...document.querySelectorAll('.head-cell')].filter(e => e.getBoundingClientRect().right > grid.right + 9).length"""
        for _ in range(20):
            count = browser.run(beyond)
            hint = browser.run("const more = document.querySelector('.more-columns'); return more.hidden ? '' : more.textContent")
            self.assertEqual(hint, "" if count == 0 else f"+{count} ›")
            if count == 0:
                break
            browser.run("document.querySelector('.grid').scrollBy({left: 150, behavior: 'instant'})")
            browser.run("return new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))")
        self.assertEqual(count, 0)
        self.assertTrue(browser.run("return document.querySelector('.grid-frame').classList.contains('continues-left')"))

    def test_the_model_s_marks_are_shown_at_an_attribute(self):
        _, browser = self.start(self.store)
        self.go(browser, "#/rows/Item", ".row-count", "60 objects")
        self.assertEqual(
            browser.run(
                """return [...document.querySelectorAll('.head-button')].find(b => b.querySelector('.head-name').textContent === 'name')
                     .querySelector('[role=img]').getAttribute('aria-label')"""),
            "indexed")
        self.go(browser, "#/object/Item/3", ".attributes", "string, indexed")
        self.go(browser, "#/model", ".diagram-view", "Model")
        browser.wait("return document.querySelector('.drawing')?.shadowRoot.textContent.includes('string, indexed')")

    def test_a_store_without_a_history_says_how_to_switch_it_on(self):
        _, browser = self.start(self.store)
        self.go(browser, "#/changes", ".advice-box", "StoreOptions(tracksHistory: true)")


if __name__ == "__main__":
    unittest.main()
