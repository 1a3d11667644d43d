/** Where mutants are made: a bare host, copies of volumes, servers and audits on them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { kindAuditor } from '../../lib/kind/index.ts';
import { realClock } from '../../lib/core/index.ts';
import type { LedgerRow, ImageLabel } from '../../lib/history/index.ts';
import { ackedIn } from '../../test/support/bare-images.ts';
import type { AuditedCopy } from './mutant-case.ts';
import { BareHost } from '../../test/cluster/bare-host.ts';
import { BareVolume, type BareDisk } from '../../test/cluster/bare-volume.ts';
import type { BareServer, Written } from '../../test/cluster/bare-server.ts';
import { mysql } from '../../lib/mysql/index.ts';

/** Beside those of the audit's own tests, so that both can run at once. */
const mutantLoops = { a: 5110, b: 5111, audit: 5112 };
export const seed = 'mutants';
/** The next clean stop leaves nothing to redo, to purge or to merge. */
export const slowShutdown = 'SET GLOBAL innodb_fast_shutdown = 0';
/** 32 connections of one client, so that one commit of one of them is a small thing. */
export const load = { client: 'outside', connections: 32, rate: 400 } as const;
const patienceMs = 300_000;

export class Workshop implements AsyncDisposable {
  readonly host: BareHost;
  readonly clock = realClock();
  #copies = 0;

  private constructor(host: BareHost) {
    this.host = host;
  }

  static async start(onProgress: (line: string) => void): Promise<Workshop> {
    return new Workshop(await BareHost.start(onProgress, mutantLoops));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.host[Symbol.asyncDispose]();
  }

  /** A copy under a name of its own; whatever was left running or mounted is taken away. */
  async copyOf({ path }: BareVolume): Promise<BareVolume> {
    await this.host.clear();
    const copy = new BareVolume(this.host, `${path}.${(this.#copies += 1)}`);
    await this.host.sh('cp --sparse=always "$1" "$2"', path, copy.path);
    return copy;
  }

  async discard({ path }: BareVolume): Promise<void> {
    await this.host.sh('rm -f "$1"', path);
  }

  /** Attached to node a while `work` runs. */
  async mounted<T>(volume: BareVolume, work: (disk: BareDisk) => Promise<T>): Promise<T> {
    const disk = await volume.attach('a');
    try {
      return await work(disk);
    } finally {
      await disk.detach();
    }
  }

  /** A server runs on the volume while `work` does, and is then stopped cleanly. */
  async served<T>(volume: BareVolume, work: (server: BareServer) => Promise<T>): Promise<T> {
    return this.mounted(volume, async (disk) => {
      const server = await disk.startServer();
      try {
        return await work(server);
      } finally {
        await server.stop();
      }
    });
  }

  /** Recovered and stopped cleanly, so that no page of it waits for redo, undo or purge. */
  async settle(volume: BareVolume): Promise<void> {
    await this.served(volume, (server) => server.query(slowShutdown));
  }

  /** Resolves once so many of the writer's operations were acknowledged. */
  async untilAcked({ records }: Written, count: number): Promise<void> {
    for (const endMs = this.clock.nowMs() + patienceMs; ackedIn(records) < count; ) {
      if (this.clock.nowMs() > endMs) throw new Error(`no ${count} commits in ${patienceMs} ms`);
      await sleep(50);
    }
  }

  async audit(volume: BareVolume, image: ImageLabel): Promise<AuditedCopy> {
    const takenAtMs = this.clock.nowMs();
    await volume.copy(image);
    const rows: LedgerRow[] = [];
    const auditor = kindAuditor({
      real: mysql.real,
      lab: this.host.lab,
      loop: this.host.loops.audit,
      seed,
    });
    const evidence = await auditor.audit(image, (row) => rows.push(row));
    return { image, takenAtMs, evidence, rows };
  }
}
