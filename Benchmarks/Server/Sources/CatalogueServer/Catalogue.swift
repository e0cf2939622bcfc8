import Foundation

/// A catalogue in a file: what the routes need of a library.
protocol Catalogue: Sendable {
  /// The items whose names follow a name, in the order of names.
  func items(after name: String, limit: Int) async throws -> [ItemSummary]
  /// An item with its category and its notes; nil if there is none.
  func item(_ id: UUID) async throws -> ItemDetail?
  /// Changes an item's quantity; nil if there is no such item.
  func setQuantity(_ quantity: Int, of id: UUID) async throws -> StockAnswer?
  /// Adds a note to an item; nil if there is no such item.
  func add(_ note: NoteValue, to id: UUID) async throws -> NoteValue?
}
