import type { Readable } from 'node:stream';
import { eachOnce } from '../../concurrency/coalesce.ts';
import { NotOffered } from '../../ports/containers/container-runtime.ts';
import type {
  CommandEvent,
  CommandSignal,
  ContainerCommands,
} from '../../ports/containers/inside/container-commands.ts';
import { type Channel, type Peer, REQUEST_KEPT_MS } from '../../protocol/agent/index.ts';
import type { AgentHub } from './agent-hub.ts';
import { CommandOutput } from './command-output.ts';
import { exitCodeOf } from './exit-codes.ts';
import { onHost } from './host-paths.ts';
import { ANSWER_MS, answerWithin, ask, sendWithin, tooMany } from './requests.ts';

const SIGNAL_WITHIN_SECONDS = 10;
/** Longer than a lost agent's requests wait for it. */
const BEGUN_MS = REQUEST_KEPT_MS + 10_000;

/** Commands in agents, as the user that runs the agent. */
export const agentCommands = (hub: AgentHub, answerMs = BEGUN_MS): ContainerCommands => ({
  async open(handle, { command, env = {}, workdir, stdin, timeoutSeconds, terminal }) {
    const output = new CommandOutput();
    const cwd = workdir === undefined ? null : onHost(workdir);
    const hasInput = stdin !== undefined;
    const peer = hub.peerOf(handle);
    if (terminal !== undefined && !hub.givesTerminals(handle))
      throw new NotOffered('agent', 'this version of the agent gives commands no terminal');
    const channel = peer.open(
      {
        type: 'exec',
        command,
        env,
        cwd,
        stdin: hasInput,
        terminal: terminal ?? null,
        timeout_seconds: wholeSeconds(timeoutSeconds),
      },
      output.handlers(),
    );
    if (channel === null) throw tooMany();
    output.uses(channel);
    if (stdin !== undefined)
      void send(channel, stdin, output, terminal === undefined).catch(() => channel.reset('ended'));
    await answerWithin(answerMs, output.begun(), () => channel.reset('ended'));
    return {
      events: eventsOf(output),
      async end() {
        channel.reset('ended');
        output.close();
      },
      signal: eachOnce(async (name) => {
        if (channel.isOpen) await sendSignal(peer, output.pid(), name).catch(() => {});
      }),
      async resize(cols, rows) {
        if (terminal !== undefined && channel.isOpen) channel.note({ type: 'resize', cols, rows });
      },
    };
  },
});

/** Sends the input in portions that the agent has room for, then its end, if it has one. */
async function send(
  channel: Channel,
  stdin: Buffer | Readable,
  output: CommandOutput,
  ends: boolean,
): Promise<void> {
  const source = Buffer.isBuffer(stdin) ? [stdin] : (stdin as AsyncIterable<Buffer>);
  for await (const chunk of source) await sendWithin(channel, chunk, (room) => output.once('room', room));
  if (ends) channel.end();
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

/** The protocol has whole seconds. */
const wholeSeconds = (seconds: number | null): number | null =>
  seconds === null ? null : Math.ceil(seconds);

/** To the process group of a command, which its agent starts as the leader. */
const sendSignal = (peer: Peer, pid: number, signal: CommandSignal): Promise<unknown> =>
  ask(
    peer,
    {
      type: 'exec',
      command: ['sh', '-c', 'kill -s "$0" -- "-$1"', signal, String(pid)],
      env: {},
      cwd: '/',
      timeout_seconds: SIGNAL_WITHIN_SECONDS,
      stdin: false,
      terminal: null,
    },
    ANSWER_MS,
  );
