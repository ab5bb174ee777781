import { EventEmitter } from 'node:events';
import t from 'tap';
import type { WebSocket } from 'ws';
import { ProgramStream } from '../../../../src/adapters/kubernetes/exec/program-stream.ts';

/** A program over a socket that is `open` or fails to send. */
function aProgram() {
  const socket = Object.assign(new EventEmitter(), {
    isOpen: true,
    isPaused: false,
    resume: () => {},
    terminate: () => {},
    send: (_message: Buffer, done: (error?: Error) => void) =>
      done(socket.isOpen ? undefined : new Error('closed')),
  });
  const start = { reportBegin: Buffer.from('begun'), inputLeft: Buffer.from('left') };
  const options = {
    socket: socket as unknown as WebSocket,
    form: 'terminal',
    inputEnd: 'native',
    start,
  } as const;
  return { socket, stream: new ProgramStream(options) };
}

t.test('input that the cluster did not get is not acknowledged', async (t) => {
  const { socket, stream } = aProgram();
  const done: string[] = [];
  const write = (text: string) => stream.write(text, (error) => void (error ?? done.push(text)));
  write('sent');
  await new Promise((resolve) => setImmediate(resolve));
  t.same(done, ['sent']);
  socket.isOpen = false;
  write('lost');
  write('waiting');
  const resized = stream.resize(80, 24);
  await new Promise((resolve) => setImmediate(resolve));
  socket.emit('close');
  await resized;
  t.same(done, ['sent']);
});
