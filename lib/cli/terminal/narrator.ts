/** Tells a terminal what has just happened and what is waited for, from the records as they come. */
import type { HistoryRecord } from '../../history/events.ts';
import { observed } from '../../history/observations.ts';
import type { SmallRecord } from '../../history/reader.ts';
import type { Phases } from '../../experiment/verdict/verdict.ts';
import { outlookOf } from '../../timeline/awaited.ts';
import { tellStory } from '../../timeline/story.ts';

export interface Told {
  /** The fault began, on the run's clock. */
  fault(atMs: number): void;
  /** Something has just happened. */
  say(line: string): void;
  /** From now on this is waited for; undefined: nothing that has a name. */
  wait(clause: string | undefined): void;
}

/** The runner itself tells of the second mount and of the first commits. */
const news: Readonly<Partial<Record<keyof Phases, string>>> = {
  notReady: 'the node is NotReady',
  evicted: 'the pod is evicted: Terminating',
  podRemoved: 'the old pod is gone',
  detached: 'the volume is detached from the old node',
  attached: 'the volume is attached to another node',
  recovered: 'the successor is Ready',
};

/** Observations that a phase or a wait is read from; others come ten times a second. */
const telling = new Set<string>([
  observed.nodeReady,
  observed.podRunning,
  observed.podTerminating,
  observed.podGone,
  observed.podReady,
  observed.attachmentGone,
  observed.attachmentAttached,
  observed.mounted,
  observed.unmounted,
  observed.leaderAcquired,
  observed.csiCall,
]);

export class Narrator {
  readonly #told: Told;
  readonly #records: SmallRecord[] = [];
  readonly #said = new Set<string>();
  #waiting: string | undefined;
  #faultAtMs: number | undefined;

  constructor(told: Told) {
    this.#told = told;
  }

  see(record: HistoryRecord): void {
    if (!tells(record)) return;
    this.#records.push(record);
    const story = tellStory(this.#records);
    if (story.faultAtMs !== undefined && this.#faultAtMs === undefined) {
      this.#faultAtMs = story.faultAtMs;
      this.#told.fault(story.faultAtMs);
    }
    const { phases, refused, waiting } = outlookOf(story);
    for (const [phase, line] of Object.entries(news)) {
      if (phases[phase as keyof Phases] !== null) this.#sayOnce(line);
    }
    for (const line of refused) this.#sayOnce(line);
    if (waiting === this.#waiting) return;
    this.#waiting = waiting;
    this.#told.wait(waiting);
  }

  #sayOnce(line: string): void {
    if (this.#said.has(line)) return;
    this.#said.add(line);
    this.#told.say(line);
  }
}

function tells(record: HistoryRecord): record is SmallRecord {
  if (record.type === 'observation') return telling.has(record.name);
  return ['run', 'setup', 'phase', 'action'].includes(record.type);
}
