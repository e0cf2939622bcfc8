/// The time at which a value was set, in the order that all stores of an exchange agree on.
package struct ExchangeClock: Sendable, Hashable, Comparable {
  /// Seconds since 2001, or a little more than the time of the value that was replaced.
  package var time: Double
  /// The identifier of the store that set the value.
  package var store: String

  package static func < (left: ExchangeClock, right: ExchangeClock) -> Bool {
    (left.time, left.store) < (right.time, right.store)
  }
}

/// The clock of one value, member or deletion, as a store remembers it.
package struct ExchangeEntry: Sendable, Hashable {
  /// The part of an object that the entry describes.
  package struct Part: Sendable, Hashable {
    /// The property's name; empty for the deletion of the object.
    package var property: String
    /// The identity of the member of a to-many relationship; empty for other properties.
    package var member = ""

    package static let deletion = Part(property: "")
  }

  package var identity: String
  package var part: Part
  package var clock: ExchangeClock
  /// Whether the member belongs to the relationship; true for other entries.
  package var isPresent = true
  /// The identity of an object that a relationship leads to, and that the store doesn't have yet.
  package var reference: String?
}

/// A row that represents an object of another store.
package struct ExchangeRow: Sendable, Hashable {
  package var identity: String
  /// The name of its entity.
  package var entity: String
  package var key: Int64
}

/// The changes of what a store remembers about its exchange with others, written in one transaction.
package struct ExchangeNotes: Sendable, Hashable {
  package var entries: [ExchangeEntry] = []
  package var rows: [ExchangeRow] = []
  /// The number of the last transaction whose changes have clocks; nil leaves it unchanged.
  package var position: Int64?

  package var isEmpty: Bool { entries.isEmpty && rows.isEmpty && position == nil }
}
