/** A worker thread: plays the runs of the model that it is told to, one after the other. */
import { answerTasks } from '../../lib/core/index.ts';
import { predictRun } from './predict.ts';

answerTasks(predictRun);
