import { EXIT } from '../connection/next-try.ts';
import { CREDENTIAL_NAME } from '../identity/credential.ts';

export type UnitOptions = {
  /** The program and its first arguments. */
  readonly program: readonly string[];
  readonly server: string;
  readonly isInsecure: boolean;
  /** A system unit's user; null for a unit of the user's own manager. */
  readonly user: string | null;
  /** The file with the token; null when the agent is enrolled. */
  readonly tokenFile: string | null;
};

export function unitText({ program, server, isInsecure, user, tokenFile }: UnitOptions): string {
  const isSystem = user !== null;
  const command = [
    ...program,
    '--server',
    server,
    ...(isInsecure ? ['--insecure'] : []),
    ...(tokenFile === null || isSystem ? [] : ['--token-file', tokenFile]),
  ];
  const lines = [
    '[Unit]',
    'Description=Berth agent: offers the shells of this machine',
    'After=network-online.target',
    'Wants=network-online.target',
    // a service that is away for days is waited for
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    `ExecStart=${command.map(quoted).join(' ')}`,
    ...(isSystem ? [`User=${user}`, 'StateDirectory=berth-agent', 'StateDirectoryMode=0700'] : []),
    ...(isSystem && tokenFile !== null ? [`LoadCredential=${CREDENTIAL_NAME}:${tokenFile}`] : []),
    'Restart=always',
    'RestartSec=5',
    `RestartPreventExitStatus=${Object.values(EXIT).join(' ')}`,
    'TimeoutStopSec=15',
    '',
    '[Install]',
    `WantedBy=${isSystem ? 'multi-user.target' : 'default.target'}`,
  ];
  return `${lines.join('\n')}\n`;
}

/** An argument for systemd: `%` and `$` mean something there. */
const quoted = (text: string): string => {
  const escaped = text.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w@%+=:,./$-]+$/.test(escaped) ? escaped : `"${escaped.replace(/["\\]/g, '\\$&')}"`;
};
