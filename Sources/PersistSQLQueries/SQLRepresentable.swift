public import Foundation
public import Persist

/// A Swift type whose values can be interpolated into an ``SQLRequest`` and read from its rows.
///
/// All integers except `UInt` and `UInt64`, `Double`, `Float`, `Bool`, `String`, `Date`, `Data`, `UUID`, `URL`,
/// `Decimal` conform, optionals of all of them, and enumerations with such raw values that declare it.
public protocol SQLRepresentable {
  /// The value in a store's terms.
  var storedValue: StoredValue { get }
  /// Creates a value from a column of a row; nil if it has another type, or doesn't fit.
  init?(sql value: SQLValue)
}

extension SQLRepresentable where Self: BinaryInteger {
  /// An integer.
  public var storedValue: StoredValue { .integer(Int64(clamping: self)) }
  /// Creates an integer; nil if the number is too large for the type, or has a fraction.
  public init?(sql value: SQLValue) {
    switch value {
    case .integer(let number): self.init(exactly: number)
    case .double(let number): self.init(exactly: number)
    case .null, .text, .blob: return nil
    }
  }
}

extension Int: SQLRepresentable {}
extension Int64: SQLRepresentable {}
extension Int32: SQLRepresentable {}
extension Int16: SQLRepresentable {}
extension Int8: SQLRepresentable {}
extension UInt32: SQLRepresentable {}
extension UInt16: SQLRepresentable {}
extension UInt8: SQLRepresentable {}

extension Double: SQLRepresentable {
  /// A floating-point number.
  public var storedValue: StoredValue { .double(self) }
  /// Creates a number from any numeric column.
  public init?(sql value: SQLValue) {
    guard let number = value.doubleValue else { return nil }
    self = number
  }
}

extension Float: SQLRepresentable {
  /// A floating-point number.
  public var storedValue: StoredValue { .double(Double(self)) }
  /// Creates a number from any numeric column, rounded.
  public init?(sql value: SQLValue) {
    guard let number = value.doubleValue else { return nil }
    self.init(number)
  }
}

extension Bool: SQLRepresentable {
  /// A Boolean.
  public var storedValue: StoredValue { .boolean(self) }
  /// Creates a Boolean from 0 or 1.
  public init?(sql value: SQLValue) {
    switch value {
    case .integer(0): self = false
    case .integer(1): self = true
    default: return nil
    }
  }
}

extension String: SQLRepresentable {
  /// A text.
  public var storedValue: StoredValue { .string(self) }
  /// Creates a text from a text column.
  public init?(sql value: SQLValue) {
    guard let text = value.stringValue else { return nil }
    self = text
  }
}

extension Date: SQLRepresentable {
  /// A date.
  public var storedValue: StoredValue { .date(self) }
  /// Creates a date from seconds since 2001-01-01 00:00 UTC.
  public init?(sql value: SQLValue) {
    guard let seconds = value.doubleValue else { return nil }
    self.init(timeIntervalSinceReferenceDate: seconds)
  }
}

extension Data: SQLRepresentable {
  /// Bytes.
  public var storedValue: StoredValue { .data(self) }
  /// Creates bytes from a column of bytes; on a server, which writes them as text, from `\\x` and hexadecimal digits.
  public init?(sql value: SQLValue) {
    switch value {
    case .blob(let data): self = data
    case .text(let text) where text.hasPrefix("\\x"):
      let digits = text.dropFirst(2).compactMap(\.hexDigitValue)
      guard digits.count == text.count - 2, digits.count.isMultiple(of: 2) else { return nil }
      self.init(stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    default: return nil
    }
  }
}

extension UUID: SQLRepresentable {
  /// A UUID.
  public var storedValue: StoredValue { .uuid(self) }
  /// Creates a UUID from 16 bytes, or from a text in the usual form.
  public init?(sql value: SQLValue) {
    switch value {
    case .blob(let bytes) where bytes.count == 16:
      self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    case .text(let text): self.init(uuidString: text)
    default: return nil
    }
  }
}

extension URL: SQLRepresentable {
  /// The absolute text of the URL.
  public var storedValue: StoredValue { .uri(absoluteString) }
  /// Creates a URL from a text; nil if it isn't one.
  public init?(sql value: SQLValue) {
    guard let text = value.stringValue else { return nil }
    self.init(string: text)
  }
}

extension Decimal: SQLRepresentable {
  /// A decimal number.
  public var storedValue: StoredValue { .decimal(self) }
  /// Creates a number from a numeric column, or from its digits.
  public init?(sql value: SQLValue) {
    switch value {
    case .integer(let number): self.init(number)
    case .double(let number): self.init(string: number.description)
    case .text(let text): self.init(string: text)
    case .null, .blob: return nil
    }
  }
}

extension SQLRepresentable where Self: RawRepresentable, RawValue: SQLRepresentable {
  /// The raw value.
  public var storedValue: StoredValue { rawValue.storedValue }
  /// Creates the case of a raw value; nil if there is none.
  public init?(sql value: SQLValue) {
    guard let raw = RawValue(sql: value) else { return nil }
    self.init(rawValue: raw)
  }
}

extension Optional: SQLRepresentable where Wrapped: SQLRepresentable {
  /// The value, or null.
  public var storedValue: StoredValue { self?.storedValue ?? .null }
  /// Creates nil from null; fails for a value that isn't of the wrapped type.
  public init?(sql value: SQLValue) {
    if case .null = value {
      self = .none
    } else {
      guard let wrapped = Wrapped(sql: value) else { return nil }
      self = .some(wrapped)
    }
  }
}
