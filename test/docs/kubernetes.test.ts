import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { parseAllDocuments } from 'yaml';
import { readConfig } from '../../src/app/main/config.ts';

const FOLDER = 'docs/deploy/kubernetes';
const FOLDERS = ['base', 'overlays/try', 'overlays/production'] as const;

/** As much of a manifest as the rules below are about. */
type Manifest = {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Labels };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: {
    readonly template?: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec };
    readonly selector?: Labels | { readonly matchLabels: Labels };
    readonly podSelector?: { readonly matchLabels: Labels };
    readonly ports?: readonly { readonly targetPort?: string }[];
  };
};
type Labels = Readonly<Record<string, string>>;
type PodSpec = {
  readonly serviceAccountName?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly containers: readonly Container[];
  readonly volumes?: readonly { readonly name: string }[];
};
type Container = {
  readonly image: string;
  readonly ports?: readonly { readonly name: string }[];
  readonly env?: readonly { readonly name: string }[];
  readonly envFrom?: readonly Readonly<Record<'configMapRef' | 'secretRef', { readonly name: string }>>[];
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly lifecycle?: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
};
type Kustomization = {
  readonly resources: readonly string[];
  readonly patches?: readonly { readonly path: string }[];
  readonly images?: readonly { readonly name: string }[];
};

function documentsOf<T>(file: string): readonly T[] {
  const documents = parseAllDocuments(readFileSync(path.join(FOLDER, file), 'utf8'), { uniqueKeys: true });
  return documents.map((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return document.toJS() as T;
  });
}

const kustomizationOf = (folder: string): Kustomization =>
  documentsOf<Kustomization>(path.join(folder, 'kustomization.yaml'))[0] as Kustomization;

const manifestsOf = (folder: string): readonly Manifest[] =>
  kustomizationOf(folder)
    .resources.filter((each) => each.endsWith('.yaml'))
    .flatMap((each) => documentsOf<Manifest>(path.join(folder, each)));

const all = FOLDERS.flatMap(manifestsOf);
const withPods = all.filter(({ spec }) => spec?.template !== undefined);
const podsOf = ({ spec }: Manifest): PodSpec => spec.template?.spec as PodSpec;

t.test('each kustomization lists every file of its folder', async (t) => {
  for (const folder of FOLDERS) {
    const { resources, patches = [] } = kustomizationOf(folder);
    const listed = ['kustomization.yaml', ...resources, ...patches.map((patch) => patch.path)];
    const files = readdirSync(path.join(FOLDER, folder));
    t.same(listed.filter((name) => name !== '../../base').toSorted(), files.toSorted(), folder);
  }
});

