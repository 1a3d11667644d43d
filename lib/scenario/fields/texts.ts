/** From a text, as people write it in a file or behind a flag, to its value, or a sentence that says what would do. */
import { z } from 'zod';
import { longestMs, parseDurationMs } from '../../core/index.ts';

/** `parse` answers undefined where the text is none. */
export const textOf = <T>(
  parse: (text: string) => T | undefined,
  message: string,
): z.ZodType<T, string> =>
  z.string().transform((text, context) => {
    const value = parse(text);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

const anyDuration = textOf(
  parseDurationMs,
  'Give a duration of whole milliseconds, such as 30s, 6m or 500ms.',
);

/** Milliseconds of a flag, whose bare number is seconds. `least`: 1 of a wait that is none where it is 0. */
export const durationText = (least: 0 | 1 = 0): z.ZodType<number, string> =>
  anyDuration
    .refine((ms) => ms <= longestMs, 'At most 24h.')
    .refine((ms) => ms >= least, 'More than 0.');

/** Takes seconds as the fields of a pod have them: whole ones, or 499ms would become 0. */
export const secondsText = (mostS: number): z.ZodType<number, string> =>
  durationText()
    .refine((ms) => ms % 1000 === 0, 'Give whole seconds.')
    .refine((ms) => ms <= mostS * 1000, `At most ${mostS}s.`)
    .transform((ms) => ms / 1000);

/** Whole numbers. */
export const numberText = (
  least: number,
  most: number,
  message = `Give a whole number from ${least} to ${most}.`,
): z.ZodType<number, string> =>
  textOf((text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= least && value <= most ? value : undefined;
  }, message);

/** A time in a file: with its unit, since a bare number is seconds to one and milliseconds to another. */
export type Time = `${number}${'ms' | 's' | 'm' | 'h'}`;

export const writtenTime: z.ZodType<number, Time> = z
  .templateLiteral([z.number(), z.enum(['ms', 's', 'm', 'h'])], {
    error: 'give a time with its unit, such as 30s, 6m or 500ms',
  })
  .pipe(durationText() as unknown as z.ZodType<number, Time>);
