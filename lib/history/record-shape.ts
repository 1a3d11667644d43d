/** Whether what stands in a line can be a record: its type is known, and what readers rely on is there. */
import type { HistoryRecord, RowRecord } from './events.ts';

type Timed = Exclude<HistoryRecord, RowRecord>;
type Kind = 'string' | 'number' | 'boolean' | 'object';

/** Of each type the fields that every version wrote. Rows have a form of their own. */
const shapes: { readonly [Type in Timed['type']]: Readonly<Record<string, Kind>> } = {
  run: { runId: 'string', seed: 'string', backend: 'string', scenario: 'object', replay: 'string' },
  setup: { timers: 'object', versions: 'object', nodes: 'object' },
  phase: { phase: 'string' },
  session: { client: 'string', connection: 'number', session: 'number' },
  invoke: { client: 'string', connection: 'number', session: 'number', seq: 'number' },
  outcome: { client: 'string', connection: 'number', session: 'number', outcome: 'string' },
  'schema-change': { client: 'string', step: 'string' },
  workload: { clients: 'object' },
  'client-beat': { client: 'string', doing: 'string', done: 'object' },
  copy: { image: 'string', made: 'object' },
  read: { client: 'string', server: 'object', sentAtMs: 'number' },
  observation: { source: 'string', name: 'string', data: 'object' },
  action: { actor: 'string', name: 'string', step: 'string' },
  certificate: { fault: 'string', moment: 'string', claim: 'string', holds: 'boolean' },
  image: { image: 'string', takenAtMs: 'number', evidence: 'object' },
  machine: { timerLagMs: 'number' },
  error: { where: 'string', message: 'string' },
  segments: { segments: 'object', files: 'object' },
};
const fieldsOf = new Map<unknown, [string, Kind][]>(
  Object.entries(shapes).map(([type, fields]) => [type, Object.entries(fields)]),
);

export function isRecord(value: unknown): value is Timed {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false;
  const fields = fieldsOf.get(value.type);
  if (fields === undefined || !('t' in value) || typeof value.t !== 'number') return false;
  const found = value as unknown as Readonly<Record<string, unknown>>;
  return fields.every(([name, kind]) => typeof found[name] === kind && found[name] !== null);
}
