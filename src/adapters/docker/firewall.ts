import { chainsOf, type FirewallPlan, restoreScript, restoreScript6 } from './firewall-rules.ts';
import { run, runOrThrow } from './host.ts';
import { chainName } from './labels.ts';

const WAIT = ['--wait', '5'] as const;
const BOTH = ['iptables', 'ip6tables'] as const;

type Hook = { readonly table: 'filter' | 'nat'; readonly from: string; readonly to: string };

/** Where the packet filter enters our chains. DOCKER-USER is where Docker leaves room for others. */
function hooksOf(chain: string, forwardFrom: string, withNat: boolean): readonly Hook[] {
  const { input, forward, nat } = chainsOf(chain);
  return [
    { table: 'filter', from: 'INPUT', to: input },
    { table: 'filter', from: forwardFrom, to: forward },
    ...(withNat ? [{ table: 'nat', from: 'POSTROUTING', to: nat } as const] : []),
  ];
}

/** Sets the rules, or sets them again after something flushed them. Throws when the packet filter refuses. */
export async function applyFirewall(plan: FirewallPlan): Promise<void> {
  await runOrThrow('iptables-restore', ['--noflush', ...WAIT], { input: restoreScript(plan) });
  const dockerUser = await run('iptables', [...WAIT, '-n', '-L', 'DOCKER-USER']);
  const forwardFrom = !plan.isRouter && dockerUser.code === 0 ? 'DOCKER-USER' : 'FORWARD';
  for (const hook of hooksOf(plan.chain, forwardFrom, plan.isRouter)) await ensureHook('iptables', hook);
  // Machines without IPv6 have nothing to close here.
  const six = await run('ip6tables-restore', ['--noflush', ...WAIT], { input: restoreScript6(plan) });
  if (six.code !== 0) return;
  for (const hook of hooksOf(plan.chain, 'FORWARD', false)) await ensureHook('ip6tables', hook);
}

/** First in its chain, so that no earlier rule of others lets a packet pass. */
async function ensureHook(command: (typeof BOTH)[number], { table, from, to }: Hook): Promise<void> {
  const present = await run(command, [...WAIT, '-t', table, '-C', from, '-j', to]);
  if (present.code !== 0) await runOrThrow(command, [...WAIT, '-t', table, '-I', from, '1', '-j', to]);
}

/** Removes all rules of an installation; absent is fine. */
export async function removeFirewall(instanceId: string): Promise<void> {
  for (const command of BOTH) {
    const hooks = [
      ...hooksOf(chainName(instanceId), 'FORWARD', true),
      ...hooksOf(chainName(instanceId), 'DOCKER-USER', false),
    ];
    for (const { table, from, to } of hooks) await run(command, [...WAIT, '-t', table, '-D', from, '-j', to]);
    for (const { table, to } of hooks) {
      await run(command, [...WAIT, '-t', table, '-F', to]);
      await run(command, [...WAIT, '-t', table, '-X', to]);
    }
  }
}
