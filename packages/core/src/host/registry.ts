import { BridgeError } from '../contract/errors.ts'
import { checkSchemaGate } from '../contract/schema-gate.ts'
import type { AnyTool, Plugin } from '../contract/tool.ts'
import { methods } from '../protocol/methods.ts'
import { inputParser, type ParsedInput } from './parse.ts'

export interface Entry {
  readonly tool: AnyTool
  readonly plugin: Plugin
  readonly parse: (args: unknown) => ParsedInput
}

const checkMethods = (tool: AnyTool): void => {
  for (const method of tool.uses) {
    if (!Object.hasOwn(methods, method))
      throw new BridgeError(
        'unknown_method',
        `Tool ${tool.name} lists ${method}, which core/protocol does not have.`,
      )
    if (tool.kind === 'read' && methods[method].effect === 'mutate')
      throw new BridgeError('read_mutates', `Tool ${tool.name} is a read but lists ${method}.`)
  }
}

/** The plugins of a host and their tools by name; refuses early what would fail late. */
export class Registry {
  readonly #plugins: Plugin[] = []
  readonly #entries = new Map<string, Entry>()
  #frozen = false

  /** @throws BridgeError duplicate_tool, schema_gate, unknown_method, read_mutates, host_state */
  register(plugin: Plugin): void {
    if (this.#frozen)
      throw new BridgeError('host_state', `Plugin ${plugin.name} was registered after ready().`)
    for (const tool of plugin.tools) {
      const owner = this.#entries.get(tool.name)
      if (owner !== undefined)
        throw new BridgeError(
          'duplicate_tool',
          `Both ${owner.plugin.name} and ${plugin.name} have a tool ${tool.name}.`,
        )
      checkSchemaGate(tool)
      checkMethods(tool)
      this.#entries.set(tool.name, { tool, plugin, parse: inputParser(tool.input) })
    }
    this.#plugins.push(plugin)
  }

  freeze(): void {
    this.#frozen = true
  }

  get frozen(): boolean {
    return this.#frozen
  }

  get plugins(): readonly Plugin[] {
    return this.#plugins
  }

  /** In the order of their names. */
  get tools(): readonly AnyTool[] {
    return [...this.#entries.values()].map(({ tool }) => tool).sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  find(name: string): Entry | undefined {
    return this.#entries.get(name)
  }

  /** The mutation that made a receipt. */
  ofReceipt(family: string | undefined, operation: string): Entry | undefined {
    const entry = this.#entries.get(operation)
    return entry?.tool.kind === 'mutation' && (family === undefined || entry.plugin.family === family)
      ? entry
      : undefined
  }
}
