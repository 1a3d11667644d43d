/** What a tool answered, as a record has it. */

/** A command's answer, kept as evidence. `output` is at most 4 KiB, its end cut with a mark. */
export interface CommandEvidence {
  readonly command: string;
  readonly exitCode: number;
  readonly output: string;
  readonly durationMs: number;
}
