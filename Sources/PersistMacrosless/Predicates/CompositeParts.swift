import Foundation
import Persist

/// Identifies the part of a composite type that a key path reads: the only part whose value affects the key path's
/// value.
enum CompositeParts {
  private static let known = LockProtected<[KeyPathReference: String]>([:])

  /// Returns the name of the part that a key path of the composite type reads; traps if it reads none or several.
  static func name<Value: CompositeValue>(of keyPath: any PartialKeyPath<Value> & Sendable) -> String {
    let reference = KeyPathReference(keyPath)
    if let name = known.withLock({ $0[reference] }) { return name }
    let names = ((try? Value.elements()) ?? []).filter { isRead($0, by: keyPath) }.map(\.name)
    guard let name = names.first, names.count == 1 else {
      preconditionFailure(
        "\(keyPath) doesn't lead to one part of \(Value.self): name the part in a format string, as in 'address.city'.")
    }
    known.withLock { $0[reference] = name }
    return name
  }

  private static func isRead<Value: CompositeValue>(
    _ element: CompositeElement, by keyPath: PartialKeyPath<Value>
  ) -> Bool {
    guard case .composite(let parts) = Value().stored else { return false }
    let given = samples(of: element.type).compactMap { sample in
      Value(stored: .composite(parts.merging([element.name: sample]) { $1 })).map {
        String(reflecting: $0[keyPath: keyPath])
      }
    }
    return Set(given).count > 1
  }

  /// Returns the names that lead to the innermost part that is read.
  ///
  /// - Parameter reading: Returns what is read from a value of the composite type.
  /// - Returns: Nil if no part or several parts are read, or if the value is computed from a part.
  static func path(in type: any CompositeValue.Type, reading: (StoredValue) -> Any?) -> [String]? {
    var found: [String]?
    for leaf in (try? type.leaves()) ?? [] {
      let results = samples(of: leaf.type).compactMap { sample -> (sample: StoredValue, result: Any?)? in
        let whole = type.init().stored.replacing(leaf.path[...], with: sample)
        return type.init(stored: whole) == nil ? nil : (sample, reading(whole))
      }
      guard Set(results.map { String(reflecting: $0.result) }).count > 1 else { continue }
      guard found == nil, results.allSatisfy({ stored($0.result) == $0.sample }) else { return nil }
      found = leaf.path
    }
    return found
  }

  private static func stored(_ value: Any?) -> StoredValue? { (value as? any StorableValue)?.stored }

  /// Distinct stored values from which instances of a type can be created.
  private static func samples(of type: any StorableValue.Type) -> [StoredValue] {
    if let cases = (type.wrappedType as? any CaseIterable.Type).map(allValues) { return cases }
    if let composite = type.wrappedType as? any CompositeValue.Type { return samples(ofParts: composite) }
    // Negative numbers are included because they differ from their magnitudes. Data values differ in length, because
    // that is all that their descriptions contain.
    return switch type.attributeType {
    case .int16, .int32, .int64: [.integer(1), .integer(2), .integer(-2)]
    case .boolean: [.boolean(true), .boolean(false)]
    case .double, .float: [.double(1), .double(-2)]
    case .decimal: [.decimal(1), .decimal(-2)]
    case .string: [.string("a"), .string("b")]
    case .date: [.date(Date(timeIntervalSinceReferenceDate: 1)), .date(Date(timeIntervalSinceReferenceDate: 2))]
    case .binary: [.data(Data([1])), .data(Data([1, 2]))]
    case .uuid: [.uuid(UUID()), .uuid(UUID())]
    case .uri: [.uri("a:b"), .uri("c:d")]
    case .transformable, .composite, .objectID, .undefined: []
    }
  }

  private static func samples(ofParts type: any CompositeValue.Type) -> [StoredValue] {
    guard let first = try? type.elements().first else { return [] }
    return samples(of: first.type).map { .composite([first.name: $0]) }
  }

  private static func allValues(of type: any CaseIterable.Type) -> [StoredValue] {
    func values<Cases: CaseIterable>(of type: Cases.Type) -> [StoredValue] {
      type.allCases.compactMap { ($0 as? any StorableValue)?.stored }
    }
    return values(of: type)
  }
}
