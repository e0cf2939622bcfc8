import Foundation
import Persist

/// Creates keyed archives of strings, the content of transformable attributes without a transformer of their own.
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
