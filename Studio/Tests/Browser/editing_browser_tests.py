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
    const row = document.querySelector(`.value-input[aria-label="${arguments[0]}"]`).closest('.value-row');
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
        browser.wait_text(".page", "no unsaved changes")

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

    def test_setting_one_value_keeps_what_is_being_typed_in_others(self):
        store, _, browser = self.edited("others.sqlite", "ZNAME = 'Before'")
        self.open(browser, "name")
        browser.run(TYPE, "name", "Typed")
        self.set(browser, "quantity", "77")
        browser.wait("return document.querySelector('.pending')?.textContent === '77'")
        self.assertEqual(browser.run("return document.querySelector('.value-input').value"), "Typed")
        browser.run("document.querySelector('.value-input').focus()")
        # What another program saves meanwhile is mentioned, and replaces nothing.
        database = sqlite3.connect(store)
        database.execute("UPDATE ZITEM SET ZNAME = 'Elsewhere' WHERE Z_PK = 2")
        database.commit()
        database.close()
        browser.wait_text(".meanwhile", "Elsewhere")
        self.assertEqual(browser.run("return document.activeElement.value"), "Typed")
        browser.run(PRESS, "name", "Set")
        browser.wait("return [...document.querySelectorAll('.pending')].some(pending => pending.textContent === 'Typed')")
        self.assertEqual(browser.count(".value-input"), 0)
        # The same among the unsaved changes, where a new object is filled.
        browser.run("[...document.querySelectorAll('.tools .button')].find(button => button.textContent === 'Duplicate').click()")
        browser.wait("return document.querySelector('.edit.inserted')")
        self.open(browser, "name")
        browser.run(TYPE, "name", "Copy")
        self.set(browser, "quantity", "78")
        browser.wait("return [...document.querySelectorAll('.edit.inserted .number, .edit.inserted .text')].some(part => part.textContent === '78')")
        self.assertEqual(browser.run("return document.querySelector('.value-input').value"), "Copy")
        self.assert_quiet(browser)

    def test_a_long_unsaved_text_is_edited_again_whole(self):
        _, _, browser = self.edited("long.sqlite")
        self.set(browser, "name", "long " * 2000)
        browser.wait("return document.querySelector('.pending')")
        self.assertLess(browser.run("return document.querySelector('.pending').textContent.length"), 3000)
        self.open(browser, "name")
        self.assertEqual(browser.run("return document.querySelector('.value-input').value"), "long " * 2000)
        self.assert_quiet(browser)

    def test_another_page_sees_the_unsaved_changes(self):
        _, studio, browser = self.edited("pages.sqlite")
        other = self.window(studio)
        self.go(other, "#/object/Item/2", ".attributes", "quantity")
        self.set(browser, "quantity", "77")
        other.wait("return document.querySelector('.pending')?.textContent === '77'")
        self.assertEqual(other.text(".edits-badge"), "1")
        self.set(other, "quantity", "78")
        browser.wait("return document.querySelector('.pending')?.textContent === '78'")
        self.assert_quiet(browser)
        self.assert_quiet(other)


if __name__ == "__main__":
    unittest.main()
