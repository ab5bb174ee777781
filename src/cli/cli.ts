import type { Berth } from '../client/index.ts';
import { connect } from './connect.ts';
import type { Io } from './io/io.ts';
import { type Printer, printer } from './io/printer.ts';
import { type Progress, progress } from './io/progress.ts';
import { type Prompts, prompts } from './io/prompts.ts';
import type { GlobalOptions } from './options.ts';
import { type HostsFile, hostsFile } from './profiles/hosts-file.ts';
import { requireServer, type Target, targetOf } from './profiles/target.ts';

/** What an action works with. Nothing is read or sent before it is used. */
export type Cli = {
  readonly io: Io;
  readonly options: GlobalOptions;
  readonly print: Printer;
  readonly ask: Prompts;
  readonly progress: Progress;
  readonly hosts: HostsFile;
  /** To people, on stderr. */
  readonly notify: (line: string) => void;
  /** The service, as the user. Throws where nobody is signed in. */
  readonly berth: () => Berth;
};

export function openCli(io: Io, options: GlobalOptions): Cli {
  const notify = (line: string) => void io.err.write(`${line}\n`);
  const hosts = hostsFile(io);
  let berth: Berth | null = null;
  return {
    io,
    options,
    print: printer(io, options.output, options.color, notify),
    ask: prompts(io),
    progress: progress(io),
    hosts,
    notify,
    berth() {
      berth ??= connect(targetIn({ io, options, hosts }), { hosts, io, options });
      return berth;
    },
  };
}

/** The server and credential of this command. Throws where no server is known. */
export const targetIn = ({ io, options, hosts }: Pick<Cli, 'io' | 'options' | 'hosts'>): Target =>
  requireServer(targetOf(hosts.read(), options, io));
