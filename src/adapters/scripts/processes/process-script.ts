import { CappedOutput } from '../../../domain/capped-output.ts';
import type { RuntimeHandle } from '../../../ports/containers/container-runtime.ts';
import type { ContainerCommands } from '../../../ports/containers/inside/container-commands.ts';

const SCRIPT_SECONDS = 20;
const MAX_BYTES = 262_144;
const MAX_COMPLAINT_BYTES = 4096;

type ScriptOptions = {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: Buffer;
  readonly seconds?: number;
};

export type Printed = {
  /** Words by line, up to 256 KiB. */
  readonly lines: readonly (readonly string[])[];
  readonly complaints: string;
  readonly exitCode: number | null;
};

/** Runs a script with these arguments to its end, or its time limit. */
export const scriptRunner =
  (commands: ContainerCommands) =>
  async (
    handle: RuntimeHandle,
    script: string,
    args: readonly string[],
    { env = {}, stdin, seconds = SCRIPT_SECONDS }: ScriptOptions = {},
  ): Promise<Printed> => {
    const running = await commands.open(handle, {
      command: ['/bin/sh', '-c', script, 'berth', ...args],
      env,
      timeoutSeconds: seconds,
      ...(stdin === undefined ? {} : { stdin }),
    });
    const output = { stdout: new CappedOutput(MAX_BYTES), stderr: new CappedOutput(MAX_COMPLAINT_BYTES) };
    let exitCode: number | null = null;
    for await (const event of running.events) {
      if (event.kind === 'output') output[event.stream].add(event.data);
      else exitCode = event.exitCode;
    }
    return { lines: linesIn(output.stdout), complaints: output.stderr.bytes().toString(), exitCode };
  };

const linesIn = (output: CappedOutput): string[][] =>
  output
    .bytes()
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' '));
