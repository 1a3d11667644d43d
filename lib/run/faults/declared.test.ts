/** The order of a crash: nothing may save a flush in flight, or tell of a database that the cut ended. */
import { expect, test } from 'vitest';
import type { Capability } from '../../core/capabilities.ts';
import { parseScenario } from '../../scenario/scenario.ts';
import type { FaultContext, StruckVolume } from './fault.ts';
import { faultOf } from './declared.ts';
import { nodeCrash } from '../../scenario/faults/node-crash.ts';

const about = { name: 'crash', question: 'In which order?', expected: ['safe'] } as const;

test('kubelet falls silent, every disk is cut, then the node is killed', async () => {
  const said: string[] = [];
  let running = true;
  const tell = (what: string) => (): Promise<void> => Promise.resolve(void said.push(what));
  const scenario = parseScenario({ ...about, fault: { kind: 'node-crash' } });
  const recorder = { record: () => undefined };
  const disk = {
    writeSyncedCanary: tell('canary'),
    losePower: async () => {
      await tell('cut')();
      return { verified: true, evidence: 'cut' };
    },
    releaseDead: tell('release'),
  };
  const volume = { scenario, recorder, disk } as unknown as StruckVolume<Capability>;
  const context = {
    ...{ scenario, recorder, volumes: [volume, volume] },
    victim: { node: 'a' },
    testbed: {
      machine: () => ({
        state: () => Promise.resolve(running ? 'running' : 'stopped'),
        stall: tell('stall'),
        kill: async () => {
          running = false;
          await tell('kill')();
        },
      }),
    },
  } as unknown as FaultContext<Capability>;
  await faultOf(nodeCrash).inject(context);
  expect(said).toEqual([
    ...['canary', 'canary', 'stall', 'cut', 'cut', 'kill', 'release', 'release'],
  ]);
});
