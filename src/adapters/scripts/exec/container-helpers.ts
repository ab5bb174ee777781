import { PassThrough, type Readable } from 'node:stream';
import { RuntimeFailure, type RuntimeHandle } from '../../../ports/containers/container-runtime.ts';
import type {
  ContainerCommands,
  ContainerHelpers,
  ControlledCommand,
  InnerAddress,
  InnerConnection,
} from '../../../ports/containers/inside/container-commands.ts';
import { TOOLS_FOLDER } from '../terminals/tmux/tmux-volume-scripts.ts';
import { inTime } from './in-time.ts';
import { startListener } from './inner-listener.ts';
import { CONNECT_RELAY, LISTEN_RELAY, RUN_RELAY } from './relay-scripts.ts';

/** More than the relay's two tries to connect take. */
const FIRST_FRAME_SECONDS = 30;

/** Runs the helpers by `sh` and Perl: the Perl of the installation, else the image's. */
export function containerHelpers(commands: ContainerCommands): ContainerHelpers {
  const run = (handle: RuntimeHandle, [relay, address]: readonly [string, string], stdin: Readable) => {
    const command = ['sh', '-c', RUN_RELAY, 'berth', address, relay];
    return commands.open(handle, { command, stdin, timeoutSeconds: null });
  };
  const connect = async (handle: RuntimeHandle, to: InnerAddress, stdin: Readable) =>
    await connected(await run(handle, [CONNECT_RELAY, asArgument(to)], stdin));
  return {
    serveSftp: (handle, stdin) =>
      commands.open(handle, { command: ['sh', '-c', SFTP_SERVER, 'berth'], stdin, timeoutSeconds: null }),

    connect,

    async listen(handle, at) {
      const words = new PassThrough();
      const address = at.kind === 'private' ? 'private' : asArgument(at);
      const relay = await run(handle, [LISTEN_RELAY, address], words);
      return await startListener(relay, words, (path, stdin) =>
        connect(handle, { kind: 'socket', path }, stdin),
      );
    },
  };
}

const asArgument = (at: InnerAddress): string => (at.kind === 'port' ? String(at.port) : at.path);

/** null when nothing listens. */
async function connected(relay: ControlledCommand): Promise<InnerConnection | null> {
  const closed = Promise.withResolvers<void>();
  const frames = framesOf(relay, closed.resolve);
  const first = await inTime(frames.next(), FIRST_FRAME_SECONDS, relay.end);
  if (first.done) return null;
  // Frames that nobody reads do not end by themselves.
  const end = (): Promise<void> => relay.end().finally(closed.resolve);
  return { output: untilEnd(frames), closed: closed.promise, end };
}

/** Reads on after the last frame, until the other direction has ended too. */
async function* untilEnd(frames: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  for (let next = await frames.next(); !next.done; next = await frames.next()) {
    if (next.value.length > 0) yield next.value;
    else return void frames.next().catch(() => {});
  }
}

/** The user can replace `perl`: a length that the relay never sends ends it. */
async function* framesOf(
  { events, end: endRelay }: ControlledCommand,
  closed: () => void,
): AsyncGenerator<Buffer> {
  let left: Buffer = Buffer.alloc(0);
  try {
    for await (const event of events) {
      if (event.kind === 'exit') return;
      if (event.stream === 'stderr') continue;
      left = left.length === 0 ? event.data : Buffer.concat([left, event.data]);
      for (let end = frameEnd(left); end <= left.length; end = frameEnd(left)) {
        const frame = left.subarray(LENGTH_BYTES, end);
        left = left.subarray(end);
        yield frame;
      }
      if (left.length >= LENGTH_BYTES && left.readUInt32BE(0) > MAX_FRAME_BYTES) {
        void endRelay();
        throw new RuntimeFailure('a relay announced too long a frame');
      }
    }
  } finally {
    closed();
  }
}

const LENGTH_BYTES = 4;
/** How much the relay reads at a time. */
const MAX_FRAME_BYTES = 65_536;
const frameEnd = (bytes: Buffer): number =>
  bytes.length < LENGTH_BYTES ? Number.POSITIVE_INFINITY : LENGTH_BYTES + bytes.readUInt32BE(0);

/** The image's own server, else the one that the installation carries. */
const SFTP_SERVER = `
for folder in /usr/lib/openssh /usr/lib/ssh /usr/libexec/openssh /usr/libexec; do
  [ -x "$folder/sftp-server" ] && exec "$folder/sftp-server"
done
if [ -x ${TOOLS_FOLDER}/sftp-server ]; then
  exec ${TOOLS_FOLDER}/ld.so --library-path ${TOOLS_FOLDER}/lib ${TOOLS_FOLDER}/sftp-server
fi
echo 'this container has no sftp-server' >&2
exit 127
`;
