/** What does a real storage protocol do with a node that lost its volume? Raw writers, no Kubernetes. */
import '../lib/cli/node-floor.mjs';

const { realStorage } = await import('./real-storage/command.ts');

await realStorage();
