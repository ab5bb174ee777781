import { parseArgs } from 'node:util';
import { SchemaIsNewer } from '../../../adapters/postgres/migrate.ts';
import { COMMANDS, USAGE } from '../commands.ts';
import { readConfig } from '../config.ts';
import type { Outcome } from '../outcome.ts';

const EX_USAGE = 64;
const EX_SOFTWARE = 70;
const EX_CONFIG = 78;

function codeOf(error: unknown): number {
  if (error instanceof SchemaIsNewer) return EX_CONFIG;
  return error instanceof TypeError && 'code' in error ? EX_USAGE : EX_SOFTWARE;
}

async function run(): Promise<Outcome> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      head: { type: 'string' },
      yes: { type: 'boolean' },
      id: { type: 'string' },
      'forget-engine': { type: 'string', multiple: true },
      'old-swarm': { type: 'string', multiple: true },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) return { code: 0, says: USAGE };
  const command = COMMANDS[positionals.join(' ')];
  if (command === undefined) return { code: EX_USAGE, says: USAGE };
  const settings = readConfig(process.env);
  if ('faults' in settings) return { code: EX_CONFIG, says: settings.faults.join('\n') };
  return await command(settings.config, values);
}

const { code, says } = await run().catch((error: unknown) => ({
  code: codeOf(error),
  says: error instanceof Error ? error.message : String(error),
}));
(code === 0 ? process.stdout : process.stderr).write(`${says}\n`);
process.exitCode = code;
