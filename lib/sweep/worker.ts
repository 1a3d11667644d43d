/** A thread of a sweep: plays the stretches that it is sent, and sends back what they came to. */
import { answerTasks } from '../worker-pool.ts';
import { playStretch } from './stretch.ts';

answerTasks(playStretch);
