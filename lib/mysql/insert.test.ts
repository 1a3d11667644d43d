import { expect, test } from 'vitest';
import { Chain } from '../workload/ledger.ts';
import { encodeInsert } from './insert.ts';

test('the packet says its own length and carries the entry in the binary protocol', () => {
  const entry = new Chain('seed', { client: 'outside', connection: 513, session: 70_000 }).next();
  const bytes = Buffer.alloc(256);
  const length = encodeInsert(bytes, 7, entry);
  expect(bytes.readUIntLE(0, 3)).toBe(length - 4);
  expect(bytes[3]).toBe(0);
  expect(bytes.subarray(4, 16).toString('hex')).toBe('170700000000010000000000');
  const values = bytes.subarray(17 + 20, length);
  const expected = Buffer.concat([
    Buffer.from('\x07outside', 'latin1'),
    Buffer.from([0x01, 0x02]),
    Buffer.from([0x70, 0x11, 0x01, 0x00]),
    Buffer.from([0, 0, 0, 0]),
    Buffer.from('\x06append', 'latin1'),
    ...[entry.fromAccount, entry.toAccount, 0].map((n) => Buffer.from([n & 255, n >> 8, 0, 0])),
    Buffer.from([32]),
    Buffer.from(entry.previousHash, 'hex'),
    Buffer.from([32]),
    Buffer.from(entry.hash, 'hex'),
  ]);
  expect(values).toEqual(expected);
});
