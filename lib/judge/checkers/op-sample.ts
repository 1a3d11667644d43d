/** How many operations something happened to, and which the first of them were. */
import { sessionKey, type OpId } from '../../history/index.ts';

/** Operations kept by name; beyond them only the count grows. */
export const sampleLimit = 100;

export class OpSample {
  readonly ops: OpId[] = [];
  count = 0;

  add({ client, connection, session, seq }: OpId): void {
    this.count += 1;
    if (this.ops.length < sampleLimit) this.ops.push({ client, connection, session, seq });
  }
}

/** `outside/3/0/1207`: client, connection, session, seq. */
export const opName = (op: OpId): string => `${sessionKey(op)}/${op.seq}`;
