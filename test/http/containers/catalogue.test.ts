import t from 'tap';
import { anAdmin, aPerson, aService, as } from '../../support/service/service.ts';
import { auditOf } from '../../support/service/sign-ins.ts';

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
  const name = 'key' in entry ? 'key' : 'name';
  const key = 'key' in entry ? entry.key : entry.name;
  const url = `/api/admin/${kind}`;

  t.test(`${kind} are created, listed, changed and deleted, each on record`, async (t) => {
    const { service, root, call } = await aboard();
    const made = await call('POST', url, entry);
    t.same([made.statusCode, made.json()], [201, entry]);
    const listed: Record<string, unknown>[] = (await call('GET', url)).json()[kind];
    t.match(
      listed.find((each) => each[name] === key),
      entry,
    );
    const taken = await call('POST', url, entry);
    t.same([taken.statusCode, taken.json().code], [409, 'catalogue_key_taken']);
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

  t.test(`${kind} that are bad or needed are refused with what is wrong, and nothing changes`, async (t) => {
    const { call } = await aboard();
    const before = (await call('GET', url)).json();
    const field = Object.keys(bad)[0] ?? '';
    for (const [method, path, body, fields] of [
      ['POST', '', { ...entry, ...bad }, { [field]: String }],
      ['POST', '', { ...entry, [field]: 7 }, { [field]: String }],
      ['POST', '', {}, { [name]: 'is required' }],
      ['POST', '', { ...entry, colour: 'red' }, { colour: 'is not a known field' }],
      ['PATCH', `/${needed}`, bad, { [field]: String }],
      // Keys never change.
      ['PATCH', `/${needed}`, { key: 'other' }, { key: String }],
    ] as const) {
      const answer = await call(method, url + path, body);
      t.match([answer.statusCode, answer.json().fields], [400, fields], JSON.stringify(body));
    }
    const kept = await call('DELETE', `${url}/${needed}`);
    t.same([kept.statusCode, kept.json().code], [409, 'catalogue_entry_needed']);
    t.same((await call('GET', url)).json(), before);
  });
}

t.test('what is in use cannot be deleted, and a change leaves those who have it as they are', async (t) => {
  const { service, call: admin } = await aboard();
  const ada = await aPerson(service, 'ada');
  for (const [kind, { entry }] of Object.entries(KINDS)) await admin('POST', `/api/admin/${kind}`, entry);
  const sizes = { memory_mb: 64, cpu_shares: 10, disk_mb: 64 };
  await admin('PATCH', `/api/admin/users/${ada.id}`, { tier: 'tiny' });
  const call = as(service, ada);
  const wanted = { name: 'dev', image: 'alpine', role: 'ruby', ...sizes };
  const box = (await call('POST', '/api/containers', wanted)).json();
  t.match(box, { image: 'alpine:3.20', role: 'ruby' });
  for (const path of ['tiers/tiny', 'images/alpine', 'roles/ruby']) {
    const answer = await admin('DELETE', `/api/admin/${path}`);
    t.same([answer.statusCode, answer.json().code], [409, 'catalogue_entry_in_use'], path);
  }
  await admin('PATCH', '/api/admin/images/alpine', { reference: 'alpine:edge', digest: DIGEST });
  await admin('PATCH', '/api/admin/tiers/tiny', { memory_mb: range(512, 1024) });
  const now = (await call('GET', `/api/containers/${box.db_id}`)).json();
  t.match(now, { image: 'alpine:3.20', status: 'running', resources: sizes });
  const next = await call('POST', '/api/containers', { name: 'b', image: 'alpine', ...sizes });
  t.match(next.json().fields, { memory_mb: /512 to 1024 in tier tiny/ }, 'new ones go by the new limits');

  await call('DELETE', `/api/containers/${box.db_id}`);
  for (const path of ['images/alpine', 'roles/ruby']) {
    t.equal((await admin('DELETE', `/api/admin/${path}`)).statusCode, 200, path);
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
