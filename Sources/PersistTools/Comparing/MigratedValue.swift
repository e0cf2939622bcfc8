import Foundation
import Persist

/// A value in the comparison of a store with a migrated copy.
package enum MigratedValue: Sendable {
  package struct Member: Sendable, Hashable, Comparable {
    package let entity: String
    package let key: Int64

    package static func < (left: Member, right: Member) -> Bool {
      (left.entity, left.key) < (right.entity, right.key)
    }
  }

  case content(StoreContents.Content)
  /// The objects of a relationship; in order if the order counts, otherwise sorted.
  case members([Member])

  /// Whether another value is this one, perhaps in another type.
  func isKept(in other: MigratedValue) -> Bool {
    switch (self, other) {
    case (.members(let members), .members(let others)): members == others
    case (.content(.missingFile(let name)), .content(.missingFile(let other))): name == other
    case (.content(.value(let value)), .content(.value(let other))): Self.isSame(value, other)
    default: false
    }
  }

  private static func isSame(_ value: StoredValue, _ other: StoredValue) -> Bool {
    if value == other { return true }
    return switch (value, other) {
    case (.composite(let elements), .composite(let others)):
      Set(elements.keys).union(others.keys).allSatisfy { isSame(elements[$0] ?? .null, others[$0] ?? .null) }
    case (.string(let text), .uri(let other)), (.uri(let text), .string(let other)): text == other
    case (.boolean(let flag), _): isSame(.integer(flag ? 1 : 0), other)
    case (_, .boolean(let flag)): isSame(value, .integer(flag ? 1 : 0))
    case (.integer(let number), .double(let other)), (.double(let other), .integer(let number)):
      Double(number) == other
    case (.integer(let number), .decimal(let other)), (.decimal(let other), .integer(let number)):
      Decimal(number) == other
    default: false
    }
  }
}

extension StoreContents.Content {
  /// The value with only some elements, if it is a composite.
  ///
  /// - Parameter paths: The paths of the elements; nil for a value that isn't a composite.
  func restricted(to paths: Set<[String]>?) -> StoreContents.Content {
    guard let paths, case .value(let whole) = self else { return self }
    let part = paths.reduce(StoredValue.null) { part, path in
      let element = whole.element(at: path)
      return element.isNull ? part : part.replacing(path[...], with: element)
    }
    return .value(part)
  }
}
