import Foundation
import Persist

/// Parts of composite attributes.
extension TypedExpression where Value: CompositeValue {
  /// A part of the composite value.
  ///
  /// Traps if the part can't be identified, for example because its type treats all values as equal.
  public subscript<Part>(
    dynamicMember keyPath: any KeyPath<Value, Part> & Sendable
  ) -> TypedExpression<Root, Part> {
    TypedExpression<Root, Part>(.path(of: expression, [CompositeParts.name(of: keyPath)]))
  }

  /// An optional part of the composite value.
  public subscript<Part>(
    dynamicMember keyPath: any KeyPath<Value, Part?> & Sendable
  ) -> TypedExpression<Root, Part> {
    TypedExpression<Root, Part>(.path(of: expression, [CompositeParts.name(of: keyPath)]))
  }
}

/// Identifies the part of a composite type that a key path reads: the only part whose value affects the key path's
/// value.
enum CompositeParts {
  private static let known = Guarded<[KeyPathReference: String]>([:])

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

  /// Distinct stored values from which instances of a type can be created.
  private static func samples(of type: any StorableValue.Type) -> [StoredValue] {
    if let cases = (type as? any CaseIterable.Type).map(allValues) { return cases }
    if let composite = type as? any CompositeValue.Type { return samples(ofParts: composite) }
    return switch type.attributeType {
    case .int16, .int32, .int64: [.integer(1), .integer(2)]
    case .boolean: [.boolean(true), .boolean(false)]
    case .double, .float: [.double(1), .double(2)]
    case .decimal: [.decimal(1), .decimal(2)]
    case .string: [.string("a"), .string("b")]
    case .date: [.date(Date(timeIntervalSinceReferenceDate: 1)), .date(Date(timeIntervalSinceReferenceDate: 2))]
    case .binary: [.data(Data([1])), .data(Data([2]))]
    case .uuid: [.uuid(UUID()), .uuid(UUID())]
    case .uri: [.uri("a:b"), .uri("c:d")]
    default: []
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
