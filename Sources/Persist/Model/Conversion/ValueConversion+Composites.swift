import Foundation

extension ValueConversion {
  /// Converts a value for a composite attribute: a dictionary with values for its elements, nested like them.
  ///
  /// - Throws: ``PersistenceError/Code/typeMismatch``, ``PersistenceError/Code/unknownProperty`` for an element that
  ///   the composite doesn't have.
  package func stored(_ value: Any?, elements: [Property.Element]) throws -> StoredValue {
    if GivenValue(value)?.isNull == true { return .null }
    guard let parts = Self.parts(value) else {
      throw PersistenceError(
        .typeMismatch, at: place,
        "'\(attribute.name)' is composite and can't hold a value of type \(value.map { "\(type(of: $0))" } ?? "nil").",
        fix: "Give it a dictionary with values for its elements.")
    }
    return .composite(try composite(parts, below: [attribute.name], elements: elements))
  }

  private static func parts(_ value: Any?) -> [String: Any?]? {
    if case .value(.composite(let parts))? = GivenValue(value) { return parts }
    return value as? [String: Any] ?? value as? [String: Any?]
  }

  private func composite(
    _ parts: [String: Any?], below path: [String], elements: [Property.Element]
  ) throws -> [String: StoredValue] {
    try parts.reduce(into: Dictionary()) { result, part in
      let inner = path + [part.key]
      if let element = elements.first(where: { $0.path == inner }) {
        result[part.key] = try ValueConversion(element.attribute, at: place, from: source).stored(part.value)
      } else if let nested = Self.parts(part.value), elements.contains(where: { $0.path.starts(with: inner) }) {
        result[part.key] = .composite(try composite(nested, below: inner, elements: elements))
      } else {
        let names = elements.map { $0.path.dropFirst().joined(separator: ".") }
        throw PersistenceError(
          .unknownProperty, at: place, "The composite '\(attribute.name)' has no element '\(part.key)'.",
          fix: "Its elements are \(names.joined(separator: ", ")).")
      }
    }
  }
}
