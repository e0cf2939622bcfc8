import Foundation
import Persist

/// The sample row as a class with constant slots, as the generator writes it.
final class SampleItem: ManagedObject {
  // Slots are in name order: addedAt, code, name, note, price, quantity, rank, token.
  var addedAt: Date? {
    get { date(at: 0) }
    set { setAttributeValue(newValue.map(StoredValue.date) ?? .null, at: 0) }
  }
  var code: String? {
    get { string(at: 1) }
    set { setAttributeValue(newValue.map(StoredValue.string) ?? .null, at: 1) }
  }
  var name: String? {
    get { string(at: 2) }
    set { setAttributeValue(newValue.map(StoredValue.string) ?? .null, at: 2) }
  }
  var note: String? {
    get { string(at: 3) }
    set { setAttributeValue(newValue.map(StoredValue.string) ?? .null, at: 3) }
  }
  var price: Double {
    get { double(at: 4) ?? 0 }
    set { setAttributeValue(.double(newValue), at: 4) }
  }
  var quantity: Int64 {
    get { integer(at: 5) ?? 0 }
    set { setAttributeValue(.integer(newValue), at: 5) }
  }
  var rank: Int64 {
    get { integer(at: 6) ?? 0 }
    set { setAttributeValue(.integer(newValue), at: 6) }
  }
  var token: UUID? {
    get { uuid(at: 7) }
    set { setAttributeValue(newValue.map(StoredValue.uuid) ?? .null, at: 7) }
  }
}

extension SampleItem {
  static var all: FetchRequest<SampleItem> { FetchRequest<SampleItem>("Item") }

  func take(_ row: SampleRow) {
    quantity = row.quantity
    rank = row.rank
    addedAt = Date(timeIntervalSinceReferenceDate: row.addedAt)
    price = row.price
    code = row.code
    name = row.name
    note = row.note
    token = row.token
  }

  static func fill(_ values: inout BatchInsertRow, _ row: SampleRow) {
    values[slot: 0] = .date(Date(timeIntervalSinceReferenceDate: row.addedAt))
    values[slot: 1] = .string(row.code)
    values[slot: 2] = .string(row.name)
    values[slot: 3] = .string(row.note)
    values[slot: 4] = .double(row.price)
    values[slot: 5] = .integer(row.quantity)
    values[slot: 6] = .integer(row.rank)
    values[slot: 7] = .uuid(row.token)
  }

  /// Reads all eight properties.
  func add(to sum: inout Checksum) {
    sum.add(quantity, rank, addedAt?.timeIntervalSinceReferenceDate ?? 0, price)
    sum.add(code ?? "")
    sum.add(name ?? "")
    sum.add(note ?? "")
    if let token { sum.add(token) }
  }
}
