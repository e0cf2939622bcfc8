public import Foundation

/// The changes of one transaction, in a form that another store of the same model can apply: see ``HistoryExchange``.
///
/// It contains the values after the transaction, with the times at which they were set. It can be encoded as JSON, and
/// sent in any way.
public struct HistoryChangeSet: Sendable, Hashable, Codable {
  /// The UUID of the store that was changed.
  public let storeID: String
  /// The number of the transaction in that store.
  public let transactionNumber: Int64
  /// The time of the transaction.
  public let timestamp: Date
  /// The author of the transaction.
  public let author: String?
  let changes: [ObjectChange]

  /// The position after the transaction in the history of its store.
  public var token: HistoryToken { HistoryToken(storeIdentifier: storeID, transactionNumber: transactionNumber) }

  /// The state of one object.
  struct ObjectChange: Sendable, Hashable, Codable {
    let entity: String
    let identity: String
    /// The time of the deletion; nil for an object that exists.
    var deletion: Clock?
    /// Whether all values are included.
    var isWhole = false
    var values: [String: Value] = [:]
    /// By relationship and the member's identity.
    var members: [String: [String: Member]] = [:]
  }

  /// The time at which a value was set.
  struct Clock: Sendable, Hashable, Codable {
    let time: Double
    let store: String

    init(_ clock: ExchangeClock) { (time, store) = (clock.time, clock.store) }

    var clock: ExchangeClock { ExchangeClock(time: time, store: store) }
  }

  /// The value of an attribute, or the identity of a to-one relationship's destination; nil for none.
  struct Value: Sendable, Hashable, Codable {
    let clock: Clock
    var value: PortableValue?
    var reference: String?
  }

  /// Whether an object is a member of a relationship.
  struct Member: Sendable, Hashable, Codable {
    let clock: Clock
    let isPresent: Bool
  }

  /// An attribute's value.
  enum PortableValue: Sendable, Hashable, Codable {
    case boolean(Bool)
    case integer(Int64)
    case double(Double)
    /// The text of a number, which JSON would round.
    case decimal(String)
    case string(String)
    case date(Double)
    case data(Data)
    case uuid(UUID)
    case uri(String)
    indirect case composite([String: PortableValue])

    /// Nil for null and for references.
    init?(_ value: StoredValue) {
      switch value {
      case .null, .objectID: return nil
      case .boolean(let value): self = .boolean(value)
      case .integer(let value): self = .integer(value)
      case .double(let value): self = .double(value)
      case .decimal(let value): self = .decimal(value.description)
      case .string(let value): self = .string(value)
      case .date(let value): self = .date(value.timeIntervalSinceReferenceDate)
      case .data(let value): self = .data(value)
      case .uuid(let value): self = .uuid(value)
      case .uri(let value): self = .uri(value)
      case .composite(let elements): self = .composite(elements.compactMapValues { PortableValue($0) })
      }
    }

    var storedValue: StoredValue {
      switch self {
      case .boolean(let value): .boolean(value)
      case .integer(let value): .integer(value)
      case .double(let value): .double(value)
      case .decimal(let text): Decimal(string: text).map(StoredValue.decimal) ?? .null
      case .string(let value): .string(value)
      case .date(let value): .date(Date(timeIntervalSinceReferenceDate: value))
      case .data(let value): .data(value)
      case .uuid(let value): .uuid(value)
      case .uri(let value): .uri(value)
      case .composite(let elements): .composite(elements.mapValues(\.storedValue))
      }
    }
  }
}
