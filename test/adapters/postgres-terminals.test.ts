import t from 'tap';
import { terminalReplicasContract } from '../contract/terminal-replicas.ts';
import { onPostgres } from '../support/database/postgres-cluster.ts';

terminalReplicasContract(t, onPostgres);
