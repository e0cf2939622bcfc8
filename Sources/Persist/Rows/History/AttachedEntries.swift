package import Foundation

/// Entries that a product keeps in a store beside its rows: bytes under keys that are bytes, ordered by these.
///
/// They are written in the transaction that changes the rows to which they belong, or in one of their own.
package struct AttachedEntries: Sendable {
  /// The entries to write, by key; nil removes an entry.
  package var values: [Data: Data?] = Dictionary()
  /// Entries to write beside ``values``, which don't contain their keys; the order of the keys is the fastest.
  package var lists: [AttachedList] = []
  /// Entries that must be unchanged since they were read, by key; nil for one that must not exist.
  package var unchanged: [Data: Data?] = Dictionary()
  /// The number of the last transaction of the history before this one; nil for any.
  package var lastTransaction: Int64?

  package init() {}

  package var isEmpty: Bool { values.isEmpty && lists.allSatisfy(\.isEmpty) }
}

/// A part of the keys of attached entries.
package struct AttachedRange: Sendable {
  /// The first key.
  package var first: Data
  /// The key before which the range ends.
  package var end: Data

  package init(first: Data, end: Data) { (self.first, self.end) = (first, end) }

  /// The keys that begin with a prefix, which contains a byte other than 255.
  package init(prefix: Data) {
    var end = Array(prefix)
    while end.last == 255 { end.removeLast() }
    if let last = end.popLast() { end.append(last + 1) }
    self.init(first: prefix, end: Data(end))
  }

  /// One key.
  package init(key: Data) { self.init(first: key, end: key + [0]) }
}

/// An entry that a product keeps in a store.
package struct AttachedEntry: Sendable {
  package var key: Data
  package var value: Data

  package init(key: Data, value: Data) { (self.key, self.value) = (key, value) }
}
