"""Collects test functions, runs each with a page of its own, and counts."""

import os
import re
import sys
import tempfile
import time
import traceback

from browser import Browser, BrowserError

TESTS = []


def test(name, **page):
    """Marks a test; `page` is what its page begins as: width, height, dark."""
    def mark(function):
        TESTS.append((name, function, page))
        return function
    return mark


def check(holds, what):
    if not holds:
        raise BrowserError(what)


def same(seen, expected, what):
    if seen != expected:
        raise BrowserError(f"{what}: expected {expected!r}, seen {seen!r}")


def slug(name):
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60]


def run(context, filters):
    """Runs what the filters name, or all; returns the exit status."""
    browser = Browser()
    print(browser.version)
    passed, failed = 0, []
    begun = time.monotonic()
    try:
        for name, function, options in TESTS:
            if filters and not any(text.lower() in name.lower() for text in filters):
                continue
            start = time.monotonic()
            page = browser.page(**options)
            try:
                function(page, context)
                faults = page.faults()
                check(not faults, f"the console tells of errors: {faults}")
                passed += 1
                print(f"ok      {name} ({time.monotonic() - start:.1f} s)", flush=True)
            except (BrowserError, AssertionError, KeyError, TypeError, OSError) as error:
                failed.append(name)
                picture = os.path.join(tempfile.gettempdir(), f"browser-test-{slug(name)}.png")
                try:
                    page.screenshot(picture)
                except (BrowserError, OSError):
                    picture = "none"
                print(f"FAILED  {name}\n        {error or type(error).__name__}\n        screenshot: {picture}", flush=True)
                if not isinstance(error, BrowserError):
                    traceback.print_exc(file=sys.stdout)
            page.close()
    finally:
        browser.close()
    print(f"{time.monotonic() - begun:.1f} s")
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed or not passed else 0
