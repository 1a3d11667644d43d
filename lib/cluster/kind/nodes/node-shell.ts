/** The node shell on kind: a node is a container, so that the engine runs what is asked for inside it. */
import * as engine from '../../../engine/commands.ts';
import { tryRun } from '../../../engine/run.ts';
import type { NodeShell } from '../../port.ts';

export const nodeShell = (node: string): NodeShell => ({
  run: (argv, signal) => tryRun(engine.exec(node, ...argv), { signal }),
});
