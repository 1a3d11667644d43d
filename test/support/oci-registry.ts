/** A container registry on loopback: Debian's docker-registry, from its package if it is not installed. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pRetry from 'p-retry';
import { $ } from '../../lib/kind/engine/shell.ts';

export interface OciRegistry extends AsyncDisposable {
  /** `127.0.0.1:<port>`, which Docker speaks to without TLS. */
  readonly address: string;
}

export async function startRegistry(): Promise<OciRegistry> {
  const folder = mkdtempSync(join(tmpdir(), 'forcedetach-registry-'));
  const program = await programIn(folder);
  const address = `127.0.0.1:${await freePort()}`;
  const config = join(folder, 'config.yml');
  const storage = { filesystem: { rootdirectory: join(folder, 'data') } };
  // JSON is YAML.
  writeFileSync(config, JSON.stringify({ version: 0.1, storage, http: { addr: address } }));
  const server = spawn(program, ['serve', config], { stdio: 'ignore' });
  await pRetry(() => answers(address), { retries: 50, minTimeout: 200, factor: 1 });
  return {
    address,
    async [Symbol.asyncDispose]() {
      await ended(server);
      rmSync(folder, { recursive: true });
    },
  };
}

/** Unpacked, not installed: its package would start a server for everybody. */
async function programIn(folder: string): Promise<string> {
  const found = await $({ nothrow: true, quiet: true })`command -v docker-registry`;
  if (found.exitCode === 0) return found.stdout.trim();
  const into = join(folder, 'package');
  mkdirSync(into);
  const there = $({ cwd: into, quiet: true, timeout: '120s' });
  await there`apt-get download docker-registry && dpkg -x docker-registry_*.deb .`;
  return join(into, 'usr/bin/docker-registry');
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function answers(address: string): Promise<void> {
  const { ok, status } = await fetch(`http://${address}/v2/`);
  if (!ok) throw new Error(`the registry answers ${status}`);
}

async function ended(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return;
  const closed = new Promise((resolve) => server.once('close', resolve));
  server.kill();
  await closed;
}
