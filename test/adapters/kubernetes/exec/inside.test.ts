import t from 'tap';
import { clusterPrograms } from '../../../../src/adapters/kubernetes/exec/container-programs.ts';
import { shellAccess } from '../../../../src/adapters/scripts/container-access.ts';
import { shellTerminals } from '../../../../src/adapters/scripts/terminals/terminal-backend.ts';
import { commandsContract } from '../../../contract/containers/inside/container-commands.ts';
import { terminalBackendContract } from '../../../contract/terminals/terminal-backend.ts';
import { aSpec } from '../../../support/engine/container.ts';
import { engineOrSkip, testInstance } from '../../../support/engine/engine.ts';
import { runInContainer } from '../../../support/kubernetes/exec-programs.ts';
import { type ExecProtocol, startExecServer } from '../../../support/kubernetes/exec-server.ts';

const engine = await engineOrSkip(t);
if (engine !== null) {
  const { runtime, image, docker } = await testInstance(t, engine);
  const handle = await runtime.create(aSpec(image, { hostname: 'box', env: { GIVEN: 'at creation' } }));
  await runtime.start(handle);

  /** What is in a Pod, of which a Docker container takes the place behind the exec of a cluster. */
  const inside = async (protocol: ExecProtocol) => {
    const server = await startExecServer(t, { run: runInContainer(docker, handle.runtimeId), protocol });
    const programs = clusterPrograms({
      access: server.access,
      podContainerOf: () => ({ pod: 'ws-one', container: 'workspace' }),
      observe: runtime.observe,
      node: 'cluster',
    });
    const access = shellAccess(programs, async (one) => programs.idOf(one));
    return { ...access, terminals: shellTerminals(programs, programs.idOf) };
  };
  // Input is in frames there.
  const { commands } = await inside('v4.channel.k8s.io');
  await t.test('cluster: commands', (t) => commandsContract(t, (request) => commands.open(handle, request)));
  const { terminals } = await inside('v5.channel.k8s.io');
  await terminalBackendContract('cluster', { terminals, handle });
}
