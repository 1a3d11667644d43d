/** What does a StorageClass do when a volume of it is detached by force? Reads only, unless `--run`. */
import '../lib/node-floor.mjs';

const { probe } = await import('../lib/cli/commands/probe.ts');

await probe();
