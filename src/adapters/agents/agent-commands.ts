import type { Readable } from 'node:stream';
import type { CommandEvent, ContainerCommands } from '../../ports/containers/container-commands.ts';
import { NotOffered } from '../../ports/containers/container-runtime.ts';
import type { Channel } from '../../protocol/agent/index.ts';
import type { AgentHub } from './agent-hub.ts';
import { CommandOutput } from './command-output.ts';
import { exitCodeOf } from './exit-codes.ts';
import { onHost } from './host-paths.ts';
import { sendWithin, tooMany } from './requests.ts';

/** Commands in agents, as the user that runs the agent. */
export const agentCommands = (hub: AgentHub): ContainerCommands => ({
  async open(handle, { command, env = {}, workdir, stdin, timeoutSeconds, terminal }) {
    if (terminal !== undefined) throw new NotOffered('commands in agents have no terminal');
    const output = new CommandOutput();
    const cwd = workdir === undefined ? null : onHost(workdir);
    const hasInput = stdin !== undefined;
    const channel = hub
      .peerOf(handle)
      .open(
        { type: 'exec', command, env, cwd, timeout_seconds: timeoutSeconds, stdin: hasInput },
        output.handlers(),
      );
    if (channel === null) throw tooMany();
    output.uses(channel);
    if (stdin !== undefined) void send(channel, stdin, output).catch(() => channel.reset('ended'));
    await output.begun();
    return {
      events: eventsOf(output),
      async end() {
        channel.reset('ended');
        output.close();
      },
      async signal(name) {
        channel.note({ type: 'signal', signal: name });
      },
      async resize() {},
    };
  },
});

/** The input in the portions that the agent has room for, and its end. */
async function send(channel: Channel, stdin: Buffer | Readable, output: CommandOutput): Promise<void> {
  const source = Buffer.isBuffer(stdin) ? [stdin] : (stdin as AsyncIterable<Buffer>);
  for await (const chunk of source) await sendWithin(channel, chunk, (room) => output.once('room', room));
  channel.end();
}

async function* eventsOf(output: CommandOutput): AsyncGenerator<CommandEvent> {
  for (;;) {
    const next = await output.next();
    if (next === null) return;
    if ('data' in next) {
      yield { kind: 'output', stream: next.stream === 2 ? 'stderr' : 'stdout', data: next.data };
    } else {
      yield { kind: 'exit', exitCode: next.timed_out ? null : exitCodeOf(next), isCut: next.cut };
      return;
    }
  }
}
