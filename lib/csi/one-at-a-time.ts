/**
 * One call about a volume at a time, as the CSI specification asks: a second one is ABORTED. Kubelet
 * gives a call up after two minutes and makes it anew, while the first one still waits for a disk
 * that does not answer; together they would check a file system that is being mounted.
 */
import { status } from '@grpc/grpc-js';
import { CallError } from './grpc.ts';

export class OneAtATime {
  readonly #underWay = new Set<string>();

  async run<T>(volume: string, work: () => Promise<T>): Promise<T> {
    if (this.#underWay.has(volume)) {
      throw new CallError(status.ABORTED, `another call about ${volume} is under way`);
    }
    this.#underWay.add(volume);
    try {
      return await work();
    } finally {
      this.#underWay.delete(volume);
    }
  }
}
