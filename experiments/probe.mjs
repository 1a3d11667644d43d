/** What is to be expected of a StorageClass when a volume of it is detached by force? Reads only. */
import '../lib/node-floor.mjs';

const { probe } = await import('../lib/cli/probe.ts');

await probe();
