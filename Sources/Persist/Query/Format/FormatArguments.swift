import Foundation

/// The arguments of a format string, consumed in order or by number.
struct FormatArguments {
  private let values: [FetchExpression]
  private var used: Set<Int> = []
  private var next = 0

  init(_ values: [FetchExpression]) { self.values = values }

  /// The value for a value placeholder.
  mutating func value(_ letter: Character, argument: Int?, at offset: Int, in source: FormatSource) throws
    -> FetchExpression
  {
    let value = try nextValue(letter, argument: argument, at: offset, in: source)
    switch letter {
    case "@": return value
    case "f", "F", "e", "E", "g", "G", "a", "A":
      if let number = value.constantValue?.doubleNumber { return .constant(.double(number)) }
      throw source.error(at: offset, "The argument of '%\(letter)' isn't a number.", fix: "Use %@ for other values.")
    case "s", "S":
      if case .constant(.string) = value { return value }
      throw source.error(at: offset, "The argument of '%\(letter)' isn't a string.", fix: "Use %@ for other values.")
    default:
      if let number = value.constantValue?.wholeNumber { return .constant(number) }
      throw source.error(
        at: offset, "The argument of '%\(letter)' isn't an integer.", fix: "Use %@ for other values.")
    }
  }

  /// The keys for `%K`.
  mutating func keys(argument: Int?, at offset: Int, in source: FormatSource) throws -> [String] {
    switch try nextValue("K", argument: argument, at: offset, in: source) {
    case .constant(.string(let path)):
      let keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      guard !keys.contains("") else {
        throw source.error(at: offset, "The argument of '%K', '\(path)', has an empty key.")
      }
      return keys
    case .path(of: .current, let keys): return keys
    case .current: return ["SELF"]
    default: throw source.error(at: offset, "The argument of '%K' isn't a key path.", fix: "Pass it as a string.")
    }
  }

  /// Rejects arguments without a placeholder; called at the end.
  func checkAllUsed(in source: FormatSource) throws {
    guard let unused = values.indices.first(where: { !used.contains($0) }) else { return }
    throw source.error(
      at: source.scalars.count, "The format has no placeholder for argument \(unused + 1) of \(values.count).")
  }

  private mutating func nextValue(_ letter: Character, argument: Int?, at offset: Int, in source: FormatSource) throws
    -> FetchExpression
  {
    let index = argument.map { $0 - 1 } ?? next
    guard values.indices.contains(index) else {
      throw source.error(
        at: offset, "There is no argument \(index + 1) for '%\(letter)': \(values.count) were given.")
    }
    if argument == nil { next += 1 }
    used.insert(index)
    return values[index]
  }
}

extension StoredValue {
  fileprivate var doubleNumber: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .boolean(let value): value ? 1 : 0
    case .double(let value): value
    case .decimal(let value): value.nearestDouble
    default: nil
    }
  }

  /// An integer beyond the signed 64-bit range stays a decimal.
  fileprivate var wholeNumber: StoredValue? {
    switch self {
    case .integer: self
    case .boolean(let value): .integer(value ? 1 : 0)
    case .double(let value): Int64(exactly: value).map(StoredValue.integer)
    case .decimal(let value) where value.exponent >= 0: self
    default: nil
    }
  }
}
