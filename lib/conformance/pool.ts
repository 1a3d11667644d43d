/** Plays runs of the model on several worker threads. */
import { moduleBeside } from '../module-beside.ts';
import { WorkerPool } from '../worker-pool.ts';
import type { ModelRun, Prediction } from './predict.ts';

export type PredictionPool = WorkerPool<ModelRun, Prediction>;

export const predictionPool = (threads: number): PredictionPool =>
  new WorkerPool(moduleBeside('worker', import.meta), threads);
