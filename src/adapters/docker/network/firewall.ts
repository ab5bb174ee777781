import { chainName } from '../engine/engine-names.ts';
import { lastLines, mustSucceed, type Run, run } from '../host/host-commands.ts';
import { chainsOf, type FirewallPlan, ownRules, restoreScript, restoreScript6 } from './firewall-rules.ts';

const WAIT = ['--wait', '5'] as const;

/** An installation's rules, IPv4 then IPv6. */
type Rules = readonly string[];

/**
 * Sets the rules, here or on the machine of `runThere`. Throws when iptables fails. A failing `ip6tables-save` counts as
 * a machine without IPv6.
 */
export async function applyFirewall(
  plan: FirewallPlan,
  runThere: Run = run,
): Promise<{ readonly before: Rules; readonly after: Rules }> {
  const restore = ['--noflush', ...WAIT];
  const four = async (): Promise<readonly string[]> => {
    const saved = await mustSucceed(runThere, 'iptables-save', []);
    await mustSucceed(runThere, 'iptables-restore', restore, { input: restoreScript(plan, saved) });
    return [saved, await mustSucceed(runThere, 'iptables-save', [])];
  };
  const six = async (): Promise<readonly string[]> => {
    const saved = await runThere('ip6tables-save', []);
    if (saved.code !== 0) return ['', ''];
    await runThere('ip6tables-restore', restore, { input: restoreScript6(plan, saved.stdout) });
    return [saved.stdout, (await runThere('ip6tables-save', [])).stdout];
  };
  const [of4, of6] = await Promise.all([four(), six()]);
  const rulesAt = (at: 0 | 1): Rules => [
    ...ownRules(of4[at] ?? '', plan.chain),
    ...ownRules(of6[at] ?? '', plan.chain).map((rule) => `${rule} (IPv6)`),
  ];
  return { before: rulesAt(0), after: rulesAt(1) };
}

/** Exit code of a missing program. */
const COMMAND_NOT_FOUND = 127;

/**
 * Removes the rules of an installation, here or on the machine of `runThere`. Throws when iptables fails. A machine
 * without its programs has no rules, and one without IPv6 none of IPv6.
 */
export async function removeFirewall(instanceId: string, runThere: Run = run): Promise<void> {
  const chain = chainName(instanceId);
  const own = new Set(Object.values(chainsOf(chain)));
  await Promise.all(
    ['iptables', 'ip6tables'].map(async (command) => {
      const { code, stdout, stderr } = await runThere(`${command}-save`, []);
      const isWithout = async (): Promise<boolean> =>
        code === COMMAND_NOT_FOUND || (command === 'ip6tables' && !(await hasIpv6(runThere)));
      if (code !== 0 && !(await isWithout()))
        throw new Error(`${command}-save ended with ${code}: ${lastLines(stderr, 3)}`);
      const script = removalScript(stdout, own);
      if (script !== '')
        await mustSucceed(runThere, `${command}-restore`, ['--noflush', ...WAIT], { input: script });
    }),
  );
}

const hasIpv6 = async (runThere: Run): Promise<boolean> =>
  (await runThere('test', ['-e', '/proc/net/if_inet6'])).code === 0;

/** For users: rules of a machine that could not be removed. */
export const rulesLeftOn = (machine: string, instanceId: string, fault: unknown): string =>
  `Packet filter rules may stay on ${machine}, in chains named ${chainName(instanceId)}: ${String(fault)}`;

/** Input that removes these chains from the output of iptables-save: their hooks, rules, and themselves. */
export function removalScript(saved: string, chains: ReadonlySet<string>): string {
  const isOurs = (name: string | undefined): boolean => name !== undefined && chains.has(name);
  return saved
    .split(/^(?=\*)/m)
    .map((table) => {
      const lines = table.split('\n');
      const hooks = lines.filter((line) => isOurs(/^-A \S+ -j (\S+)$/.exec(line)?.[1]));
      const names = lines.map((line) => /^:(\S+) /.exec(line)?.[1]).filter(isOurs);
      if (names.length === 0) return '';
      const steps = [
        ...hooks.map((line) => line.replace('-A', '-D')),
        ...names.map((name) => `-F ${name}`),
        ...names.map((name) => `-X ${name}`),
      ];
      return `${lines[0]}\n${steps.join('\n')}\nCOMMIT\n`;
    })
    .join('');
}
