/** The one change of the schema: done or not, as its client was told, and never by halves. */
import type { Finding } from '../verdict/verdict.ts';
import type { SchemaChangeRecord } from '../../history/index.ts';
import type { Checker, SchemaChange } from './checker.ts';
import { damage, incomplete } from './findings.ts';

export function schemaChangeOf(records: readonly SchemaChangeRecord[]): SchemaChange {
  const sent = records.find(({ step }) => step === 'sent');
  const ended = records.find(({ step }) => step === 'ended');
  return {
    ...(sent === undefined ? {} : { sentAtMs: sent.t }),
    ...(ended?.outcome === 'ok' ? { ackedAtMs: ended.t } : {}),
    isRefused: ended?.outcome === 'fail',
  };
}

const never = Number.POSITIVE_INFINITY;
const notAsked: SchemaChange = { isRefused: false };

export const schemaChange: Checker = {
  name: 'schema-change',
  check({ image, evidence: { schema }, schemaChange = notAsked, takenAtMs }): Finding[] {
    if (schema === undefined) return [];
    const { state, oddities } = schema;
    const { sentAtMs = never, ackedAtMs = never, isRefused } = schemaChange;
    const about = { image, loud: false } as const;
    if (state === 'other') {
      const summary =
        'tables are neither as they were made nor as the change of the schema has them';
      const code = 'SCHEMA_HALF_CHANGED';
      return [damage({ ...about, code, safety: 'corrupt', summary, evidence: oddities })];
    }
    if (state === 'original' && ackedAtMs <= takenAtMs) {
      const summary = 'the change of the schema was acknowledged and is gone';
      const evidence = [`acknowledged at ${(ackedAtMs / 1000).toFixed(3)} s`];
      return [damage({ ...about, code: 'SCHEMA_CHANGE_LOST', safety: 'lost', summary, evidence })];
    }
    if (state === 'changed' && isRefused) {
      const summary = 'the schema is changed, which the server had refused';
      const code = 'SCHEMA_CHANGE_REFUSED';
      return [damage({ ...about, code, safety: 'corrupt', summary, evidence: [] })];
    }
    if (state === 'changed' && !(sentAtMs <= takenAtMs)) {
      // Nobody else makes just this change: so it is the journal, or the image's time, that is wrong.
      const summary = `${image} image: the schema is changed, and no journal tells of it by then`;
      return [incomplete('SCHEMA_CHANGE_UNJOURNALED', summary, [])];
    }
    return [];
  },
};
