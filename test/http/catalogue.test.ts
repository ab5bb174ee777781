import t from 'tap';
import { anAdmin, anApiToken, aPerson, aService, as } from '../support/service.ts';
import { auditOf } from '../support/sign-ins.ts';

const range = (min: number, max: number) => ({ min, max });
const small = { memory_mb: range(64, 128), cpu_shares: range(10, 100), disk_mb: range(64, 512) };
const DIGEST = `sha256:${'0a'.repeat(32)}`;

/** Of one user, in a minute and at once. */
const ofUse = {
  requests_per_minute: 0,
  max_terminals: 1,
  max_event_sockets: 2,
  max_commands: 3,
  max_uploads: 4,
  max_downloads: 5,
};

/** A valid new entry of each kind, a change to it, a change that is not valid with its field, and what stays needed. */
const KINDS = {
  tiers: {
    one: 'tier',
    entry: { name: 'tiny', ...small, layer_mb: 512, max_containers: 1, max_agents: 0, ...ofUse },
    change: { max_containers: 3, layer_mb: 1024 },
    bad: { memory_mb: range(100, 64) },
    needed: 'free',
  },
  images: {
    one: 'image',
    entry: { key: 'alpine', label: 'Alpine', reference: 'alpine:3.20', digest: null, shell: '/bin/ash' },
    change: { digest: DIGEST },
    bad: { shell: 'ash' },
    needed: 'debian',
  },
  roles: {
    one: 'role',
    entry: { key: 'ruby', label: 'Ruby', packages: { apt: ['ruby'] }, script: 'gem install rake' },
    change: { packages: { apt: ['ruby', 'ruby-dev'] } },
    bad: { packages: { apt: ['--force'] } },
    needed: 'standard',
  },
} as const;

async function aboard() {
  const service = await aService();
  const root = await anAdmin(service);
  return { service, root, call: as(service, root) };
}

for (const [kind, { one, entry, change, bad, needed }] of Object.entries(KINDS)) {
  const key = 'key' in entry ? entry.key : entry.name;
  const url = `/api/admin/${kind}`;

  t.test(`${kind} are created, listed, changed and deleted, each on record`, async (t) => {
    const { service, root, call } = await aboard();
    const made = await call('POST', url, entry);
    t.same([made.statusCode, made.json()], [201, entry]);
    const listed = (await call('GET', url)).json()[kind];
    t.match(
      listed.find((each: Record<string, unknown>) => (each['key'] ?? each['name']) === key),
      entry,
    );
    const changed = await call('PATCH', `${url}/${key}`, change);
    t.same([changed.statusCode, changed.json()], [200, { ...entry, ...change }]);
    t.same((await call('PATCH', `${url}/${key}`, change)).json(), changed.json(), 'again changes nothing');
    const gone = await call('DELETE', `${url}/${key}`);
    t.same([gone.statusCode, gone.json()], [200, { key, deleted: true }]);
    t.equal((await call('DELETE', `${url}/${key}`)).json().error, `${one} not found`);
    t.equal((await call('PATCH', `${url}/${key}`, change)).statusCode, 404);
    for (const what of ['created', 'updated', 'deleted'] as const) {
      const records = auditOf(service, `${one}_${what}`);
      t.match(records, [{ userId: root.id, details: new RegExp(`"${key}"`) }], `one record of ${what}`);
      t.equal(records.length, 1);
    }
  });

  t.test(`bad ${kind} are refused with their fields, and nothing changes`, async (t) => {
    const { call } = await aboard();
    const before = (await call('GET', url)).json();
    const field = Object.keys(bad)[0] ?? '';
    for (const body of [
      { ...entry, ...bad },
      { ...entry, [field]: 7 },
    ]) {
      const answer = await call('POST', url, body);
      t.same([answer.statusCode, Object.keys(answer.json().fields)], [400, [field]]);
    }
    const empty = await call('POST', url, {});
    t.match(empty.json().fields, { ['key' in entry ? 'key' : 'name']: 'is required' });
    t.match((await call('POST', url, { ...entry, colour: 'red' })).json().fields, {
      colour: 'is not a known field',
    });
    t.equal((await call('PATCH', `${url}/${needed}`, bad)).statusCode, 400);
    t.equal((await call('PATCH', `${url}/${needed}`, { key: 'other' })).statusCode, 400, 'keys never change');
    t.same((await call('GET', url)).json(), before);
  });

  t.test(`${kind}: a taken key and what the service needs are conflicts`, async (t) => {
    const { call } = await aboard();
    t.equal((await call('POST', url, entry)).statusCode, 201);
    const taken = await call('POST', url, entry);
    t.same([taken.statusCode, taken.json().code], [409, 'catalogue_key_taken']);
    const kept = await call('DELETE', `${url}/${needed}`);
    t.same([kept.statusCode, kept.json().code], [409, 'catalogue_entry_needed']);
  });

  t.test(`${kind} are for administrators with the scope alone`, async (t) => {
    const { service, root } = await aboard();
    const ada = await aPerson(service, 'ada');
    t.equal((await as(service, ada)('POST', url, entry)).json().code, 'not_authorized');
    const token = await anApiToken(service, root, { scopes: ['write'] });
    t.equal((await as(service, token)('POST', url, entry)).json().code, 'insufficient_scope');
    t.equal((await as(service, ada)('GET', `/api/${kind}`)).statusCode, 200, 'but all may read');
  });
}

