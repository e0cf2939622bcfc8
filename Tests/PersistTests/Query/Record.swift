import Foundation

@testable public import PersistModel

/// An object made from a dictionary, for evaluating predicates.
final class Record: KeyedObject {
  private static let entity = "Record"
  private let key: Int64
  var values: [String: FetchValue]

  init(_ values: [String: FetchValue] = [:], key: Int64 = .random(in: 1...Int64.max)) {
    self.key = key
    self.values = values
  }

  var fetchIdentity: StoredValue {
    .objectID(ManagedObjectID(entityName: Self.entity, storeIdentifier: "R", key: .permanent(key)))
  }
  var fetchEntityName: String? { Self.entity }

  func fetchValue(forKey key: String) throws -> FetchValue {
    if let value = values[key] { return value }
    throw PersistenceError(.unknownProperty, at: .property(Self.entity, key), "A record has no '\(key)'.")
  }
}

extension FetchValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral
{
  public init(integerLiteral value: Int64) { self = .value(.integer(value)) }
  public init(floatLiteral value: Double) { self = .value(.double(value)) }
  public init(stringLiteral value: String) { self = .value(.string(value)) }
  public init(booleanLiteral value: Bool) { self = .value(.boolean(value)) }
  public init(nilLiteral: ()) { self = .null }
  public init(arrayLiteral elements: FetchValue...) { self = .collection(elements) }
}
