import Foundation

/// Persist's record of a store's model, in a table of its own: fingerprints and the complete text of the model.
///
/// The record identifies the `NSStoreModelVersionHashes` that it was written for. If Core Data migrates the store
/// later, it writes other hashes without updating the record, which is then invalid and treated as missing. The model's
/// text can be long and is only read on demand.
package struct ModelRecord: Sendable {
  /// The fingerprint of each entity of the store's model.
  let fingerprints: [String: Fingerprint]
  /// The digest of the model's text, which distinguishes versions with identical storage; nil in records without one.
  let modelDigest: Data?
}
