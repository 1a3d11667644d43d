import { expect, test } from 'vitest';
import type { LedgerRow } from '../../history/evidence.ts';
import { decodeRows, encodeRows } from './wire.ts';

const row: LedgerRow = {
  ...{ id: 2 ** 53 - 1, client: 'outside', connection: 65_535, session: 2 ** 32 - 1, seq: 5 },
  ...{ kind: 'append', fromAccount: 2 ** 32 - 1, toAccount: 9, amount: 2 ** 32 - 2 },
  ...{ hashFits: true, linkFits: false },
};

test.each([0, 1, 2, 3, 7])('%i rows come as they went', (count) => {
  const rows = Array.from({ length: count }, (_, n) =>
    n % 2 === 0 ? { ...row, seq: n } : { ...row, client: 'inside', linkFits: true, id: n },
  );
  const found: LedgerRow[] = [];
  const sent: unknown = JSON.parse(JSON.stringify(encodeRows(rows)));
  decodeRows(sent as ReturnType<typeof encodeRows>, (each) => found.push(each));
  expect(found).toEqual(rows);
});
