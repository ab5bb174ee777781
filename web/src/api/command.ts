import { getFile } from './calls.ts';

const FILE = '/cli/berth.mjs';

/** The one line of a shell that installs the command `berth`, checked against the digest that this page was given. */
export async function installLine(): Promise<string> {
  const [digest = ''] = (await (await getFile(`${FILE}.sha256`)).text()).split(' ');
  if (!/^[0-9a-f]{64}$/.test(digest)) throw new Error('the service has no command to install');
  return [
    '(mkdir -p ~/.local/bin && cd ~/.local/bin',
    `curl -fsS -o berth.new ${location.origin}${FILE}`,
    `echo "${digest}  berth.new" | sha256sum -c`,
    'chmod +x berth.new',
    'mv berth.new berth.mjs',
    'ln -sf berth.mjs berth)',
  ].join(' && ');
}
