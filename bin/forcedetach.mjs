#!/usr/bin/env node
/** The package's command: from the source in a checkout, compiled in the npm package. */
import { existsSync } from 'node:fs';

// Node runs no TypeScript inside node_modules, so that the package holds none.
const isCheckout = existsSync(new URL('../lib/', import.meta.url));
const [home, ending] = isCheckout ? ['../lib', 'ts'] : ['../dist/lib', 'js'];

await import(`${home}/node-floor.mjs`);
/** @type {typeof import('../lib/cli/commands/forcedetach.ts')} */
const { forcedetach } = await import(`${home}/cli/commands/forcedetach.${ending}`);

await forcedetach();
