#!/usr/bin/env python3
"""Has headless Chromium play and seek a video, and prints duration, size and a hash of the pixels of each frame.

    chromium_frames.py FOLDER VIDEO TIMES          serves FOLDER, which has frames.html; VIDEO is what its element gets
    chromium_frames.py --whole FOLDER VIDEO TIMES  the page fetches the video whole first

A server whose video is shown has to allow pages of other sites: what it serves itself runs no scripts. TIMES are seconds, joined by commas. Ends with 1 if the page reports a failure, 2 if it reports nothing.
"""
import functools
import http.server
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.parse


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves files, and takes the report."""

    reports = queue.Queue()

    def do_GET(self):
        path, _, text = self.path.partition("?")
        if path != "/report":
            return super().do_GET()
        self.reports.put(urllib.parse.unquote(text))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    arguments = sys.argv[1:]
    is_whole = arguments[:1] == ["--whole"]
    folder, video, times = arguments[1:] if is_whole else arguments
    handler = functools.partial(Handler, directory=folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_port}"
    query = {"video": video, "times": times, "report": origin + "/report"}
    if is_whole:
        query["whole"] = "1"
    url = origin + "/frames.html?" + urllib.parse.urlencode(query)
    # No sandbox: containers rarely allow it. /dev/shm is small in some.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            [shutil.which("chromium"), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--mute-audio", "--no-first-run", "--autoplay-policy=no-user-gesture-required",
             f"--user-data-dir={profile}", url],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            report = Handler.reports.get(timeout=240)
        except queue.Empty:
            print("chromium_frames: no report", file=sys.stderr)
            sys.exit(2)
        finally:
            os.killpg(browser.pid, 15)
            browser.wait()
    if report.startswith("failed"):
        print(report, file=sys.stderr)
        sys.exit(1)
    print(report)


main()
