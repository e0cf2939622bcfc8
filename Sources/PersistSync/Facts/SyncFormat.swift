import Foundation
import Persist

/// The limits of what a replica accepts from others, and the errors that it reports.
enum SyncFormat {
  /// The version of the encoding that is written, and the highest that can be read.
  static let version: UInt8 = 1
  /// The maximum size of a name or an identity in bytes.
  static let maximumNameSize = 4096
  /// The maximum size of a value in bytes.
  static let maximumValueSize = 256 << 20
  /// The maximum size of a change set in bytes, which has large values apart.
  static let maximumSetSize = 64 << 20
  /// The maximum number of facts in a change set.
  static let maximumFactCount = 1 << 20
  /// The maximum depth of nested values.
  static let maximumDepth = 16
  /// The latest time of a change, in the year 2255. Clocks only reach the year 2112, so that a change can follow one
  /// with a wrong time.
  static let maximumTime: UInt64 = 1 << 63
  /// The maximum count of an object's creations and deletions.
  static let maximumLife: UInt32 = 1 << 30

  /// - Throws: `PersistenceError.Code.malformedFile` if a change set of this size is too large.
  static func checkSize(_ size: Int) throws {
    guard size <= maximumSetSize else { throw error("Its \(size) bytes exceed the limit of \(maximumSetSize).") }
  }

  static func error(_ what: String) -> PersistenceError {
    PersistenceError(
      .malformedFile, "A change set can't be read. \(what)",
      fix: "Check that it comes from a replica and was transferred without damage, or update this program.")
  }
}
