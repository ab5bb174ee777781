import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { hostChannels } from '../../src/agent/host-channels.ts';
import { ShellStore } from '../../src/agent/shells/shell-store.ts';
import type { ChannelRequest, ChannelResult } from '../../src/protocol/agent/index.ts';
import { decodeEntry } from '../../src/protocol/agent/index.ts';
import { servedBy } from '../support/agent/served.ts';
import { untar } from '../support/engine/container.ts';
import { aFolder } from '../support/folder.ts';

/** The files of a host whose user has this home. */
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
    return { result: over as ChannelResult, reply: talk.reply(), bytes: talk.bytes() };
  };
  return {
    home,
    ask,
    open: (name: string, folder_as: 'archive' | 'listing' = 'listing') =>
      done({ type: 'file_open', path: name, folder_as }),
    write: (name: string, content: Uint8Array | string, max_bytes = 10_000_000) =>
      done({ type: 'file_write', path: name, max_bytes, only_new: false }, Buffer.from(content)),
    add: (name: string, content: string) =>
      done({ type: 'file_write', path: name, max_bytes: 100, only_new: true }, Buffer.from(content)),
    remove: (name: string) => done({ type: 'file_remove', path: name }),
    stat: (name: string) => done({ type: 'file_stat', path: name }),
  };
}

t.test('written content is read back byte for byte, below the home or at an absolute path', async (t) => {
  const { home, write, open, stat } = filesOf(t);
  const bytes = randomBytes(3_000_001);
  t.match(await write('a/b/big', bytes), { result: { size_bytes: bytes.length, is_new: true } });
  const read = await open('a/b/big');
  t.match(read.reply, { type: 'file', size_bytes: bytes.length });
  t.ok(read.bytes.equals(bytes));
  t.match(await write('a/b/big', ''), { result: { size_bytes: 0, is_new: false } });
  t.equal((await open('a/b/big')).bytes.length, 0);
  const elsewhere = path.join(aFolder(t), 'there');
  await write(elsewhere, 'absolute');
  t.equal(readFileSync(elsewhere, 'utf8'), 'absolute');
  t.match(await stat('a/b/big'), {
    result: { entry: { name: 'big', kind: 'file', size_bytes: 0, mode: 0o644 } },
  });
  t.match(await stat(''), { result: { entry: { kind: 'folder' } } });
  t.same(readdirSync(path.join(home, 'a/b')), ['big'], 'nothing else is left');
});

t.test('a folder is listed, and archived without what is neither file nor folder', async (t) => {
  const { home, open, write } = filesOf(t);
  await write('tree/x/deep', 'deep');
  await write('tree/@odd', 'odd');
  symlinkSync('/etc/passwd', path.join(home, 'tree/link'));
  writeFileSync(Buffer.concat([Buffer.from(`${home}/tree/`), Buffer.of(0xff)]), '');
  const listing = await open('tree');
  t.same(listing.result, { type: 'file_open', complete: false }, 'a name that is not UTF-8 is omitted');
  const entries = listing.bytes.toString().trimEnd().split('\n').map(decodeEntry);
  t.same(
    entries.map((entry) => [entry?.name, entry?.kind]),
    [
      ['@odd', 'file'],
      ['link', 'link'],
      ['x', 'folder'],
    ],
  );
  const archive = await open('tree/x', 'archive');
  t.same(
    untar(archive.bytes).map(({ path: name, content }) => [name, String(content)]),
    [
      ['x/', ''],
      ['x/deep', 'deep'],
    ],
  );
  const names = untar((await open('', 'archive')).bytes).map((entry) => entry.path);
  t.ok(names.includes('workspace/tree/@odd') && !names.includes('workspace/tree/link'), names.join());
});

t.test('what cannot be used is refused, and nothing changes', async (t) => {
  const { home, open, write, add, remove, stat } = filesOf(t);
  await add('plain', 'old');
  mkdirSync(path.join(home, 'folder'));
  symlinkSync('/etc', path.join(home, 'far'));
  symlinkSync('folder', path.join(home, 'near'));
  symlinkSync('nowhere', path.join(home, 'dangling'));
  execFileSync('sh', ['-c', 'mkfifo "$0"', path.join(home, 'pipe')]);
  await write('near/through', 'x');
  t.equal(readFileSync(path.join(home, 'folder/through'), 'utf8'), 'x', 'a folder on the way may be a link');
  const faults: [string, () => Promise<unknown>][] = [
    ['file_not_found', () => open('absent')],
    ['file_not_found', () => open('plain/below')],
    ['file_not_found', () => remove('absent/below')],
    ['file_not_found', () => stat('absent')],
    ['file_special', () => open('near')],
    ['file_special', () => open('pipe')],
    ['file_special', () => write('dangling', 'x')],
    ['file_special', () => write('pipe', 'x')],
    ['file_in_the_way', () => write('plain/below', 'x')],
    ['file_in_the_way', () => write('folder', 'x')],
    ['file_in_the_way', () => write('', 'x')],
    ['file_in_the_way', () => add('plain', 'x')],
    ['file_in_the_way', () => remove('')],
    ['file_outside', () => open('far/passwd')],
    ['file_outside', () => write('far/new', 'x')],
    ['file_outside', () => open('../x')],
    ['file_too_large', () => write('plain', 'longer', 3)],
  ];
  for (const [code, act] of faults) await t.rejects(act(), { message: code }, `${code} ${act}`);
  t.equal(readFileSync(path.join(home, 'plain'), 'utf8'), 'old');
  t.same(readdirSync(home).sort(), ['dangling', 'far', 'folder', 'near', 'pipe', 'plain']);
  await remove('near');
  await remove('folder');
  t.same(readdirSync(home).sort(), ['dangling', 'far', 'pipe', 'plain'], 'a link is removed alone');
});

t.test(
  'an interrupted upload leaves the old file, and one that replaces keeps its permissions',
  async (t) => {
    const { home, ask, write } = filesOf(t);
    await write('tool', 'old');
    execFileSync('chmod', ['4750', path.join(home, 'tool')]);
    const left = path.join(home, '.berth-upload-1-left');
    writeFileSync(left, '');
    utimesSync(left, 1, 1);
    const talk = ask({ type: 'file_write', path: 'tool', max_bytes: 100, only_new: false });
    await talk.send(Buffer.from('half'));
    talk.channel.reset('unwanted');
    await write('tool', 'new');
    t.equal(statSync(path.join(home, 'tool')).mode & 0o7777, 0o750);
    t.equal(readFileSync(path.join(home, 'tool'), 'utf8'), 'new');
    t.same(readdirSync(home), ['tool'], 'what a crash left is cleared away');
  },
);
