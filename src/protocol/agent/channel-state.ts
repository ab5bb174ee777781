/** The life of a channel, as one side sees it. The service opens it; the agent accepts it, and ends it with a result. */
export type ChannelState =
  | {
      readonly phase: 'opening' | 'accepted';
      readonly role: 'service' | 'agent';
      readonly hasEnded: boolean;
      readonly peerHasEnded: boolean;
    }
  | { readonly phase: 'closed' };

export type ChannelStep = 'accepted' | 'data' | 'end' | 'note' | 'result' | 'reset';

export const newChannel = (role: 'service' | 'agent'): ChannelState => ({
  phase: 'opening',
  role,
  hasEnded: false,
  peerHasEnded: false,
});

/** This side's step. null when it is not allowed. */
export function send(state: ChannelState, step: ChannelStep): ChannelState | null {
  if (state.phase === 'closed') return null;
  const next = step === 'data' && state.hasEnded ? null : advance(state, step, state.role);
  return step === 'end' && next?.phase !== 'closed' && next !== null ? { ...next, hasEnded: true } : next;
}

/** The other side's step. null when the protocol does not allow it. */
export function receive(state: ChannelState, step: ChannelStep): ChannelState | null {
  if (state.phase === 'closed') return null;
  const isLate = state.peerHasEnded && (step === 'data' || step === 'end');
  const next = isLate ? null : advance(state, step, state.role === 'agent' ? 'service' : 'agent');
  return step === 'end' && next?.phase !== 'closed' && next !== null ? { ...next, peerHasEnded: true } : next;
}

type Living = Exclude<ChannelState, { readonly phase: 'closed' }>;

/** The agent says nothing but a result before it has accepted; the service need not wait for that. */
function advance(state: Living, step: ChannelStep, by: 'service' | 'agent'): ChannelState | null {
  const isEarly = by === 'agent' && state.phase === 'opening';
  switch (step) {
    case 'accepted':
      return isEarly ? { ...state, phase: 'accepted' } : null;
    case 'data':
    case 'end':
    case 'note':
      return isEarly ? null : state;
    case 'result':
      return by === 'agent' ? { phase: 'closed' } : null;
    case 'reset':
      return { phase: 'closed' };
  }
}
