/** Records what a run sees and does: stamps it, puts it on file, tells those who listen. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, describeError, EvidenceError } from '../core/index.ts';
import { observationOf } from './observations.ts';
import type { Recorder, Unstamped } from './observers.ts';
import type { HistoryRecord, RowRecord, SegmentCounts, SegmentList } from './records.ts';
import type { ImageLabel } from './evidence.ts';
import { otherFiles } from './seals.ts';
import { Segment } from './segment.ts';

export interface RunRecorder extends Recorder {
  /**
   * Ends the segments of rows and lists all: these, those that others `written` say they have ended,
   * and other files there. Nothing but the run's own end may follow.
   */
  list(written: SegmentList): void;
  /** Ends the segments in good order, the run's own last, and never throws. Idempotent. */
  close(): void;
  /**
   * Why the history could not be written to its end, e.g. a full disk. From then on nothing is put
   * on file any more, but listeners still hear: the run must come to its heal.
   */
  readonly failure: unknown;
}

export const runSegment = 'run';
export const rowsSegment = (image: string): string => `rows-${image}`;
export const readsSegment = (client: string): string => `reads-${client}`;
export const writerSegment = (client: string): string => `writer-${client}`;

export function historyDirectory(folder: string): string {
  const directory = join(folder, 'history');
  mkdirSync(directory, { recursive: true });
  return directory;
}

/** Opens the history of a new run in its folder. Throws where one is there already. */
export function openRecorder(folder: string, clock: Clock): RunRecorder {
  const directory = historyDirectory(folder);
  const run = new Segment({ directory, name: runSegment });
  const rows = new Map<ImageLabel, Segment>();
  /** Whether it has thrown already: it may do so at each record, and that is reported once. */
  const listeners = new Map<Listener, boolean>();

  let failure: unknown;
  const unlessFailed = (work: () => void): void => {
    if (failure !== undefined) return;
    try {
      work();
    } catch (error) {
      failure = error;
    }
  };

  const rowsOf = (image: ImageLabel): Segment => {
    let segment = rows.get(image);
    if (segment === undefined) {
      segment = new Segment({ directory, name: rowsSegment(image) });
      rows.set(image, segment);
    }
    return segment;
  };
  const put: RunRecorder['record'] = (record) => {
    if (record.type === 'row') {
      // Never flushed one by one: rows are many, and can be read from the image again.
      unlessFailed(() => rowsOf(record.image).append(record));
      return;
    }
    const stamped = stamp(record, clock);
    unlessFailed(() => {
      if (record.type === 'image') rowsOf(record.image).close();
      run.append(stamped);
      run.flush();
    });
    if (stamped.type === 'invoke' || stamped.type === 'outcome') return;
    const causes: unknown[] = [];
    for (const [listener, hasFailed] of listeners) {
      try {
        listener(stamped);
      } catch (cause) {
        if (!hasFailed) causes.push(cause);
        if (listeners.has(listener)) listeners.set(listener, true);
      }
    }
    // Once all have heard the record itself.
    for (const cause of causes) {
      const message = describeError(listenerFailed(stamped, cause));
      put({ type: 'error', where: 'listener', message });
    }
  };
  return {
    record: put,
    subscribe(listener) {
      listeners.set(listener, false);
      return () => listeners.delete(listener);
    },
    list(written) {
      const segments: Record<string, SegmentCounts> = { ...written };
      for (const [image, segment] of rows) {
        unlessFailed(() => (segments[rowsSegment(image)] = segment.close()));
      }
      unlessFailed(() => put({ type: 'segments', segments, files: otherFiles(directory) }));
    },
    close() {
      for (const segment of [...rows.values(), run]) unlessFailed(() => segment.close());
    },
    get failure() {
      return failure;
    },
  };
}

type Listener = (record: HistoryRecord) => void;

/** It concerns neither who records, nor the other listeners; what this one was to do or see is missing. */
function listenerFailed(
  { type, t }: { readonly type: string; readonly t: number },
  cause: unknown,
): EvidenceError {
  const when = `of type ${type} at ${t} ms`;
  return new EvidenceError('LISTENER_FAILED', `a listener could not take the record ${when}`, {
    hint: 'the run continues without that listener; please report this bug',
    cause,
  });
}

/** Times are kept to the microsecond. A record with its own time gets the wall time that fits it. */
function stamp(record: Unstamped, clock: Clock): Exclude<HistoryRecord, RowRecord> {
  const nowMs = clock.nowMs();
  const t = Math.round((record.t ?? nowMs) * 1000) / 1000;
  const wall = record.wall ?? Math.round(clock.wallMs() - (nowMs - t));
  const stamped = { ...record, t, wall };
  return stamped.type === 'observation' ? observationOf(stamped) : stamped;
}
