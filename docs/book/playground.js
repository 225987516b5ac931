// Leads from the programs of these pages to the playground, where they can be changed and run, if it is published next to them.
(async () => {
  // Where the book starts, relative to this page, as the book itself tells its pages.
  const root = typeof path_to_root === "undefined" ? "" : path_to_root;
  const page = `${root}playground/index.html`;
  const isThere = await fetch(page, { method: "HEAD" }).then(({ ok }) => ok, () => false);
  if (!isThere) return;
  for (const block of document.querySelectorAll("code.language-prose")) {
    // Parts of programs are no programs.
    if (block.classList.contains("ignore")) continue;
    const link = document.createElement("a");
    link.className = "playground-link";
    link.href = `${page}#text=${encodeURIComponent(block.textContent)}`;
    link.textContent = "Open in the playground";
    link.style.cssText = "display: inline-block; margin: -0.6em 0 1em; font-size: 0.8em;";
    block.closest("pre")?.after(link);
  }
})();
