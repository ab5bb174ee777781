import { readFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { hostChannels } from '../../src/agent/host-channels.ts';
import { ShellStore } from '../../src/agent/shells/shell-store.ts';
import type { ChannelRequest } from '../../src/protocol/agent/index.ts';
import { servedBy } from '../support/agent/served.ts';
import { untar } from '../support/engine/container.ts';
import { aFolder } from '../support/folder.ts';

/** The files of a host whose user has this home. What they have in common with those of containers is a contract. */
function filesOf(t: Test) {
  const home = aFolder(t);
  const user = { name: 'someone', home, shell: '/bin/sh' };
  const ask = servedBy(hostChannels(user, new ShellStore(user)));
  const done = async (request: ChannelRequest, content?: Uint8Array) => {
    const talk = ask(request);
    if (content !== undefined) {
      await talk.send(content).catch(() => {});
      talk.channel.end();
    }
    const over = await talk.over();
    if ('code' in over) throw new Error(over.code);
    return { result: over, bytes: talk.bytes() };
  };
  return {
    open: (name: string, folder_as: 'archive' | 'listing' = 'listing') =>
      done({ type: 'file_open', path: name, folder_as }),
    write: (name: string, content: string) =>
      done({ type: 'file_write', path: name, max_bytes: 100, only_new: false }, Buffer.from(content)),
    remove: (name: string) => done({ type: 'file_remove', path: name }),
    stat: (name: string) => done({ type: 'file_stat', path: name }),
  };
}

t.test('a path is absolute or below the home, which itself stays', async (t) => {
  const { write, open, remove, stat } = filesOf(t);
  const elsewhere = path.join(aFolder(t), 'there');
  await write(elsewhere, 'absolute');
  t.equal(readFileSync(elsewhere, 'utf8'), 'absolute');
  await write('a/b', '');
  t.match(await stat('a/b'), {
    result: { entry: { name: 'b', kind: 'file', size_bytes: 0, mode: 0o644 } },
  });
  t.match(await stat(''), { result: { entry: { kind: 'folder' } } });
  const faults: [string, () => Promise<unknown>][] = [
    ['file_not_found', () => stat('absent')],
    ['file_in_the_way', () => write('', 'x')],
    ['file_in_the_way', () => remove('')],
    ['file_outside', () => open('../x')],
  ];
  for (const [code, act] of faults) await t.rejects(act(), { message: code }, `${code} ${act}`);
});

t.test('a name that the archiver would take for an archive is a name', async (t) => {
  const { write, open } = filesOf(t);
  await write('tree/@odd', 'odd');
  for (const [folder, name] of [
    ['tree', 'tree/@odd'],
    ['', 'workspace/tree/@odd'],
  ] as const) {
    const { bytes } = await open(folder, 'archive');
    t.ok(untar(bytes).some((entry) => entry.path === name));
  }
});
