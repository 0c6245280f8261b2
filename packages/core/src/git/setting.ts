/** A full setting name and its value. */
export type Setting = readonly [name: string, value: string]

/** Settings as environment: odd names and values pass whole, and win over every file. */
export const settingsEnvironment = (settings: readonly Setting[]): Readonly<Record<string, string>> => {
  const environment: Record<string, string> = { GIT_CONFIG_COUNT: String(settings.length) }
  for (const [place, [name, value]] of settings.entries()) {
    environment[`GIT_CONFIG_KEY_${String(place)}`] = name
    environment[`GIT_CONFIG_VALUE_${String(place)}`] = value
  }
  return environment
}
