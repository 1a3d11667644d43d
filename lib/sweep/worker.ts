/** A thread of a sweep: plays the stretches that it is sent, and sends back what they came to. */
import { answerTasks } from '../core/index.ts';
import { playRange } from './tally.ts';

answerTasks(playRange);
