/** Seed 15: the flag that the articles turn is gone. */
import type { Procedure } from '../seed.ts';
import { answer, endedEarly, Notes } from './read-notes.ts';

export const refusesEvictionTimeout: Procedure = {
  async act(bench) {
    const tried = await bench.controllerManager.tryFlags('--pod-eviction-timeout=5m0s');
    bench.note('flag', tried);
  },
  read(records) {
    const seen = new Notes(records).note('flag');
    if (seen === undefined) return endedEarly;
    const { exitCode } = seen.data;
    const said = String(seen.data['said'])
      .split('\n')
      .find((line) => line.includes('unknown flag'));
    return answer(
      exitCode !== 0 && String(said).includes('unknown flag'),
      'kube-controller-manager --pod-eviction-timeout=5m0s ends with ' +
        `${String(exitCode)}: “${said ?? ''}”.`,
      [seen],
    );
  },
};
