import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  attach,
  cut,
  detach,
  heldBy,
  heldElsewhere,
  newRecord,
  ownersOf,
  powerUp,
  recordSchema,
  type VolumeRecord,
} from './record.ts';

const attached = (node: string, loop: number, record = newRecord()): VolumeRecord =>
  attach(record, { node, mode: 'fenced', loop, wallMs: 1 });

test('an attachment is held until it is detached, cut or not', () => {
  const record = attached('a', 128);
  expect(heldBy(record, 'a')).toMatchObject({ generation: 1, loop: 128, state: 'attached' });
  expect(heldElsewhere(record, 'b')?.node).toBe('a');
  const cutNow = cut(record, 'a', 'fence', 2);
  expect(heldElsewhere(cutNow, 'b')).toMatchObject({ state: 'cut', cutAt: 2 });
  const detached = detach(cutNow, 'a', 3);
  expect(heldBy(detached, 'a')).toBeUndefined();
  expect(detached.attachments).toMatchObject([{ state: 'detached', cutAt: 2, detachedAt: 3 }]);
});

test('a crash is over with the next boot; a fence never, even where it came second', () => {
  const crashed = cut(attached('a', 128), 'a', 'crash', 2);
  expect(heldBy(powerUp(crashed, 'a'), 'a')).toMatchObject({ generation: 1, state: 'attached' });
  const fenced = cut(crashed, 'a', 'fence', 3);
  expect(heldBy(powerUp(fenced, 'a'), 'a')).toMatchObject({ state: 'cut', cutAt: 2 });
  expect(heldBy(powerUp(crashed, 'b'), 'a')).toMatchObject({ state: 'cut' });
});

test('a loop number belongs to the attachment that got it last', () => {
  const lent = attached('b', 128, detach(attached('a', 128), 'a', 2));
  expect(ownersOf(lent).get(128)).toMatchObject({ node: 'b', generation: 2 });
});

test('whatever happens, generations only grow and nothing detached comes back', () => {
  const node = fc.constantFrom('a', 'b', 'c');
  const step = fc.oneof(
    fc.record({ do: fc.constant('attach' as const), node }),
    fc.record({ do: fc.constant('detach' as const), node }),
    fc.record({ do: fc.constant('fence' as const), node }),
    fc.record({ do: fc.constant('crash' as const), node }),
    fc.record({ do: fc.constant('powerUp' as const), node }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let record = newRecord();
      for (const { do: action, node } of steps) {
        const before = record;
        record = apply(record, action, node);
        expect(recordSchema.parse(record)).toEqual(record);
        const generations = record.attachments.map(({ generation }) => generation);
        expect(generations).toEqual(generations.map((_, index) => index + 1));
        expect(record.nextGeneration).toBe(generations.length + 1);
        for (const [index, was] of before.attachments.entries()) {
          const is = record.attachments[index];
          if (was.state === 'detached') expect(is).toEqual(was);
          if (was.cutFor === 'fence') expect(is?.state).not.toBe('attached');
        }
      }
    }),
  );
});

function apply(
  record: VolumeRecord,
  action: 'attach' | 'detach' | 'fence' | 'crash' | 'powerUp',
  node: string,
): VolumeRecord {
  if (action === 'attach') return heldBy(record, node) ? record : attached(node, 128, record);
  if (action === 'detach') return detach(record, node, 5);
  return action === 'powerUp' ? powerUp(record, node) : cut(record, node, action, 5);
}
