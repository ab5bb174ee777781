import { INTERNAL_NETWORKS } from '../../internal-networks.ts';
import { isWithin } from './subnet.ts';

/** An internal address that containers may reach: a resolver, a package mirror, a proxy. */
export type Opening = {
  readonly address: string;
  readonly port: number;
  readonly protocols: readonly ('tcp' | 'udp')[];
};

export type FirewallPlan = {
  readonly chain: string;
  readonly bridge: string;
  readonly subnet: string;
  readonly openings: readonly Opening[];
  /** Addresses of other machines that are closed besides the internal networks. */
  readonly closed?: readonly string[];
  /** A private engine: nobody else translates addresses or forwards this bridge's traffic. */
  readonly isRouter: boolean;
};

export const chainsOf = (chain: string): { input: string; forward: string; nat: string } => ({
  input: `${chain}-IN`,
  forward: `${chain}-FW`,
  nat: `${chain}-NAT`,
});

type Hook = { readonly table: 'filter' | 'nat'; readonly from: string; readonly to: string };

/** Where packets enter our chains. Docker leaves DOCKER-USER to others. */
function hooksOf(plan: Pick<FirewallPlan, 'chain' | 'isRouter'>, saved: string): readonly Hook[] {
  const { input, forward, nat } = chainsOf(plan.chain);
  const usesDocker = !plan.isRouter && saved.includes('\n:DOCKER-USER ');
  return [
    { table: 'filter', from: 'INPUT', to: input },
    { table: 'filter', from: usesDocker ? 'DOCKER-USER' : 'FORWARD', to: forward },
    ...(plan.isRouter ? [{ table: 'nat', from: 'POSTROUTING', to: nat } as const] : []),
  ];
}

/** Hooks missing in the output of iptables-save; they go first in their chain, before foreign rules. */
const missingHooks = (table: Hook['table'], plan: FirewallPlan, saved: string): readonly string[] =>
  hooksOf(plan, saved)
    .filter((hook) => hook.table === table && !saved.includes(`-A ${hook.from} -j ${hook.to}\n`))
    .map((hook) => `-I ${hook.from} 1 -j ${hook.to}`);

/**
 * Input of `iptables-restore --noflush`: our chains only, replaced atomically, and the hooks missing in `saved`
 * (iptables-save). Containers reach the outside and the openings; not each other, this machine, or internal networks.
 */
export function restoreScript(plan: FirewallPlan, saved: string): string {
  const { input, forward, nat } = chainsOf(plan.chain);
  const { bridge, subnet } = plan;
  const filter = [
    `:${input} - [0:0]`,
    `:${forward} - [0:0]`,
    ...openingRules(forward, plan),
    ...openingRules(input, plan),
    `-A ${input} -i ${bridge} -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT`,
    `-A ${input} -i ${bridge} -j DROP`,
    `-A ${forward} -i ${bridge} -o ${bridge} -j DROP`,
    `-A ${forward} -o ${bridge} -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT`,
    `-A ${forward} -o ${bridge} -j DROP`,
    ...[...INTERNAL_NETWORKS, ...(plan.closed ?? [])].map(
      (network) => `-A ${forward} -i ${bridge} -d ${network} -j DROP`,
    ),
    ...(plan.isRouter ? [`-A ${forward} -i ${bridge} -s ${subnet} -j ACCEPT`] : []),
    ...missingHooks('filter', plan, saved),
  ];
  const masquerade = [
    `:${nat} - [0:0]`,
    `-A ${nat} -s ${subnet} ! -o ${bridge} -j MASQUERADE`,
    ...missingHooks('nat', plan, saved),
  ];
  return table('filter', filter) + (plan.isRouter ? table('nat', masquerade) : '');
}

/** For IPv6: containers have no address there, so nothing may pass. */
export function restoreScript6(plan: FirewallPlan, saved: string): string {
  const { input, forward } = chainsOf(plan.chain);
  return table('filter', [
    `:${input} - [0:0]`,
    `:${forward} - [0:0]`,
    `-A ${input} -i ${plan.bridge} -j DROP`,
    `-A ${forward} -i ${plan.bridge} -j DROP`,
    `-A ${forward} -o ${plan.bridge} -j DROP`,
    ...missingHooks('filter', plan, saved),
  ]);
}

/**
 * The rules of these chains and their hooks from iptables-save, in order. Without openings, which follow resolvers and
 * mirrors and may differ between processes on one engine.
 */
export function ownRules(saved: string, chain: string): readonly string[] {
  const own = Object.values(chainsOf(chain));
  const isOurs = (line: string): boolean =>
    line.startsWith('-A ') &&
    own.some((name) => line.startsWith(`-A ${name} `) || line.endsWith(` -j ${name}`));
  const isOpening = (line: string): boolean =>
    /-d \S+\/32 .*-p (tcp|udp) .*--dport \d+ -j ACCEPT$/.test(line);
  return saved.split('\n').filter((line) => isOurs(line) && !isOpening(line));
}

/** Foreign changes since the rules were set: each removed and each added rule. */
export function changedRules(kept: readonly string[], found: readonly string[]): readonly string[] {
  const gone = kept.filter((line) => !found.includes(line)).map((line) => `gone: ${line}`);
  const added = found.filter((line) => !kept.includes(line)).map((line) => `added: ${line}`);
  if (gone.length + added.length > 0) return [...gone, ...added];
  return kept.join('\n') === found.join('\n') ? [] : ['reordered'];
}

const openingRules = (chain: string, { bridge, openings }: FirewallPlan): readonly string[] =>
  openings.flatMap(({ address, port, protocols }) =>
    protocols.map((each) => `-A ${chain} -i ${bridge} -d ${address}/32 -p ${each} --dport ${port} -j ACCEPT`),
  );

const table = (name: string, lines: readonly string[]): string => `*${name}\n${lines.join('\n')}\nCOMMIT\n`;

/** The necessary openings: addresses outside the internal networks are reachable anyway. */
export const neededOpenings = (openings: readonly Opening[], own: readonly string[]): readonly Opening[] =>
  openings.filter(({ address }) => isWithin(address, INTERNAL_NETWORKS) || own.includes(address));

/** Names are asked of these addresses. */
export const resolverOpenings = (resolvers: readonly string[]): readonly Opening[] =>
  resolvers.map((address) => ({ address, port: 53, protocols: ['udp', 'tcp'] }));
