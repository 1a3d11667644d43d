#!/usr/bin/env node
/** `kubectl detach-probe`: the probe, where this file is on the PATH. */
import { existsSync } from 'node:fs';

// As in forcedetach.mjs.
const isCheckout = existsSync(new URL('../lib/', import.meta.url));
const [home, ending] = isCheckout ? ['../lib', 'ts'] : ['../dist/lib', 'js'];

await import(`${home}/node-floor.mjs`);
/** @type {typeof import('../lib/cli/commands/probe.ts')} */
const { probe } = await import(`${home}/cli/commands/probe.${ending}`);

// It reads what follows its own name.
process.argv.splice(2, 0, 'experiments/probe.mjs');
await probe();
