import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { environmentOf, must } from '../debian/packages.mjs';
import { unpackBuildTools, unpackSource } from './packages.mjs';

const VERSION = 'v1.20.2';
const PROGRAMS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet'];
const GO = 'usr/lib/go-1.19';
const REFLECT = 'github.com/modern-go/reflect2';

/**
 * The folder with the programs of Kubernetes, built from the distribution's source package at the first call: about
 * seven minutes on two free cores, and 6 GB of disk until it is done.
 * @param {string} cache
 * @param {(line: string) => void} progress
 */
export async function buildServers(cache, progress) {
  const folder = path.join(cache, `servers-${VERSION}-${process.arch}`);
  if (existsSync(folder)) return folder;
  const work = path.join(cache, 'build');
  rmSync(work, { recursive: true, force: true });
  progress('downloading the source of Kubernetes');
  const tools = await unpackBuildTools(cache);
  const tree = path.join(work, 'src/k8s.io/kubernetes');
  await unpackSource(cache, 'kubernetes', tree);
  replaceReflect(tree, tools);
  progress(`building Kubernetes ${VERSION}, once (minutes)`);
  await make(work, tree, tools);
  const built = path.join(tree, '_output/bin');
  const draft = `${folder}.new`;
  mkdirSync(draft, { recursive: true });
  for (const name of PROGRAMS) renameSync(path.join(built, name), path.join(draft, name));
  renameSync(draft, folder);
  for (const each of [work, tools, path.join(cache, 'apt')]) rmSync(each, { recursive: true, force: true });
  return folder;
}

/**
 * The source's own copy is older than Go 1.18, with which the API server dies at its first iteration over a map.
 * @param {string} tree
 * @param {string} tools
 */
function replaceReflect(tree, tools) {
  const old = path.join(tree, 'vendor', REFLECT);
  const isCode = (/** @type {string} */ name) => /\.(go|s)$/.test(name);
  for (const name of readdirSync(old).filter(isCode)) rmSync(path.join(old, name));
  const present = path.join(tools, 'usr/share/gocode/src', REFLECT);
  for (const name of readdirSync(present).filter(isCode))
    cpSync(path.join(present, name), path.join(old, name));
}

/**
 * @param {string} work
 * @param {string} tree
 * @param {string} tools
 */
async function make(work, tree, tools) {
  const own = environmentOf(tools);
  const env = {
    ...own,
    PATH: [path.join(tools, GO, 'bin'), own.PATH].join(path.delimiter),
    HOME: work,
    GOROOT: path.join(tools, GO),
    GOPATH: work,
    // Clients of public clouds are half of the code. The build script reads tags at the end.
    GOFLAGS: `-p=${availableParallelism()} -tags=providerless`,
    // With modules Go 1.19 refuses the go.mod of this age.
    GO111MODULE: 'off',
    GOPROXY: 'off',
    CGO_ENABLED: '0',
    KUBE_GIT_VERSION: VERSION,
    KUBE_GIT_COMMIT: 'unknown',
    KUBE_GIT_TREE_STATE: 'clean',
  };
  const what = PROGRAMS.map((name) => `cmd/${name}`).join(' ');
  await must('nice', ['make', `WHAT=${what}`], { cwd: tree, env });
}
