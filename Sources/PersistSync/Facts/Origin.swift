import Foundation
import Persist

/// The place and time of an object's creation before the first synchronization of its store.
///
/// Copies of one store agree on it, so that one in which the object was deleted recognizes it. An object that is
/// identified by its creation has it in its identity, as long as the history tells the time. All other objects have a
/// fact with it.
struct Origin: Sendable, Hashable {
  enum Time: Sendable, Hashable {
    /// The time of the transaction that inserted the row, in seconds since 2001.
    case created(Double)
    /// The row is older than the history, whose first transaction has this time; nil if it isn't known. If two copies
    /// have the same first transaction, they were made after it, and share all older rows.
    case beforeHistory(since: Double?)

    /// Whether rows with equal keys in two copies of a store are the same one for sure.
    func proves(_ other: Time) -> Bool { self == other && self != .beforeHistory(since: nil) }
  }

  /// The oldest name of the entity in whose table the row was.
  let root: String
  let key: Int64
  let time: Time

  /// The model of the facts, which doesn't exist, so that they have no place in any.
  private static let model = ModelTag(number: 0)

  /// The property of facts about origins in a table of a store.
  static func property(ofRowsIn root: String, store: String) -> PropertyName {
    PropertyName(model: model, entity: root, name: store)
  }

  /// The content of that fact.
  var content: Data {
    var writer = ByteWriter()
    writer.originTime(time)
    writer.number(UInt64(bitPattern: key))
    return PortableValue.bytes(.data(writer.data))
  }

  /// The origin by a fact; nil for a fact about something else or another store.
  init?(_ head: FactHead?, _ content: PortableValue.Content, inStore store: String) {
    guard case .value(let property)? = head, property.model == Self.model, property.name == store,
      case .value(.data(let data)) = content
    else { return nil }
    var reader = ByteReader(data)
    guard let time = try? reader.originTime(), let key = try? reader.number(), reader.isAtEnd else { return nil }
    self.init(root: property.entity, key: Int64(bitPattern: key), time: time)
  }

  init(root: String, key: Int64, time: Time) { (self.root, self.key, self.time) = (root, key, time) }

  /// Whether facts with a head are about origins in a store.
  static func isOrigin(_ head: FactHead?, inStore store: String) -> Bool {
    if case .value(let property)? = head { property.model == model && property.name == store } else { false }
  }
}

extension ByteWriter {
  mutating func originTime(_ time: Origin.Time) {
    switch time {
    case .created(let seconds):
      byte(0)
      fixed(seconds.bitPattern)
    case .beforeHistory(let seconds?):
      byte(1)
      fixed(seconds.bitPattern)
    case .beforeHistory(nil): byte(2)
    }
  }
}

extension ByteReader {
  mutating func originTime() throws -> Origin.Time {
    switch try byte() {
    case 0: .created(Double(bitPattern: try fixed64()))
    case 1: .beforeHistory(since: Double(bitPattern: try fixed64()))
    default: .beforeHistory(since: nil)
    }
  }
}
