/** Lanes of the time axis, from observations and actions: who held what, and when. */
import type { ActionRecord, HistoryRecord, ObservationRecord } from '../history/events.ts';
import { observed } from '../history/observations.ts';
import type { Bar, Lane, Tone } from './types.ts';

/** Order of the groups, top to bottom: from decisions down to the disk. */
const groups = [
  'run',
  'node',
  'pod',
  'attachment',
  'volumesAttached',
  'volumesInUse',
  'csi',
  'mount',
  'link',
  'mysqld',
] as const;
type Group = (typeof groups)[number];

/** A bar in ms on the run's clock; `toMs` is undefined while it lasts. */
interface OpenBar {
  readonly fromMs: number;
  toMs: number | undefined;
  readonly tone: Tone;
  readonly label: string;
}

interface LaneDraft {
  readonly group: Group;
  label: string;
  readonly bars: OpenBar[];
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const list = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
const plain = (taint: string): string => taint.replace(/^node\.kubernetes\.io\//, '');

/** What a pod's or attachment's event makes of its lane; null ends the lane's bar. */
const podStates: Readonly<Record<string, { label: string; tone: Tone } | null>> = {
  [observed.podCreated]: { label: 'pending', tone: 'neutral' },
  [observed.podScheduled]: { label: 'scheduled', tone: 'neutral' },
  [observed.podRunning]: { label: 'running', tone: 'busy' },
  [observed.podTerminating]: { label: 'terminating', tone: 'warn' },
  [observed.podGone]: null,
};
const attachmentStates: typeof podStates = {
  [observed.attachmentCreated]: { label: 'attaching', tone: 'busy' },
  [observed.attachmentAttached]: { label: 'attached', tone: 'good' },
  [observed.attachmentDeleting]: { label: 'detaching', tone: 'warn' },
  [observed.attachmentGone]: null,
};

/** Errors this close together are one bar. */
const errorGapMs = 1000;

/** The node's way to the storage; while it passes there is nothing to draw. */
const linkStates: Readonly<Record<string, string>> = { stall: 'stalls', fail: 'fails' };

/** Collects lanes from records in order. */
export class Lanes {
  readonly #drafts = new Map<string, LaneDraft>();
  #victim: string | undefined;

  see(record: HistoryRecord): void {
    if (record.type === 'phase') this.#become('run', 'phase', record.t, record.phase, 'neutral');
    else if (record.type === 'action') this.#action(record);
    else if (record.type === 'observation') this.#observation(record);
  }

  /** Open bars end at `endMs`; times become seconds after `zeroMs`. */
  result(zeroMs: number, endMs: number): Lane[] {
    const seconds = (ms: number): number => Math.round(ms - zeroMs) / 1000;
    const finish = (bar: OpenBar): Bar => ({
      fromS: seconds(bar.fromMs),
      toS: seconds(bar.toMs ?? endMs),
      tone: bar.tone,
      label: bar.label,
    });
    return [...this.#drafts.values()]
      .filter((draft) => draft.bars.length > 0)
      .toSorted((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group))
      .map(({ group, label, bars }) => ({
        group,
        label: this.#isVictims(group, label) ? `${label} (victim)` : label,
        bars: bars.map(finish),
      }));
  }

  /** Where two nodes may write, it is said which one the fault hit. */
  #isVictims(group: Group, label: string): boolean {
    const named = group === 'mount' || group === 'mysqld';
    return named && this.#victim !== undefined && label.endsWith(` ${this.#victim}`);
  }

  /** The lane of that name, made at its first use; its label is its name until it is changed. */
  #lane(group: Group, name: string): LaneDraft {
    const key = `${group}\n${name}`;
    const draft = this.#drafts.get(key) ?? { group, label: name, bars: [] };
    this.#drafts.set(key, draft);
    return draft;
  }

  /** Ends the lane's bar and, where there is a label, begins the next; the same label goes on. */
  #become(group: Group, lane: string, t: number, label: string, tone: Tone): void {
    const { bars } = this.#lane(group, lane);
    // Moments, a cut for one, may have come after it began.
    const open = bars.findLast(({ toMs }) => toMs === undefined);
    if (open !== undefined) {
      if (open.label === label) return;
      open.toMs = t;
    }
    if (label !== '') bars.push({ fromMs: t, toMs: undefined, tone, label });
  }

