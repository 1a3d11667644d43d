/** Tells a terminal what has just happened and what is waited for, from the records as they come. */
import type { HistoryRecord } from '../../history/events.ts';
import { observed } from '../../history/observations.ts';
import type { SmallRecord } from '../../history/reader.ts';
import type { Phases } from '../../experiment/verdict/verdict.ts';
import { outlookOf } from '../../timeline/awaited.ts';
import { tellStory } from '../../timeline/story.ts';
import type { Progress } from './progress.ts';

export type NarratorOutput = Pick<Progress, 'fault' | 'say' | 'wait'>;

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

/** Tells of each record as it comes. */
export function narrating(told: NarratorOutput): (record: HistoryRecord) => void {
  const records: SmallRecord[] = [];
  const said = new Set<string>();
  let awaited: string | undefined;
  let faultAtMs: number | undefined;
  const sayOnce = (line: string): void => {
    if (!said.has(line)) told.say(line);
    said.add(line);
  };
  return (record) => {
    if (!tells(record)) return;
    records.push(record);
    const story = tellStory(records);
    if (faultAtMs === undefined && story.faultAtMs !== undefined) told.fault(story.faultAtMs);
    ({ faultAtMs } = story);
    const { phases, refused, waiting } = outlookOf(story);
    for (const [phase, line] of Object.entries(news)) {
      if (phases[phase as keyof Phases] !== null) sayOnce(line);
    }
    for (const line of refused) sayOnce(line);
    if (waiting !== awaited) told.wait(waiting);
    awaited = waiting;
  };
}

function tells(record: HistoryRecord): record is SmallRecord {
  if (record.type === 'observation') return telling.has(record.name);
  return ['run', 'setup', 'phase', 'action'].includes(record.type);
}
