import { delimiter, isAbsolute } from 'node:path'

/** Beside GIT_* and LC_*: what makes Git start a program or speak another language, and the place of another process. */
const dropped = new Set(['EDITOR', 'VISUAL', 'PAGER', 'SSH_ASKPASS', 'LANG', 'LANGUAGE', 'PWD', 'OLDPWD'])

const fixed: Readonly<Record<string, string>> = {
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  // Known since the fix releases of 2024 (2.39.4 to 2.45.1). An older Git does try to fetch what a promisor owes, and finds no protocol that it may use.
  GIT_NO_LAZY_FETCH: '1',
  // Wins over every protocol.* setting.
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_PROTOCOL_FROM_USER: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_REPLACE_OBJECTS: '1',
  // Set and empty: neither core.askPass nor SSH_ASKPASS is asked.
  GIT_ASKPASS: '',
  GIT_EDITOR: ':',
  GIT_SEQUENCE_EDITOR: ':',
  GIT_PAGER: 'cat',
  GIT_SSH_COMMAND: 'exit 1;',
  // Traces may go to files and sockets; their settings are read before any that a command is given.
  GIT_TRACE2: '0',
  GIT_TRACE2_EVENT: '0',
  GIT_TRACE2_PERF: '0',
}

/** The absolute directories of a PATH: `.` or an empty entry would find a program in the repository. */
export const absoluteEntries = (path: string | undefined): readonly string[] =>
  (path ?? '').split(delimiter).filter((entry) => isAbsolute(entry))

/** The environment of every Git command: nothing inherited tells Git what to run, or where. */
export const isolatedEnvironment = (inherited: NodeJS.ProcessEnv): Readonly<Record<string, string>> => {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(inherited)) {
    if (value !== undefined && !dropped.has(name) && !/^(?:GIT|LC)_/.test(name)) kept[name] = value
  }
  return { ...kept, PATH: absoluteEntries(inherited['PATH']).join(delimiter), ...fixed }
}
