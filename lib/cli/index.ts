/** The command tree and the library: what people start. */
export { commandLine, parseArguments, runCommand, say, tell } from './command.ts';
export { type RunFlags, imagesOption, optionOf, whereOption } from './flags/flags.ts';
export { nonEmpty, numberWithin, outputFile, seedText } from './flags/flag-values.ts';
export { onInterrupt } from './guard.ts';
export { folderName, makeFolder, makeNewFolder } from './library/run-folder.ts';
