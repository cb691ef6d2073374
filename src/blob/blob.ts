// The entry to blobs: long inputs and expected outputs that an account uploads once and names by their SHA-256 in submissions.
//
// A blob belongs to one account; the same bytes of another account are another blob, so that nobody learns what others have.
// Its bytes stand in chunks of 256 KiB (runledger.blob_chunk), so that neither writing nor reading one holds it twice. It is
// written in one transaction and never changed; it goes when it was not used for as long as bodies are kept and no unfinished
// submission names it (sql/functions/blob.sql). What a submission names, its first event lists, with sizes.
export { findBlobs, readBlobChunk, readFiles } from './read.ts'
export { blobBytesMost, isBlobName, nameFile, purgeBlobs, storeBlob } from './store.ts'
export type { Stored } from './store.ts'
