/** What does a kernel's initiator do when its path is taken away? The questions of real-storage, in guests. */
import '../lib/cli/node-floor.mjs';

const { kernelInitiators } = await import('./kernel-initiators/command.ts');

await kernelInitiators();
