import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { ensureBuild } from './lib/build.mjs';
import { Fault, runMain } from './lib/fault.mjs';
import { ensureDependencies } from './lib/install.mjs';

/** The tests on a real cluster: that of KUBECONFIG, else one of their own. `--cluster`: only starts it, until Ctrl-C. */
const root = path.dirname(import.meta.dirname);
const FOLDER = path.join('test', 'kubernetes');
const CACHE = path.join(process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'), 'berth-test');
const BASE_IMAGE = 'berth/debian:12';
/** A cluster's images and volumes are real. */
const LIMIT_SECONDS = 2400;

const given = process.argv.slice(2);
const port = Number(given.find((arg) => arg.startsWith('--port='))?.slice('--port='.length)) || undefined;
const named = given.filter((arg) => !arg.startsWith('--'));
const progress = (/** @type {string} */ line) => console.log(`# ${line}`);

await runMain(async () => {
  await ensureDependencies(root, { dev: true });
  const { berthAccount, NAMESPACE } = await import('./lib/kubernetes/berth-account.mjs');
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-kubernetes-'));
  // Also when a signal ends the run.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const cluster = await theCluster();
  try {
    const { kubectl, kubeconfig, image, orders, audit } = cluster;
    const account = await berthAccount(root, { kubectl, kubeconfig, folder });
    const own = { kubectl, image, orders, audit, namespace: NAMESPACE };
    const facts = { ...own, kubeconfig: account, adminKubeconfig: kubeconfig };
    if (given.includes('--cluster')) return await serve(facts);
    process.env['TEST_KUBERNETES'] = JSON.stringify(facts);
    const code = await runAll();
    return (await rightsFit(facts)) ? code : code || 1;
  } finally {
    await cluster.stop();
  }
});

async function theCluster() {
  const kubeconfig = process.env['KUBECONFIG'];
  if (kubeconfig !== undefined && kubeconfig !== '') {
    progress('using the cluster of KUBECONFIG');
    const image = process.env['TEST_KUBERNETES_IMAGE'] ?? BASE_IMAGE;
    return {
      kubectl: 'kubectl',
      kubeconfig: path.resolve(kubeconfig),
      image,
      orders: null,
      audit: null,
      stop: async () => {},
    };
  }
  const { startOwnCluster } = await import('./lib/kubernetes/own-cluster.mjs');
  return await startOwnCluster(root, { cache: CACHE, progress, ...(port !== undefined && { port }) });
}

/** @param {Record<string, string | null>} facts */
async function serve(facts) {
  for (const [name, value] of Object.entries(facts)) console.log(`${name}: ${value}`);
  console.log(`TEST_KUBERNETES='${JSON.stringify(facts)}'`);
  console.log('The cluster runs until Ctrl-C.');
  await new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, resolve);
  });
  return 0;
}

/**
 * Whether the account needs all its rights, and no other. Only all tests together can tell.
 * @param {{ audit: string | null, kubectl: string, adminKubeconfig: string }} facts
 */
async function rightsFit({ audit, kubectl, adminKubeconfig }) {
  if (audit === null || named.length > 0) return true;
  const { accountRules } = await import('./lib/kubernetes/berth-account.mjs');
  const { compareRights } = await import('./lib/kubernetes/rights.mjs');
  const rules = await accountRules({ kubectl, kubeconfig: adminKubeconfig });
  const { unused, missing } = compareRights(audit, rules);
  if (unused.length > 0) console.log(`FAIL rights that nothing used: ${unused.join(', ')}`);
  if (missing.length > 0) console.log(`FAIL rights that are missing: ${missing.join(', ')}`);
  return unused.length + missing.length === 0;
}

async function runAll() {
  await ensureBuild(root);
  const all = readdirSync(path.join(root, FOLDER)).filter((name) => name.endsWith('.test.ts'));
  const files = named.length > 0 ? named : all.map((name) => path.join(FOLDER, name)).sort();
  if (files.length === 0) throw new Fault(`${FOLDER} has no tests`);
  const { summary } = await import('./lib/test/tally.mjs');
  const { runTests } = await import('./lib/test/tests.mjs');
  const options = { print: console.log, atOnce: 1, limitSeconds: LIMIT_SECONDS };
  const { code, tally } = await runTests(root, files, options);
  console.log(summary(tally));
  return code;
}
