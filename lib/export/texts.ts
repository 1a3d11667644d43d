/** Jepsen's operations as text: EDN, a map a line, as Jepsen itself writes; or a JSON array. */
import type { JepsenOp, MicroOp, OpValue } from './jepsen.ts';

export function ednOf({ index, time, type, process, f, value }: JepsenOp): string {
  return (
    `{:index ${index}, :time ${time}, :type :${type}, :process ${process}, ` +
    `:f :${f}, :value ${ednValue(value)}}`
  );
}

function ednValue(value: OpValue): string {
  if (value === null) return 'nil';
  if (isMap(value)) return `{${[...value].map(([id, balance]) => `${id} ${balance}`).join(', ')}}`;
  if ('from' in value) return `{:from ${value.from}, :to ${value.to}, :amount ${value.amount}}`;
  return `[${value.map(ednMicroOp).join(' ')}]`;
}

/** A session's key has no character that EDN and JSON quote differently. */
function ednMicroOp([f, key, value]: MicroOp): string {
  const list = typeof value === 'number' || value === null ? value : `[${value.join(' ')}]`;
  return `[:${f} ${JSON.stringify(key)} ${list ?? 'nil'}]`;
}

export const jsonOf = ({ value, ...op }: JepsenOp): string =>
  JSON.stringify({ ...op, value: isMap(value) ? Object.fromEntries(value) : value });

const isMap = (value: OpValue): value is ReadonlyMap<number, number> => value instanceof Map;
