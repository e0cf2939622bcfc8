import Persist

/// A primary key as the page writes it: a text, because numbers of scripts have only 53 bits.
struct ObjectKey: Decodable, Hashable {
  let value: Int64

  init(value: Int64) { self.value = value }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let value = Int64(text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "A key is a whole number.")
    }
    self.value = value
  }
}

extension ManagedObjectID {
  /// The primary key for the page; nil for an object that was never saved.
  var keyText: String? { primaryKey.map(String.init) }
}
