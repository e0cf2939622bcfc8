import Foundation

/// The one table of value conversions, used wherever an attribute receives a value.
///
/// | attribute type | accepts from programs | also accepts from data |
/// |---|---|---|
/// | `int16 int32 int64` | whole numbers of every type within the range | their text |
/// | `boolean` | Booleans; the numbers 0 and 1 | `true`, `yes`, `t`, `y`, `1` and their opposites |
/// | `double float` | numbers whose integer part it holds exactly; fractions are rounded | text of numbers |
/// | `decimal` | whole numbers; floating-point numbers by their shortest text | text of numbers of up to 38 digits |
/// | `string` | strings | numbers, Booleans, URLs and UUIDs, as text |
/// | `date` | dates | text in the `dateFormat` or in ISO 8601; numbers of seconds since 1970 |
/// | `binary` | data, arrays of bytes | base64 text |
/// | `uuid` | UUIDs | their text |
/// | `uri` | URLs and strings | |
/// | `objectID` | object identifiers | |
/// | `transformable` | its bytes | |
/// | `undefined` | every value | |
///
/// As a number, a Boolean is 1 or 0. Dates of attributes with `isServerTimestamp` are rounded to microseconds. Values
/// are otherwise never rounded, truncated or dropped: a value without an equal in the attribute's type is rejected.
///
/// *Programs* are `setValue`, subscripts, batches, defaults and `validateValue`; *data* are imports from dictionaries
/// and JSON, whose values are mostly strings. Values that both accept are converted in the same way.
package struct ValueConversion {
  package let attribute: AttributeDescription
  let place: PersistenceError.Place
  let source: Source

  package enum Source: Sendable, CaseIterable { case program, data }

  package init(_ attribute: AttributeDescription, at place: PersistenceError.Place, from source: Source = .program) {
    self.attribute = attribute
    self.place = place
    self.source = source
  }

  /// The reason why a value is rejected.
  enum Refusal: Error, Equatable {
    /// The attribute doesn't accept values of this kind.
    case kind
    /// The number is outside a range.
    case range(String)
    /// The type would have to round or truncate the number.
    case digits
  }

  /// - Throws: ``PersistenceError/Code/typeMismatch`` with the value and the attribute.
  package func stored(_ value: Any?) throws -> StoredValue {
    if let given = GivenValue(value) { return try stored(given) }
    let type = value.map { "\(Swift.type(of: $0))" } ?? "nil"
    throw PersistenceError(
      .typeMismatch, at: place,
      "'\(attribute.name)' is of type \(attribute.type.rawValue) and can't hold a value of type \(type).",
      fix: "Give it a value of its type.")
  }

  /// - Throws: ``PersistenceError/Code/typeMismatch`` with the value and the attribute.
  package func stored(_ given: GivenValue) throws -> StoredValue {
    do throws(Refusal) {
      return try converted(given)
    } catch {
      throw describe(error, given)
    }
  }

  func converted(_ given: GivenValue) throws(Refusal) -> StoredValue {
    if given.isNull { return .null }
    switch attribute.type {
    case .int16, .int32, .int64: return .integer(try whole(given))
    case .boolean: return .boolean(try truth(given))
    case .double: return .double(try double(given))
    // A float's column is eight bytes wide; digits beyond a float's precision mustn't be returned.
    case .float: return .double(Double(try float(given)))
    case .decimal: return .decimal(try decimal(given))
    case .string: return .string(try text(given))
    case .uri: return .uri(try uri(given))
    case .date:
      let date = try date(given)
      return .date(attribute.roundsDates ? date.roundedToMicroseconds : date)
    case .uuid: return .uuid(try uuid(given))
    case .binary: return .data(try data(given))
    case .transformable: if case .value(.data) = given { return try own(given) }
    case .objectID: if case .value(.objectID) = given { return try own(given) }
    case .composite: if case .value(.composite) = given { return try own(given) }
    case .undefined:
      if case .float(let number) = given { return .double(Double(number)) }
      return try own(given)
    }
    throw .kind
  }

  private func own(_ given: GivenValue) throws(Refusal) -> StoredValue {
    guard case .value(let value) = given else { throw .kind }
    return value
  }

  private func describe(_ refusal: Refusal, _ given: GivenValue) -> PersistenceError {
    let (name, type) = (attribute.name, attribute.type.rawValue)
    switch refusal {
    case .kind:
      let format = attribute.type == .date ? attribute.userInfo["dateFormat"] : nil
      return PersistenceError(
        .typeMismatch, at: place, "'\(name)' is of type \(type) and can't hold \(given).",
        fix: format.map { "Its dateFormat is '\($0)'." } ?? "Give it a value of its type.")
    case .range(let range):
      return PersistenceError(
        .typeMismatch, at: place, "\(given) doesn't fit into the type \(type) of '\(name)'.",
        fix: "Give it a number from \(range), or give the attribute a larger type.")
    case .digits:
      return PersistenceError(
        .typeMismatch, at: place,
        "\(given) would lose digits in the type \(type) of '\(name)'.",
        fix: "Round it first, or give the attribute a type that holds it, such as decimal.")
    }
  }
}
