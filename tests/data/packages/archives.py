"""Serves the files of a folder over HTTPS, as a release: at any path that ends with the name of a file.

    python3 archives.py FOLDER CERTIFICATE KEY

Prints its port; ends when its input does.
"""

import contextlib
import http.server
import ssl
import sys
import threading
from pathlib import Path

folder, certificate, key = sys.argv[1:]


class Release(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path = Path(folder, Path(self.path).name)
        found = path.is_file()
        text = path.read_bytes() if found else b""
        self.send_response(200 if found else 404)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command == "GET":
            # Some clients only look at the head of what they ask for.
            with contextlib.suppress(OSError):
                self.wfile.write(text)

    do_HEAD = do_GET


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Release)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
server.socket = context.wrap_socket(server.socket, server_side=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
