# SPDX-License-Identifier: MIT
"""Where the package runs: Node.js, a Web Worker of Chromium, Cloudflare's workerd. Each does the same tasks."""
import http.server
import json
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import js_env
from js_env import ROOT

HERE = ROOT / "tests/js"
TOOLS = ROOT / "build/js-tools"
TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".wasm": "application/wasm", ".html": "text/html"}
CONFIG = """using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (compatibilityDate = "2026-01-01", globalOutbound = "all", modules = [%s])),
    (name = "all", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:%d", http = (), service = "main")],
);
"""


class Files(http.server.BaseHTTPRequestHandler):
    """The package, the scripts of this folder, and the files of one temporary folder."""
    package = folder = None

    def path_of(self):
        name = self.path.split("?")[0]
        for prefix, base in (("/package/", self.package), (f"/file{self.folder}/", self.folder), ("/", HERE)):
            if name.startswith(prefix) and ".." not in name:
                return base / name[len(prefix):]
        return None

    def answer(self, code, data=b"", kind="application/octet-stream"):
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        path = self.path_of()
        if self.path == "/page.html":
            self.answer(200, b"<!doctype html><title>test</title>", "text/html")
        elif path is None or not path.is_file():
            self.answer(404)
        else:
            self.answer(200, path.read_bytes(), TYPES.get(path.suffix, "application/octet-stream"))

    def do_POST(self):
        data = self.rfile.read(int(self.headers["Content-Length"]))
        path = self.path_of()
        if path is None or self.folder not in path.parents:
            self.answer(403)
            return
        path.write_bytes(data)
        self.answer(200)

    def log_message(self, *args):
        pass


class Engines:
    def __init__(self, package, folder):
        self.package, self.folder, self.node_path = package, folder, js_env.find_node()
        handler = type("Handler", (Files,), {"package": package, "folder": folder})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def tasks_file(self, tasks):
        path = self.folder / "tasks.json"
        path.write_text(json.dumps(tasks))
        return str(path)

    def run_node(self, *args):
        result = subprocess.run([self.node_path, "--no-warnings", *map(str, args)], capture_output=True, text=True, timeout=600)
        if result.returncode != 0:
            sys.exit(result.stderr)
        return json.loads(result.stdout)

    def node(self, tasks):
        return self.run_node(HERE / "round_trips.mjs", self.package, self.tasks_file(tasks))

    def chromium(self, tasks):
        return self.run_node(HERE / "in_chromium.mjs", TOOLS, chromium(), self.url, self.tasks_file(tasks))

    def beside(self, path):
        """A copy of a file beside the configuration, which embeds nothing from elsewhere. -> its name"""
        copy = self.folder / f"module-{path.name}"
        copy.write_bytes(path.read_bytes())
        return copy.name

    def workerd(self, tasks):
        scripts = {"main": HERE / "round_trip_worker.mjs", "round_trip_actions.mjs": HERE / "round_trip_actions.mjs"}
        scripts |= {f"package/src/{path.name}": path for path in sorted(self.package.glob("src/*.js"))}
        modules = [f'(name = "{name}", esModule = embed "{self.beside(path)}")' for name, path in scripts.items()]
        modules.append(f'(name = "package/ald.wasm", wasm = embed "{self.beside(self.package / "ald.wasm")}")')
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        config = self.folder / "config.capnp"
        config.write_text(CONFIG % (", ".join(modules), port))
        with open(self.folder / "workerd.log", "w+") as log:
            process = subprocess.Popen([workerd(), "serve", str(config)], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
            try:
                return ask(f"http://127.0.0.1:{port}/", {"server": self.url, "tasks": tasks}, process)
            except OSError as error:
                log.seek(0)
                sys.exit(f"workerd: {error}\n{log.read()[-2000:]}")
            finally:
                process.kill()
                process.wait()


def ask(url, message, process):
    """POSTs to a server that may still be starting."""
    for attempt in range(100):
        try:
            request = urllib.request.Request(url, json.dumps(message).encode(), {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=300) as response:
                return json.load(response)
        except urllib.error.HTTPError:
            raise
        except urllib.error.URLError:
            if process.poll() is not None or attempt == 99:
                raise
            time.sleep(0.1)
    return None


def chromium():
    return shutil.which("chromium") or shutil.which("chromium-browser")


def workerd():
    found = sorted(TOOLS.glob("node_modules/@cloudflare/workerd-linux-*/bin/workerd"))
    return str(found[0]) if found else None


def missing():
    """What is not there to run in, in words; empty when all is."""
    return [name for name, found in (("Chromium", chromium()), ("playwright-core", (TOOLS / "node_modules/playwright-core").is_dir()),
                                     ("workerd", workerd())) if not found]


def run_page(program, *words, needs=(), cwd=None):
    """Runs a program of this folder that drives Chromium, with the package, the tools and `words`; ends the process as it ended, or
    with the status of a test that is skipped where something is missing."""
    absent = [name for name in missing() if name != "workerd"] + [name for name in needs if not (TOOLS / "node_modules" / name).is_dir()]
    if absent:
        print(f"skipped: {', '.join(absent)}: tools/setup test installs it")
        sys.exit(js_env.SKIP)
    command = [js_env.find_node(), "--no-warnings", js_env.ROOT / "tests/js" / program, js_env.make_package(), TOOLS.resolve(), chromium(), *words]
    sys.exit(subprocess.run([str(word) for word in command], cwd=cwd, timeout=600).returncode)