t.test('what is in use cannot be deleted, and a change leaves those who have it as they are', async (t) => {
  const { service, call } = await aboard();
  const ada = await aPerson(service, 'ada');
  for (const [kind, { entry }] of Object.entries(KINDS)) await call('POST', `/api/admin/${kind}`, entry);
  const sizes = { memory_mb: 64, cpu_shares: 10, disk_mb: 64 };
  await call('PATCH', `/api/admin/users/${ada.id}`, { tier: 'tiny' });
  const box = (
    await as(service, ada)('POST', '/api/containers', {
      name: 'dev',
      image: 'alpine',
      role: 'ruby',
      ...sizes,
    })
  ).json();
  t.match(box, { image: 'alpine:3.20', role: 'ruby' });
  for (const path of ['tiers/tiny', 'images/alpine', 'roles/ruby']) {
    const answer = await call('DELETE', `/api/admin/${path}`);
    t.same([answer.statusCode, answer.json().code], [409, 'catalogue_entry_in_use'], path);
  }
  await call('PATCH', '/api/admin/images/alpine', { reference: 'alpine:edge', digest: DIGEST });
  await call('PATCH', '/api/admin/tiers/tiny', { memory_mb: range(512, 1024) });
  const now = (await as(service, ada)('GET', `/api/containers/${box.db_id}`)).json();
  t.match(now, { image: 'alpine:3.20', status: 'running', resources: sizes });
  const next = await as(service, ada)('POST', '/api/containers', { name: 'b', image: 'alpine', ...sizes });
  t.match(next.json().fields, { memory_mb: /512 to 1024 in tier tiny/ }, 'new ones go by the new limits');

  await as(service, ada)('DELETE', `/api/containers/${box.db_id}`);
  for (const path of ['images/alpine', 'roles/ruby']) {
    t.equal((await call('DELETE', `/api/admin/${path}`)).statusCode, 200, path);
  }
});

t.test('a pinned image is asked for by its digest, and only images of the catalogue start', async (t) => {
  const { call } = await aboard();
  await call('POST', '/api/admin/images', { ...KINDS.images.entry, digest: DIGEST });
  const made = (await call('POST', '/api/containers', { name: 'dev', image: 'alpine' })).json();
  t.equal(made.image, `alpine:3.20@${DIGEST}`);
  for (const image of ['alpine:latest', `alpine@${DIGEST}`, 'docker.io/evil:1', 'debian:13', '']) {
    const answer = await call('POST', '/api/containers', { name: 'b', image });
    t.match([answer.statusCode, answer.json().fields], [400, { image: /^must be one of/ }], image);
  }
});

t.test('the script of a role is for administrators, its packages are for all', async (t) => {
  const { service, call } = await aboard();
  await call('POST', '/api/admin/roles', KINDS.roles.entry);
  const seen = (await as(service, await aPerson(service, 'ada'))('GET', '/api/roles')).json().roles;
  const { script: _, ...rest } = KINDS.roles.entry;
  t.same(
    seen.find(({ key }: { key: string }) => key === 'ruby'),
    rest,
  );
  t.equal(seen[0].key, 'standard', 'the default comes first');
});
