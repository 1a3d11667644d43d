/** The program of a shard's pod. Argument: the folder that has the plan. */
import { runShard } from './shard.ts';

await runShard(process.argv[2] ?? '.');
