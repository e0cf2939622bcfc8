import Foundation

/// The life of a store.
///
/// A life ends when the store's content is replaced by that of a copy, or when a copy continues as a store of its own.
/// Tokens of another life have expired, and open coordinators refuse to go on.
///
/// A life is known by two things. Copies that Persist makes have a new mark in their metadata. Copies made by hand are
/// other files, whose numbers on their volume and times of creation differ; these are never written down, so that no
/// copy can have them. Stores of Core Data, and those of earlier releases, have a life as well, therefore, without a
/// byte being written.
package enum StoreLife {
  /// - Parameters:
  ///   - mark: The mark in the metadata.
  ///   - file: Numbers that distinguish the store's file from its copies; empty if nothing does.
  package static func number(_ mark: String, file: [Int64] = []) -> UInt64 {
    var digest = AccidentDigest()
    digest.combine(mark)
    for number in file { digest.combine(number) }
    return digest.bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}

extension StoreMetadata {
  /// The mark of the store's life; the identifier in a store that no copy of Persist's took the place of.
  package var life: String { values[Key.life]?.stringValue ?? identifier }

  /// Begins another life.
  package mutating func beginLife() { values[Key.life] = .string(UUID().uuidString) }
}
