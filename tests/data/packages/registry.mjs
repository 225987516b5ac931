// A registry of npm with the packages in a folder. Prints its address; ends when its input does.
//
//   node registry.mjs FOLDER
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const folder = process.argv[2];
const packages = new Map();
for (const file of readdirSync(folder).filter((name) => name.endsWith(".tgz"))) {
  const bytes = readFileSync(join(folder, file));
  const manifest = JSON.parse(execFileSync("tar", ["-xzOf", join(folder, file), "package/package.json"], { encoding: "utf8" }));
  packages.set(manifest.name, { file, manifest, integrity: `sha512-${createHash("sha512").update(bytes).digest("base64")}` });
}

const server = createServer((request, response) => {
  const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname).slice(1);
  if (path.endsWith(".tgz")) return response.end(readFileSync(join(folder, path)));
  const found = packages.get(path);
  if (found === undefined) {
    response.statusCode = 404;
    return response.end("{}");
  }
  const { file, manifest, integrity } = found;
  const dist = { integrity, tarball: `http://127.0.0.1:${server.address().port}/${file}` };
  const { name, version } = manifest;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions: { [version]: { ...manifest, dist } } }));
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
process.stdin.resume().on("end", () => process.exit());
