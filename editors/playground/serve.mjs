// Serves a folder on this computer, to try the playground: `node serve.mjs [--port 8000] [--folder dist]`.
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { gzip } from "node:zlib";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".wasm": "application/wasm",
  ".txt": "text/plain; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".woff2": "font/woff2",
};

const pack = promisify(gzip);

/** Serves a folder. Gives the address and what ends it. */
export async function serve(folder, port = 0) {
  const root = resolve(folder);
  const packed = new Map();
  const server = createServer(async (request, response) => {
    try {
      const { pathname } = new URL(request.url ?? "/", "http://localhost");
      const path = decodeURIComponent(pathname);
      const file = join(root, normalize(path.endsWith("/") ? `${path}index.html` : path));
      if (!file.startsWith(root + sep)) throw new Error("outside of the folder");
      const bytes = await readFile(file);
      const key = `${file} ${bytes.length}`;
      if (!packed.has(key)) packed.set(key, await pack(bytes, { level: 9 }));
      const headers = { "content-type": TYPES[extname(file)] ?? "application/octet-stream", "cache-control": "no-cache", vary: "accept-encoding" };
      const takesGzip = /\bgzip\b/.test(request.headers["accept-encoding"] ?? "");
      response.writeHead(200, takesGzip ? { ...headers, "content-encoding": "gzip" } : headers);
      response.end(takesGzip ? packed.get(key) : bytes);
    } catch {
      response.writeHead(404, { "content-type": "text/plain" });
      response.end("Not found\n");
    }
  });
  await new Promise((listening, failed) => server.once("error", failed).listen(port, "127.0.0.1", listening));
  const close = () => new Promise((closed) => {
    server.close(closed);
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${server.address().port}/`, close };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { port: { type: "string", default: "8000" }, folder: { type: "string", default: fileURLToPath(new URL("dist", import.meta.url)) } } });
  const { url } = await serve(values.folder, Number(values.port));
  console.log(url);
}
