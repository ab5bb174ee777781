import { CliError } from '../../cli-error.ts';
import { command, withCli } from '../../command.ts';
import { type Check, checkAll, type Result } from '../../doctor/checks.ts';
import type { Shown } from '../../io/printer.ts';
import type { Style } from '../../io/style.ts';

export const doctor = () =>
  command('doctor', 'Check the connection to the server, and what it needs').action(
    withCli(async (cli) => {
      const checks = await cli.progress('Checking', checkAll(cli));
      cli.print.list(checks, CHECKS);
      const failed = checks.filter(({ result }) => result === 'failed');
      if (failed.length > 0) {
        throw new CliError(`These checks failed: ${failed.map(({ check }) => check).join(', ')}.`, {
          code: 'unhealthy',
        });
      }
      const warnings = checks.filter(({ result }) => result === 'warning').length;
      cli.notify(warnings === 0 ? 'All checks passed.' : `No check failed; there are ${warnings} warnings.`);
    }),
  );

const COLOURS: { readonly [R in Result]: Parameters<Style>[0] } = {
  ok: 'green',
  warning: 'yellow',
  failed: 'red',
  skipped: 'dim',
};

const CHECKS: Shown<Check> = {
  columns: {
    check: ({ check }) => check,
    result: ({ result }, style) => style(COLOURS[result], result),
    detail: ({ detail }) => detail,
  },
  name: ({ check }) => check,
};
