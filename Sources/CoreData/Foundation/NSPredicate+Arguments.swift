public import Foundation
import Persist

/// Objects are arguments of format strings, as on Apple's platforms.
extension NSObject: @retroactive CVarArg {
  /// The object's address. The list of arguments must not outlive the object.
  public var _cVarArgEncoding: [Int] { [Int(bitPattern: Unmanaged.passUnretained(self).toOpaque())] }
}

/// The arguments of a format string, for initializers that take a list.
///
/// On Apple's platforms it is C's list.
public struct ManagedArgumentList {
  fileprivate let values: [any CVarArg]
}

/// Returns a list of arguments for a format string.
public func getVaList(_ arguments: [any CVarArg]) -> ManagedArgumentList { ManagedArgumentList(values: arguments) }

extension NSPredicate {
  /// Creates a predicate from a format string in NSPredicate's language and the values of its placeholders.
  ///
  /// A malformed string stops the program, as it raises an exception on Apple's platforms.
  public convenience init(format: String, arguments: ManagedArgumentList) {
    self.init(format: format, argumentArray: arguments.values)
  }

  /// Creates a predicate from a format string in NSPredicate's language and C's list of the values of its placeholders.
  ///
  /// A malformed string stops the program, as it raises an exception on Apple's platforms.
  public convenience init(format: String, arguments: CVaListPointer) {
    self.init(format: format, argumentArray: ArgumentListReader.values(in: arguments, of: format))
  }
}

extension NSExpression {
  /// Creates an expression from a text in the format language, which stops the program if it is malformed.
  public convenience init(format: String, arguments: ManagedArgumentList) {
    self.init(format: format, argumentArray: arguments.values)
  }

  /// Creates an expression from a text in the format language, which stops the program if it is malformed.
  public convenience init(format: String, arguments: CVaListPointer) {
    self.init(format: format, argumentArray: ArgumentListReader.values(in: arguments, of: format))
  }
}

/// Reads C's list of arguments, whose types only the format string tells.
///
/// C's own formatting reads the list, with one conversion for each placeholder. Objects are formatted as addresses.
enum ArgumentListReader {
  private enum Kind {
    case object, integer, unsigned, double
  }

  static func values(in list: CVaListPointer, of format: String) -> [Any] {
    let placeholders = placeholders(in: format)
    guard !placeholders.isEmpty else { return [] }
    let text = formatted(placeholders.map(\.conversion).joined(separator: "\n"), list)
    let parts = text.split(separator: "\n", omittingEmptySubsequences: false)
    return zip(placeholders, parts).map { placeholder, part in
      switch placeholder.kind {
      case .object: object(at: part)
      case .integer: NSNumber(value: Int64(part) ?? 0)
      case .unsigned: NSNumber(value: UInt64(part) ?? 0)
      case .double: NSNumber(value: Double(part) ?? 0)
      }
    }
  }

  private static func formatted(_ format: String, _ list: CVaListPointer) -> String {
    // Addresses and numbers take fewer characters than this.
    var buffer = [CChar](repeating: 0, count: 64 * (format.utf8.count + 1))
    vsnprintf(&buffer, buffer.count, format, list)
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func object(at address: Substring) -> Any {
    guard address.hasPrefix("0x"), let number = UInt(address.dropFirst(2), radix: 16),
      let pointer = UnsafeRawPointer(bitPattern: number)
    else { return NSNull() }
    return Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// The placeholders outside of quoted texts, each with C's conversion.
  private static func placeholders(in format: String) -> [(kind: Kind, conversion: String)] {
    var found: [(kind: Kind, conversion: String)] = []
    var quote: Character?
    var rest = Substring(format)
    while let character = rest.popFirst() {
      if let open = quote {
        if character == "\\" { rest = rest.dropFirst() } else if character == open { quote = nil }
      } else if character == "'" || character == "\"" {
        quote = character
      } else if character == "%" {
        if let placeholder = placeholder(&rest) { found.append(placeholder) }
      }
    }
    return found
  }

  private static func placeholder(_ rest: inout Substring) -> (kind: Kind, conversion: String)? {
    let length = rest.prefix { "hlqjzt".contains($0) }
    rest = rest.dropFirst(length.count)
    guard let letter = rest.popFirst() else { return nil }
    let size = length == "q" ? "ll" : length.hasPrefix("h") ? "" : length
    switch letter {
    case "@", "K": return (.object, "%p")
    case "d", "i": return (.integer, "%\(size)d")
    case "D": return (.integer, "%ld")
    case "c", "C": return (.integer, "%d")
    case "u", "x", "X", "o": return (.unsigned, "%\(size)u")
    case "U", "O": return (.unsigned, "%lu")
    case "e", "E", "f", "F", "g", "G", "a", "A": return (.double, "%.17g")
    default: return nil
    }
  }
}
