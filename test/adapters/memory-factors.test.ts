import t from 'tap';
import { memoryStorage } from '../../src/adapters/memory/index.ts';
import { signInContracts } from '../contract/factors.ts';

signInContracts(t, async () => memoryStorage({ now: () => new Date() }));
