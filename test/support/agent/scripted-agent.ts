import { randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import {
  type Channel,
  type ChannelHandlers,
  type ChannelRequest,
  encodeGreeting,
  Peer,
  readClose,
  readWelcome,
  type Welcome,
} from '../../../src/protocol/agent/index.ts';
import { waitFor } from '../patience.ts';

const PROTOCOL = 'berth.agent.v1';
/** A shell's output that is kept for new viewers. */
type Shell = { output: Buffer; taken: number; readonly channels: Set<Channel> };

/** What a machine keeps across its connections: its shells, and the files of its home. */
export type Machine = {
  readonly id: string;
  readonly name: string;
  readonly shells: Map<string, Shell>;
  readonly files: Map<string, Buffer>;
  /** The kinds of all requests. */
  readonly asked: string[];
  session: string | null;
  peer: Peer | null;
  /** As agents were before they could keep a file that is there. */
  alwaysReplaces?: boolean;
  /** It answers no request. */
  isSilent?: boolean;
};

export const aMachine = (name = 'laptop', id: string = randomUUID()): Machine => ({
  id,
  name,
  shells: new Map(),
  files: new Map(),
  asked: [],
  session: null,
  peer: null,
});

export type ScriptedAgent = {
  readonly socket: WebSocket;
  readonly welcome: Welcome;
  /** Code and reason of the close. */
  closed(): Promise<readonly [code: number, reason: string]>;
  /** The reason in the last message, if the service gave one. */
  readonly said: () => string | null;
};

export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, body: string) {
    super(`refused: ${status} ${body}`);
    this.status = status;
    this.code = JSON.parse(body || '{}').code ?? '';
  }
}

/** Opens a machine's socket without a word. Throws `Refused`. */
export async function openSocket(address: string, token: string, machineId: string): Promise<WebSocket> {
  const url = `${address}/api/agents/connect?agent=${machineId}`;
  const socket = new WebSocket(url, [PROTOCOL], { headers: { authorization: `Bearer ${token}` } });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
    socket.once('unexpected-response', (_request, response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () =>
        reject(new Refused(response.statusCode ?? 0, Buffer.concat(chunks).toString())),
      );
    });
  });
  socket.on('error', () => {});
  return socket;
}

/** Connects a machine, which serves shells that echo, commands that print themselves, and files in memory. */
export async function connectMachine(
  address: string,
  token: string,
  machine: Machine = aMachine(),
): Promise<ScriptedAgent> {
  const socket = await openSocket(address, token, machine.id);
  const known = machine.peer ?? peerOf(machine);
  let close: readonly [number, string] | undefined;
  let said: string | null = null;
  socket.once('close', (code, reason) => {
    close = [code, String(reason)];
    known.detach();
  });
  const messages: Buffer[] = [];
  let take = (): void => {};
  const first = new Promise<Buffer>((resolve, reject) => {
    socket.on('message', (data) => {
      messages.push(data as Buffer);
      resolve(messages[0] as Buffer);
      if (messages.length > 1) take();
    });
    socket.once('close', (code, reason) => reject(new Error(`closed ${code} ${reason}`)));
  });
  const agent = {
    id: machine.id,
    name: machine.name,
    version: '0',
    hostname: machine.name,
    platform: 'linux',
    arch: 'x64',
    user: 'ada',
    home: '/home/ada',
  };
  const { session } = machine;
  const { received } = known;
  socket.send(encodeGreeting({ version: 1, session, received, command_terminals: false, agent }));
  const read = readWelcome(await first);
  if (!read.ok) throw new Error(`no welcome: ${read.error.code}`);
  const welcome = read.value;
  const peer = welcome.resumed ? known : peerOf(machine);
  Object.assign(machine, { session: welcome.session, peer });
  const line = {
    send: (bytes: Uint8Array) => socket.send(bytes, () => peer.pump()),
    get bufferedBytes() {
      return socket.bufferedAmount;
    },
  };
  peer.attach(line, welcome.resumed ? welcome.received : 0);
  // Messages may have come with the welcome.
  take = (): void => {
    for (const data of messages.splice(1)) {
      said = readClose(data)?.reason ?? said;
      peer.receive(data);
      peer.flush();
    }
  };
  take();
  return {
    socket,
    welcome,
    said: () => said,
    async closed() {
      await waitFor(() => close !== undefined);
      return close ?? [0, ''];
    },
  };
}

const peerOf = (machine: Machine): Peer =>
  new Peer({
    role: 'agent',
    broken: () => {},
    opened: (request, channel) => serve(machine, request, channel),
  });

