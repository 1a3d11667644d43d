import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  attach,
  recordCut,
  detach,
  heldBy,
  newRecord,
  powerUp,
  recordSchema,
  type VolumeRecord,
} from './record.ts';
import { defaultAttributes } from './volume-attributes.ts';

const attached = (node: string, loop: number, record = newRecord()): VolumeRecord =>
  attach(record, { node, attributes: defaultAttributes, loop, wallMs: 1 });

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
