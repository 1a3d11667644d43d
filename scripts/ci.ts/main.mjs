/**
 * Starts a task of ci-tasks.ts on any Node: an older one refuses a file whose name ends in .ts, but starts a
 * folder by its package.json.
 */
import '../../lib/cli/node-floor.mjs';

const { runTask } = await import('../ci-tasks.ts');

process.exitCode = await runTask(process.argv[2] ?? '', process.env);
