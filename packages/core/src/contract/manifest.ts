import type { AnyTool, Plugin } from './tool.ts'

/** MCP's hints, derived from `kind` so that they cannot contradict it. */
export interface Annotations {
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

export const annotationsOf = (tool: AnyTool): Annotations =>
  tool.kind === 'read'
    ? { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
    : {
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: 'request_id' in tool.input.properties,
        openWorldHint: true,
      }

export interface ManifestTool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly kind: AnyTool['kind']
  readonly annotations: Annotations
  readonly uses: readonly string[]
  readonly input: unknown
  readonly output: unknown
}

export interface Manifest {
  readonly plugins: readonly {
    readonly name: string
    readonly family: string
    readonly version: string
    readonly tools: readonly ManifestTool[]
  }[]
}

const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : 1

/** What a host offers, as data: plugins and tools in sorted order. */
export const manifestOf = (plugins: readonly Plugin[]): Manifest => ({
  plugins: [...plugins].sort(byName).map(({ name, family, version, tools }) => ({
    name,
    family,
    version,
    tools: [...tools].sort(byName).map((tool) => ({
      name: tool.name,
      title: tool.title,
      description: tool.description,
      kind: tool.kind,
      annotations: annotationsOf(tool),
      uses: [...tool.uses].sort(),
      input: tool.input,
      output: tool.output,
    })),
  })),
})
