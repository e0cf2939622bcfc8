import Foundation
import Persist

extension StoredValue {
  /// Whether the value contains U+0000, which a server's texts can't contain.
  var hasNullCharacter: Bool {
    switch self {
    case .string(let text), .uri(let text):
      text.utf8.withContiguousStorageIfAvailable { bytes in
        bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
      } ?? text.utf8.contains(0)
    case .composite(let elements): elements.values.contains(where: \.hasNullCharacter)
    default: false
    }
  }
}
