/**
 * The audit of one copy of the volume, step by step: file system, crash recovery, a second kill,
 * then every row from cold. CHECK TABLE comes last and in a server of its own, since it may crash
 * it. A step that fails is evidence or a named gap; it never ends the audit.
 */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ImageEvidence, ServerStart } from '../../history/index.ts';
import { ordinaryClient } from '../schema.ts';
import { beginBinlog, foundInBinlog, keepsBinlog, type BinlogTask } from './binlog/beside.ts';
import type { BinlogRead } from './binlog/read-binlog.ts';
import { checkLogin } from './check-login.ts';
import { innochecksums, looksEmpty, readCanaries, serverUuid } from './data-directory.ts';
import {
  EvidenceDraft,
  type RowReading,
  type AuditServer,
  type Use,
  type WholePass,
} from './evidence-draft.ts';
import type { MysqldOptions } from './mysqld.ts';
import { checksums, checkTable, tablesToCheck } from './read-tables.ts';
import type { SqlClient } from './sql-client.ts';
import { VolumeCopy, type VolumeCopyOptions } from '../../storage/index.ts';

export interface CollectOptions extends VolumeCopyOptions, RowReading {
  readonly onStep: (step: string) => void;
}

/** Leaves nothing mounted, bound or running, whatever happens. Rejects only when it was aborted. */
export async function collectEvidence(options: CollectOptions): Promise<ImageEvidence> {
  const audit = new Audit(options);
  await audit.step('audit', async () => {
    await using stack = new AsyncDisposableStack();
    await audit.step('copy', async () => {
      audit.copy = stack.use(await VolumeCopy.make(options));
    });
    if (audit.copy !== undefined) await audit.auditCopy(audit.copy);
  });
  return audit.evidence;
}

class Audit extends EvidenceDraft {
  /** Absent where the image could not be copied. */
  copy: VolumeCopy | undefined;
  readonly #options: CollectOptions;

  constructor(options: CollectOptions) {
    super(options.signal, options.onStep);
    this.#options = options;
  }

  async auditCopy(copy: VolumeCopy): Promise<void> {
    const { evidence } = this;
    await this.step('identify', async () => {
      const opened = await copy.identify();
      if (opened !== undefined) evidence.opened = opened;
    });
    if (copy.isDirectory) evidence.isDirectory = true;
    else await this.#checkFileSystem(copy);
    if (!(await this.mount(copy))) return;
    const dataDirectory = join(copy.mountPoint, 'data');
    await this.step('files', async () => {
      evidence.canaries = await readCanaries(copy.mountPoint);
      evidence.dataDirectoryEmpty = await looksEmpty(dataDirectory);
      const uuid = await serverUuid(dataDirectory);
      if (uuid !== undefined) evidence.serverUuid = uuid;
    });
    if (evidence.dataDirectoryEmpty) return;
    await using scratch = await mkdtempDisposable(join(tmpdir(), 'forcedetach-mysqld-'));
    await this.#auditServer(dataDirectory, scratch.path);
  }

  async #checkFileSystem(copy: VolumeCopy): Promise<void> {
    const { evidence } = this;
    await this.step('fsck', async () => {
      const cleared = await copy.clearMountProtection();
      if (cleared !== undefined) evidence.mmpCleared = cleared;
      evidence.fsckReplay = await copy.replayJournal();
      evidence.fsck = await copy.check();
      const uuid = await copy.filesystemUuid();
      if (uuid !== undefined) evidence.filesystemUuid = uuid;
    });
  }

  async #auditServer(dataDirectory: string, scratch: string): Promise<void> {
    const serve = (
      purpose: ServerStart['purpose'],
      use: Use,
      access: Pick<MysqldOptions, 'account'> = {},
    ): Promise<void> => this.serve({ purpose, dataDirectory, scratch, ...access }, use);
    // Before the audit's own servers make one.
    const hasBinlog = keepsBinlog(dataDirectory);
    const started = (): boolean => this.evidence.starts.at(-1)?.ready === true;

    await serve('recovery', (client, server) => this.#logIn(client, server), {
      account: ordinaryClient,
    });
    if (!started()) return;
    // While the server starts anew and its tables are read; after its recovery nothing is appended.
    await using binlog = hasBinlog ? beginBinlog(dataDirectory) : undefined;
    await serve('cold', async (client, server) => {
      await this.#readEverything(client, server, binlog);
      client.destroy();
      await this.step('stop', () => server.stop());
    });
    if (!started()) return;
    await this.step('innochecksum', async () => {
      this.evidence.innochecksum = await innochecksums(dataDirectory, this.#options.signal);
    });
    await serve('check', (client, server) => this.#checkTables(client, server));
  }

  /** Meets it as a pod's server would be met, right after its recovery. */
  async #logIn(client: SqlClient, server: AuditServer): Promise<void> {
    await this.ask('login', server, async () => {
      this.evidence.login = await checkLogin(client);
    });
  }

  async #readEverything(
    client: SqlClient,
    server: AuditServer,
    binlog: BinlogTask | undefined,
  ): Promise<void> {
    const { evidence } = this;
    const pass = await this.readRows(client, server, this.#options);
    const { seed } = this.#options;
    await this.readBeyondRows(client, server, { seed, mixes: pass?.mixes });
    await this.ask('checksum', server, async () => {
      const found = await checksums(client);
      evidence.tables = [...found].map(([table, checksum]) => ({ table, checksum }));
    });
    if (binlog !== undefined && pass !== undefined) {
      await this.#readBinlog(client, server, binlog, pass);
    }
  }

  async #readBinlog(client: SqlClient, server: AuditServer, { read }: BinlogTask, pass: WholePass) {
    let found: BinlogRead | undefined;
    await this.step('binlog', async () => {
      found = await read;
    });
    await this.ask('GTIDs', server, async () => {
      if (found !== undefined) {
        this.evidence.binlog = await foundInBinlog(client, found, pass.sessions);
      }
    });
  }

  async #checkTables(client: SqlClient, server: AuditServer): Promise<void> {
    const { evidence } = this;
    await this.ask('checksum after restart', server, async () => {
      const found = await checksums(client);
      evidence.tables = evidence.tables.map((each) => {
        const checksumAfterRestart = found.get(each.table);
        return checksumAfterRestart === undefined ? each : { ...each, checksumAfterRestart };
      });
    });
    await this.ask('check table', server, async () => {
      for (const quoted of await tablesToCheck(client)) {
        const found = await checkTable(client, quoted);
        const before = evidence.tables.find(({ table }) => table === found.table);
        const others = evidence.tables.filter(({ table }) => table !== found.table);
        evidence.tables = [...others, { ...before, ...found }];
      }
    });
  }
}
