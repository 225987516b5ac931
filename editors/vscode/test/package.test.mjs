// What `package.json` promises: everything that it names is there, and nothing is named that does nothing.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { prose } from "./prose.mjs";

const root = new URL("../", import.meta.url);
const read = (file) => readFileSync(new URL(file, root), "utf8");
const { contributes, activationEvents, capabilities, icon, main } = JSON.parse(read("package.json"));
const source = readdirSync(new URL("src/", root), { recursive: true })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => read(`src/${file}`))
  .join("\n");
const settings = contributes.configuration.properties;
const commands = contributes.commands.map(({ command }) => command);

test("each command has a title and somebody who does it", () => {
  // Those of the server: it names them to the client, which registers them.
  const server = /const COMMANDS = \[([^\]]*)\]/.exec(read("src/runs.ts"))[1];
  for (const { command, title, category } of contributes.commands) {
    assert.match(title, /^[A-Z]/, command);
    // People find all of them by one word.
    assert.equal(category, "OpenProse", command);
    // Those of the view of runs are registered without what all of them begin with.
    const name = command.replace(/^prose\.runs\./, "");
    const isOurs = new RegExp(`(?:registerCommand|register|about)\\(\\s*"(?:${name}|${command})"`).test(source);
    assert.ok(isOurs || server.includes(`"${command}"`), `nobody does ${command}`);
  }
  assert.deepEqual(commands, [...new Set(commands)]);
});

test("menus and walkthroughs name commands and settings that there are", () => {
  const items = Object.values(contributes.menus).flat();
  const steps = contributes.walkthroughs.flatMap(({ steps }) => steps);
  const links = steps.flatMap(({ description }) => [...description.matchAll(/command:([\w.]+)/g)].map(([, name]) => name));
  for (const command of [...items.map(({ command }) => command), ...links].filter(Boolean)) {
    assert.ok(commands.includes(command) || command.startsWith("workbench."), command);
  }
  for (const [kind, name] of steps.flatMap(({ completionEvents }) => completionEvents).map((event) => event.split(":"))) {
    assert.ok(kind === "onCommand" ? commands.includes(name) : name in settings, `${kind}:${name}`);
  }
});

test("each setting is described and read", () => {
  for (const [name, setting] of Object.entries(settings)) {
    assert.ok(name.startsWith("prose."), name);
    const description = setting.markdownDescription ?? setting.description;
    assert.match(description ?? "", /^[A-Z][^]*\.$/, name);
    assert.ok("default" in setting, `${name} has no default`);
    if (setting.enum !== undefined && setting.enumDescriptions !== undefined) {
      assert.equal(setting.enum.length, setting.enumDescriptions.length, name);
    }
    for (const [, other] of description.matchAll(/#([\w.]+)#/g)) assert.ok(other in settings, other);
    // By its whole name behind `prose.`, or by its table and its key; the trace is read by the client of the protocol.
    const [, table, key] = name.split(".");
    const isRead =
      source.includes(`"${table}.${key}"`) ||
      (source.includes(`getConfiguration("prose.${table}")`) && source.includes(`get("${key}"`));
    assert.ok(isRead || name === "prose.trace.server", `nobody reads ${name}`);
  }
  const orders = Object.values(settings).map(({ order }) => order);
  assert.deepEqual(orders, orders.map((_, index) => index + 1));
});

test("configurations of the debugger have the settings that its page describes", () => {
  const [{ type, configurationAttributes, initialConfigurations, configurationSnippets }] = contributes.debuggers;
  const [, table] = /^## Settings of a session\n\n[^\n]*\n[^\n]*\n([^]*?)\n\n/m.exec(read("../../docs/debugging.md"));
  const described = table.split("\n").flatMap((row) => [...row.split("|")[1].matchAll(/`(\w+)`/g)].map(([, name]) => name));
  const { launch, attach } = configurationAttributes;
  assert.deepEqual(Object.keys(launch.properties), described);
  for (const name of Object.keys(attach.properties)) assert.ok(described.includes(name), name);
  for (const configuration of [...initialConfigurations, ...configurationSnippets.map(({ body }) => body)]) {
    const { type: of, request, name, ...settings } = configuration;
    assert.equal(of, type);
    assert.ok(name);
    for (const setting of Object.keys(settings)) assert.ok(setting in configurationAttributes[request].properties, setting);
    for (const setting of configurationAttributes[request].required ?? []) assert.ok(setting in settings, setting);
  }
});

test("a folder that is not trusted chooses no program and no file", () => {
  const restricted = capabilities.untrustedWorkspaces.restrictedConfigurations;
  for (const name of restricted) assert.ok(name in settings, name);
  for (const name of Object.keys(settings).filter((name) => /(?:path|File|harness|command|environment)$/.test(name))) {
    assert.ok(restricted.includes(name), name);
  }
});

test("the levels are those of the program, and so is the pattern of codes", () => {
  const { properties } = JSON.parse(read("../../docs/prose.schema.json")).properties.check.properties.levels;
  const { propertyNames, additionalProperties } = settings["prose.check.levels"];
  assert.deepEqual(additionalProperties.enum, Object.values(properties)[0].enum);
  for (const code of Object.keys(properties)) assert.match(code, new RegExp(propertyNames.pattern));
});

test("the files that are named are there, or are made by the build", () => {
  const files = [
    icon,
    main,
    ...contributes.languages.flatMap(({ configuration, icon }) => [configuration, icon.light, icon.dark]),
    ...contributes.grammars.map(({ path }) => path),
    ...contributes.tomlValidation.map(({ url }) => url),
    ...contributes.walkthroughs.flatMap(({ icon, steps }) => [icon, ...steps.map(({ media }) => media.markdown)]),
  ];
  for (const file of files) assert.ok(existsSync(new URL(file, root)), file);
});

test("a window without a program does not start the extension", () => {
  // Those of the languages, commands and views above come by themselves. A Markdown document may have programs, and
  // the Testing view has the cases of test files, whether or not one is open.
  assert.deepEqual(activationEvents, ["onLanguage:markdown", "workspaceContains:**/*.test.toml"]);
});

test("programs in the walkthrough are right, but for the one that is to be wrong", () => {
  for (const { id, media } of contributes.walkthroughs[0].steps) {
    for (const [, program] of read(media.markdown).matchAll(/^```prose\n([^]*?)^```$/gm)) {
      const found = JSON.parse(prose(["check", "--no-config", "--output-format", "json", "-"], { input: program }));
      assert.deepEqual(found.map(({ code }) => code).filter((code) => code.startsWith("E")), id === "check" ? ["E007"] : []);
    }
  }
});

test("the new program is right", () => {
  const [, program] = /NEW_PROGRAM = `([^`]*)`/.exec(source);
  assert.deepEqual(JSON.parse(prose(["check", "--no-config", "--output-format", "json", "-"], { input: program })), []);
});
