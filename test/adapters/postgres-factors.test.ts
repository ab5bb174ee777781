import t from 'tap';
import { signInContracts } from '../contract/factors.ts';
import { aDatabase } from '../support/factors.ts';

signInContracts(t, aDatabase);
