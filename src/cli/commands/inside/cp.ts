import type { Cli } from '../../cli.ts';
import { usageError } from '../../cli-error.ts';
import { command, withCli } from '../../command.ts';
import { type CopyOptions, copying } from '../../copy/copied.ts';
import { type CopyEnd, copyEnd } from '../../copy/copy-end.ts';
import { download, downloadStream } from '../../copy/download.ts';
import { upload, uploadStream } from '../../copy/upload.ts';
import { findContainer } from '../../values/find.ts';

const HELP = `
A name with a colon is in a container, below /workspace; a local one with a colon is written ./a:b. - is standard input
or output, for one file. A folder that exists gets the source inside, unless the source ends in /. (its content).
Symbolic links are not followed. Executable files stay executable.

Examples:
  berth cp ./src dev:src
  berth cp dev:results ./results
  berth cp dev:log.txt - | grep error
`;

type InContainer = Extract<CopyEnd, { kind: 'container' }>;

export const cp = () =>
  command('cp', 'Copy a file or folder into a container, or out of it')
    .argument('<source>', 'what to copy: ./dir, dev:path or -')
    .argument('<target>', 'where to: dev:path, ./dir or -')
    .option('-n, --no-replace', 'fail rather than replace a file')
    .addHelpText('after', HELP)
    .action(
      withCli(async (cli, source, target, { replace = true }) => {
        const [from, to] = [copyEnd(source), copyEnd(target)];
        if (from.kind === 'container' && to.kind !== 'container')
          await copyOut(cli, from, to, target, { replace });
        else if (to.kind === 'container' && from.kind !== 'container')
          await copyIn(cli, from, to, target, { replace });
        else throw usageError('One of the two is in a container, such as dev:src; the other is not.');
      }),
    );

async function copyIn(
  cli: Cli,
  from: Exclude<CopyEnd, InContainer>,
  to: InContainer,
  name: string,
  options: CopyOptions,
) {
  const container = await findContainer(cli, to.container);
  await copying(cli, name, (copied) =>
    from.kind === 'stream'
      ? uploadStream(cli.io.in, container, to.path, copied, options)
      : upload(cli, container, from.path, to.path, copied, options),
  );
}

async function copyOut(
  cli: Cli,
  from: InContainer,
  to: Exclude<CopyEnd, InContainer>,
  name: string,
  options: CopyOptions,
) {
  const container = await findContainer(cli, from.container);
  if (to.kind === 'stream') await downloadStream(container, from.path, cli.io.out);
  else await copying(cli, name, (copied) => download(container, from.path, to.path, copied, options));
}
