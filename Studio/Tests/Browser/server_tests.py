"""Tests of the studio's server without a browser: who is answered, and what the answers say."""

import hashlib
import http.client
import json
import os
import socket
import sqlite3
import subprocess
import tempfile
import unittest
import urllib.parse

from webdriver import Studio

MODELS = os.path.join(os.path.dirname(__file__), "..", "..", "..", "Models")


def fill(folder, rows=50, name="shop.sqlite"):
    """A store of the sample model."""
    path = os.path.join(folder, name)
    subprocess.run(
        [os.environ["PERSIST"], "fill", path, "--models", MODELS, "--rows", str(rows)], check=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return path


class ServerTests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.store = fill(cls.folder.name)
        cls.studio = Studio(cls.store)
        address = urllib.parse.urlsplit(cls.studio.url)
        cls.port = address.port
        cls.token = address.query.removeprefix("token=")
        cls.cookie = cls.request("GET", f"/?token={cls.token}").headers["Set-Cookie"].split(";")[0]

    @classmethod
    def tearDownClass(cls):
        cls.studio.close()
        cls.folder.cleanup()

    @classmethod
    def request(cls, method, path, body=None, host=None, **fields):
        connection = http.client.HTTPConnection("127.0.0.1", cls.port, timeout=60)
        connection.putrequest(method, path, skip_host=True)
        connection.putheader("Host", host or f"127.0.0.1:{cls.port}")
        for name, value in fields.items():
            connection.putheader(name.replace("_", "-"), value)
        data = None if body is None else (body if isinstance(body, bytes) else json.dumps(body).encode())
        if data is not None:
            connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        response = connection.getresponse()
        response.content = response.read()
        connection.close()
        return response

    def test_the_address_leads_to_the_page_and_leaves_no_secret_in_it(self):
        response = self.request("GET", f"/?token={self.token}")
        self.assertEqual((response.status, response.headers["Location"]), (303, "/"))
        cookie = response.headers["Set-Cookie"]
        self.assertIn("HttpOnly", cookie)
        self.assertIn("SameSite=Strict", cookie)
        page = self.request("GET", "/", Cookie=self.cookie)
        self.assertEqual(page.status, 200)
        self.assertIn(b"<main", page.content)

    def test_nobody_is_answered_without_the_secret(self):
        for path in ["/", "/app.js", "/api/store", "/api/counts", "/api/zzz", "/zzz"]:
            self.assertEqual(self.request("GET", path).status, 403, path)
        for cookie in ["", "x=y", self.cookie[:-1], self.cookie + "0", self.cookie.split("=")[0] + "=" + "0" * 48]:
            self.assertEqual(self.request("GET", "/api/store", Cookie=cookie).status, 403, cookie)
        self.assertEqual(self.request("GET", "/?token=" + "0" * 48).status, 403)
        self.assertEqual(self.request("GET", "/?token=").status, 403)

    def test_another_name_isnt_answered_even_with_the_secret(self):
        for host in ["evil.example", f"evil.example:{self.port}", "127.0.0.1", f"127.0.0.1:{self.port + 1}", "localhost",
                     f"127.0.0.1.evil.example:{self.port}"]:
            self.assertEqual(self.request("GET", "/api/store", host=host, Cookie=self.cookie).status, 403, host)
            self.assertEqual(self.request("GET", f"/?token={self.token}", host=host).status, 403, host)
        local = self.request("GET", "/api/store", host=f"localhost:{self.port}", Cookie=self.cookie)
        self.assertEqual(local.status, 200)

    def test_another_site_isnt_answered_even_with_the_secret(self):
        own = f"http://127.0.0.1:{self.port}"
        body = {"entity": "Item", "text": "", "columns": [], "start": 0, "count": 1}
        self.assertEqual(self.request("POST", "/api/rows", body, Cookie=self.cookie, Origin=own).status, 200)
        for origin in ["http://evil.example", "null", "https://127.0.0.1", f"http://127.0.0.1:{self.port + 1}", own + ".evil"]:
            self.assertEqual(self.request("POST", "/api/rows", body, Cookie=self.cookie, Origin=origin).status, 403)
            self.assertEqual(self.request("GET", "/api/store", Cookie=self.cookie, Origin=origin).status, 403)
        self.assertEqual(self.request("POST", "/api/rows", body, Cookie=self.cookie).status, 403)
        for site in ["cross-site", "same-site"]:
            self.assertEqual(self.request("GET", "/api/store", Cookie=self.cookie, Sec_Fetch_Site=site).status, 403)

    def test_every_answer_forbids_scripts_of_others(self):
        for path in ["/", "/app.js", "/api/store", "/api/zzz", "/api/export?entity=Item&columns=name&format=csv"]:
            headers = self.request("GET", path, Cookie=self.cookie).headers
            policy = headers["Content-Security-Policy"]
            self.assertIn("default-src 'none'", policy, path)
            self.assertNotIn("unsafe", policy)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Referrer-Policy"], "no-referrer")
            self.assertEqual(headers["Cache-Control"], "no-store")
            if path.startswith("/api/"):
                self.assertIn("sandbox", policy)

    def test_only_the_loopback_interface_is_bound(self):
        with open("/proc/net/tcp", encoding="ascii") as file:
            lines = [line.split() for line in file.readlines()[1:]]
        bound = [line[1].split(":")[0] for line in lines if line[3] == "0A" and int(line[1].split(":")[1], 16) == self.port]
        self.assertEqual(bound, ["0100007F"])
        with open("/proc/net/tcp6", encoding="ascii") as file:
            others = [line for line in file.readlines()[1:] if int(line.split()[1].split(":")[1], 16) == self.port
                      and line.split()[3] == "0A"]
        self.assertEqual(others, [])

    def test_files_outside_the_page_arent_served(self):
        for path in ["/../Package.swift", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/api/../app.js", "/index.html/../../x"]:
            response = self.request("GET", path, Cookie=self.cookie)
            self.assertIn(response.status, [400, 404], path)

    def test_broken_requests_are_refused_and_the_server_goes_on(self):
        own = f"http://127.0.0.1:{self.port}"
        for body in [b"", b"{", b"[]", b"\xff\xfe", b"null", b"{\"entity\": 5}", b"[" * 20000]:
            response = self.request("POST", "/api/rows", body, Cookie=self.cookie, Origin=own)
            self.assertEqual(response.status, 400, body[:20])
        for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"]:
            response = self.request(method, "/api/store", Cookie=self.cookie, Origin=own)
            self.assertIn(response.status, [404, 405])
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: \x00\r\n\r\n" + b"x" * 100000)
        self.assertEqual(self.request("GET", "/api/store", Cookie=self.cookie).status, 200)

    def test_spaces_and_plus_signs_of_an_exported_condition_arrive(self):
        with tempfile.TemporaryDirectory() as folder:
            path = fill(folder)
            database = sqlite3.connect(path)
            database.execute("UPDATE ZITEM SET ZNAME = 'Tea pot' WHERE Z_PK = 1")
            database.execute("UPDATE ZITEM SET ZNAME = 'Tea+pot' WHERE Z_PK = 2")
            database.commit()
            database.close()
            studio = Studio(path)
            try:
                address = urllib.parse.urlsplit(studio.url)
                cookie = f"persist_studio_{address.port}={address.query.removeprefix('token=')}"
                for name, key in [("Tea pot", 1), ("Tea+pot", 2)]:
                    # As URLSearchParams of the page: with plus signs for spaces. Other programs write %20.
                    for encode in [urllib.parse.urlencode, lambda form: urllib.parse.urlencode(form, quote_via=urllib.parse.quote)]:
                        query = encode({"entity": "Item", "text": f'name == "{name}"', "columns": "name", "format": "csv"})
                        connection = http.client.HTTPConnection("127.0.0.1", address.port, timeout=60)
                        connection.request("GET", f"/api/export?{query}", headers={"Cookie": cookie})
                        lines = connection.getresponse().read().decode().splitlines()
                        connection.close()
                        self.assertEqual(len(lines), 2, lines)
                        self.assertTrue(lines[1].endswith(f"/p{key},{name}"), lines)
            finally:
                studio.close()

    def test_a_store_that_another_program_writes_to_keeps_every_byte(self):
        with tempfile.TemporaryDirectory() as folder:
            path = fill(folder)
            writer = sqlite3.connect(path, isolation_level=None)
            writer.execute("PRAGMA wal_autocheckpoint = 0")
            writer.execute("UPDATE ZITEM SET ZNAME = 'changed' WHERE Z_PK < 5")

            def state():
                result = {}
                for name in sorted(os.listdir(folder)):
                    file = os.path.join(folder, name)
                    if os.path.isfile(file):
                        with open(file, "rb") as content:
                            result[name] = (hashlib.sha256(content.read()).hexdigest(), os.stat(file).st_mtime_ns)
                return result

            before = state()
            self.assertIn("shop.sqlite-wal", before)
            studio = Studio(path)
            try:
                port = urllib.parse.urlsplit(studio.url).port
                token = studio.url.split("token=")[1]
                cookie = f"persist_studio_{port}={token}"
                for resource in ["store", "counts", "versions", "diagram", "changes",
                                 "export?entity=Item&columns=name,category,tags&format=csv"]:
                    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                    connection.request("GET", f"/api/{resource}", headers={"Cookie": cookie})
                    response = connection.getresponse()
                    content = response.read()
                    self.assertEqual(response.status, 200)
                    connection.close()
                self.assertIn(b"changed", content)
            finally:
                studio.close()
            self.assertEqual(state(), before)
            writer.close()


if __name__ == "__main__":
    unittest.main()
