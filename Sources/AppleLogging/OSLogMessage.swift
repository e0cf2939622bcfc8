// The names of Apple's modules os and OSLog that code bases use for logging. The source pass imports this module in the
// place of theirs.
#if !canImport(os)
  import Foundation

  /// The visibility of a value in the log. Everything is visible here.
  public struct OSLogPrivacy: Sendable {
    private init() {}

    /// The ways to mask a hidden value.
    public enum Mask: Sendable {
      /// A hash of the value.
      case hash
      /// Nothing.
      case none
    }

    /// Visible.
    public static let `public` = Self()
    /// Hidden on Apple's platforms.
    public static let `private` = Self()
    /// Hidden on Apple's platforms.
    public static let sensitive = Self()
    /// Visible for numbers.
    public static let auto = Self()
    /// Hidden on Apple's platforms, with a hash to compare.
    public static func `private`(mask: Mask) -> Self { Self() }
    /// Hidden on Apple's platforms, with a hash to compare.
    public static func sensitive(mask: Mask) -> Self { Self() }
    /// Visible for numbers.
    public static func auto(mask: Mask) -> Self { Self() }
  }

  /// The width of a value in the log.
  public struct OSLogStringAlignment: Sendable {
    fileprivate var columns = 0
    fileprivate var isLeft = false

    /// As wide as the value.
    public static let none = Self()
    /// At least as wide as a number of columns, with the value on the right.
    public static func right(columns: @autoclosure () -> Int) -> Self { Self(columns: columns()) }
    /// At least as wide as a number of columns, with the value on the left.
    public static func left(columns: @autoclosure () -> Int) -> Self { Self(columns: columns(), isLeft: true) }

    fileprivate func aligned(_ text: String) -> String {
      let spaces = String(repeating: " ", count: max(0, columns - text.count))
      return isLeft ? text + spaces : spaces + text
    }
  }

  /// The form of an integer in the log.
  public struct OSLogIntegerFormatting: Sendable {
    fileprivate var radix = 10
    fileprivate var isUppercase = false

    /// Decimal digits.
    public static let decimal = Self()
    /// Hexadecimal digits.
    public static let hex = Self(radix: 16)
    /// Octal digits.
    public static let octal = Self(radix: 8)
    /// Hexadecimal digits.
    public static func hex(uppercase: Bool) -> Self { Self(radix: 16, isUppercase: uppercase) }
  }

  /// The form of a floating-point number in the log.
  public struct OSLogFloatFormatting: Sendable {
    fileprivate var precision: Int?

    /// Six digits behind the point.
    public static let fixed = Self(precision: 6)
    /// As many digits as necessary.
    public static let hybrid = Self()
    /// A number of digits behind the point.
    public static func fixed(precision: @autoclosure () -> Int) -> Self { Self(precision: precision()) }
  }

  /// A message with values.
  public struct OSLogMessage: ExpressibleByStringInterpolation, CustomStringConvertible, Sendable {
    /// The text.
    public let description: String

    /// Creates a message without values.
    public init(stringLiteral value: String) { description = value }
    /// Creates a message with values.
    public init(stringInterpolation interpolation: OSLogInterpolation) { description = interpolation.text }
  }

  /// The text of a message while values are inserted.
  public struct OSLogInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    /// Begins an empty text.
    public init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    /// Appends a part of the literal.
    public mutating func appendLiteral(_ literal: String) { text += literal }

    /// Appends a value.
    public mutating func appendInterpolation(
      _ value: @autoclosure () -> some Any, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
      text += align.aligned("\(value())")
    }

    /// Appends an optional value, as text does.
    public mutating func appendInterpolation<Value>(
      _ value: @autoclosure () -> Value?, align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
      text += align.aligned(value().map { "\($0)" } ?? "nil")
    }

    /// Appends an integer in a form.
    public mutating func appendInterpolation(
      _ value: @autoclosure () -> some FixedWidthInteger, format: OSLogIntegerFormatting,
      align: OSLogStringAlignment = .none, privacy: OSLogPrivacy = .auto
    ) {
      text += align.aligned(String(value(), radix: format.radix, uppercase: format.isUppercase))
    }

    /// Appends a floating-point number in a form.
    public mutating func appendInterpolation(
      _ value: @autoclosure () -> Double, format: OSLogFloatFormatting, align: OSLogStringAlignment = .none,
      privacy: OSLogPrivacy = .auto
    ) {
      let number = value()
      text += align.aligned(format.precision.map { String(format: "%.\($0)f", number) } ?? "\(number)")
    }
  }
#endif
