import t from 'tap';
import { kubectl, testCluster } from '../support/kubernetes/cluster.ts';

const FOLDER = 'docs/deploy/kubernetes/overlays';
/** Of the version that serves `policy/v1`. */
const POLICY_MINOR = 21;

const cluster = testCluster();

/** The budget for disruptions, as older API servers know it. */
function asServed(manifests: string, minor: number): string {
  return minor < POLICY_MINOR
    ? manifests.replaceAll('apiVersion: policy/v1\n', 'apiVersion: policy/v1beta1\n')
    : manifests;
}

async function minorVersion(): Promise<number> {
  const { serverVersion } = JSON.parse(await kubectl(cluster, ['version', '--output=json']));
  return Number.parseInt(serverVersion.minor, 10);
}

t.test('the API server accepts every manifest of the overlays', async (t) => {
  const minor = await minorVersion();
  for (const [overlay, count] of [
    ['try', 14],
    ['production', 12],
  ] as const) {
    const manifests = asServed(await kubectl(cluster, ['kustomize', `${FOLDER}/${overlay}`]), minor);
    const answers = await kubectl(cluster, ['apply', '--dry-run=server', '--filename=-'], manifests);
    const accepted = answers.trim().split('\n');
    t.equal(accepted.length, count, overlay);
    for (const line of accepted) t.match(line, /\((server dry run)\)$/);
  }
});

t.test('the account may do what the role says, and nothing outside of its namespace', async (t) => {
  const may = async (...question: string[]): Promise<string> => {
    const as = '--as=system:serviceaccount:berth:berth';
    return (await kubectl(cluster, ['auth', 'can-i', ...question, as]).catch(() => 'no')).trim();
  };
  t.equal(await may('create', 'pods', `--namespace=${cluster.namespace}`), 'yes');
  t.equal(await may('get', 'pods/exec', `--namespace=${cluster.namespace}`), 'yes');
  for (const question of [
    ['get', 'secrets', '--namespace=berth'],
    ['get', 'pods/exec', '--namespace=berth'],
    ['list', 'pods', '--namespace=default'],
    ['list', 'nodes'],
    ['create', 'rolebindings', `--namespace=${cluster.namespace}`],
  ])
    t.equal(await may(...question), 'no', question.join(' '));
});
