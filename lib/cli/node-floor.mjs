/**
 * The first import of every experiment, in plain JavaScript that any Node ≥ 18 can parse: an older
 * Node runs the same command again with the Node 24 that `npm ci` brought, or says what to do.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

/** Running .ts files without a build is stable from 24.12 on. */
const floor = { major: 24, minor: 12 };

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const newEnough = major > floor.major || (major === floor.major && minor >= floor.minor);

if (!newEnough) {
  const bundled = fileURLToPath(
    new URL(
      `../../node_modules/node-${process.platform}-${process.arch}/bin/node`,
      import.meta.url,
    ),
  );
  if (existsSync(bundled)) {
    process.exit(await runAgain(bundled));
  }
  const isCheckout = existsSync(new URL('../core/errors.ts', import.meta.url));
  const lines = [
    `NODE_TOO_OLD: this is Node ${process.versions.node}; forcedetach needs ${floor.major}.${floor.minor} or newer`,
    ...(isCheckout
      ? ['  hint: npm ci installs it on Linux; elsewhere install Node 24', '  try:  npm ci']
      : ['  hint: install Node 24']),
  ];
  console.error(lines.join('\n'));
  process.exit(2);
}

// zx reads the same words by itself when it is imported, and ends at what every object has.
const name = /^--?(?:no-)?([^=.]+)/;
const inherited = process.argv.slice(2).find((word) => (name.exec(word)?.[1] ?? '') in {});
if (inherited !== undefined) {
  console.error(`BAD_FLAG: unknown option '${inherited}'`);
  console.error('  hint: --help shows the flags that fit, --help-all every one');
  process.exit(2);
}

// What is imported from here on is compiled once: it is a third of a model's whole run.
module.enableCompileCache?.(
  fileURLToPath(new URL('../../node_modules/.cache/node', import.meta.url)),
);

const { guardProcess } = await import('./guard.ts');
guardProcess();

/**
 * The same command under another Node; resolves with its exit code. What a terminal sends reaches
 * both, and counts once: this one waits for the other, which heals and cleans up first.
 * @param {string} node
 * @returns {Promise<number>}
 */
function runAgain(node) {
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], { stdio: 'inherit' });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'])) {
    process.on(signal, () => child.kill(signal));
  }
  return new Promise((resolve) => {
    child.on('exit', (code, signal) => resolve(code ?? (signal === null ? 1 : 128)));
    child.on('error', () => resolve(4));
  });
}
