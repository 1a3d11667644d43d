/** Flags of an experiment, read as its command reads them. */
import { parseArguments } from '../../lib/cli/command.ts';
import { anyExperiment, flagsOf, type ParsedFlags } from '../../lib/cli/flags/flags.ts';

export function readFlags(words: readonly string[]): ParsedFlags {
  const command = anyExperiment('npx forcedetach run');
  const flags = flagsOf(command);
  parseArguments(command, words);
  return flags();
}
