import Foundation
import Persist

/// A text as a keyed archive: what a transformable attribute without a transformer of its own holds.
enum ArchivedText {
  static func archive(_ text: String) throws -> Data {
    try PropertyList.dictionary([
      "$version": .integer(100_000),
      "$archiver": .string("NSKeyedArchiver"),
      "$top": .dictionary(["root": .uid(1)]),
      "$objects": .array([.string("$null"), .string(text)]),
    ]).binaryData()
  }
}
