import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import type { AnyCommand } from '../../src/cli/options.ts';
import { everyCommand, program } from '../../src/cli/program.ts';

const FOLDER = 'docs/cli';
const PAGE = 'docs/cli.md';
const LIST = /(<!-- commands -->\n)[\s\S]*?(<!-- end -->)/;
const WRITE = process.env['WRITE_DOCS'] !== undefined;

function namesOf(command: AnyCommand): string {
  return command.parent === null ? command.name() : `${namesOf(command.parent)} ${command.name()}`;
}

/** What `--help` prints. */
function helpOf(command: AnyCommand): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => (text += part),
    getOutHelpWidth: () => 100,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  return text.trim();
}

/** A command and its subcommands, each under its name. */
function pageOf(command: AnyCommand, level = 1): string {
  const head = `${'#'.repeat(level)} ${namesOf(command)}`;
  const section = `${head}\n\n${command.description()}.\n\n\`\`\`\n${helpOf(command)}\n\`\`\`\n`;
  return [section, ...command.commands.map((each) => pageOf(each as AnyCommand, level + 1))].join('\n');
}

const root = program();
const pages = new Map(root.commands.map((each) => [`${each.name()}.md`, pageOf(each as AnyCommand)]));
const list = root.commands.map(
  (each) => `- [berth ${each.name()}](cli/${each.name()}.md): ${each.description()}.`,
);

t.test('each command has its page, written from its help', async (t) => {
  if (WRITE) {
    mkdirSync(FOLDER, { recursive: true });
    for (const [name, text] of pages) writeFileSync(path.join(FOLDER, name), text);
    const page = readFileSync(PAGE, 'utf8');
    writeFileSync(
      PAGE,
      page.replace(LIST, (_all, start, end) => `${start}\n${list.join('\n')}\n\n${end}`),
    );
  }
  const again = 'write them: WRITE_DOCS=1 npm test test/docs/cli.test.ts';
  t.same(existsSync(FOLDER) && readdirSync(FOLDER).sort(), [...pages.keys()].sort(), again);
  for (const [name, text] of pages)
    t.equal(readFileSync(path.join(FOLDER, name), 'utf8'), text, `${name}: ${again}`);
  t.ok(readFileSync(PAGE, 'utf8').includes(list.join('\n')), `${PAGE}: ${again}`);
});

t.test('each command says what it does, and names its arguments and options in words', async (t) => {
  for (const command of everyCommand(root)) {
    const name = namesOf(command);
    t.match(command.description(), /^[A-Z].*[^.]$/, name);
    for (const { description, hidden, long } of command.options)
      t.ok(hidden || description, `${name} ${long}`);
    for (const argument of command.registeredArguments)
      t.ok(argument.description, `${name} ${argument.name()}`);
  }
});
