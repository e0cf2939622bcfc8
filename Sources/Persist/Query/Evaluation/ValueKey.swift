import Foundation

/// A value by which equal members of a collection are found: equal numbers of different widths have the same.
enum ValueKey: Hashable {
  case null
  case whole(Int64)
  case fraction(Decimal)
  case double(Double)
  case text([UInt8])
  case other(StoredValue)

  init(_ value: StoredValue) {
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
  /// What equal members have in common; nil for collections.
  var key: ValueKey? { stored.map(ValueKey.init) }
}
