// The operations of blobs in the OpenAPI document.
import type { Operation } from './openapi-operation.ts'

const path = '/api/blobs/{sha256}'

export const blobOperations: readonly Operation[] = [
  {
    method: 'put',
    path,
    operationId: 'putBlob',
    summary: 'Upload a long input, or a long expected output',
    description:
      'Submissions name it as stdin_sha256 or expected_stdout_sha256. It belongs to the account, is kept after it was last uploaded or named as long as other bodies are, and counts its size, at least 4 KiB, against what the key’s tier allows. To upload again what is there changes nothing. It has to arrive within a minute.',
    parameters: ['sha256'],
    bytes: 'Any bytes, at most 16 MiB; none is a blob, too.',
    answers: {
      200: { description: 'It was there.', schema: 'Blob' },
      201: { description: 'It is on disk.', schema: 'Blob' },
      403: {
        description: 'Plain HTTP from beyond the machine; or the quota is used up.',
        schema: 'Problem',
      },
      415: { description: 'The body is not plain application/octet-stream.', schema: 'Problem' },
      503: {
        description: 'Too many uploads are in progress, or the database cannot be reached.',
        schema: 'Problem',
        headers: ['Retry-After'],
      },
    },
  },
  {
    method: 'head',
    path,
    operationId: 'findBlob',
    summary: 'Whether the account has a blob',
    parameters: ['sha256'],
    answers: {
      200: { description: 'It has; Content-Length is its size.' },
      404: { description: 'It has not, or that is no SHA-256.' },
    },
  },
]
