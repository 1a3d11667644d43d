/** Writers on the model: the same code as on kind, run along in this process on virtual time. */
import {
  type SegmentCounts,
  historyDirectory,
  readsSegment,
  writerSegment,
  Segment,
  type ClientSide,
  type SqlConnector,
} from '../../history/index.ts';
import {
  runReader,
  changeSchema,
  runWriter,
  type Writers,
  type WriterSpec,
} from '../../run/index.ts';
import type { KernelDriver } from './kernel-driver.ts';

export interface SimWritersOptions {
  readonly specs: readonly WriterSpec[];
  /** The run's folder; each client writes a segment of its history. */
  readonly folder: string;
  /** The run's seed. */
  readonly seed: string;
  readonly connector: SqlConnector;
}

export function startSimWriters(driver: KernelDriver, options: SimWritersOptions): Writers {
  const { specs, folder, seed, connector } = options;
  const aborter = new AbortController();
  const { signal } = aborter;
  const clock = driver.backgroundClock;
  const directory = historyDirectory(folder);
  const acked: { client: ClientSide; node: string; count: number }[] = [];
  const count = (client: ClientSide, node: string): void => {
    const entry = acked.find((each) => each.client === client && each.node === node);
    if (entry === undefined) acked.push({ client, node, count: 1 });
    else entry.count += 1;
  };
  const written: Record<string, SegmentCounts> = {};
  const read = async ({ client, readEveryMs: everyMs }: WriterSpec): Promise<void> => {
    if (everyMs === undefined) return;
    const name = readsSegment(client);
    const journal = new Segment({ directory, name });
    await runReader({ connector, clock, journal, client, everyMs, signal });
    written[name] = journal.close();
  };
  let changing: Promise<void> | undefined;
  let change = (): void => undefined;
  const running = specs.map(async (spec) => {
    const { client } = spec;
    const name = writerSegment(client);
    const segment = new Segment({ directory, name, client });
    const reading = read(spec);
    if (client === 'inside') {
      change = () => {
        changing ??= changeSchema({ connector, clock, journal: segment, client });
        // Heard below, when the writer has ended.
        changing.catch(() => undefined);
      };
    }
    // Heard below, when the writer has ended.
    reading.catch(() => undefined);
    try {
      await runWriter({
        ...{ connector, clock, journal: segment, spec, seed, signal },
        onAck: ({ node }) => count(client, node),
      });
      if (client === 'inside') await changing;
    } finally {
      written[name] = segment.close();
    }
    await reading;
  });
  const ended = Promise.all(running);
  // A writer that failed says so when it is stopped.
  ended.catch(() => undefined);
  return {
    acked: () => structuredClone(acked),
    changeSchema: () => change(),
    async stop() {
      aborter.abort();
      await driver.during(ended);
      return written;
    },
  };
}
