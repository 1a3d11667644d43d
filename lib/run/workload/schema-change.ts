/**
 * The one change of the schema that a run makes while its clients write: journaled before it is sent
 * and when its end is known, and never tried again. Runs against a real server and the model.
 */
import type { Clock } from '../../core/index.ts';
import {
  type SchemaChangeRecord,
  SqlError,
  type ClientSide,
  type SqlConnector,
  type SqlSession,
} from '../../history/index.ts';

export interface SchemaChangeOptions {
  readonly connector: SqlConnector;
  readonly clock: Clock;
  readonly journal: {
    append(record: SchemaChangeRecord): void;
    /** Everything appended is on file when this returns. */
    flush(): void;
  };
  readonly client: ClientSide;
}

/** Never rejects for what a server says, or for there being none: that is the record's outcome. */
export async function changeSchema(options: SchemaChangeOptions): Promise<void> {
  const { connector, clock, journal, client } = options;
  const record = (
    about: Pick<SchemaChangeRecord, 'step' | 'outcome' | 'error' | 'server'>,
  ): void => {
    const t = Math.round(clock.nowMs() * 1000) / 1000;
    journal.append({ type: 'schema-change', t, wall: clock.wallMs(), client, ...about });
    journal.flush();
  };
  record({ step: 'asked' });
  let session: SqlSession | undefined;
  try {
    session = await connector.connect(client);
    record({ step: 'sent', server: session.server });
    await session.changeSchema();
    record({ step: 'ended', outcome: 'ok' });
  } catch (error) {
    if (!(error instanceof SqlError)) throw error;
    record({ step: 'ended', outcome: error.outcome, error: `${error.code}: ${error.message}` });
  } finally {
    await session?.close();
  }
}
