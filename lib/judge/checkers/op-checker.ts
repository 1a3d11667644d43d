/** Operations, or what they left, that should not be there or not like that: one kind is a finding of its own. */
import { plural } from '../../core/index.ts';
import type { AuditedImage, Checker } from './checker.ts';
import { damage } from './findings.ts';
import { opName, type OpSample } from './op-sample.ts';

interface OpFault<Where> {
  readonly name: string;
  readonly code: string;
  readonly of: (where: Where) => OpSample;
  readonly safety: 'lost' | 'corrupt';
  /** What is wrong with them, after their number. */
  readonly what: string;
}

/** `thing` is counted; `whereIn`: undefined of an image that has none of them. */
export const opChecker =
  <Where>(thing: string, whereIn: (audited: AuditedImage) => Where | undefined) =>
  ({ name, code, of, safety, what }: OpFault<Where>): Checker => ({
    name,
    check(audited) {
      const where = whereIn(audited);
      if (where === undefined) return [];
      const { count, ops } = of(where);
      if (count === 0) return [];
      const summary = `${plural(count, thing)} ${what}`;
      const evidence = ops.map(opName);
      return [damage({ code, image: audited.image, safety, loud: false, summary, evidence })];
    },
  });
