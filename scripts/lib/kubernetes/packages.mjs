import { unpack, unpackSource as unpackSourceOf } from '../debian/packages.mjs';

/** The release whose source package has the servers; later ones have only kubectl. */
const SUITES = ['bookworm', 'trixie'];
const TOOLS = [
  'busybox-static',
  'containerd',
  'containernetworking-plugins',
  'etcd-server',
  // That of the same release knows no overlays of today's form.
  'kubectl/trixie',
  'libseccomp2',
  'runc',
];
/** Needed for the build alone. */
const BUILD_TOOLS = [
  'golang-1.19-go',
  'golang-1.19-src',
  'golang-github-modern-go-reflect2-dev',
  'jq',
  'libjq1',
  'libonig5',
  'libpopt0',
  'libxxhash0',
  'rsync',
];

/** @param {string} cache */
const archiveIn = (cache) => ({
  cache,
  suites: SUITES,
  withSources: true,
  why: "a cluster of one's own is built from Debian's packages",
});

/**
 * Unpacks what the cluster runs beside Kubernetes. Nothing is installed.
 * @param {string} cache
 * @returns {Promise<string>} the folder that stands for `/`
 */
export const unpackTools = (cache) => unpack(archiveIn(cache), 'tools', TOOLS);

/** @param {string} cache */
export const unpackBuildTools = (cache) => unpack(archiveIn(cache), 'build-tools', BUILD_TOOLS);

/**
 * Without its patches: those of Kubernetes change only kubectl.
 * @param {string} cache
 * @param {string} name
 * @param {string} folder
 */
export const unpackSource = (cache, name, folder) => unpackSourceOf(archiveIn(cache), name, folder);
