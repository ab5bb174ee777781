import { capture } from '../command.mjs';
import { Fault } from '../fault.mjs';
import { MACHINE_LINK, machineAddress } from './nodes.mjs';

/** Reserved for tests of networks (RFC 2544), so no real network has these addresses. */
const RANGE = '198.18';
const MOST_CLUSTERS = 100;

/**
 * A cable from the machine to a cluster, in a subnet that no other cluster on the machine has. It is gone when the cluster's
 * namespaces are.
 * @returns {Promise<{ subnet: string, plugIn: (pid: number) => Promise<void>, unplug: () => Promise<void> }>}
 */
export async function newCable() {
  for (let number = 0; number < MOST_CLUSTERS; number += 1) {
    const [end, other] = [`berth-sw${number}`, `berth-sx${number}`];
    const { code, output } = await ip('link', 'add', end, 'type', 'veth', 'peer', 'name', other);
    if (code !== 0 && !output.includes('exists')) throw new Fault(`a cable cannot be made: ${output.trim()}`);
    if (code !== 0) continue;
    const subnet = `${RANGE}.${number}`;
    return {
      subnet,
      /** Puts the other end into the network namespace of a process. */
      async plugIn(pid) {
        for (const words of [
          ['link', 'set', other, 'netns', `${pid}`, 'name', MACHINE_LINK],
          ['address', 'add', `${machineAddress(subnet)}/24`, 'dev', end],
          ['link', 'set', end, 'up'],
        ]) {
          const { code, output } = await ip(...words);
          if (code !== 0) throw new Fault(`ip ${words.join(' ')}: ${output.trim()}`);
        }
      },
      unplug: async () => void (await ip('link', 'delete', end)),
    };
  }
  throw new Fault('too many clusters of tests run on this machine');
}

/** @param {readonly string[]} words */
const ip = (...words) => capture('ip', words, { cwd: '/' });
