/** Do loop devices of one kernel damage a database as two machines with a kernel each would? */
import '../lib/cli/node-floor.mjs';

const { twoKernels } = await import('./two-kernels/command.ts');

await twoKernels();
