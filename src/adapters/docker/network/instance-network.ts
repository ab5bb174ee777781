import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import type Docker from 'dockerode';
import { coalesced } from '../../../concurrency/coalesce.ts';
import {
  type EngineCalls,
  engineCalls,
  inspectThing,
  LIMITS,
  orNull,
  statusOf,
} from '../engine/engine-client.ts';
import { bridgeName, chainName, INSTANCE_LABEL, networkName } from '../engine/engine-names.ts';
import { isRoot, type Log, run, runOrThrow } from '../host/host-commands.ts';
import { applyFirewall } from './firewall.ts';
import { changedRules, neededOpenings, type Opening, resolverOpenings } from './firewall-rules.ts';
import { configuredResolvers, defaultRouteMtu, ownAddresses, takenAddresses } from './host-network.ts';
import { packageOpenings } from './package-mirrors.ts';
import { pickSubnet } from './subnet.ts';

export type NetworkSettings = {
  readonly instanceId: string;
  readonly log: Log;
  /** Null: that of the default route. */
  readonly mtu?: number | null;
};

const CREATE_ATTEMPTS = 5;

export type InstanceNetwork = {
  readonly name: string;
  readonly bridge: string;
  readonly subnet: string;
  /** Why the packet filter does not protect this machine and its networks from containers, or null. */
  readonly warning: string | null;
  /**
   * Sets the packet filter, in case of a flush or a changed resolver. Throws when refused. Returns foreign changes
   * since the last time.
   */
  assertRules(): Promise<readonly string[]>;
};

type Engine = { readonly docker: Docker; readonly kind: 'external' | 'private'; readonly isLocal: boolean };

/**
 * The installation's bridge network: no traffic between containers, to this machine, or to internal addresses except
 * resolvers and package mirrors. Made when absent.
 */
export async function ensureNetwork(engine: Engine, settings: NetworkSettings): Promise<InstanceNetwork> {
  const { instanceId, log } = settings;
  const subnet = await ensureBridgeNetwork(engine, settings);
  const bridge = bridgeName(instanceId);
  const mirrors = engine.isLocal && isRoot() ? await packageOpenings() : [];
  let kept: readonly string[] | null = null;
  // Two runs at once would both add missing rules.
  const assertRules = coalesced(async () => {
    const openings = await openingsNow(mirrors);
    const isRouter = engine.kind === 'private';
    if (isRouter) await routePackets();
    await filterBridgedPackets();
    const plan = { chain: chainName(instanceId), bridge, subnet, openings, isRouter };
    const { before, after } = await applyFirewall(plan);
    const changed = kept === null ? [] : changedRules(kept, before);
    kept = after;
    return changed;
  });
  const warning = await protect(engine, assertRules);
  if (warning !== null) log.warn(warning);
  return {
    name: networkName(instanceId),
    bridge,
    subnet,
    warning,
    assertRules: warning === null ? assertRules : async () => [],
  };
}

async function protect(engine: Engine, assertRules: () => Promise<unknown>): Promise<string | null> {
  if (!engine.isLocal) return 'the engine is on another machine: its packet filter must be set there';
  if (!isRoot()) return 'not root: containers can reach services of this machine and of its networks';
  try {
    await assertRules();
    return null;
  } catch (error) {
    if (engine.kind === 'private') throw error;
    return `the packet filter cannot be set: containers can reach services of this machine (${(error as Error).message})`;
  }
}

/** What the rules let through now. */
async function openingsNow(mirrors: readonly Opening[]): Promise<readonly Opening[]> {
  const [resolvers, own] = await Promise.all([configuredResolvers(), ownAddresses()]);
  return neededOpenings([...resolverOpenings(resolvers), ...mirrors], own);
}

type NetworkInfo = {
  readonly Labels?: Readonly<Record<string, string>> | null | undefined;
  readonly IPAM?:
    | { readonly Config?: readonly { readonly Subnet?: string | undefined }[] | null | undefined }
    | undefined;
};

