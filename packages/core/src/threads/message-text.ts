/** A text exactly as it was given, as the input of a turn. */
export const textInput = (text: string): { type: 'text'; text: string }[] => [{ type: 'text', text }]
