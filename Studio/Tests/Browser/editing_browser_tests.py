"""Tests of editing in the studio's page in Chromium: nothing that was typed or stored is lost or altered."""

import sqlite3
import unittest

from browser_tests import PageTestCase
from server_tests import fill

# Values are typed by script, because keys can't type carriage returns and long texts take long.
TYPE = """
    const input = document.querySelector(`.value-input[aria-label="${arguments[0]}"]`);
    input.value = arguments[1];
    input.dispatchEvent(new Event('input', {bubbles: true}));"""
PRESS = """
    const row = [...document.querySelectorAll('.value-row')].find(row => row.querySelector('dt').firstChild.textContent === arguments[0]);
    [...row.querySelectorAll('.button')].find(button => button.textContent === arguments[1]).click();"""


class EditingTests(PageTestCase):
    def edited(self, name, condition="", values=()):
        """A page for writing to a store, at an object of it."""
        store = fill(self.folder.name, rows=30, name=name)
        if condition:
            database = sqlite3.connect(store)
            database.execute(f"UPDATE ZITEM SET {condition} WHERE Z_PK = 2", values)
            database.commit()
            database.close()
        studio, browser = self.start(store, "--write")
        self.go(browser, "#/object/Item/2", ".attributes", "quantity")
        return store, studio, browser

    def open(self, browser, name):
        browser.wait("return document.getElementById(arguments[0])", f"edit-{name}")
        browser.click(f"#edit-{name}")

    def set(self, browser, name, text):
        self.open(browser, name)
        browser.run(TYPE, name, text)
        browser.run(PRESS, name, "Set")

    def save(self, browser):
        browser.go("#/edits")
        browser.wait("return document.querySelector('.edits')")
        browser.run("document.querySelector('.tools .primary').click()")
        browser.wait_text(".page", "Nothing is unsaved")

    def stored(self, store, column):
        database = sqlite3.connect(store)
        value = database.execute(f"SELECT {column} FROM ZITEM WHERE Z_PK = 2").fetchone()[0]
        database.close()
        return value

    def test_a_value_that_is_set_unchanged_stays_and_line_ends_too(self):
        store, _, browser = self.edited("ends.sqlite", "ZNAME = ?, ZADDEDAT = 806421234.1234567", ["a\r\nb\rc\nd"])
        for name in ["name", "addedAt"]:
            self.open(browser, name)
            browser.run(PRESS, name, "Set")
            browser.wait("return !document.querySelector('.value-input')")
        self.assertEqual(browser.run("return document.querySelector('.edits-badge').hidden"), True)
        self.set(browser, "name", "a\nbb\nnew\nc\nd")
        browser.wait("return document.querySelector('.pending')")
        self.save(browser)
        self.assertEqual(self.stored(store, "ZNAME"), "a\r\nbb\r\nnew\rc\nd")
        self.assertEqual(self.stored(store, "ZADDEDAT"), 806421234.1234567)
        self.assert_quiet(browser)


if __name__ == "__main__":
    unittest.main()
