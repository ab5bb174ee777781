import type { Container } from '../../../api/types.ts';
import { remove, stop } from '../../../state/containers.ts';
import { Confirm } from '../../../ui/confirm.tsx';

type Props = { readonly container: Container; readonly onClose: () => void };

export const DisconnectDialog = ({ container, onClose }: Props) => (
  <Confirm
    title={`Disconnect ${container.name}?`}
    action="Disconnect"
    onConfirm={() => void stop(container)}
    onClose={onClose}
  >
    <p>
      Its terminals close. The machine and its programs are unaffected, and it connects again by itself within
      seconds. To keep it away, stop the agent there, or delete it here.
    </p>
  </Confirm>
);

export const DeleteAgentDialog = ({ container, onClose }: Props) => (
  <Confirm
    title={`Delete ${container.name}?`}
    action="Delete"
    danger
    onConfirm={() => void remove(container)}
    onClose={onClose}
  >
    <p>Berth forgets this machine, closes its terminals, and revokes its token. Nothing on it is changed.</p>
  </Confirm>
);
