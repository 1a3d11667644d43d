#!/usr/bin/env node
/** `kubectl detach-probe`: the probe, where this file is on the PATH. */
import { existsSync } from 'node:fs';

// As in forcedetach.mjs.
const ending = existsSync(new URL('../lib/errors.ts', import.meta.url)) ? 'ts' : 'js';

await import('../lib/node-floor.mjs');
/** @type {typeof import('../lib/cli/commands/probe.ts')} */
const { probe } = await import(`../lib/cli/commands/probe.${ending}`);

// It reads what follows its own name.
process.argv.splice(2, 0, 'experiments/probe.mjs');
await probe();