t.test('no two manifests describe the same object, and each names its namespace', async (t) => {
  const names = all.map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''} ${metadata.name}`);
  t.same(
    names.filter((name, at) => names.indexOf(name) !== at),
    [],
  );
  t.same(
    all.filter(({ kind, metadata }) => kind !== 'Namespace' && metadata.namespace === undefined),
    [],
  );
});

t.test('the service accepts the settings', async (t) => {
  const patches = ['overlays/try/settings.yaml', 'overlays/production/settings.yaml'];
  const [base, ...others] = ['base/settings.yaml', ...patches].map((file) => documentsOf<Manifest>(file)[0]);
  const secrets = {
    DATABASE_URL: 'postgres://berth@database/berth',
    BERTH_JWT_SECRET: randomBytes(32).toString('hex'),
  };
  for (const other of [undefined, ...others]) {
    const result = readConfig({ ...base?.data, ...other?.data, ...secrets });
    t.same('faults' in result ? result.faults : [], []);
  }
});

t.test('every selector finds Pods, and every named port exists', async (t) => {
  const pods = withPods.map(({ spec }) => spec.template?.metadata.labels ?? {});
  const ports = withPods.flatMap((each) => podsOf(each).containers.flatMap(({ ports = [] }) => ports));
  for (const { kind, metadata, spec } of all) {
    const selector = spec?.podSelector ?? spec?.selector;
    if (selector === undefined) continue;
    const wanted = Object.entries(('matchLabels' in selector ? selector.matchLabels : selector) as Labels);
    const found = pods.filter((labels) => wanted.every(([name, value]) => labels[name] === value));
    t.equal(found.length, 1, `${kind} ${metadata.name}`);
    for (const { targetPort } of spec.ports ?? [])
      if (targetPort !== undefined)
        t.ok(
          ports.some(({ name }) => name === targetPort),
          targetPort,
        );
  }
});

t.test('every Pod is restricted, and has the volumes that it mounts', async (t) => {
  t.equal(withPods.length, 3);
  for (const each of withPods) {
    const { securityContext, containers, volumes = [] } = podsOf(each);
    t.match(securityContext, { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    for (const container of containers) {
      t.match(container.securityContext, {
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      });
      if (each.kind === 'StatefulSet') continue;
      const mounted = container.volumeMounts?.map(({ name }) => name);
      t.same(
        mounted,
        volumes.map(({ name }) => name),
      );
    }
  }
});

t.test('the service ends within the grace of its Pod', async (t) => {
  const seconds = /STOP_WITHIN_MS = (\d+)_000/.exec(
    readFileSync('src/app/main/process/exit.ts', 'utf8'),
  )?.[1];
  const pods = podsOf(withPods.find(({ kind }) => kind === 'Deployment') as Manifest);
  const [, hook = ''] = pods.containers[0]?.lifecycle?.preStop.exec.command ?? [];
  t.ok(Number(hook) > 0);
  t.ok((pods.terminationGracePeriodSeconds ?? 0) > Number(seconds) + Number(hook));
});

t.test('each Pod of Berth runs the image that the overlay names, with settings and secrets', async (t) => {
  const ofBerth = manifestsOf('base').filter(({ spec }) => spec?.template !== undefined);
  const { images = [] } = kustomizationOf('overlays/production');
  t.equal(ofBerth.length, 2);
  for (const { containers } of ofBerth.map(podsOf)) {
    t.same(
      containers.map(({ image }) => image),
      images.map(({ name }) => name),
    );
    t.same(containers[0]?.envFrom, [{ configMapRef: { name: 'berth' } }, { secretRef: { name: 'berth' } }]);
  }
});

/** The right that each method of the adapter's namespace uses. */
const VERBS: Readonly<Record<string, string>> = {
  get: 'get',
  create: 'create',
  patch: 'patch',
  wouldAccept: 'patch',
  replace: 'update',
  remove: 'delete',
  listMetadata: 'list',
  watch: 'watch',
};

/** The rights that the adapter's calls need, from its sources. */
function rightsUsed(): readonly string[] {
  const folder = 'src/adapters/kubernetes';
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const source = files.map((file) => readFileSync(path.join(folder, file), 'utf8')).join('\n');
  const calls = [...source.matchAll(/\bnamespace\.(\w+)\('(\w+)'/g)];
  const rights = calls.map(([, method = '', kind]) => `${VERBS[method] ?? method} ${kind}`);
  const others = [
    [/\bnamespace\.listPods\(/, 'list pods'],
    [/\/resize`/, 'patch pods/resize'],
    [/\/log`/, 'get pods/log'],
    // A WebSocket is a GET. Newer API servers ask for `create` too.
    [/\/exec`/, 'get pods/exec'],
    [/\/exec`/, 'create pods/exec'],
  ] as const;
  return [...new Set([...rights, ...others.filter(([call]) => call.test(source)).map(([, right]) => right)])];
}

t.test('the role gives the rights that the adapter uses, and no other', async (t) => {
  type Role = { readonly kind: string; readonly rules: readonly { resources: string[]; verbs: string[] }[] };
  const roles = documentsOf<Role>('base/rights.yaml').filter(({ kind }) => kind.endsWith('Role'));
  t.same(
    roles.map(({ kind }) => kind),
    ['Role'],
    'none for the cluster',
  );
  const given = roles.flatMap(({ rules }) =>
    rules.flatMap(({ resources, verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
    ),
  );
  t.same(given.toSorted(), rightsUsed().toSorted());
});

t.test('docs/cluster.md explains each right', async (t) => {
  const rows = readFileSync('docs/cluster.md', 'utf8').matchAll(/^\| `([a-z/]+)` \| ([a-z, ]+) \|/gm);
  const explained = [...rows].flatMap(([, resource, verbs = '']) =>
    verbs.split(', ').map((verb) => `${verb} ${resource}`),
  );
  t.same(explained.toSorted(), rightsUsed().toSorted());
});
