import { ProgramEnd } from '../../cli-error.ts';
import { command, withCli } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { inputText, writeTo } from '../../io/streams.ts';
import { findContainer } from '../../values/find.ts';
import { seconds } from '../../values/times.ts';
import { variables } from '../../values/variables.ts';

const HELP = `
Ends with the program's exit code, or ${EXIT.timedOut} at its time limit. The program's output is passed on as text.

Examples:
  berth exec dev -- npm test
  berth exec -e CI=1 --timeout 10m dev -- sh -c 'npm ci && npm test'
  berth exec -i dev -- psql < dump.sql
`;

export const exec = () =>
  command('exec', 'Run a program in a container')
    .argument('<container>', 'its name or id')
    .argument('<command...>', 'the program and its arguments, after --')
    .addOption(variables())
    .option('-i, --stdin', 'pass all of standard input to it')
    .option('-w, --workdir <folder>', 'its working folder, instead of /workspace')
    .option('--timeout <time>', 'end it after this time, such as 10m; 1m if not given, at most 1h', seconds)
    .passThroughOptions()
    .addHelpText('after', HELP)
    .action(
      withCli(async (cli, given, words, { env, stdin = false, workdir, timeout }) => {
        const { io, print } = cli;
        const isJson = print.form === 'json';
        const container = await findContainer(cli, given);
        const result = await container.run(words[0] === '--' ? words.slice(1) : words, {
          env,
          ...(stdin && { stdin: await inputText(io) }),
          ...(workdir !== undefined && { cwd: workdir }),
          ...(timeout !== undefined && { timeoutSeconds: timeout }),
          ...(!isJson && {
            onStdout: (text: string) => writeTo(io.out, text),
            onStderr: (text: string) => writeTo(io.err, text),
            maxOutputCharacters: 0,
          }),
        });
        const { exitCode, stdout, stderr, truncated } = result;
        if (isJson) print.text(JSON.stringify({ exit_code: exitCode, stdout, stderr, truncated }));
        throw new ProgramEnd(exitCode ?? EXIT.timedOut);
      }),
    );
