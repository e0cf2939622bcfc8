/// The sources of the elements of a composite attribute in an old composite attribute: one rule for every way of
/// migrating.
///
/// - An element that existed before keeps its value.
/// - A new element gets its default, unless the value that contains it is missing.
/// - If the attribute becomes required, a missing value, all of whose elements are missing, becomes its default.
struct CompositeMove {
  struct Part {
    let element: Property.Element
    /// The element's path in the composite value.
    let path: [String]
    /// The same element before; nil for a new one.
    let old: Property.Element?
    /// The path of the innermost composite around the element that existed before.
    let enclosing: [String]
  }

  let old: Property
  let parts: [Part]

  init(from old: Property, to new: Property) {
    self.old = old
    parts = new.elements.map { element in
      let path = Array(element.path.dropFirst())
      var enclosing = Array(path.dropLast())
      while !enclosing.isEmpty, !old.elements.contains(where: { $0.path.dropFirst().starts(with: enclosing) }) {
        enclosing.removeLast()
      }
      return Part(
        element: element, path: path, old: old.elements.first { Array($0.path.dropFirst()) == path },
        enclosing: enclosing)
    }
  }

  /// Whether every value has the same form as before.
  var isIdentity: Bool {
    old.elements.count == parts.count && parts.allSatisfy { $0.old?.attribute.type == $0.element.attribute.type }
  }

  /// The old elements of a part of the value; all elements for an empty path.
  private func elements(of path: [String]) -> [Property.Element] {
    old.elements.filter { $0.path.dropFirst().starts(with: path) }
  }

  /// The value of an element's column.
  ///
  /// - Parameters:
  ///   - fill: The replacement for a missing composite value; nil for none.
  ///   - column: The column of an old element; nil if the store doesn't have it.
  ///   - converted: The value of an element that existed before; nil if SQL has no equivalent.
  /// - Returns: nil if SQL has no equivalent.
  func expression(
    of part: Part, filling fill: StoredValue?, column: (Property.Element) -> String?,
    converted: (Property.Element) -> RowExpression?
  ) -> RowExpression? {
    let attribute = part.element.attribute
    func columns(_ path: [String]) -> [String] { elements(of: path).compactMap(column) }
    var value: RowExpression
    if let old = part.old {
      guard let own = converted(old) else { return nil }
      value = own
    } else {
      value = .constant(SQLValue(attribute.defaultValue, of: attribute) ?? .null)
      if value != .constant(.null) { value = .ifPresent(columns(part.enclosing), value, otherwise: .null) }
    }
    guard let fill else { return value }
    let replacement = SQLValue(fill.element(at: part.path), of: attribute) ?? .null
    return .ifPresent(columns([]), value, otherwise: replacement)
  }

  /// The columns of the old composite value, all of which are null if it is missing.
  func columns(_ column: (Property.Element) -> String?) -> [String] { elements(of: []).compactMap(column) }

  /// The new composite value.
  ///
  /// - Parameters:
  ///   - value: The old one.
  ///   - fill: The replacement for a missing value; nil for none.
  ///   - converted: Converts the value of an element that existed before.
  func value(
    of value: StoredValue, filling fill: StoredValue?, converted: (StoredValue, Property.Element) throws -> StoredValue
  ) rethrows -> StoredValue {
    guard elements(of: []).contains(where: { !value.element(at: $0.path.dropFirst()).isNull }) else {
      return fill ?? .null
    }
    return try parts.reduce(into: StoredValue.composite([:])) { result, part in
      let element: StoredValue
      if part.old != nil {
        element = try converted(value.element(at: part.path), part.element)
      } else {
        let isPresent = elements(of: part.enclosing).contains { !value.element(at: $0.path.dropFirst()).isNull }
        element = isPresent ? part.element.attribute.defaultValue : .null
      }
      if !element.isNull { result = result.replacing(part.path[...], with: element) }
    }
  }
}
