import { Command } from '@commander-js/extra-typings';
import { askSecret, NoAnswer } from '../../prompts/ask.ts';
import { SetupFault, serverFrom } from '../identity/credential.ts';

/** A command with what all of them take. */
export const agentCommand = (name: string, description: string) =>
  new Command(name)
    .description(description)
    .option('--server <url>', 'the service (or BERTH_SERVER)')
    .option('--name <name>', 'what this machine is called in Berth (default: its host name)')
    .option('--insecure', 'allow a service without TLS on another machine', false);

type Given = { readonly server?: string | undefined; readonly insecure: boolean };

/** The service's address, checked. Throws `SetupFault`. */
export const serverOf = ({ server, insecure }: Given): string =>
  serverFrom(server ?? process.env['BERTH_SERVER'], insecure);

export const say = (line: string): void => void process.stderr.write(`berth agent: ${line}\n`);

/** The first line of standard input, not shown on a terminal: a secret does not belong on a command line. */
export async function secretFromInput(question: string): Promise<string> {
  if (process.stdin.isTTY) return await typedSecret(question);
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk;
    if (text.includes('\n')) break;
  }
  return text.split('\n')[0]?.trim() ?? '';
}

async function typedSecret(question: string): Promise<string> {
  const on = { input: process.stdin, output: process.stderr };
  try {
    return (await askSecret(on, `${question}: `)).trim();
  } catch (error) {
    if (error instanceof NoAnswer) throw new SetupFault(`no ${question.toLowerCase()} was given`);
    throw error;
  }
}