const subnetsOf = (info: NetworkInfo): readonly string[] =>
  (info.IPAM?.Config ?? []).map((config) => config.Subnet ?? '').filter((subnet) => subnet !== '');

async function ensureBridgeNetwork({ docker, isLocal }: Engine, settings: NetworkSettings): Promise<string> {
  const { instanceId } = settings;
  const calls = engineCalls(docker);
  const present = async (): Promise<string | null> =>
    ownSubnet(await inspectNetwork(calls, networkName(instanceId)), instanceId);
  const before = await present();
  if (before !== null) return before;
  const mtu = settings.mtu ?? (isLocal ? await defaultRouteMtu() : 1500);
  const taken = [...(await takenAddresses()), ...(await engineSubnets(calls))];
  for (let attempt = 1; ; attempt += 1) {
    const subnet = pickSubnet(instanceId, taken);
    try {
      const options = networkOptions(instanceId, subnet, mtu);
      await calls.change(LIMITS.start, (abortSignal) => docker.createNetwork({ ...options, abortSignal }));
      return subnet;
    } catch (error) {
      // Another start made it, or the engine knows of an overlap that routes do not show.
      const made = await present();
      if (made !== null) return made;
      if (statusOf(error) === null || attempt === CREATE_ATTEMPTS) throw error;
      taken.push(subnet);
    }
  }
}

function ownSubnet(info: NetworkInfo | null, instanceId: string): string | null {
  if (info === null) return null;
  const subnet = subnetsOf(info)[0];
  if (info.Labels?.[INSTANCE_LABEL] === instanceId && subnet !== undefined) return subnet;
  throw new Error(`network ${networkName(instanceId)} exists but does not belong to this installation`);
}

/** The network's options: isolation between containers, our bridge name and subnet. */
export const networkOptions = (
  instanceId: string,
  subnet: string,
  mtu: number,
): Docker.NetworkCreateOptions => ({
  Name: networkName(instanceId),
  CheckDuplicate: true,
  Driver: 'bridge',
  EnableIPv6: false,
  IPAM: { Driver: 'default', Config: [{ Subnet: subnet }] },
  Labels: { [INSTANCE_LABEL]: instanceId },
  Options: {
    'com.docker.network.bridge.name': bridgeName(instanceId),
    'com.docker.network.bridge.enable_icc': 'false',
    'com.docker.network.driver.mtu': String(mtu),
  },
});

const inspectNetwork = (calls: EngineCalls, name: string): Promise<NetworkInfo | null> =>
  calls.read(LIMITS.inspect, (signal) =>
    orNull<NetworkInfo>([404], inspectThing(calls.docker.getNetwork(name), signal)),
  );

async function engineSubnets(calls: EngineCalls): Promise<readonly string[]> {
  const all = await calls.read(LIMITS.list, (abortSignal) => calls.docker.listNetworks({ abortSignal }));
  return all.flatMap((info) => subnetsOf(info as NetworkInfo));
}

const FORWARDING = '/proc/sys/net/ipv4/ip_forward';

/** Lets this machine route for containers. If it routed for nobody before, others stay blocked. */
async function routePackets(): Promise<void> {
  if ((await readFile(FORWARDING, 'utf8')).trim() === '1') return;
  await runOrThrow('iptables', ['--wait', '5', '-P', 'FORWARD', 'DROP']);
  await writeFile(FORWARDING, '1');
}

/** By default traffic between two ports of one bridge bypasses the packet filter. */
async function filterBridgedPackets(): Promise<void> {
  if (!existsSync('/proc/sys/net/bridge')) await run('modprobe', ['br_netfilter']);
  await turnOn('/proc/sys/net/bridge/bridge-nf-call-iptables');
  await turnOn('/proc/sys/net/bridge/bridge-nf-call-ip6tables').catch(() => {});
}

/** Berth in a container can only read it. */
async function turnOn(setting: string): Promise<void> {
  if ((await readFile(setting, 'utf8')).trim() !== '1') await writeFile(setting, '1');
}
