// Takes the picture of a report for the documentation, of a run of the recorded program:
//
//   node panel/measure/report-picture.mjs FOLDER
import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { prose } from "../../test/prose.mjs";

const [folder = "."] = process.argv.slice(2);
const recorded = fileURLToPath(new URL("../../test/recorded/", import.meta.url));
const work = mkdtempSync(path.join(tmpdir(), "prose-picture-"));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  for (const file of ["review.prose", "review.toml"]) copyFileSync(path.join(recorded, file), path.join(work, file));
  prose(["run", "review.prose", "--script", "review.toml", "--quiet", "--max-parallel", "2", "--input", "topic=tides"], { cwd: work });
  prose(["runs", "report"], { cwd: work });
  const [file] = readdirSync(work).filter((name) => name.endsWith(".html"));
  const page = await browser.newPage({ viewport: { width: 1200, height: 760 }, colorScheme: "light" });
  await page.goto(pathToFileURL(path.join(work, file)).href);
  await page.locator('[role=treeitem].row:visible[aria-label*="Look for style"]').first().click();
  await page.locator(".details pre", { hasText: "Done" }).first().waitFor();
  await page.screenshot({ path: path.join(folder, "report.png") });
} finally {
  await browser.close();
  rmSync(work, { recursive: true, force: true });
}
