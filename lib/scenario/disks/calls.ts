/**
 * Calls to a disk's driver that fail or last, from the fault on: `unpublish=NOT_FOUND@node-gone`. The driver
 * (lib/storage/csi/calls.ts) and the model (lib/sim/disk/calls.ts) both ask here what a call gets.
 */
import { z } from 'zod';
import { type CallName, csiCalls, longestMs, parseDurationMs } from '../../core/index.ts';
import { field } from '../field.ts';

/** gRPC's codes but OK and CANCELLED. */
const codes = [
  ...['UNKNOWN', 'INVALID_ARGUMENT', 'DEADLINE_EXCEEDED', 'NOT_FOUND', 'ALREADY_EXISTS'],
  ...['PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'FAILED_PRECONDITION', 'ABORTED', 'OUT_OF_RANGE'],
  ...['UNIMPLEMENTED', 'INTERNAL', 'UNAVAILABLE', 'DATA_LOSS', 'UNAUTHENTICATED'],
];
const absences = ['machine-gone', 'node-gone', 'csinode-gone'] as const;

/** What of the node that a call is about no longer exists. */
export type Absence = (typeof absences)[number];

interface CallRule {
  /** A gRPC code or `never`. Absent: the work is done, after `lateMs`. */
  readonly refusal: string | undefined;
  /** From when it was first asked for, however often the caller gives up meanwhile. */
  readonly lateMs: number;
  /** So many calls for each node are refused. Default: all. */
  readonly times: number;
  /** Only while this holds. Default: always. */
  readonly when: Absence | undefined;
}
type CallRules = Partial<Readonly<Record<CallName, CallRule>>>;

const oneOf = (words: readonly string[]): string => `(?:${words.join('|')})`;
const answer = `(?:${oneOf([...codes, 'never'])}(?:\\*[1-9]\\d{0,3})?|late:\\d{1,8}(?:ms|s|m|h))`;
// A node's own driver is not asked about a node that is gone.
const rule = oneOf([
  `${oneOf(Object.keys(csiCalls))}=${answer}`,
  `(?:un)?publish=${answer}@${oneOf(absences)}`,
]);
const honest = 'honest';
const list = new RegExp(`^(?:${honest}|${rule}(?:,${rule})*)$`);

/** Empty where each call is answered as the mode of the disk says. `text`: as a scenario has it. */
export const callRulesOf = (text: string): CallRules =>
  Object.fromEntries(text === honest ? [] : text.split(',').map(ruleOf));

const parts = /^([^=]+)=(?:late:([^@]+)|([^*@]+)(?:\*(\d+))?)(?:@(.+))?$/;

function ruleOf(text: string): readonly [string, CallRule] {
  const [, name = '', late = '0', refusal, times = Infinity, when] = parts.exec(text) ?? [];
  const lateMs = parseDurationMs(late) ?? 0;
  return [name, { refusal, lateMs, times: Number(times), when: when as Absence | undefined }];
}

const isOnce = (text: string): boolean =>
  Object.keys(callRulesOf(text)).length === text.split(',').length;

const schema = z
  .string()
  .regex(list, 'Give calls and answers, such as unpublish=UNAVAILABLE*3,stage=late:40s.')
  .refine((text) => text === honest || isOnce(text), 'Give each call once.')
  .refine(
    (text) => Object.values(callRulesOf(text)).every(({ lateMs }) => lateMs <= longestMs),
    'At most late:24h.',
  );

export const calls = field(schema.default(honest), {
  about: 'calls to the driver that fail or last, from the fault on',
  more: '([below](#calls-that-fail-or-last))',
  value: 'list',
  text: schema,
  needs: 'failing-calls',
});

/** What a call gets instead of its work, or before it. */
type CallAnswer = { readonly refusal: string } | { readonly waitMs: number } | undefined;

interface CallPast {
  refused?: number;
  sinceMs?: number | undefined;
}

const opposites: Readonly<Record<CallName, CallName>> = {
  ...{ publish: 'unpublish', unpublish: 'publish', stage: 'unstage', unstage: 'stage' },
  ...{ nodePublish: 'nodeUnpublish', nodeUnpublish: 'nodePublish' },
};

/** Of one volume: what its calls get, and what they got so far. */
export class CallBook {
  readonly rules: CallRules;
  /** By call and node. */
  readonly past: Record<string, CallPast>;

  constructor(text: string, past: Record<string, CallPast> = {}) {
    this.rules = callRulesOf(text);
    this.past = past;
  }

  /** For a rule whose `when` holds. */
  ask(call: CallName, node: string, nowMs: number): CallAnswer {
    const rule = this.rules[call];
    if (rule === undefined) return undefined;
    const past = (this.past[`${call} ${node}`] ??= {});
    const { refused = 0 } = past;
    if (rule.refusal === undefined) {
      past.sinceMs ??= nowMs;
      return { waitMs: Math.max(0, past.sinceMs + rule.lateMs - nowMs) };
    }
    if (refused >= rule.times) return undefined;
    past.refused = refused + 1;
    return { refusal: rule.refusal };
  }

  /** The work is done: what undoes it is asked for anew from now on. */
  done(call: CallName, node: string): void {
    const undone = this.past[`${opposites[call]} ${node}`];
    if (undone !== undefined) undone.sinceMs = undefined;
  }
}
