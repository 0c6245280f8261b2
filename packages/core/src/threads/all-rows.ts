const PAGE = 100

interface Page<Row> {
  readonly data: readonly Row[]
  readonly nextCursor?: string | null
}

/** The rows of all pages of a list. */
export const allRows = async <Row>(
  ask: (page: { limit: number; cursor?: string }) => Promise<Page<Row>>,
): Promise<readonly Row[]> => {
  const rows: Row[] = []
  let cursor: string | undefined
  do {
    const page: Page<Row> = await ask({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) })
    rows.push(...page.data)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return rows
}
