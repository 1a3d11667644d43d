/** Makes findings; one form for all checkers. */
import type { Finding, Safety } from '../verdict/verdict.ts';

interface Damage {
  readonly code: string;
  readonly image: string;
  readonly safety: Extract<Safety, 'lost' | 'corrupt'>;
  /** Would probes, events, error logs, fsck or a check of the tables have told a normal operator? */
  readonly loud: boolean;
  /** What is wrong, with numbers; the image's name is put before it. */
  readonly summary: string;
  readonly evidence: readonly string[];
}

/** A structure is broken, and a normal operator would have been told so, or not. */
export const corruptAndTold = { safety: 'corrupt', loud: true } as const;
export const corruptInSilence = { safety: 'corrupt', loud: false } as const;

/** Pieces of evidence kept in one finding, and the length of each. */
const maxEvidence = 25;
const maxLength = 1000;

const shortened = (evidence: readonly string[]): string[] =>
  evidence
    .slice(0, maxEvidence)
    .map((each) => (each.length > maxLength ? `${each.slice(0, maxLength)} …` : each));

export function damage({ code, image, safety, loud, summary, evidence }: Damage): Finding {
  const more = evidence.length - maxEvidence;
  const kept = [...shortened(evidence), ...(more > 0 ? [`… and ${more} more`] : [])];
  const about = `${image} image: ${summary}`;
  return { code, level: 'damage', safety, loud, summary: about, evidence: kept };
}

/** Something could not be read or judged: without it nobody may say `safe`. */
export function incomplete(code: string, summary: string, evidence: readonly string[]): Finding {
  const kept = shortened(evidence);
  return { code, level: 'incomplete', safety: 'safe', loud: false, summary, evidence: kept };
}

/** Worth reading, no harm by itself. */
export function note(code: string, summary: string, evidence: readonly string[]): Finding {
  const kept = shortened(evidence);
  return { code, level: 'note', safety: 'safe', loud: true, summary, evidence: kept };
}
