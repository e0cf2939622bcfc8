import Foundation

/// Finds values that an attribute's column can't hold: NaN, which SQLite stores as null, integers outside the
/// attribute's range, and values of another type.
struct ColumnCheck: Sendable {
  let name: String
  /// The elements of a composite, each with its path; for any other attribute, the attribute itself with an empty path.
  private let columns: [(path: [String], column: Column)]

  /// The part of a property's check that nearly all values pass, without reference counting.
  struct Quick: Sendable {
    /// Nil for a property without a column of its own, and for a composite.
    private let column: Column?
    /// Whether the property has no column that its value must fit.
    private let isExempt: Bool

    init(_ property: Property) {
      guard let attribute = property.attribute, !attribute.isTransient else {
        (column, isExempt) = (nil, true)
        return
      }
      (column, isExempt) = (attribute.type == .composite ? nil : Column(attribute), false)
    }

    /// Whether the column can certainly hold a value; if false, ``ColumnCheck/problem(with:of:)`` decides.
    @inline(__always)
    func holds(_ value: borrowing StoredValue) -> Bool {
      if isExempt { return true }
      guard let column else { return false }
      return column.holds(copy value)
    }
  }

  fileprivate struct Column: Sendable {
    let form: SlotForm
    let type: AttributeType
    let range: ClosedRange<Int64>

    init(_ attribute: AttributeDescription) {
      form = SlotForm(attribute)
      type = attribute.type
      range = attribute.type.integerRange
    }
  }

  /// Returns nil for a property without a column of its own.
  init?(_ property: Property) {
    guard let attribute = property.attribute, !attribute.isTransient else { return nil }
    name = property.name
    columns =
      attribute.type == .composite
      ? property.elements.map { (Array($0.path.dropFirst()), Column($0.attribute)) } : [([], Column(attribute))]
  }

  /// The problem with a value, or nil if the column can hold it.
  func problem(with value: StoredValue, of entity: String) -> PersistenceError? {
    for (path, column) in columns {
      let part = path.isEmpty ? value : value.element(at: path)
      if column.holds(part) { continue }
      let full = ([name] + path).joined(separator: ".")
      return column.refusal(of: part, full, at: .property(entity, name))
        .withFailure(ValidationFailure(key: name, value: value))
    }
    return nil
  }
}

extension ColumnCheck.Column {
  @inline(__always)
  fileprivate func holds(_ value: StoredValue) -> Bool {
    switch form {
    case .integer: if case .integer(let number) = value { return range.contains(number) }
    case .double: if case .double(let number) = value { return !number.isNaN }
    case .date: if case .date(let date) = value { return !date.timeIntervalSinceReferenceDate.isNaN }
    case .decimal: if case .decimal(let number) = value { return !number.isNaN }
    case .boolean: if case .boolean = value { return true }
    case .string: if case .string = value { return true }
    case .uri: if case .uri = value { return true }
    case .uuid: if case .uuid = value { return true }
    case .data, .externalData: if case .data = value { return true }
    // A type without a column of its own is a flaw in the model, and reported there.
    case .none: return true
    }
    return value.isNull
  }

  fileprivate func refusal(
    of value: StoredValue, _ name: String, at place: PersistenceError.Place
  ) -> PersistenceError {
    switch (form, value) {
    case (.integer, .integer(let number)): type.outOfRange(number, name, at: place)
    case (.double, .double), (.date, .date), (.decimal, .decimal):
      PersistenceError(
        .validationRule, at: place, "\(name) is NaN, which a column of type \(type.rawValue) can't hold.",
        fix: "Give it a number, or nil if the attribute is optional.")
    default:
      PersistenceError(
        .validationRule, at: place,
        "\(name) is of type \(type.rawValue) and can't hold \(value), which is \(value.kind).",
        fix: "Give it a value of its type.")
    }
  }
}
