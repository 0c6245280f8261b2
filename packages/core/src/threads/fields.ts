import { Type } from 'typebox'

const ID_MAX = 128
const NAME_MAX = 500
const PATH_MAX = 4_096
const PAGE_MAX = 100
/** The App Server takes no longer text in one message. */
const MESSAGE_MAX = 1_048_576

/** Text that is not blank; its length counts code points, and the description says so too: not all hosts show bounds. */
const text = (description: string, maxLength: number) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: '\\S',
    description: `${description} (1 to ${maxLength.toLocaleString('en-US')} characters, not blank)`,
  })

/** The input fields that tools share (contract: bridge-tools). Each is required; wrap it in Type.Optional where it is not. */
export const fields = {
  requestId: text(
    'Your id for this one intended action; repeat the same id after an uncertain answer',
    ID_MAX,
  ),
  knownRequestId: text('requestId of the operation', ID_MAX),
  threadId: text('Id of the thread', ID_MAX),
  turnId: text('Id of the turn', ID_MAX),
  projectId: text('Id of an App Server project', ID_MAX),
  cwd: text('Absolute path of an existing directory', PATH_MAX),
  prompt: text('First message, sent exactly as given', MESSAGE_MAX),
  message: text('The message, sent exactly as given', MESSAGE_MAX),
  title: text('Title of the thread', NAME_MAX),
  model: text('Model; the server’s default if left out', NAME_MAX),
  reasoningEffort: text('Reasoning effort, a name that the model knows', NAME_MAX),
  profile: text('Named permission profile of the App Server, such as :read-only; excludes sandbox', NAME_MAX),
  cursor: Type.String({
    description: 'nextCursor of the page before, unchanged, as a string; left out or empty: the first page',
  }),
  limit: (rows: string, standard: number) =>
    Type.Integer({
      minimum: 1,
      maximum: PAGE_MAX,
      description: `How many ${rows} to return (1 to ${PAGE_MAX}, default ${standard})`,
    }),
} as const
