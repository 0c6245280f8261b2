import { BridgeError } from '../contract/errors.ts'
import { REFUSE } from './isolation.ts'
import type { Setting } from './setting.ts'
import { textOf } from './text.ts'

/** Settings under names of the user's choice, which a fixed list cannot override. Git prints keys in lower case. */
const named: readonly { readonly pattern: RegExp; readonly off: (name: string) => readonly Setting[] }[] = [
  {
    pattern: /^filter\.(.*)\.[^.]+$/s,
    off: (name) => [
      [`filter.${name}.clean`, ''],
      [`filter.${name}.smudge`, ''],
      [`filter.${name}.process`, ''],
      [`filter.${name}.required`, 'false'],
    ],
  },
  { pattern: /^hook\.(.*)\.[^.]+$/s, off: (name) => [[`hook.${name}.enabled`, 'false']] },
  { pattern: /^diff\.(.*)\.command$/s, off: (name) => [[`diff.${name}.command`, REFUSE]] },
  { pattern: /^diff\.(.*)\.textconv$/s, off: (name) => [[`diff.${name}.textconv`, REFUSE]] },
  { pattern: /^merge\.(.*)\.driver$/s, off: (name) => [[`merge.${name}.driver`, REFUSE]] },
  {
    pattern: /^trailer\.(.*)\.(?:cmd|command)$/s,
    off: (name) => [
      [`trailer.${name}.cmd`, REFUSE],
      [`trailer.${name}.command`, REFUSE],
    ],
  },
  { pattern: /^submodule\.(.*)\.update$/s, off: (name) => [[`submodule.${name}.update`, 'none']] },
  { pattern: /^alias\.(.*)$/s, off: (name) => [[`alias.${name}`, '']] },
]

const offSwitches = (key: string): readonly Setting[] =>
  named.flatMap(({ pattern, off }) => {
    const name = pattern.exec(key)?.[1]
    return name === undefined ? [] : off(name)
  })

/**
 * Settings that switch off every program which one of the keys in force names.
 * @throws BridgeError git_unsafe when such a key is not UTF-8: no setting can be made for it
 */
export const switchedOff = (keys: Iterable<Buffer>): readonly Setting[] => {
  const settings = new Map<string, string>()
  for (const bytes of keys) {
    const key = textOf(bytes)
    const shown = key ?? bytes.toString('utf8')
    const switches = offSwitches(shown)
    if (key === undefined && switches.length > 0) {
      throw new BridgeError(
        'git_unsafe',
        `The Git setting ${shown} names a program and cannot be switched off: its name is not UTF-8.`,
        { details: { setting: shown } },
      )
    }
    for (const [name, value] of switches) settings.set(name, value)
  }
  return [...settings]
}
