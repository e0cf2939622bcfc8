import Foundation

/// A value as provided by a program or by data, before its attribute is known. No digits are lost.
package enum GivenValue: Sendable, Equatable {
  case value(StoredValue)
  /// Separate from doubles: the float 0.1 equals the decimal 0.1, but not the double 0.1.
  case float(Float)

  package static let null = GivenValue.value(.null)

  package var isNull: Bool { self == .null }

  /// A value from a program; nil if its type belongs to no attribute, such as a list.
  ///
  /// Foundation's classes are accepted on every platform: `NSNumber` by the type that it was created with,
  /// `NSDecimalNumber`, `NSString`, `NSDate`, `NSData`, `NSUUID`, `NSURL`, and `NSNull` as null.
  package init?(_ value: Any?) {
    guard let value else {
      self = .null
      return
    }
    // This check comes first: with the Objective-C runtime, an NSNumber casts to almost every type.
    if type(of: value) is AnyClass {
      self.init(object: value as AnyObject)
      return
    }
    // The exact type is compared: any empty list casts to bytes, and so does a list of small NSNumbers.
    if type(of: value) == [UInt8].self, let bytes = value as? [UInt8] {
      self = .value(.data(Data(bytes)))
      return
    }
    switch value {
    case let value as StoredValue: self = .value(value)
    case let value as Bool: self = .value(.boolean(value))
    case let value as any BinaryInteger: self.init(integer: value)
    case let value as Float: self = .float(value)
    case let value as any BinaryFloatingPoint: self.init(number: value)
    case let value as Decimal: self = .value(.decimal(value))
    case let value as String: self = .value(.string(value))
    case let value as Substring: self = .value(.string(String(value)))
    case let value as Date: self = .value(.date(value))
    case let value as Data: self = .value(.data(value))
    case let value as UUID: self = .value(.uuid(value))
    case let value as URL: self = .value(.uri(value.absoluteString))
    default:
      let mirror = Mirror(reflecting: value)
      guard mirror.displayStyle == .optional else { return nil }
      self.init(mirror.children.first?.value)
    }
  }

  private init?(object: AnyObject) {
    switch object {
    case is NSNull: self = .null
    case let value as ManagedObjectID: self = .value(.objectID(value))
    case let value as NSNumber: self.init(value)
    case let value as NSString: self = .value(.string(String(value)))
    case let value as NSDate: self = .value(.date(value as Date))
    case let value as NSData: self = .value(.data(value as Data))
    case let value as NSUUID: self = .value(.uuid(value as UUID))
    case let value as NSURL: self = .value(.uri((value as URL).absoluteString))
    default: return nil
    }
  }

  private init(_ number: NSNumber) {
    if let decimal = number as? NSDecimalNumber {
      self = .value(.decimal(decimal.decimalValue))
    } else if type(of: number) == type(of: Self.truth) {
      self = .value(.boolean(number.boolValue))
    } else {
      // The encoding of the C type, see <https://developer.apple.com/documentation/foundation/nsnumber>.
      switch UInt8(bitPattern: number.objCType.pointee) {
      case UInt8(ascii: "f"): self = .float(number.floatValue)
      case UInt8(ascii: "d"): self = .value(.double(number.doubleValue))
      case UInt8(ascii: "Q"), UInt8(ascii: "L"), UInt8(ascii: "I"):
        let value = number.uint64Value
        self = .value(Int64(exactly: value).map(StoredValue.integer) ?? .decimal(Decimal(value)))
      default: self = .value(.integer(number.int64Value))
      }
    }
  }

  /// Booleans have a separate class, on Linux too.
  private static var truth: NSNumber { NSNumber(value: true) }

  /// An integer of 64 bits, or a decimal if it is larger; nil if no attribute can hold it.
  private init?(integer: any BinaryInteger) {
    if let value = Int64(exactly: integer) {
      self = .value(.integer(value))
    } else if let value = Decimal(wholeText: "\(integer)") {
      self = .value(.decimal(value))
    } else {
      return nil
    }
  }

  /// Nil if a double can't represent the number exactly.
  private init?(number: some BinaryFloatingPoint) {
    guard let value = number.isNaN ? Double.nan : Double(exactly: number) else { return nil }
    self = .value(.double(value))
  }
}

extension GivenValue: CustomStringConvertible {
  /// The value as worded in messages.
  package var description: String {
    switch self {
    case .value(let value): value.description
    case .float(let value): ValueWords.number(value)
    }
  }
}
