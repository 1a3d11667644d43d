/**
 * Adds to package-lock.json the optional platform packages that the registry at hand did not offer
 * when the lock was made (a mirror may hold only its own platform's). Without an entry for each,
 * `npm ci` refuses the whole lock, also on platforms that need none of them. They get no integrity
 * hash: who installs on such a platform makes the lock anew there. Run it after `npm install`.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const systems = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'];
const processors = ['arm64', 'arm', 'ia32', 'ppc64', 'riscv64', 's390x', 'x64'];

const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const entries = Object.entries(lock.packages);
for (const [, parent] of entries) {
  for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
    const path = `node_modules/${name}`;
    const words = name.split(/[-/]/);
    const os = systems.find((system) => words.includes(system));
    const cpu = processors.find((processor) => words.includes(processor));
    if (lock.packages[path] !== undefined || os === undefined || cpu === undefined) continue;
    const musl = words.some((word) => word.startsWith('musl'));
    const libc = os === 'linux' ? { libc: [musl ? 'musl' : 'glibc'] } : {};
    const dev = parent.dev === true ? { dev: true } : {};
    lock.packages[path] = { version, cpu: [cpu], ...dev, ...libc, optional: true, os: [os] };
  }
}
lock.packages = Object.fromEntries(
  Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1)),
);
writeFileSync('package-lock.json', `${JSON.stringify(lock, undefined, 2)}\n`);
