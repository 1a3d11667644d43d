import { expect, test } from 'vitest';
import {
  type ObservationRecord,
  observationOf,
  observed,
  type ObservedName,
} from '../history/observations.ts';
import { Lanes } from './lanes.ts';
import { mysql } from '../mysql/database.ts';

const seen = (t: number, name: ObservedName): ObservationRecord =>
  observationOf({
    ...{ type: 'observation', t, wall: t, source: 'mounts', name, node: 'a' },
    data: { volume: 'v', device: '/dev/loop1', generation: 1, bytesWritten: 0 },
  });

test('a mount that is cut off ends with its unmount', () => {
  const lanes = new Lanes(mysql);
  lanes.see(seen(1000, observed.mounted));
  lanes.see(seen(2000, observed.deviceCut));
  lanes.see(seen(3000, observed.unmounted));
  const [mount] = lanes.result(1000, 9000);
  expect(mount?.bars.map(({ fromS, toS, label }) => [fromS, toS, label])).toEqual([
    [0, 2, 'mounted'],
    [1, 1, 'cut'],
  ]);
});
