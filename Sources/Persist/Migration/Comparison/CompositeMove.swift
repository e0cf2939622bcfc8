/// The sources of the elements of a composite attribute in an old composite attribute: one rule for every way of
/// migrating.
///
/// - An element that existed before keeps its value, also under a new name.
/// - A new element gets its default, unless the value that contains it is missing. An element that becomes required
///   gets it where it is missing.
/// - If the attribute becomes required, a missing value, all of whose elements are missing, becomes its default.
struct CompositeMove {
  struct Part {
    let element: Property.Element
    /// The element's path in the composite value.
    let path: [String]
    /// The same element before; nil for a new one.
    let old: Property.Element?
    /// The value that replaces a missing one if the value that contains it exists.
    let fill: StoredValue
    /// The path of the innermost composite around the element that existed before.
    let enclosing: [String]
  }

  let old: Property
  let parts: [Part]
  /// Whether the attribute has a value in every row: one all of whose elements are missing counts as one.
  private let isAlwaysPresent: Bool

  init(from old: Property, to new: Property) {
    self.old = old
    isAlwaysPresent =
      old.attribute?.isOptional == false && new.attribute?.isOptional == false && old.allowsNoElements
    let former = new.formerElements(in: old)
    parts = new.elements.map { element in
      let path = Array(element.path.dropFirst())
      var enclosing = Array(path.dropLast())
      while !enclosing.isEmpty, !old.elements.contains(where: { $0.path.dropFirst().starts(with: enclosing) }) {
        enclosing.removeLast()
      }
      let before = former[element.slot]
      let isFilled = before.map { $0.attribute.isOptional && !element.attribute.isOptional } ?? true
      if let before { enclosing = Array(before.path.dropFirst().dropLast()) }
      return Part(
        element: element, path: path, old: before, fill: isFilled ? element.attribute.defaultValue : .null,
        enclosing: enclosing)
    }
  }

  /// Whether every value has the same form as before.
  var isIdentity: Bool {
    old.elements.count == parts.count
      && parts.allSatisfy { part in
        part.old.map { $0.path.dropFirst().elementsEqual(part.path) } == true
          && part.old?.attribute.type == part.element.attribute.type && part.fill.isNull
      }
  }

  /// Whether the value that contains a part is never missing.
  private func isPresent(_ part: Part) -> Bool { isAlwaysPresent && part.enclosing.isEmpty }

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
    var value = RowExpression.constant(.null)
    if let old = part.old {
      guard let own = converted(old) else { return nil }
      value = own
    }
    let standard = SQLValue(part.fill, of: attribute) ?? .null
    if standard != .null {
      value = value == .constant(.null) ? .constant(standard) : .filled(value, with: standard)
      if !isPresent(part) { value = .ifPresent(columns(part.enclosing), value, otherwise: .null) }
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
  dynamic func value(
    of value: StoredValue, filling fill: StoredValue?, converted: (StoredValue, Property.Element) throws -> StoredValue
  ) rethrows -> StoredValue {
    let isMissing = !elements(of: []).contains { !value.element(at: $0.path.dropFirst()).isNull }
    if isMissing, !isAlwaysPresent || fill != nil { return fill ?? .null }
    return try parts.reduce(into: StoredValue.composite(Dictionary())) { result, part in
      var element = StoredValue.null
      if let old = part.old { element = try converted(value.element(at: old.path.dropFirst()), part.element) }
      if element.isNull, !part.fill.isNull {
        let isPresent = isPresent(part)
          || elements(of: part.enclosing).contains { !value.element(at: $0.path.dropFirst()).isNull }
        if isPresent { element = part.fill }
      }
      if !element.isNull { result = result.replacing(part.path[...], with: element) }
    }
  }
}
