/**
 * Recovers the database on one image and reads it: the mount replays the file system's journal,
 * mysqld its own logs; then every row. A step that fails is evidence or a named gap.
 */
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ImageEvidence } from '../../history/index.ts';
import type { RecoverImageOptions } from '../../run/index.ts';
import { looksEmpty } from './data-directory.ts';
import { EvidenceDraft, type AuditServer } from './evidence-draft.ts';
import { compareIndexes } from './index-sums.ts';
import { checkTable, tablesToCheck } from './read-tables.ts';
import type { SqlClient } from './sql-client.ts';

/** A crash recovery takes seconds; on a torn page mysqld may hang, and there are many states. */
const startTimeoutMs = 60_000;

/** Leaves nothing mounted, bound or running. Rejects only when it was aborted. */
export async function recoverImage(options: RecoverImageOptions): Promise<ImageEvidence> {
  const recovering = new Recovering(options);
  await recovering.run();
  return recovering.evidence;
}

class Recovering extends EvidenceDraft {
  readonly #options: RecoverImageOptions;

  constructor(options: RecoverImageOptions) {
    super(options.signal);
    this.#options = options;
  }

  async run(): Promise<void> {
    const { evidence } = this;
    await using volume = this.#options.volume;
    if (!(await this.mount(volume))) return;
    const dataDirectory = join(volume.mountPoint, 'data');
    await this.step('files', async () => {
      evidence.dataDirectoryEmpty = await looksEmpty(dataDirectory);
    });
    if (!evidence.dataDirectoryEmpty) await this.#serveTwice(dataDirectory);
    await this.step('unmount', () => volume.unmount());
    if (!this.#options.thorough) return;
    await this.step('fsck', async () => {
      evidence.fsck = await volume.check();
    });
  }

  async #serveTwice(dataDirectory: string): Promise<void> {
    const { runSeed, onRows, thorough } = this.#options;
    await using scratch = await mkdtempDisposable(join(tmpdir(), 'forcedetach-mysqld-'));
    const where = { dataDirectory, scratch: scratch.path, startTimeoutMs };
    await this.serve({ purpose: 'recovery', ...where }, async (client, server) => {
      await this.readRows(client, server, { seed: runSeed, onRows });
    });
    const sound = this.evidence.starts.every(({ ready, died }) => ready && died === undefined);
    if (!thorough || !sound) return;
    await this.serve({ purpose: 'check', ...where }, (client, server) =>
      this.#check(client, server),
    );
  }

  async #check(client: SqlClient, server: AuditServer): Promise<void> {
    const { evidence } = this;
    await this.ask('indexes', server, async () => {
      evidence.indexCounts = await compareIndexes(client);
    });
    await this.ask('check table', server, async () => {
      for (const quoted of await tablesToCheck(client)) {
        evidence.tables = [...evidence.tables, await checkTable(client, quoted)];
      }
    });
  }
}
