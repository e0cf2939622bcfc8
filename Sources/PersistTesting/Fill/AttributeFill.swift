import Foundation
import Persist
import PersistTools

/// Generates valid values for one attribute.
struct AttributeFill {
  let attribute: AttributeDescription
  /// The entity's name, for errors.
  let entity: String
  /// Whether each object needs a different value.
  let isUnique: Bool
  private let elements: [AttributeFill]
  private let pattern: PatternText?
  private let rules: [FetchPredicate]

  /// - Parameters:
  ///   - path: The path of an element of a composite attribute, starting with the attribute's name; nil for an
  ///     attribute of the entity.
  ///   - unique: The names of attributes and the paths of elements that need a different value for each object.
  /// - Throws: `PersistenceError.Code.invalidRequest` if no values can be generated that satisfy the attribute's
  ///   rules.
  init(
    _ attribute: AttributeDescription, of entity: String, at path: String? = nil, unique: Set<String> = [],
    composites: [String: CompositeDescription] = [:]
  ) throws {
    let path = path ?? attribute.name
    self.attribute = attribute
    self.entity = entity
    isUnique = unique.contains(path)
    elements = try (attribute.compositeName.flatMap { composites[$0] }?.elements ?? []).map { element in
      try AttributeFill(
        element, of: entity, at: "\(path).\(element.name)", unique: unique, composites: composites)
    }
    pattern = attribute.validation.pattern.flatMap(PatternText.init)
    rules = try attribute.validation.rules.map { try FetchPredicate($0.predicate) }
    if attribute.validation.pattern != nil, pattern == nil, !attribute.isOptional, attribute.defaultValue.isNull {
      throw impossible("no strings can be generated for its pattern '\(attribute.validation.pattern ?? "")'")
    }
  }

  /// Returns a value for the object with a number; the same numbers and generator states produce the same values.
  func value(number: Int64, using generator: inout SeededGenerator) throws -> StoredValue {
    if attribute.isTransient || attribute.isDerived { return .null }
    if attribute.isOptional, !isUnique, generator.oneIn(8) { return .null }
    guard !rules.isEmpty else { return try anyValue(number, &generator) }
    // The values that a rule in the predicate language accepts can't be derived from its text: try several, then the
    // default.
    for _ in 0..<200 {
      let value = try anyValue(number, &generator)
      if try keepsRules(value) { return value }
    }
    if !isUnique, try keepsRules(attribute.defaultValue) { return attribute.defaultValue }
    if attribute.isOptional { return .null }
    throw impossible("no value was found that satisfies its rule '\(attribute.validation.rules[0].predicate)'")
  }

  private func keepsRules(_ value: StoredValue) throws -> Bool {
    guard !value.isNull else { return attribute.isOptional }
    return try rules.allSatisfy { try $0.evaluate(with: value) }
  }

  /// Returns a value within the limits, lengths and pattern.
  private func anyValue(_ number: Int64, _ generator: inout SeededGenerator) throws -> StoredValue {
    switch attribute.type {
    case .int16: return try .integer(integer(number, in: Int64(Int16.min)...Int64(Int16.max), by: &generator))
    case .int32: return try .integer(integer(number, in: Int64(Int32.min)...Int64(Int32.max), by: &generator))
    case .int64: return try .integer(integer(number, in: Int64.min...Int64.max, by: &generator))
    case .decimal: return try .decimal(decimal(number, &generator))
    case .double: return try .double(double(number, &generator))
    case .float:
      let value = try double(number, &generator)
      return .double(Double(Float(value)))
    case .string: return try text(number, &generator)
    case .boolean: return try .boolean(isUnique ? ordinal(number, below: 2) == 1 : generator.below(2) == 1)
    case .date: return try .date(date(number, &generator))
    case .binary: return .data(bytes(number, &generator))
    case .uuid: return .uuid(uuid(&generator))
    case .uri: return .uri("https://example.org/\(Words.word(using: &generator))/\(number)")
    case .transformable:
      return try .data(ArchivedText.archive("\(Words.phrase(using: &generator)) \(isUnique ? String(number) : "")"))
    case .composite:
      var values: [String: StoredValue] = [:]
      for element in elements {
        values[element.attribute.name] = try element.value(number: number, using: &generator)
      }
      return .composite(values)
    case .objectID, .undefined: return .null
    }
  }

  private func impossible(_ reason: String) -> PersistenceError {
    PersistenceError(
      .invalidRequest, at: .property(entity, attribute.name),
      "\(entity).\(attribute.name) can't be filled: \(reason).",
      fix: "Request fewer rows, or relax the attribute's rules.")
  }

  private func ordinal(_ number: Int64, below count: Int64) throws -> Int64 {
    guard number < count else { throw impossible("it must be unique and has only \(count) values") }
    return number
  }

  /// - Throws: an error if no value is within the limits, or if a unique one is above them.
  private func requireLimits<Value: Comparable>(_ low: Value, _ high: Value, unique: Value? = nil) throws {
    guard low <= high else { throw impossible("its minimum is above its maximum") }
    if let unique, unique > high { throw impossible("it must be unique and end at \(high)") }
  }

  // MARK: Numbers

