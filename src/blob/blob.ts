// The entry to blobs: long inputs and expected outputs that an account uploads once and names by
// their SHA-256 in submissions.
//
// A blob belongs to one account. The same bytes of another account are another blob, so that no account learns what others
// have. Its bytes are stored in chunks of 256 KiB (runledger.blob_chunk), so that neither a write nor a read holds the
// blob twice. A blob is written in one transaction and never changed. It is purged when it was unused for as long as
// bodies are kept and no unfinished submission names it (sql/functions/blob.sql). A submission's first event lists the
// blobs that it names, with their sizes.
export { findBlobs, readBlobChunk, readFiles } from './read.ts'
export { blobBytesMost, isBlobName, nameFile, purgeBlobs, storeBlob } from './store.ts'
export type { Stored } from './store.ts'
