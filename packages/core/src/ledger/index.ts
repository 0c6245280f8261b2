export { type LedgerPort, type LedgerRow, type ReceiptPage, type ReceiptQuery } from './port.ts'
export { Receipt, receiptFields, type Owner, type ReceiptPatch, type Status, type Step, type StepState } from './receipt.ts'
