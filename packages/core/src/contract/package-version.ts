import { readFileSync } from 'node:fs'
import { Type } from 'typebox'
import { Value } from 'typebox/value'

const PackageJson = Type.Object({ version: Type.String() })

/** The version in the package.json one folder above a module: `packageVersion(import.meta.url)`. */
export const packageVersion = (moduleUrl: string): string =>
  Value.Parse(PackageJson, JSON.parse(readFileSync(new URL('../package.json', moduleUrl), 'utf8'))).version
