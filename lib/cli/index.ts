/** The command tree and the library: what people start. */
export { commandLine, parseArguments, runCommand, say, tell } from './command.ts';
export { optionOf } from './flags/field-options.ts';
export { nonEmpty, numberWithin, outputFile, seedText } from './flags/flag-values.ts';
export type { RunFlags } from './flags/flags.ts';
export { imagesOption, whereOption } from './flags/run-options.ts';
export { onInterrupt } from './guard.ts';
export { folderName, makeFolder, makeNewFolder } from './library/run-folder.ts';
