import Foundation
import Hummingbird

/// An item in a list.
struct ItemSummary: ResponseEncodable {
  let id: UUID
  let name: String
  let price: Double
  let quantity: Int
  let added: Date
  let category: String?
}

/// An item with its relations.
struct ItemDetail: ResponseEncodable {
  let id: UUID
  let name: String
  let price: Double
  var quantity: Int
  let added: Date
  let category: CategoryValue?
  /// The oldest first.
  var notes: [NoteValue]
}

struct CategoryValue: Encodable {
  let name: String
  let position: Int
}

/// A note of an item, as clients send and get it.
struct NoteValue: ResponseCodable {
  /// When it was written, in seconds since 1970, by the client's clock.
  let written: Int
  let author: String
  let text: String
}

/// A new quantity of an item, as clients send it.
struct Stock: Decodable {
  let quantity: Int
}

/// What a change of an item answers.
struct StockAnswer: ResponseEncodable {
  let id: UUID
  let quantity: Int
  let version: Int
}
