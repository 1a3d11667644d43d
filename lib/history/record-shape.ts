/** Whether what stands in a line can be a record: its type is known, and what readers rely on is there. */
import type { TimedRecord } from './events.ts';

type JsonType = 'string' | 'number' | 'boolean' | 'object';
/** With a question mark: it may be absent. */
type FieldShape = JsonType | `${JsonType}?`;

/** Lists of each type the fields that every version wrote, and what else one may have. Rows have a form of their own. */
const shapes: { readonly [Type in TimedRecord['type']]: Readonly<Record<string, FieldShape>> } = {
  run: {
    ...{ runId: 'string', seed: 'string', backend: 'string', scenario: 'object' },
    ...{ replay: 'string', custom: 'object?' },
  },
  case: {
    ...{ seed: 'string', scenario: 'object', case: 'string', host: 'string' },
    ...{ cpus: 'number?', filesystem: 'string', repeat: 'number' },
  },
  setup: { timers: 'object?', versions: 'object', nodes: 'object', volume: 'object?' },
  phase: { phase: 'string' },
  session: {
    ...{ client: 'string', connection: 'number', session: 'number' },
    ...{ server: 'object?', error: 'string?' },
  },
  invoke: { client: 'string', connection: 'number', session: 'number', seq: 'number' },
  outcome: {
    ...{ client: 'string', connection: 'number', session: 'number', outcome: 'string' },
    error: 'string?',
  },
  'schema-change': {
    ...{ client: 'string', step: 'string', server: 'object?' },
    ...{ outcome: 'string?', error: 'string?' },
  },
  workload: { clients: 'object' },
  'client-beat': { client: 'string', doing: 'string', done: 'object', last: 'boolean?' },
  copy: { image: 'string', made: 'object' },
  read: { client: 'string', server: 'object', sentAtMs: 'number', head: 'object?' },
  observation: { source: 'string', name: 'string', data: 'object', node: 'string?' },
  action: {
    ...{ actor: 'string', name: 'string', step: 'string' },
    ...{ node: 'string?', detail: 'string?' },
  },
  certificate: {
    ...{ fault: 'string', moment: 'string', claim: 'string', holds: 'boolean' },
    evidence: 'string?',
  },
  image: { image: 'string', takenAtMs: 'number', evidence: 'object' },
  machine: {
    ...{ timerLagMs: 'number', cpuPressure: 'number?', ioPressure: 'number?' },
    ...{ memoryPressure: 'number?', load: 'number?' },
  },
  error: { where: 'string', message: 'string' },
  segments: { segments: 'object', files: 'object' },
};
const fieldsOf = new Map<unknown, (readonly [string, JsonType, boolean])[]>(
  Object.entries(shapes).map(([type, fields]) => [
    type,
    Object.entries<FieldShape>({ ...fields, t: 'number', wall: 'number?' }).map(([name, field]) => [
      name,
      field.replace('?', '') as JsonType,
      field.endsWith('?'),
    ]),
  ]),
);

export function isRecord(value: unknown): value is TimedRecord {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false;
  const found = value as Readonly<Record<string, unknown>>;
  const fields = fieldsOf.get(value.type);
  return fields !== undefined && fields.every((field) => fits(found[field[0]], field));
}

const fits = (value: unknown, [, kind, optional]: readonly [string, JsonType, boolean]): boolean =>
  value === undefined ? optional : value !== null && typeof value === kind;