  private func integer(
    _ number: Int64, in type: ClosedRange<Int64>, by generator: inout SeededGenerator
  ) throws -> Int64 {
    let minimum = attribute.validation.minimum?.number.flatMap { Int64(exactly: $0.rounded(.up)) }
    let maximum = attribute.validation.maximum?.number.flatMap { Int64(exactly: $0.rounded(.down)) }
    let high = min(type.upperBound, maximum ?? type.upperBound)
    let low = max(type.lowerBound, minimum ?? min(0, high))
    try requireLimits(low, high)
    if isUnique {
      let (value, overflow) = low.addingReportingOverflow(number)
      guard !overflow, value <= high else { throw impossible("it must be unique and end at \(high)") }
      return value
    }
    let span = high.subtractingReportingOverflow(low)
    let width = min(span.overflow ? Int64.max : span.partialValue, 9999)
    return low + Int64(generator.below(Int(width) + 1))
  }

  private func double(_ number: Int64, _ generator: inout SeededGenerator) throws -> Double {
    let (minimum, maximum) = (attribute.validation.minimum?.number, attribute.validation.maximum?.number)
    let low = minimum ?? min(0, (maximum ?? 0) - 1000)
    try requireLimits(low, maximum ?? .infinity)
    let high = min(maximum ?? .infinity, low + 1000)
    if isUnique { return low + (high - low) * (1 - 1 / Double(number + 2)) }
    // Quarters are exact in a Float too.
    let steps = Int(((high - low) * 4).rounded(.down))
    return low + Double(generator.below(steps + 1)) / 4
  }

  private func decimal(_ number: Int64, _ generator: inout SeededGenerator) throws -> Decimal {
    let minimum = attribute.validation.minimum?.decimal
    let maximum = attribute.validation.maximum?.decimal
    let low = minimum ?? min(0, (maximum ?? 0) - 1000)
    let unique = low + Decimal(number) / 100
    let high = maximum ?? (isUnique ? unique : low + 1000)
    try requireLimits(low, high, unique: isUnique ? unique : nil)
    if isUnique { return unique }
    let width = min(NSDecimalNumber(decimal: (high - low) * 100).doubleValue, 1_000_000)
    return min(high, low + Decimal(generator.below(Int(max(0, width)) + 1)) / 100)
  }

  private func date(_ number: Int64, _ generator: inout SeededGenerator) throws -> Date {
    // 2015 to 2025, or the eleven years before an early maximum, in seconds since 2001.
    let (start, span) = (441_763_200.0, 347_155_200.0)
    let maximum = attribute.validation.maximum?.number
    let low = attribute.validation.minimum?.number ?? min(start, (maximum ?? .infinity) - span)
    let unique = Date(timeIntervalSinceReferenceDate: low + Double(number))
    let high = maximum ?? (isUnique ? .infinity : low + span)
    try requireLimits(
      Date(timeIntervalSinceReferenceDate: low), Date(timeIntervalSinceReferenceDate: high),
      unique: isUnique ? unique : nil)
    if isUnique { return unique }
    let seconds = generator.below(Int64(min(high - low, 1e12)) + 1)
    return Date(timeIntervalSinceReferenceDate: low + Double(seconds))
  }

  // MARK: Text and bytes

  private func text(_ number: Int64, _ generator: inout SeededGenerator) throws -> StoredValue {
    let least = attribute.validation.minimumLength ?? 0
    let most = attribute.validation.maximumLength ?? Int.max
    if attribute.validation.pattern != nil {
      guard let pattern else { return attribute.isOptional ? .null : attribute.defaultValue }
      for _ in 0..<100 {
        let text = isUnique ? pattern.text(numbered: number) : pattern.text(using: &generator)
        if text.utf16.count >= least, text.utf16.count <= most, pattern.matches(text) { return .string(text) }
        if isUnique { break }
      }
      if attribute.isOptional { return .null }
      throw impossible("no string was found that matches its pattern and lengths")
    }
    var text = Words.phrase(using: &generator)
    if isUnique { text += " \(number)" }
    while text.count < least { text += " " + Words.phrase(using: &generator) }
    guard text.count > most else { return .string(text) }
    guard isUnique else { return .string(String(text.prefix(max(0, most))).filledBlankEnd()) }
    let digits = String(number, radix: 36)
    guard digits.count <= most else { throw impossible("\(most) characters aren't enough for unique strings") }
    return .string(String(repeating: "0", count: max(0, least - digits.count)) + digits)
  }

  private func bytes(_ number: Int64, _ generator: inout SeededGenerator) -> Data {
    // Occasionally, generate data large enough for an external file.
    let isLarge = attribute.allowsExternalStorage && generator.oneIn(4096)
    let count = isLarge ? 150_000 : 16 + generator.below(24)
    var data = Data(capacity: count + 8)
    while data.count < count { withUnsafeBytes(of: generator.next().littleEndian) { data.append(contentsOf: $0) } }
    return data.prefix(count)
  }

  private func uuid(_ generator: inout SeededGenerator) -> UUID {
    var bytes: [UInt8] = []
    for _ in 0..<2 { withUnsafeBytes(of: generator.next().bigEndian) { bytes.append(contentsOf: $0) } }
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}

extension String {
  /// Replaces a trailing space of a truncated string, which some rules and readers would trim.
  fileprivate func filledBlankEnd() -> String { last == " " ? dropLast() + "o" : self }
}

extension StoredValue {
  /// The limit as a number; for a date, its seconds since 2001.
  fileprivate var number: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .double(let value): value
    case .decimal(let value): NSDecimalNumber(decimal: value).doubleValue
    case .date(let value): value.timeIntervalSinceReferenceDate
    default: nil
    }
  }

  fileprivate var decimal: Decimal? {
    switch self {
    case .decimal(let value): value
    case .integer(let value): Decimal(value)
    case .double(let value): Decimal(value)
    default: nil
    }
  }
}
