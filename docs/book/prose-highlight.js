// Colours the programs of these pages. The words are tested against the table of keywords.
(() => {
  const words =
    "use as import from input output agent block let const session resume do parallel repeat for in loop until while " +
    "try catch finally throw choice option if elif else return break continue assert map filter pmap reduce and or not is";
  const name = { className: "subst", begin: /\{[A-Za-z_][\w-]*(\.[A-Za-z_]\w*|\[\w+\])*\}/ };
  const prose = (hljs) => ({
    // A keyword that is followed by a colon may be a property; that it looks like a keyword then does no harm.
    keywords: { $pattern: /[A-Za-z_][\w-]*/, keyword: words, literal: "true false null" },
    contains: [
      hljs.HASH_COMMENT_MODE,
      { className: "string", begin: /"""/, end: /"""(?!")/, contains: [name] },
      { className: "string", begin: /"/, end: /"|$/, contains: [{ begin: /\\./ }, name] },
      { className: "regexp", begin: /\*\*\*/, end: /\*\*\*/, contains: [name] },
      { className: "regexp", begin: /\*\*/, end: /\*\*/, contains: [name] },
      { className: "number", begin: /\b\d+(\.\d+)?(ms|s|m|h)?\b/ },
      { className: "attr", begin: /^ +[a-z_-]+(?=:)/ },
    ],
  });
  const hljs = globalThis.hljs;
  hljs.registerLanguage("prose", prose);
  for (const block of document.querySelectorAll("code.language-prose")) {
    // The book has coloured it already, as a language that it does not know.
    block.textContent = block.textContent;
    hljs.highlightBlock(block);
  }
})();
