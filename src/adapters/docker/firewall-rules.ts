import { INTERNAL_NETWORKS, isWithin } from './subnet.ts';

/** An internal address that containers may reach all the same: a resolver, a package mirror, a proxy. */
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
  /** Nobody else translates addresses or lets traffic of this bridge pass: the private engine. */
  readonly isRouter: boolean;
};

export const chainsOf = (chain: string): { input: string; forward: string; nat: string } => ({
  input: `${chain}-IN`,
  forward: `${chain}-FW`,
  nat: `${chain}-NAT`,
});

type Hook = { readonly table: 'filter' | 'nat'; readonly from: string; readonly to: string };

/** Where packets enter our chains. DOCKER-USER is where Docker leaves room for others. */
function hooksOf(plan: Pick<FirewallPlan, 'chain' | 'isRouter'>, saved: string): readonly Hook[] {
  const { input, forward, nat } = chainsOf(plan.chain);
  const usesDocker = !plan.isRouter && saved.includes('\n:DOCKER-USER ');
  return [
    { table: 'filter', from: 'INPUT', to: input },
    { table: 'filter', from: usesDocker ? 'DOCKER-USER' : 'FORWARD', to: forward },
    ...(plan.isRouter ? [{ table: 'nat', from: 'POSTROUTING', to: nat } as const] : []),
  ];
}

/** Hooks that are not in the output of iptables-save: first in their chain, so that no rule of others comes before. */
const missingHooks = (table: Hook['table'], plan: FirewallPlan, saved: string): readonly string[] =>
  hooksOf(plan, saved)
    .filter((hook) => hook.table === table && !saved.includes(`-A ${hook.from} -j ${hook.to}\n`))
    .map((hook) => `-I ${hook.from} 1 -j ${hook.to}`);

/**
 * Input of `iptables-restore --noflush`: our own chains alone, replaced in one step, and the ways into them that
 * `saved` (iptables-save) lacks. Containers reach the outside and the openings; not each other, not this
 * machine, not internal networks.
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
    ...INTERNAL_NETWORKS.map((network) => `-A ${forward} -i ${bridge} -d ${network} -j DROP`),
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

/** The same for IPv6: containers have no address there, so nothing of theirs may pass at all. */
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

const openingRules = (chain: string, { bridge, openings }: FirewallPlan): readonly string[] =>
  openings.flatMap(({ address, port, protocols }) =>
    protocols.map((each) => `-A ${chain} -i ${bridge} -d ${address}/32 -p ${each} --dport ${port} -j ACCEPT`),
  );

const table = (name: string, lines: readonly string[]): string => `*${name}\n${lines.join('\n')}\nCOMMIT\n`;

/** Openings that are needed at all: an address outside the internal networks is reachable anyway. */
export const neededOpenings = (openings: readonly Opening[], own: readonly string[]): readonly Opening[] =>
  openings.filter(({ address }) => isWithin(address, INTERNAL_NETWORKS) || own.includes(address));
