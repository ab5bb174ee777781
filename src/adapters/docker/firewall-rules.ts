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

/**
 * Input of `iptables-restore --noflush`: our own chains alone, replaced in one step. Containers reach the
 * outside and the openings; not each other, not this machine, not internal networks.
 */
export function restoreScript(plan: FirewallPlan): string {
  const { input, forward, nat } = chainsOf(plan.chain);
  const { bridge, subnet } = plan;
  const openings = [...openingRules(forward, plan), ...openingRules(input, plan)];
  const filter = [
    `:${input} - [0:0]`,
    `:${forward} - [0:0]`,
    ...openings,
    `-A ${input} -i ${bridge} -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT`,
    `-A ${input} -i ${bridge} -j DROP`,
    `-A ${forward} -i ${bridge} -o ${bridge} -j DROP`,
    `-A ${forward} -o ${bridge} -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT`,
    `-A ${forward} -o ${bridge} -j DROP`,
    ...INTERNAL_NETWORKS.map((network) => `-A ${forward} -i ${bridge} -d ${network} -j DROP`),
    ...(plan.isRouter ? [`-A ${forward} -i ${bridge} -s ${subnet} -j ACCEPT`] : []),
  ];
  const masquerade = [`:${nat} - [0:0]`, `-A ${nat} -s ${subnet} ! -o ${bridge} -j MASQUERADE`];
  return table('filter', filter) + (plan.isRouter ? table('nat', masquerade) : '');
}

/** The same for IPv6: containers have no address there, so nothing of theirs may pass at all. */
export function restoreScript6(plan: FirewallPlan): string {
  const { input, forward } = chainsOf(plan.chain);
  return table('filter', [
    `:${input} - [0:0]`,
    `:${forward} - [0:0]`,
    `-A ${input} -i ${plan.bridge} -j DROP`,
    `-A ${forward} -i ${plan.bridge} -j DROP`,
    `-A ${forward} -o ${plan.bridge} -j DROP`,
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