function serve(machine: Machine, request: ChannelRequest, channel: Channel): ChannelHandlers {
  machine.asked.push(request.type);
  if (machine.isSilent) return ignored;
  switch (request.type) {
    case 'shell':
      return serveShell(machine, request, channel);
    case 'end_shell': {
      const ended = machine.shells.get(request.shell);
      for (const viewer of ended?.channels ?? [])
        viewer.finish({ type: 'shell', exit_code: null, signal: 'HUP' });
      machine.shells.delete(request.shell);
      channel.finish({ type: 'end_shell', ended: ended !== undefined });
      return ignored;
    }
    case 'exec':
      return serveCommand(request, channel);
    case 'file_open':
    case 'file_write':
    case 'file_remove':
      return serveFile(machine, request, channel);
    default:
      channel.reset('unsupported');
      return ignored;
  }
}

const ignored: ChannelHandlers = { reset: () => {} };
type Of<K extends ChannelRequest['type']> = Extract<ChannelRequest, { type: K }>;

function serveShell(machine: Machine, request: Of<'shell'>, channel: Channel): ChannelHandlers {
  if (request.force_new) machine.shells.delete(request.shell);
  const created = !machine.shells.has(request.shell);
  const shell = machine.shells.get(request.shell) ?? {
    output: Buffer.from('$ '),
    taken: 0,
    channels: new Set(),
  };
  machine.shells.set(request.shell, shell);
  shell.channels.add(channel);
  const { cols, rows } = request;
  channel.accept({
    type: 'shell',
    created,
    offset: 0,
    redraw: true,
    input_offset: shell.taken,
    pid: 1,
    cols,
    rows,
    started_at: 0,
  });
  channel.write(shell.output);
  const say = (bytes: Uint8Array): void => {
    shell.output = Buffer.concat([shell.output, bytes]);
    for (const viewer of shell.channels) viewer.write(bytes);
  };
  return {
    data(_stream, bytes) {
      channel.consumed(bytes.length);
      if (request.view) return;
      shell.taken += bytes.length;
      channel.note({ type: 'input', offset: shell.taken });
      say(bytes);
      const code = /exit (\d+)\r$/.exec(shell.output.toString())?.[1];
      if (code === undefined) return;
      machine.shells.delete(request.shell);
      for (const viewer of shell.channels)
        viewer.finish({ type: 'shell', exit_code: Number(code), signal: null });
    },
    reset: () => void shell.channels.delete(channel),
  };
}

/** Prints its command, then what it reads; `false` exits with 1, and `sleep` only ends with its time. */
function serveCommand({ command, stdin }: Of<'exec'>, channel: Channel): ChannelHandlers {
  channel.accept({ type: 'exec', pid: 2, terminal: false });
  const end = (exit_code: number | null): void =>
    channel.finish({ type: 'exec', exit_code, signal: null, timed_out: exit_code === null, cut: false });
  channel.write(Buffer.from(`${command.join(' ')}\n`), 1);
  if (command[0] !== 'sleep' && !stdin) end(command[0] === 'false' ? 1 : 0);
  return {
    data(_stream, bytes) {
      channel.consumed(bytes.length);
      channel.write(bytes, 1);
    },
    ended: () => end(0),
    reset: () => {},
  };
}

function serveFile(
  { files, alwaysReplaces = false }: Machine,
  request: Of<'file_open'> | Of<'file_write'> | Of<'file_remove'>,
  channel: Channel,
): ChannelHandlers {
  const { path } = request;
  const file = files.get(path);
  if (request.type === 'file_write') {
    const onlyNew = request.only_new && !alwaysReplaces;
    if (onlyNew && file !== undefined) channel.reset('file_in_the_way');
    else channel.accept({ type: 'file_write', only_new: onlyNew });
    const chunks: Uint8Array[] = [];
    return {
      data(_stream, bytes) {
        channel.consumed(bytes.length);
        chunks.push(bytes);
      },
      ended() {
        if (onlyNew && files.has(path)) return channel.reset('file_in_the_way');
        const content = Buffer.concat(chunks);
        files.set(path, content);
        channel.finish({ type: 'file_write', size_bytes: content.length, is_new: file === undefined });
      },
      reset: () => {},
    };
  }
  if (file === undefined) channel.reset('file_not_found');
  else if (request.type === 'file_remove') {
    files.delete(path);
    channel.finish({ type: 'file_remove' });
  } else {
    channel.accept({ type: 'file', size_bytes: file.length, modified_at: 0 });
    channel.write(file);
    channel.finish({ type: 'file_open', complete: true });
  }
  return ignored;
}
