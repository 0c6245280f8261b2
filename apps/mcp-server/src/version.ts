import { readFileSync } from 'node:fs'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'

const PackageJson = Compile(Type.Object({ version: Type.String() }))

/** The version of this package, from its package.json. */
export const version: string = PackageJson.Parse(
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')),
).version
