#!/usr/bin/env python3
"""Takes the documentation's pictures of the dashboard: Tools/BrowserTests/pictures.py MOCK-SERVER FOLDER."""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from browser import Browser  # noqa: E402
from server import Server  # noqa: E402


def populate(realm):
    realm.admin("POST", "clock", {"set": "2030-01-31T12:00:00Z"})
    names = ("bob", "carol", "dora")
    realm.admin("POST", "users", [{"username": n, "email": f"{n}@example.com", "password": "password123"} for n in names])
    realm.admin("PUT", "policy", {"rotation": "gotrue"})
    tokens = realm.tokens()
    for _ in range(3):
        realm.admin("POST", "clock", {"advance": "16m"})
        realm.me(tokens)
        older, tokens = tokens, realm.refresh(tokens)[1]
    tokens = realm.refresh(tokens)[1]
    realm.admin("POST", "clock", {"advance": "5s"})
    realm.refresh(older)
    realm.tokens(email="bob@example.com")
    realm.admin("PUT", "users", {"user": "dora@example.com", "banned": True})
    realm.login("dora@example.com")


def main():
    server = Server(os.path.abspath(sys.argv[1]), "--clock", "virtual", "--seed", "1")
    browser = Browser()
    try:
        realm = server.realm("shop")
        populate(realm)
        for name, dark in (("users", False), ("sessions", True)):
            page = browser.page(1000, 640, dark)
            page.goto(f"{realm.url}/__mock/#/{name}")
            page.wait("document.querySelector('#link').dataset.state === 'live'", "live")
            if name == "sessions":
                page.click("#sessions li:last-child button")
                page.wait("document.querySelectorAll('#family circle').length === 6", "the rotations")
                page.evaluate("document.activeElement.blur()")
            browser.pump(0.3)
            path = os.path.join(sys.argv[2], f"dashboard-{name}.png")
            page.screenshot(path)
            print(f"{path}: {os.path.getsize(path)} bytes")
    finally:
        browser.close()
        server.close()


main()