  #moment(
    group: Group,
    lane: string,
    fromMs: number,
    toMs: number,
    label: string,
    tone: Tone,
  ): void {
    this.#lane(group, lane).bars.push({ fromMs, toMs, tone, label });
  }

  #action({ actor, name, step, t, node }: ActionRecord): void {
    if (actor === 'runner') return;
    if (actor === 'fault') this.#victim ??= node;
    const tone = actor === 'fault' ? 'bad' : 'action';
    if (step === 'begin') this.#become('run', actor, t, name, tone);
    else if (step === 'healed' || step === 'failed') this.#become('run', actor, t, '', tone);
    else if (actor === 'remedy' && step === 'done') this.#become('run', actor, t, '', tone);
  }

  #observation(record: ObservationRecord): void {
    const { name, data, t } = record;
    const node = record.node ?? '';
    if (name in podStates) this.#state('pod', this.#podLane(record), t, podStates[name] ?? null);
    else if (name in attachmentStates) {
      this.#state('attachment', `attachment ${node}`, t, attachmentStates[name] ?? null);
    } else if (name === observed.podReady) {
      const ready = data['ready'] === true;
      this.#become(
        'pod',
        this.#podLane(record),
        t,
        ready ? 'ready' : 'not ready',
        ready ? 'good' : 'warn',
      );
    } else if (name === observed.nodeReady) {
      const ready = data['status'] === 'True';
      const label = ready ? 'Ready' : `Ready=${text(data['status'])}`;
      this.#become('node', node, t, label, ready ? 'good' : 'warn');
    } else if (name === observed.nodeTaints) {
      const label = list(data['taints']).map(plain).join(', ');
      this.#become('node', `${node} taints`, t, label, 'warn');
    } else if (name === observed.volumesAttached || name === observed.volumesInUse) {
      const group = name === observed.volumesAttached ? 'volumesAttached' : 'volumesInUse';
      const label = list(data['volumes']).length > 0 ? 'listed' : '';
      this.#become(group, `${group} ${node}`, t, label, 'neutral');
    } else this.#disk(record, node);
  }

  /** One lane per pod and UID; its label gets the node once the pod has one. */
  #podLane({ data, node }: ObservationRecord): string {
    const uid = text(data['uid']);
    const lane = this.#lane('pod', uid);
    const where = node === undefined ? '' : ` on ${node}`;
    if (where !== '' || lane.label === uid) {
      lane.label = `${text(data['pod'])} ${uid.slice(0, 5)}${where}`;
    }
    return uid;
  }

  #state(group: Group, lane: string, t: number, state: { label: string; tone: Tone } | null): void {
    this.#become(group, lane, t, state?.label ?? '', state?.tone ?? 'neutral');
  }

  #disk({ name, data, t }: ObservationRecord, node: string): void {
    if (name === observed.csiCall) {
      const durationMs = Number(data['durationMs'] ?? 0);
      const failed = data['error'] !== undefined;
      const label = `${text(data['call'])}${failed ? ' failed' : ''}`;
      this.#moment('csi', `CSI ${node}`, t - durationMs, t, label, failed ? 'bad' : 'busy');
    } else if (name === observed.mounted) {
      this.#become('mount', `mount ${node}`, t, 'mounted', 'busy');
    } else if (name === observed.unmounted) {
      this.#become('mount', `mount ${node}`, t, '', 'busy');
    } else if (name === observed.deviceCut) {
      this.#moment('mount', `mount ${node}`, t, t, 'cut', 'bad');
    } else if (name === observed.linkChanged) {
      const lane = `link ${node}`;
      this.#become('link', lane, t, linkStates[text(data['state'])] ?? '', 'warn');
    } else if (name === observed.requestsHeld) {
      const held = Number(data['held'] ?? 0);
      const label = held === 0 ? '' : `${held} held`;
      this.#become('link', `held ${node} ${text(data['device'])}`, t, label, 'warn');
    } else if (name === observed.serverLog) {
      this.#server(text(data['line']), text(data['level']), node, t);
    }
    // A server whose volume is gone or cut off may end without a last word.
    if (name === observed.unmounted || name === observed.deviceCut) {
      this.#become('mysqld', `mysqld ${node}`, t, '', 'good');
    }
  }

  /** What a line of mysqld's error log says of its lanes. */
  #server(line: string, level: string, node: string, t: number): void {
    const lane = `mysqld ${node}`;
    if (line.includes('ready for connections')) this.#become('mysqld', lane, t, 'up', 'good');
    else if (line.includes('Shutdown complete')) this.#become('mysqld', lane, t, '', 'good');
    else if (line.includes('[ERROR]') || level.toLowerCase() === 'error') {
      this.#error(`mysqld errors ${node}`, line.slice(0, 160), t);
    }
  }

  /** A broken database says so a thousand times: one bar for errors close to each other. */
  #error(lane: string, line: string, t: number): void {
    const last = this.#lane('mysqld', lane).bars.at(-1);
    if (last?.toMs !== undefined && t - last.toMs < errorGapMs) last.toMs = t;
    else this.#moment('mysqld', lane, t, t, line, 'bad');
  }
}
