/** The audit of one copy of the volume, and the recovery of one crash state, step by step. A step that fails is evidence or a named gap; it never ends the audit. */
import { readdir, readFile, mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandEvidence } from '../../core/index.ts';
import type { ImageEvidence, ServerStart } from '../../history/index.ts';
import { beginBinlog, foundInBinlog, keepsBinlog, type BinlogTask } from './binlog/beside.ts';
import type { BinlogRead } from './binlog/read-binlog.ts';
import {
  EvidenceDraft,
  type RowReading,
  type AuditServer,
  type Use,
  type WholePass,
} from './evidence-draft.ts';
import type { MysqldOptions } from './mysqld.ts';
import { checksums, compareIndexes } from './read-tables.ts';
import { checkLogin, type SqlClient } from './sql-client.ts';
import { innochecksumKinds } from '../exit-kinds.ts';
import { ordinaryClient } from '../schema.ts';
import type { RecoverImageOptions } from '../../run/index.ts';
import {
  canaryContentOf,
  canaryFolder,
  runTool,
  VolumeCopy,
  type VolumeCopyOptions,
} from '../../storage/index.ts';

const innochecksumTimeoutMs = 180_000;
const maxCanaryLength = 4096;

/** Content by name of the volume's crash canaries; none where there are none. */
async function readCanaries(mountPoint: string): Promise<Record<string, string>> {
  const folder = join(mountPoint, canaryFolder);
  const canaries: Record<string, string> = {};
  for (const name of await namesIn(folder)) {
    const content = await readFile(join(folder, name), 'utf8');
    canaries[name] = canaryContentOf(content.slice(0, maxCanaryLength));
  }
  return canaries;
}

/** True where MySQL's image would initialise a new database: nothing there but what mkfs makes. */
async function looksEmpty(dataDirectory: string): Promise<boolean> {
  return (await namesIn(dataDirectory)).every((name) => name === 'lost+found');
}

/** server_uuid as auto.cnf has it. */
export async function serverUuid(dataDirectory: string): Promise<string | undefined> {
  const text = await readFile(join(dataDirectory, 'auto.cnf'), 'utf8').catch(() => '');
  return /^server[-_]uuid\s*=\s*(\S+)/m.exec(text)?.[1];
}

/** Every tablespace, page by page. Only after a clean stop: before recovery pages may be stale. */
async function innochecksums(
  dataDirectory: string,
  signal: AbortSignal,
): Promise<CommandEvidence[]> {
  const files = await readdir(dataDirectory, { recursive: true });
  const answers: CommandEvidence[] = [];
  const limits = { timeoutMs: innochecksumTimeoutMs, signal, kinds: innochecksumKinds };
  for (const file of files.filter(isTablespace).toSorted()) {
    const argv = ['innochecksum', join(dataDirectory, file)];
    answers.push(await runTool(argv, limits));
  }
  return answers;
}

const isTablespace = (file: string): boolean =>
  /(^|\/)([^/]+\.ibd|ibdata\d+|undo_\d+)$/.test(file) && !file.startsWith('#innodb_temp');

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

interface CollectOptions extends VolumeCopyOptions, RowReading {
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

/**
 * File system, crash recovery, a second kill, then every row from cold. CHECK TABLE comes last and in a
 * server of its own, since it may crash it.
 */
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
    await serve('check', (client, server) => this.#checkAgain(client, server));
  }

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
      evidence.tables = await checksums(client);
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

  async #checkAgain(client: SqlClient, server: AuditServer): Promise<void> {
    const { evidence } = this;
    await this.ask('checksum after restart', server, async () => {
      const found = await checksums(client);
      evidence.tables = evidence.tables.map((each) => {
        const { checksum, error } = found.find(({ table }) => table === each.table) ?? {};
        if (checksum === undefined) return each;
        return { ...each, checksumAfterRestart: checksum, ...(error !== undefined && { error }) };
      });
    });
    await this.checkTables(client, server);
  }
}

/** A crash recovery takes seconds; on a torn page mysqld may hang, and there are many states. */
const startTimeoutMs = 60_000;

/** Leaves nothing mounted, bound or running. Rejects only when it was aborted. */
export async function recoverImage(options: RecoverImageOptions): Promise<ImageEvidence> {
  const { runSeed, onRows, thorough } = options;
  const draft = new EvidenceDraft(options.signal);
  const { evidence } = draft;
  await using volume = options.volume;
  const check = (): Promise<void> =>
    draft.step('fsck', async () => {
      evidence.fsck = await volume.check();
    });
  if (!(await draft.mount(volume))) {
    await check();
    return evidence;
  }
  const dataDirectory = join(volume.mountPoint, 'data');
  await draft.step('files', async () => {
    evidence.dataDirectoryEmpty = await looksEmpty(dataDirectory);
  });
  if (!evidence.dataDirectoryEmpty) {
    await using scratch = await mkdtempDisposable(join(tmpdir(), 'forcedetach-mysqld-'));
    const where = { dataDirectory, scratch: scratch.path, startTimeoutMs };
    await draft.serve({ purpose: 'recovery', ...where }, async (client, server) => {
      await draft.readRows(client, server, { seed: runSeed, onRows });
    });
    const sound = evidence.starts.every(({ ready, died }) => ready && died === undefined);
    if (thorough && sound) {
      await draft.serve({ purpose: 'check', ...where }, async (client, server) => {
        await draft.ask('indexes', server, async () => {
          evidence.indexCounts = await compareIndexes(client);
        });
        await draft.checkTables(client, server);
      });
    }
  }
  await draft.step('unmount', () => volume.unmount());
  if (thorough) await check();
  return evidence;
}
