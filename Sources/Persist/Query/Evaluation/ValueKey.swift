package import Foundation

/// A hash key for members of collections: equal numbers of different representations share one.
package enum ValueKey: Hashable {
  case null
  case whole(Int64)
  case fraction(Decimal)
  case double(Double)
  case text([UInt8])
  case other(StoredValue)

  package init(_ value: StoredValue) {
    switch value {
    case .null: self = .null
    case .string(let text), .uri(let text): self = .text(Array(text.utf8))
    case .objectID(let id): self = .other(.objectID(id.current))
    default:
      guard let number = Number(value) else {
        self = .other(value)
        return
      }
      if let whole = number.whole {
        self = .whole(whole)
      } else if let fraction = number.decimal {
        self = .fraction(fraction)
      } else {
        self = .double(number.double)
      }
    }
  }
}

extension FetchValue {
  /// The key that equal members share; nil for collections.
  @inline(never)
  var key: ValueKey? { stored.map(ValueKey.init) }
}
