import { runService } from '../run.ts';

await runService();
