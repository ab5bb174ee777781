import { SSH_PROTOCOL, subprotocols } from '../../protocol/subprotocols.ts';
import { Queue } from '../queue.ts';
import type { Requester } from '../request/requester.ts';
import { answerWithoutUpgrade } from '../socket/refusal.ts';
import type { OpenSocket, Socket } from '../socket/socket.ts';

/** A byte stream to the SSH server of a container, which the credential has signed in. */
export type SshStream = {
  /** What arrives, for one `for await`. It ends with the connection. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Resolves when there is room for more. */
  write(data: Uint8Array<ArrayBuffer>): Promise<void>;
  end(): void;
};

const MAX_UNSENT_BYTES = 1_048_576;
const MAX_WAITING_BYTES = 4_194_304;
const CHECK_EVERY_MS = 5;

/** Throws a `BerthError` when it is refused. */
export async function openSsh(
  requester: Requester,
  openSocket: OpenSocket,
  path: string,
): Promise<SshStream> {
  const refusal = await answerWithoutUpgrade(requester, path);
  if (refusal !== null) throw refusal;
  const token = (await requester.token()) ?? '';
  return await new Promise((resolve, reject) => {
    let waitingBytes = 0;
    let isOver = false;
    const queue = new Queue<Uint8Array>((taken) => {
      waitingBytes -= taken.length;
      if (waitingBytes < MAX_WAITING_BYTES) socket.flow?.resume();
    });
    const end = (): void => {
      isOver = true;
      queue.end();
      socket.drop(true);
    };
    const socket: Socket = openSocket(
      `${requester.webSocketOrigin}${path}`,
      subprotocols(SSH_PROTOCOL, token),
      {
        opened: () => resolve({ bytes: queue, write: (data) => send(socket, data, () => isOver), end }),
        text: () => {},
        bytes(data) {
          waitingBytes += data.length;
          queue.push(data);
          if (waitingBytes >= MAX_WAITING_BYTES) socket.flow?.pause();
        },
        closed(_code, reason, opened) {
          isOver = true;
          if (opened) queue.end();
          else reject(new Error(reason || 'the WebSocket was not opened'));
        },
      },
    );
  });
}

async function send(socket: Socket, data: Uint8Array<ArrayBuffer>, isOver: () => boolean): Promise<void> {
  if (isOver()) return;
  socket.send(data);
  while (!isOver() && socket.unsentBytes() > MAX_UNSENT_BYTES)
    await new Promise((resolve) => setTimeout(resolve, CHECK_EVERY_MS));
}
