import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  attach,
  recordCut,
  detach,
  heldBy,
  heldElsewhere,
  newRecord,
  powerUp,
  recordSchema,
  type VolumeRecord,
} from './record.ts';
import { defaultAttributes } from './volume-attributes.ts';

const attached = (node: string, loop: number, record = newRecord()): VolumeRecord =>
  attach(record, { node, attributes: defaultAttributes, loop, wallMs: 1 });

test('an attachment is held until it is detached, cut or not', () => {
  const record = attached('a', 128);
  expect(heldBy(record, 'a')).toMatchObject({ generation: 1, loop: 128, state: 'attached' });
  expect(heldElsewhere(record, 'b')?.node).toBe('a');
  const cutNow = recordCut(record, 'a', { cutFor: 'fence', wallMs: 2 });
  expect(heldElsewhere(cutNow, 'b')).toMatchObject({ state: 'cut', cutAt: 2 });
  const detached = detach(cutNow, 'a', 3);
  expect(heldBy(detached, 'a')).toBeUndefined();
  expect(detached.attachments).toMatchObject([{ state: 'detached', cutAt: 2, detachedAt: 3 }]);
});

test('after a crash the node gets another path by the same name; after a fence never', () => {
  const crashed = recordCut(attached('a', 128), 'a', { cutFor: 'crash', wallMs: 2 });
  const booted = powerUp(crashed, 'a', { loop: 129, wallMs: 3 });
  expect(booted.attachments[0]).toMatchObject({ generation: 1, loop: 128, state: 'replaced' });
  const again = { generation: 2, publishedAs: 1, loop: 129, state: 'attached' };
  expect(heldBy(booted, 'a')).toMatchObject(again);
  const twice = powerUp(recordCut(booted, 'a', { cutFor: 'crash', wallMs: 4 }), 'a', {
    loop: 130,
    wallMs: 5,
  });
  expect(heldBy(twice, 'a')).toMatchObject({ generation: 3, publishedAs: 1, loop: 130 });

  const fenced = recordCut(crashed, 'a', { cutFor: 'fence', wallMs: 3 });
  expect(powerUp(fenced, 'a', { loop: 129, wallMs: 4 })).toEqual(fenced);
  expect(powerUp(crashed, 'b', { loop: 129, wallMs: 4 })).toEqual(crashed);
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
          if (was.state === 'detached' || was.state === 'replaced') expect(is).toEqual(was);
          if (was.state === 'cut') expect(is?.state).not.toBe('attached');
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
  return action === 'powerUp'
    ? powerUp(record, node, { loop: 129, wallMs: 6 })
    : recordCut(record, node, { cutFor: action, wallMs: 5 });
}
