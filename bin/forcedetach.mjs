#!/usr/bin/env node
/** The package's command: from the source in a checkout, compiled in the npm package. */
import { existsSync } from 'node:fs';

// Node runs no TypeScript inside node_modules, so that the package holds none.
const ending = existsSync(new URL('../lib/errors.ts', import.meta.url)) ? 'ts' : 'js';

await import('../lib/node-floor.mjs');
/** @type {typeof import('../lib/cli/commands/forcedetach.ts')} */
const { forcedetach } = await import(`../lib/cli/commands/forcedetach.${ending}`);

await forcedetach();
